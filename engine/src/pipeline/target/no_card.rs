//! An engine that is not made for cards.

use super::{Card, PipelineError};

/// It finds none.
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    Ok(None)
}

/// It needs none.
pub fn ready() -> Result<(), PipelineError> {
    Ok(())
}
