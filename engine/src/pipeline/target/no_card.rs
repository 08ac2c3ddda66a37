//! The same functions for an engine without support for GPUs.

use super::{Card, HardwareSample, PipelineError};

/// There is none.
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    Ok(None)
}

/// Always an error.
///
/// # Errors
/// [`PipelineError::NoSuchGpu`].
pub fn numbered_card(number: u32, sample: &HardwareSample) -> Result<Card, PipelineError> {
    let found = sample.gpus.iter().map(|gpu| gpu.name.clone()).collect();
    Err(PipelineError::NoSuchGpu { number, found, computes_on_gpus: false })
}

/// Always succeeds.
pub fn ready() -> Result<(), PipelineError> {
    Ok(())
}
