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
    /// The operating system could not start a thread.
    #[error("could not start the threads that load weights: {0}")]
    Thread(io::Error),
    /// Blocks were requested in another order than announced; this is a bug in a model family.
    #[error("block {block} was requested out of order")]
    OutOfOrder {
        /// Index of the block.
        block: usize,
    },
    /// A tensor operation failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
    /// This process can no longer use the GPU.
    #[error("the GPU stopped working: {0}")]
    DeviceLost(candle_core::Error),
}

impl RunError {
    /// Reclassifies the error for a run with this memory account: when a GPU runs out of memory or is lost,
    /// whichever tensor operation is next reports the failure.
    pub fn told_apart(self, account: &MemoryAccount) -> Self {
        match self {
            Self::Compute(error) => Self::of_computation(error, account),
            other => other,
        }
    }

    /// Classifies a failed tensor operation of a run with this memory account.
    #[cfg(any(feature = "cuda", feature = "metal"))]
    pub(super) fn of_computation(error: candle_core::Error, account: &MemoryAccount) -> Self {
        #[cfg(feature = "cuda")]
        use super::cuda::fault;
        use super::fault::Fault;
        #[cfg(feature = "metal")]
        use super::metal::fault;
        match fault(&error) {
            Some(Fault::OutOfMemory) => Self::OutOfMemory(account.out_of_memory()),
            Some(Fault::Lost) => Self::DeviceLost(error),
            None => Self::Compute(error),
        }
    }

    /// Classifies a failed tensor operation of a run.
    #[cfg(not(any(feature = "cuda", feature = "metal")))]
    pub(super) fn of_computation(error: candle_core::Error, _: &MemoryAccount) -> Self {
        Self::Compute(error)
    }
}
