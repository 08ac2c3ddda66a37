//! Walks through the blocks of a component.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{WeightStore, Weights};
use crate::checkpoint::CheckpointError;

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
    /// A tensor operation failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}

/// Leases blocks one after the other and runs a function on each.
#[derive(Debug, Clone, Default)]
pub struct Executor {
    cancel: CancelToken,
}

impl Executor {
    /// An executor that stops when `cancel` says so.
    pub fn new(cancel: CancelToken) -> Self {
        Self { cancel }
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
        for index in blocks {
            if self.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let lease = store.lease(index)?;
            forward(index, &lease)?;
        }
        Ok(())
    }
}
