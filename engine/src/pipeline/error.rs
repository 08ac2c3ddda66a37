//! Why a run can fail.

use std::path::PathBuf;

use crate::{
    adapters::AdapterError,
    checkpoint::CheckpointError,
    hardware::OutOfMemory,
    memory::{PlanError, size_up},
    request::RequestError,
    residency::RunError,
    source::SourceError,
    telemetry::TelemetryError,
};

/// A run that gave no picture.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The request cannot be fulfilled by any model, or not by this one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The model's files are not as they should be.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// An adapter cannot be used.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The walk through the blocks ended early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The request fits the device in no way that the preferences allow.
    #[error("{error}")]
    DoesNotFit {
        /// What is too large.
        error: PlanError,
        /// The bytes of the device's memory that would be enough.
        least: Option<u64>,
    },
    /// The device's memory is used up, and there is nothing left that could take less.
    #[error(transparent)]
    OutOfMemory(OutOfMemory),
    /// The graphics card does not answer.
    #[error("the graphics card cannot be used: {0}")]
    Card(candle_core::Error),
    /// No card is simulated under this name.
    #[error("there is no card {id} to simulate")]
    UnknownCard {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No well-known model has this identifier.
    #[error("there is no known model {id}")]
    UnknownModel {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// What is written about the run cannot be.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// The picture that the run starts from is not usable.
    #[error(transparent)]
    Source(#[from] SourceError),
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
            Self::Adapter(error) => Some(error.advice()),
            Self::Run(RunError::Cancelled) => None,
            Self::DoesNotFit { least, .. } => Some(fitting(*least)),
            Self::OutOfMemory(_) | Self::Run(RunError::OutOfMemory(_)) => {
                Some("Make the picture smaller, draw fewer at once, or allow more memory.".to_owned())
            }
            Self::UnknownCard { known, .. } | Self::UnknownModel { known, .. } => {
                Some(format!("Choose one of {}.", known.join(", ")))
            }
            Self::Telemetry(error) => error.advice().map(str::to_owned),
            Self::Card(_) => Some(
                "Look whether NVIDIA's driver is installed and no older than CUDA 13 needs, or choose the processor."
                    .to_owned(),
            ),
            Self::Run(RunError::DeviceLost(_)) => Some(
                "Start Sluice again. If it happens often, the driver or the card's memory may be at fault.".to_owned(),
            ),
            Self::Run(RunError::Thread(_)) => {
                Some("Close other programs and try again; the machine gives no further thread.".to_owned())
            }
            Self::Run(RunError::Compute(_) | RunError::OutOfOrder { .. }) => {
                Some("Please report this with the model and the settings that you used.".to_owned())
            }
            Self::Source(error) => Some(error.advice().to_owned()),
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

/// What would make a request fit.
fn fitting(least: Option<u64>) -> String {
    let other = "make the picture smaller, draw fewer at once, or choose the mode auto";
    match least {
        Some(least) => {
            format!("Allow {} of the device's memory, or {other}.", size_up(least))
        }
        None => format!("Allow more RAM, or {other}."),
    }
}
