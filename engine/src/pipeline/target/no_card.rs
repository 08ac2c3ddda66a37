//! The same functions for an engine without support for GPUs.

use super::{Card, PipelineError};

/// There is none.
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    Ok(None)
}

/// Always succeeds.
pub fn ready() -> Result<(), PipelineError> {
    Ok(())
}
