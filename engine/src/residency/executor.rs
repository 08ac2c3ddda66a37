//! Walks over the blocks of a component.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use super::{BlockTimings, CancelToken, Moment, RunError, WeightStore, Weights, moment::wait_until};
use crate::{
    memory::Tier,
    telemetry::{BlockRecord, Recorder, TelemetryEvent},
};

/// Leases blocks one after the other and runs a function on each.
#[derive(Debug, Clone)]
pub struct Executor {
    cancel: CancelToken,
    recorder: Recorder,
    /// Index of the component in the telemetry.
    component: u8,
    walks: Arc<AtomicU32>,
}

impl Default for Executor {
    fn default() -> Self {
        Self::new(CancelToken::default(), Recorder::disabled())
    }
}

impl Executor {
    /// An executor that stops on `cancel` and reports each block to `recorder`.
    pub fn new(cancel: CancelToken, recorder: Recorder) -> Self {
        Self { cancel, recorder, component: 0, walks: Arc::default() }
    }

    /// The same for the component with this index.
    pub fn of_component(&self, component: u8) -> Self {
        Self { component, walks: Arc::default(), ..self.clone() }
    }

    /// Calls `forward(index, weights)` for each block of `blocks` in order. Everything that needs a block
    /// (all guidance branches, all images of a batch) runs within one call, so that each block is leased once
    /// per walk.
    ///
    /// Timings of a block are reported once the device has finished it, at the latest at the end of the walk.
    pub fn walk(
        &self,
        store: &WeightStore,
        blocks: Range<usize>,
        forward: impl FnMut(usize, &Weights) -> candle_core::Result<()>,
    ) -> Result<(), RunError> {
        self.walk_parts(store, &[blocks], forward)
    }

