//! Prompts to what the denoiser is told.

use super::{Dump, PipelineError, Run};
use crate::{
    models::{Conditioning, Prompt},
    residency::Blocks,
    text::{self, Encoded, Tokens},
};

impl Run<'_> {
    /// Encodes the prompt and, where guidance needs it, the negative prompt. Those that were encoded before need no
    /// encoder.
    pub(super) fn encode(&self, stage: usize, dump: &mut Dump) -> Result<Vec<Conditioning>, PipelineError> {
        self.add_ids(dump)?;
        let mut new: Vec<&Prompt> = Vec::new();
        for prompt in &self.prompts {
            if !self.loaded.knows(prompt) && !new.contains(&prompt) {
                new.push(prompt);
            }
        }
        let mut fresh: Vec<Vec<Encoded>> = vec![Vec::new(); new.len()];
        for (index, part) in self.loaded.model.text.iter().enumerate().filter(|_| !new.is_empty()) {
            let (store, executor) = self.enter(stage, index);
            let tokens: Vec<&Tokens> = new.iter().map(|prompt| &prompt.parts[index]).collect();
            let (encoder, skip) = (part.encoder.as_ref(), new[0].clip_skip);
            let encoded = self.within_memory(stage, || {
                text::encode(encoder, Blocks::stored(&executor, store), &tokens, skip)
            })?;
            fresh.iter_mut().zip(encoded).for_each(|(all, encoded)| all.push(encoded));
        }
        for (prompt, encoded) in new.into_iter().zip(fresh) {
            let conditioning = self.loaded.model.denoiser.conditioning(encoded)?;
            self.loaded.keep_encoded(prompt, &conditioning)?;
        }
        let mut branches = Vec::new();
        for (branch, prompt) in self.prompts.iter().enumerate() {
            let Some(mut conditioning) = self.loaded.encoded(prompt)? else { continue };
            if branch == 1 && self.request.negative_prompt.is_empty() {
                conditioning = self.loaded.model.denoiser.without_prompt(conditioning)?;
            }
            dump.add(format!("encode_prompt.0.{branch}.0"), conditioning.prompt.computed()?)?;
            if let Some(pooled) = &conditioning.pooled {
                dump.add(format!("encode_prompt.0.{branch}.1"), pooled.computed()?)?;
            }
            branches.push(conditioning);
        }
        Ok(branches)
    }

    /// The ids of every text encoder, a row for each chunk; the second encoder is `text_encoder_2`.
    fn add_ids(&self, dump: &mut Dump) -> candle_core::Result<()> {
        for (branch, prompt) in self.prompts.iter().enumerate() {
            for (encoder, tokens) in prompt.parts.iter().enumerate() {
                let number = if encoder == 0 { String::new() } else { format!("_{}", encoder + 1) };
                let rows: Vec<&[u32]> = tokens.sequences.iter().map(|row| row.ids.as_slice()).collect();
                dump.add_ids(format!("text_encoder{number}.{branch}.input_ids"), &rows)?;
            }
        }
        Ok(())
    }
}
