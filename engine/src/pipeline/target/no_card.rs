//! An engine that is not made for cards finds none.

use super::{Card, PipelineError};

pub fn first_card() -> Result<Option<Card>, PipelineError> {
    Ok(None)
}