    /// The same for a walk of several parts, in which blocks may come more than once.
    pub fn walk_parts(
        &self,
        store: &WeightStore,
        parts: &[Range<usize>],
        mut forward: impl FnMut(usize, &Weights) -> candle_core::Result<()>,
    ) -> Result<(), RunError> {
        let walk = self.walks.fetch_add(1, Ordering::Relaxed);
        let done = (|| {
            let (at, origin) = (self.recorder.now(), store.memory().moment()?);
            let report = |pass: Pass| self.report(store, walk, at, &origin, pass);
            let mut under_way = VecDeque::new();
            for (number, part) in parts.iter().enumerate() {
                let next = &parts[(number + 1) % parts.len()];
                store.begin_part(part.clone(), next.clone(), number + 1 == parts.len())?;
                for index in part.clone() {
                    if self.cancel.is_cancelled() {
                        return Err(RunError::Cancelled);
                    }
                    under_way.push_back(self.pass(store, index, &mut forward)?);
                    while let Some(pass) = under_way.pop_front_if(|pass| pass.ended.has_come()) {
                        report(pass)?;
                    }
                }
            }
            under_way.into_iter().try_for_each(report)
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
        forward: &mut impl FnMut(usize, &Weights) -> candle_core::Result<()>,
    ) -> Result<Pass, RunError> {
        let memory = store.memory();
        let asked = memory.moment()?;
        let lease = store.lease(index, &self.cancel)?;
        let (started, begun) = (Instant::now(), memory.moment()?);
        let outcome = forward(index, &lease.weights());
        store.account().observe();
        if let Some(refusal) = store.account().take_refusal() {
            return Err(refusal.into());
        }
        outcome.map_err(|error| {
            lease.take_failure().unwrap_or_else(|| RunError::of_computation(error, store.account()))
        })?;
        let slowdown = memory.slowdown();
        if slowdown > 1.0 {
            wait_until(started + started.elapsed().mul_f64(slowdown));
        }
        let ended = Arc::new(memory.moment()?);
        let (bytes, load, tier, slot) = (lease.moved_bytes(), lease.load, lease.from, lease.slot);
        let released = Instant::now();
        lease.end(&ended);
        Ok(Pass { index, asked, begun, ended, load, bytes, tier, slot, evict: released.elapsed() })
    }

    /// Reports the timings of a pass. `origin` was the device's moment at the time `at`.
    fn report(
        &self,
        store: &WeightStore,
        walk: u32,
        at: u64,
        origin: &Moment,
        pass: Pass,
    ) -> Result<(), RunError> {
        let failed = |error| RunError::of_computation(error, store.account());
        let wait = pass.begun.since(&pass.asked).map_err(failed)?;
        let compute = pass.ended.since(&pass.begun).map_err(failed)?;
        let asked = pass.asked.since(origin).map_err(failed)?;
        let timings = BlockTimings { passes: 1, compute, bytes: pass.bytes, load: pass.load };
        store.note(pass.index, wait, timings, pass.tier);
        self.recorder.record(TelemetryEvent::Block(BlockRecord {
            at: at + micros(asked),
            component: self.component,
            block: pass.index as u16,
            walk,
            wait: micros(wait),
            load: micros(pass.load),
            compute: micros(compute),
            evict: micros(pass.evict),
            bytes: pass.bytes,
            tier: pass.tier,
            slot: pass.slot,
        }));
        Ok(())
    }
}

/// A block's forward pass that was queued on the device.
struct Pass {
    index: usize,
    /// When the block was requested.
    asked: Moment,
    /// When its weights were there.
    begun: Moment,
    /// When the pass was finished.
    ended: Arc<Moment>,
    load: Duration,
    bytes: u64,
    tier: Tier,
    slot: Option<u8>,
    evict: Duration,
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        path::Path,
        sync::{Mutex, PoisonError},
    };

    use candle_core::{DType, Device, Tensor};

    use super::*;
    use crate::{
        checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
        hardware::MemoryAccount,
        residency::{
            CpuMemory, DeviceMemory,
            buffer::{Buffer, Sizes},
        },
    };

    const BLOCKS: usize = 5;
    /// How long the device works on a block.
    const WORK: Duration = Duration::from_millis(20);

    /// A device that queues work and does it later, one item after the other.
    #[derive(Debug)]
    struct Later {
        /// When the device will have finished all queued work.
        done: Mutex<Instant>,
    }

    impl Later {
        fn tell(&self) {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            *done = (*done).max(Instant::now()) + WORK;
        }
    }

    impl DeviceMemory for Later {
        fn device(&self) -> &Device {
            &Device::Cpu
        }

        fn is_unified(&self) -> bool {
            true
        }

        fn allocate(&self, sizes: &Sizes) -> candle_core::Result<Buffer> {
            CpuMemory.allocate(sizes)
        }

        fn allocate_host(&self, sizes: &Sizes) -> candle_core::Result<Buffer> {
            CpuMemory.allocate_host(sizes)
        }

        fn upload(
            &self,
            from: &Buffer,
            to: &Buffer,
            sizes: &Sizes,
            go_on: &dyn Fn() -> bool,
        ) -> candle_core::Result<Option<Duration>> {
            CpuMemory.upload(from, to, sizes, go_on)
        }

        fn moment(&self) -> candle_core::Result<Moment> {
            let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(Moment::At(done.max(Instant::now())))
        }
    }

    fn component(folder: &Path) -> Component {
        let path = folder.join("weights.safetensors");
        let weight = Tensor::ones((2, 2), DType::F32, &Device::Cpu).unwrap();
        let tensors: HashMap<String, Tensor> =
            (0..BLOCKS).map(|index| (format!("{index}.layer.weight"), weight.clone())).collect();
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let specs: Vec<_> =
            (0..BLOCKS).map(|index| BlockSpec::new(index.to_string()).matrix("layer", 2, 2)).collect();
        let table = read_header(&path).unwrap();
        Component::bind(Role::Denoiser, "test", &specs, &table, |name| StoredName::whole(name), &path)
            .unwrap()
    }

    #[test]
    fn a_device_that_works_later_is_told_of_every_block_and_then_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let device = Arc::new(Later { done: Mutex::new(Instant::now()) });
        let memory = Arc::clone(&device) as Arc<dyn DeviceMemory>;
        let store = WeightStore::new(component(folder.path()), DType::F32, memory, MemoryAccount::new());
        let recorder = Recorder::new();
        let executor = Executor::new(CancelToken::default(), recorder.clone());
        let started = Instant::now();
        let mut told = Duration::ZERO;
        executor
            .walk(&store, 0..BLOCKS, |_, weights| {
                weights.get("layer.weight")?;
                device.tell();
                told = started.elapsed();
                Ok(())
            })
            .unwrap();
        let all = started.elapsed();
        assert!(all >= BLOCKS as u32 * WORK, "the walk ended after {all:?}");
        assert!(told + WORK <= all, "the last block was queued at {told:?} of {all:?}");
        let measured = store.take_measured();
        assert!(measured.iter().all(|block| block.passes == 1 && block.compute >= WORK), "{measured:?}");

        let mut events = Vec::new();
        recorder.drain(&mut events);
        let blocks: Vec<_> = events
            .into_iter()
            .filter_map(|event| match event {
                TelemetryEvent::Block(record) => Some(record),
                _ => None,
            })
            .collect();
        assert!(blocks.iter().map(|record| usize::from(record.block)).eq(0..BLOCKS));
        let begun = |index: usize| blocks[index].at + blocks[index].wait;
        for index in 1..BLOCKS {
            let before = begun(index - 1) + blocks[index - 1].compute;
            assert!(begun(index) + 1 >= before, "block {index} began before the one before it ended");
        }
    }
}
