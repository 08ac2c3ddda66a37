//! Why a run can fail.

use std::path::PathBuf;

use crate::{checkpoint::CheckpointError, request::RequestError, residency::RunError};

/// A run that gave no picture.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The request cannot be fulfilled by any model, or not by this one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The model's files are not as they should be.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The walk through the blocks ended early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file with the first latents is not usable.
    #[error("the initial latents in {} cannot be used: {reason}", .path.display())]
    InitialLatents {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The tensors of the stages cannot be written.
    #[error("the stages cannot be written to {}: {reason}", .path.display())]
    Dump {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The result holds something else than numbers.
    #[error("the picture came out as no number at all (NaN) in {dtype}")]
    NotFinite {
        /// The precision of the computation.
        dtype: &'static str,
    },
}

impl From<candle_core::Error> for PipelineError {
    fn from(error: candle_core::Error) -> Self {
        Self::Run(RunError::Compute(error))
    }
}

impl PipelineError {
    /// What the person can do about it.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Request(_) => Some("Change the setting and generate again.".to_owned()),
            Self::Checkpoint(error) | Self::Run(RunError::Checkpoint(error)) => Some(error.advice()),
            Self::Run(RunError::Cancelled) => None,
            Self::Run(RunError::Compute(_)) => {
                Some("Please report this with the model and the settings that you used.".to_owned())
            }
            Self::InitialLatents { .. } => {
                Some("Give a safetensors file with one tensor, latents, of the right shape.".to_owned())
            }
            Self::Dump { .. } => Some("Choose a file in a folder that may be written to.".to_owned()),
            Self::NotFinite { dtype: "f32" } => {
                Some("The weights are probably damaged. Download the model again.".to_owned())
            }
            Self::NotFinite { .. } => Some("Use f32 or bf16.".to_owned()),
        }
    }
}
