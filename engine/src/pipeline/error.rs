//! Errors that end a run.

use std::path::PathBuf;

use crate::{
    adapters::AdapterError, checkpoint::CheckpointError, hardware::OutOfMemory, memory::PlanError,
    request::RequestError, residency::RunError, source::SourceError, telemetry::TelemetryError,
    text::WildcardError,
};

/// Why a run produced no image. [`PipelineError::advice`] says what the user can do.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// No model, or not this one, supports the request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The model's files cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// An adapter cannot be used.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// A word that a prompt leaves open cannot be chosen.
    #[error(transparent)]
    Wildcard(#[from] WildcardError),
    /// The forward passes stopped early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The request does not fit on the device in any way that the preferences allow.
    #[error("{error}")]
    DoesNotFit {
        /// What does not fit.
        error: Box<PlanError>,
        /// What would make it fit.
        advice: String,
    },
    /// The device ran out of memory, and no plan needs less.
    #[error(transparent)]
    OutOfMemory(OutOfMemory),
    /// The GPU cannot be used.
    #[error("the GPU cannot be used: {0}")]
    Card(candle_core::Error),
    /// There is no GPU with this number, or the engine computes on the CPU.
    #[error("there is no GPU {number} here")]
    NoSuchGpu {
        /// The number.
        number: u32,
        /// The names of the GPUs of this machine, in their order.
        found: Vec<String>,
        /// Whether this engine computes on GPUs.
        computes_on_gpus: bool,
    },
    /// There is no simulated GPU with this name.
    #[error("there is no simulated GPU named {id}")]
    UnknownCard {
        /// The identifier.
        id: String,
        /// All identifiers.
        known: Vec<String>,
    },
    /// No known model has this identifier.
    #[error("there is no known model named {id}")]
    UnknownModel {
        /// The identifier.
        id: String,
        /// All identifiers.
        known: Vec<String>,
    },
    /// A language model whose answer has no words.
    #[error("the language model wrote nothing in {tokens} tokens")]
    NothingWritten {
        /// The number of tokens.
        tokens: usize,
    },
    /// Telemetry about the run cannot be written.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// The input image cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The initial latents cannot be used.
    #[error("the initial latents in {} cannot be used: {reason}", .path.display())]
    InitialLatents {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The dump of tensors cannot be written.
    #[error("the tensor dump cannot be written to {}: {reason}", .path.display())]
    Dump {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The image contains NaN or infinite values.
    #[error("the image contains invalid values (NaN), computed in {dtype}")]
    NotFinite {
        /// The dtype of the computation.
        dtype: &'static str,
    },
}

impl From<candle_core::Error> for PipelineError {
    fn from(error: candle_core::Error) -> Self {
        Self::Run(RunError::Compute(error))
    }
}

impl PipelineError {
    /// What the user can do about it.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Request(error) => Some(error.advice()),
            Self::Checkpoint(error) | Self::Run(RunError::Checkpoint(error)) => Some(error.advice()),
            Self::Adapter(error) => Some(error.advice()),
            Self::Wildcard(error) => Some(error.advice()),
            Self::Run(RunError::Cancelled) => None,
            Self::DoesNotFit { advice, .. } => Some(advice.clone()),
            Self::OutOfMemory(_) | Self::Run(RunError::OutOfMemory(_)) => {
                Some("Use a smaller image or batch, or allow more memory.".to_owned())
            }
            Self::UnknownCard { known, .. } | Self::UnknownModel { known, .. } => {
                Some(format!("Choose one of {}.", known.join(", ")))
            }
            Self::NoSuchGpu { computes_on_gpus: false, .. } => {
                let advice = "This version of Sluice computes on the CPU. Install the engine for NVIDIA GPUs, or run on the CPU.";
                Some([advice, "On the command line, `--card` simulates a GPU."].join(" "))
            }
            Self::NoSuchGpu { found, .. } => Some(match &found[..] {
                [] => "No NVIDIA GPU was found. Check the driver, or run on the CPU.".to_owned(),
                found => {
                    let numbered =
                        found.iter().enumerate().map(|(number, name)| format!("{number} ({name})"));
                    format!("Choose one of {}.", numbered.collect::<Vec<_>>().join(", "))
                }
            }),
            Self::NothingWritten { .. } => Some(
                "Try another seed, allow more tokens, or choose a model that does not think first, such as \
                 Qwen3-4B-Instruct-2507."
                    .to_owned(),
            ),
            Self::Telemetry(error) => error.advice().map(str::to_owned),
            Self::Card(_) if cfg!(feature = "metal") => {
                Some("Compute on the CPU, or on an engine elsewhere.".to_owned())
            }
            Self::Card(_) => {
                Some("Install an NVIDIA driver that supports CUDA 13, or run on the CPU.".to_owned())
            }
            Self::Run(RunError::DeviceLost(_)) => Some(
                "Restart Sluice. If this happens often, the driver or the GPU's memory may be faulty."
                    .to_owned(),
            ),
            Self::Run(RunError::Thread(_)) => Some(
                "Close other programs and try again: the system could not start another thread.".to_owned(),
            ),
            Self::Run(RunError::Compute(_) | RunError::OutOfOrder { .. }) => {
                Some("Please report this bug, with the model and the settings that you used.".to_owned())
            }
            Self::Source(error) => Some(error.advice().to_owned()),
            Self::InitialLatents { .. } => Some(
                "Use a safetensors file with a tensor named latents that has the right shape.".to_owned(),
            ),
            Self::Dump { .. } => Some("Choose a file in a folder that you can write to.".to_owned()),
            Self::NotFinite { dtype: "f32" } => {
                Some("The weights are probably damaged. Download the model again.".to_owned())
            }
            Self::NotFinite { .. } => Some("Compute in f32 or bf16.".to_owned()),
        }
    }
}
