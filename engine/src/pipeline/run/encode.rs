//! Encodes prompts to the conditioning of denoisers.

use std::collections::BTreeMap;

use candle_core::{Device, Tensor};

use super::{Dump, PipelineError, Run};
use crate::{
    models::{Conditioning, Denoising, Prompt, Used},
    nn,
    pipeline::resolve::{conditioning, last_states},
    residency::Blocks,
    text::{self, Encoded, Given, TextEncoder, Tokens, VisionTower},
};

/// Text encoders, and what sees images for them.
type Encoders<'a> = (&'a [Used<dyn TextEncoder>], Option<&'a Used<dyn VisionTower>>);

impl Run<'_> {
    /// Encodes the prompt and, if guidance needs it, the negative prompt. Cached prompts are not encoded
    /// again.
    pub(super) fn encode(
        &self,
        stage: usize,
        (encoders, vision): Encoders<'_>,
        denoisers: &[Used<Denoising>],
        dump: &mut Dump,
    ) -> Result<BTreeMap<usize, Vec<Conditioning>>, PipelineError> {
        let prompts = &self.resolved.prompts;
        self.add_ids(encoders, denoisers, dump)?;
        let mut new: Vec<&Prompt> = Vec::new();
        for prompt in prompts {
            if !self.loaded.knows(prompt, denoisers) && !new.contains(&prompt) {
                new.push(prompt);
            }
        }
        let mut fresh: Vec<BTreeMap<usize, Encoded>> = vec![BTreeMap::new(); new.len()];
        let seen = match vision.filter(|_| !new.is_empty()) {
            Some(tower) => self.see(stage, tower, dump)?,
            None => Vec::new(),
        };
        for Used { part, network } in encoders.iter().filter(|_| !new.is_empty()) {
            let (store, executor) = self.enter(stage, *part);
            let tokens: Vec<&Tokens> = new.iter().map(|prompt| &prompt.parts[part]).collect();
            let encoded = self.within_memory(stage, || {
                let there = |image: &Tensor| Ok(nn::Tensor::from(image.to_device(store.device())?));
                let images = seen.iter().map(there).collect::<nn::Result<Vec<_>>>()?;
                let clip_skip = new[0].clip_skip;
                let given = Given { clip_skip, images: &images, states: &last_states(&fresh) };
                text::encode(network.as_ref(), Blocks::stored(&executor, store), &tokens, given)
            })?;
            fresh.iter_mut().zip(encoded).for_each(|(all, encoded)| {
                all.insert(*part, encoded);
            });
        }
        let is_beside = vision.is_some_and(|tower| tower.network.is_beside());
        for (prompt, mut encoded) in new.into_iter().zip(fresh) {
            let mut conditionings = BTreeMap::new();
            for (index, denoiser) in denoisers.iter().enumerate() {
                let there = |image: &Tensor| -> nn::Result<nn::Tensor> {
                    let device = encoded.values().next().map(|encoded| encoded.states.computed());
                    let device = device.transpose()?.map_or(&Device::Cpu, |states| states.device());
                    Ok(nn::Tensor::from(image.to_device(device)?))
                };
                let images = seen.iter().filter(|_| is_beside).map(there).collect::<nn::Result<Vec<_>>>()?;
                let after = &denoisers[index + 1..];
                let conditioning = conditioning(denoiser, after, &mut encoded, (prompt, &images))?;
                conditionings.insert(denoiser.part, conditioning);
            }
            self.loaded.keep_encoded(prompt, &conditionings)?;
        }
        let mut conditionings = BTreeMap::new();
        for (number, denoiser) in denoisers.iter().enumerate() {
            let mut branches = Vec::new();
            for (branch, prompt) in prompts.iter().enumerate() {
                let Some(mut conditioning) = self.loaded.encoded(prompt, denoiser.part)? else { continue };
                if branch >= self.resolved.positive_prompts() && self.request.negative_prompt.is_empty() {
                    conditioning = denoiser.network.denoiser.without_prompt(conditioning)?;
                }
                let name = format!("{}encode_prompt.0.{branch}", self.prefix(number, denoiser.part));
                dump.add(format!("{name}.0"), conditioning.prompt.computed()?)?;
                if let Some(pooled) = &conditioning.pooled {
                    dump.add(format!("{name}.1"), pooled.computed()?)?;
                }
                branches.push(conditioning);
            }
            conditionings.insert(denoiser.part, branches);
        }
        Ok(conditionings)
    }

    /// Records the token ids for every text encoder of every denoiser, one row per chunk. A denoiser's second
    /// encoder is `text_encoder_2`.
    fn add_ids(
        &self,
        encoders: &[Used<dyn TextEncoder>],
        denoisers: &[Used<Denoising>],
        dump: &mut Dump,
    ) -> candle_core::Result<()> {
        for (order, denoiser) in denoisers.iter().enumerate() {
            let read = encoders.iter().filter(|encoder| denoiser.network.reads.contains(&encoder.part));
            for (index, encoder) in read.enumerate() {
                let number = if index == 0 { String::new() } else { format!("_{}", index + 1) };
                let name = format!("{}text_encoder{number}", self.prefix(order, denoiser.part));
                for (branch, prompt) in self.resolved.prompts.iter().enumerate() {
                    let sequences = &prompt.parts[&encoder.part].sequences;
                    let rows: Vec<&[u32]> = sequences.iter().map(|row| row.ids.as_slice()).collect();
                    dump.add_ids(format!("{name}.{branch}.input_ids"), &rows)?;
                }
            }
        }
        Ok(())
    }

    /// Prefix of the names of recorded tensors: empty for the first of several denoisers, the part's name for
    /// the others.
    pub(super) fn prefix(&self, order: usize, part: usize) -> String {
        if order == 0 { String::new() } else { format!("{}.", self.loaded.model.parts[part].name) }
    }
}
