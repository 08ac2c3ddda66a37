//! Errors of forward passes.

use std::io;

use crate::{
    checkpoint::CheckpointError,
    hardware::{MemoryAccount, OutOfMemory},
};

/// Why a forward pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The weights could not be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The device ran out of memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The operating system cannot start a thread.
    #[error("the threads that load weights could not be started: {0}")]
    Thread(io::Error),
    /// Blocks were requested in another order than announced, because of a bug in a model family.
    #[error("block {block} was requested out of order")]
    OutOfOrder {
        /// Its number.
        block: usize,
    },
    /// A tensor operation failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
    /// This process can no longer use the card.
    #[error("the graphics card stopped working: {0}")]
    DeviceLost(candle_core::Error),
}

impl RunError {
    /// The same, classified for a run with this memory account: a card that is out of memory or lost reports a failed
    /// tensor operation, whichever one was under way.
    pub fn told_apart(self, account: &MemoryAccount) -> Self {
        match self {
            Self::Compute(error) => Self::of_computation(error, account),
            other => other,
        }
    }

    /// What a failed tensor operation means for a run with this memory account.
    #[cfg(feature = "cuda")]
    pub(super) fn of_computation(error: candle_core::Error, account: &MemoryAccount) -> Self {
        use super::cuda::{Fault, fault};
        match fault(&error) {
            Some(Fault::OutOfMemory) => Self::OutOfMemory(account.out_of_memory()),
            Some(Fault::Lost) => Self::DeviceLost(error),
            None => Self::Compute(error),
        }
    }

    /// What a failed tensor operation means for a run.
    #[cfg(not(feature = "cuda"))]
    pub(super) fn of_computation(error: candle_core::Error, _: &MemoryAccount) -> Self {
        Self::Compute(error)
    }
}
