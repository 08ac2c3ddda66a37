//! Writes a better prompt, or what images show.

use std::time::{Duration, Instant};

use candle_core::{Device, Tensor as Values};

use super::{Dump, PipelineError, Run};
use crate::{
    adapters::{Tag, without_tags},
    checkpoint::CheckpointError,
    models::Used,
    nn::{Result as TensorResult, Tensor},
    pipeline::chat::Chat,
    residency::Blocks,
    sampling::{NoiseStream, TokenChoice},
    text::{VisionTower, Writer},
};

/// What is said of a text that grows, at most so often.
const OFTEN: Duration = Duration::from_millis(50);
/// Marks around a text that some models put there.
const QUOTES: [(char, char); 3] = [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{ab}', '\u{bb}')];

impl Run<'_> {
    /// Writes the text that the request asks for, after the images were seen. Adapters that the prompt names are named in the
    /// result.
    pub(super) fn write(
        &self,
        stage: usize,
        Used { part, network }: &Used<Writer>,
        vision: Option<&Used<dyn VisionTower>>,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        let Some(Chat { tokens, writing }) = Chat::of(network, self.resolved)? else { return Ok(()) };
        let choice = TokenChoice {
            temperature: writing.temperature,
            top_k: writing.top_k as usize,
            top_p: writing.top_p,
        };
        let seen = vision.map_or_else(|| Ok(Vec::new()), |tower| self.see(stage, tower, dump))?;
        let (store, executor) = self.enter(stage, *part);
        let records = dump.is_recording();
        let (answer, recorded, is_finite) = self.within_memory(stage, || {
            let mut noise = NoiseStream::new(self.request.seed);
            let (mut answer, mut is_finite) = (Vec::new(), true);
            let mut recorded: [Vec<f32>; 2] = Default::default();
            let mut said = Instant::now();
            let blocks = Blocks::stored(&executor, store);
            let there = |image: &Values| Ok(Tensor::from(image.to_device(store.device())?));
            let images = seen.iter().map(there).collect::<TensorResult<Vec<Tensor>>>()?;
            let longest = writing.longest as usize;
            network.answer(blocks, (&tokens, &images), longest, &mut |scores| {
                if records {
                    let [first, last] = &mut recorded;
                    if first.is_empty() {
                        first.extend(scores);
                    }
                    scores.clone_into(last);
                }
                let token = choice.of(scores, &mut noise);
                is_finite = token.is_some();
                if !answer.is_empty() && said.elapsed() >= OFTEN {
                    said = Instant::now();
                    self.observer.borrow_mut().text(&tidied(&network.text(&answer)), false);
                }
                answer.extend(token);
                token
            })?;
            Ok((answer, recorded, is_finite))
        })?;
        if records {
            dump.add_ids("language_model.chat", &[&tokens])?;
            dump.add_ids("language_model.answer", &[&answer])?;
            for (name, scores) in ["first", "last"].into_iter().zip(recorded) {
                let scores = Values::new(scores, &Device::Cpu)?;
                dump.add(format!("language_model.scores.{name}"), &scores)?;
            }
        }
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
