//! What a language model is asked in a run: the forecast and the run both ask it.

use super::{PipelineError, Resolved};
use crate::{adapters::without_tags, request::Writing, text::Writer};

/// What a language model answers to.
pub struct Chat<'a> {
    /// Its tokens, up to where the answer begins. Those that stand for images are replaced by what is seen of them.
    pub tokens: Vec<u32>,
    /// How the answer is written.
    pub writing: &'a Writing,
}

impl<'a> Chat<'a> {
    /// The chat of a request; `None` if nothing is to be written. Adapters that a prompt names are no part of it.
    ///
    /// # Errors
    /// When a tag in the prompt is not valid, or the tokenizer fails.
    pub fn of(writer: &Writer, resolved: &'a Resolved) -> Result<Option<Self>, PipelineError> {
        let request = &resolved.request;
        if let Some(describe) = &request.describe {
            let writing = &describe.writing;
            let seen = resolved.prompts.first().map_or(&[][..], |prompt| &prompt.images);
            let grids: Vec<[usize; 2]> = seen.iter().map(|image| image.size.grid).collect();
            let tokens = writer.tokenize_seeing(writing.instruction.trim(), &grids)?;
            return Ok(Some(Self { tokens, writing }));
        }
        let Some(writing) = &request.enhance else { return Ok(None) };
        let (prompt, _) = without_tags(&request.prompt)?;
        let tokens = writer.tokenize(writing.instruction.trim(), prompt.trim())?;
        Ok(Some(Self { tokens, writing }))
    }
}
