//! Walks through the blocks of a component.

use std::{
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use super::{Lease, WeightStore, Weights, device::wait_until};
use crate::{
    checkpoint::CheckpointError,
    hardware::OutOfMemory,
    telemetry::{BlockRecord, Recorder, TelemetryEvent},
};

/// Tells a running job from another thread to stop.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks the job to stop at the next block.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a walk ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The weights could not be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The device's memory is used up.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The operating system gives no thread.
    #[error("the threads that bring weights up could not be started: {0}")]
    Thread(io::Error),
    /// Blocks were asked for in another order than they were announced: a mistake in a model file of ours.
    #[error("block {block} was not expected now")]
    OutOfOrder {
        /// Its number.
        block: usize,
    },
    /// A tensor operation failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}

/// Leases blocks one after the other and runs a function on each.
#[derive(Debug, Clone)]
pub struct Executor {
    cancel: CancelToken,
    recorder: Recorder,
    /// Number of the component in what is recorded.
    component: u8,
    walks: Arc<AtomicU32>,
    /// Whether a block like the one before it is left out.
    each_kind_once: bool,
}

impl Default for Executor {
    fn default() -> Self {
        Self::new(CancelToken::default(), Recorder::disabled())
    }
}

impl Executor {
    /// An executor that stops when `cancel` says so and tells `recorder` about each block.
    pub fn new(cancel: CancelToken, recorder: Recorder) -> Self {
        Self { cancel, recorder, component: 0, walks: Arc::default(), each_kind_once: false }
    }

    /// The same for the component of this number.
    pub fn of_component(&self, component: u8) -> Self {
        Self { component, walks: Arc::default(), ..self.clone() }
    }

    /// The same, leaving out every block whose tensors are like those of the block before it: to try a model out
    /// whose blocks give what they get another value but not another shape.
    pub fn of_each_kind(&self) -> Self {
        Self { each_kind_once: true, ..self.clone() }
    }

    /// Calls `forward(index, weights)` for each block of `blocks` in order. Everything that needs a block
    /// (all guidance branches, all pictures of a batch) runs within one call, so that each block is leased
    /// once a walk.
    pub fn walk(
        &self,
        store: &WeightStore,
        blocks: Range<usize>,
        mut forward: impl FnMut(usize, &Weights) -> candle_core::Result<()>,
    ) -> Result<(), RunError> {
        let walk = self.walks.fetch_add(1, Ordering::Relaxed);
        let done = (|| {
            let first = blocks.start;
            let used = blocks.clone().filter(|&index| {
                !(self.each_kind_once && index > first && store.are_alike(index - 1, index))
            });
            store.begin_walk(blocks.clone(), used.clone())?;
            for index in used {
                if self.cancel.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                self.pass(store, index, walk, &mut forward)?;
            }
            Ok(())
        })();
        if done.is_err() {
            store.abandon_walk();
        }
        done
    }

    fn pass(
        &self,
        store: &WeightStore,
        index: usize,
        walk: u32,
        forward: &mut impl FnMut(usize, &Weights) -> candle_core::Result<()>,
    ) -> Result<(), RunError> {
        let at = self.recorder.now();
        let asked = Instant::now();
        let lease = store.lease(index, &self.cancel)?;
        let started = Instant::now();
        let outcome = forward(index, &lease);
        if let Some(refusal) = store.account().take_refusal() {
            return Err(refusal.into());
        }
        outcome.map_err(|error| lease.take_failure().unwrap_or(RunError::Compute(error)))?;
        let slowdown = store.memory().slowdown();
        if slowdown > 1.0 {
            wait_until(started + started.elapsed().mul_f64(slowdown));
        }
        let compute = started.elapsed();
        let times = [started - asked, compute];
        store.note(index, times, &lease);
        let record = record(&lease, times);
        let released = Instant::now();
        drop(lease);
        self.recorder.record(TelemetryEvent::Block(BlockRecord {
            at,
            component: self.component,
            block: index as u16,
            walk,
            evict: micros(released.elapsed()),
            ..record
        }));
        Ok(())
    }
}

fn record(lease: &Lease, [wait, compute]: [Duration; 2]) -> BlockRecord {
    BlockRecord {
        at: 0,
        component: 0,
        block: 0,
        walk: 0,
        wait: micros(wait),
        load: micros(lease.load),
        compute: micros(compute),
        evict: 0,
        bytes: lease.moved_bytes(),
        tier: lease.from,
        slot: lease.slot,
    }
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}
