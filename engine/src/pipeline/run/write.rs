//! Writes a better prompt.

use std::time::{Duration, Instant};

use super::{PipelineError, Run};
use crate::{
    adapters::{Tag, without_tags},
    checkpoint::CheckpointError,
    models::Used,
    pipeline::estimate::chat_of,
    residency::Blocks,
    sampling::{NoiseStream, TokenChoice},
    text::Writer,
};

/// What is said of a text that grows, at most so often.
const OFTEN: Duration = Duration::from_millis(50);
/// Marks around a text that some models put there.
const QUOTES: [(char, char); 3] = [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{ab}', '\u{bb}')];

impl Run<'_> {
    /// Writes the prompt that the request asks for. Adapters that the prompt names are named in the result.
    pub(super) fn write(
        &self,
        stage: usize,
        Used { part, network }: &Used<Writer>,
    ) -> Result<(), PipelineError> {
        let Some(wanted) = &self.request.enhance else { return Ok(()) };
        let chat = chat_of(network, wanted, &self.request.prompt)?;
        let choice = TokenChoice {
            temperature: wanted.temperature,
            top_k: wanted.top_k as usize,
            top_p: wanted.top_p,
        };
        let (store, executor) = self.enter(stage, *part);
        let (answer, is_finite) = self.within_memory(stage, || {
            let mut noise = NoiseStream::new(self.request.seed);
            let (mut answer, mut is_finite) = (Vec::new(), true);
            let mut said = Instant::now();
            let blocks = Blocks::stored(&executor, store);
            network.answer(blocks, &chat, wanted.longest as usize, &mut |scores| {
                let token = choice.of(scores, &mut noise);
                is_finite = token.is_some();
                if !answer.is_empty() && said.elapsed() >= OFTEN {
                    said = Instant::now();
                    self.observer.borrow_mut().text(&tidied(&network.text(&answer)), false);
                }
                answer.extend(token);
                token
            })?;
            Ok((answer, is_finite))
        })?;
        if !is_finite {
            let reason = format!("its scores are not numbers, computed in {}", self.loaded.dtype().name());
            let path = self.loaded.model.path.clone();
            return Err(CheckpointError::LanguageModel { path, reason }.into());
        }
        let text = unquoted(&tidied(&network.text(&answer))).to_owned();
        if text.is_empty() {
            return Err(PipelineError::NothingWritten { tokens: answer.len() });
        }
        let (_, tags) = without_tags(&self.request.prompt)?;
        let named = tags.iter().map(|Tag { name, weight, .. }| format!(" <lora:{name}:{weight}>"));
        self.observer.borrow_mut().text(&format!("{text}{}", named.collect::<String>()), true);
        Ok(())
    }
}

/// A text in one line.
fn tidied(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without marks around all of it.
fn unquoted(text: &str) -> &str {
    let within = |(open, close): &(char, char)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    };
    QUOTES.iter().find_map(within).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_one_line_without_marks_around_it() {
        assert_eq!(tidied(" a fox\n\n in\tthe  snow\n"), "a fox in the snow");
        for (text, inner) in [
            ("\"a fox\"", "a fox"),
            ("\u{201c}a fox \u{201d}", "a fox"),
            ("a sign that says \"open\"", "a sign that says \"open\""),
            ("\"open\" and \"closed\"", "\"open\" and \"closed\""),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(unquoted(text), inner);
        }
    }
}
