//! The work of making tokens of images for IP-Adapters.

use super::{Estimator, LISTS};
use crate::{
    memory::{PartUse, Work},
    models::{Denoise, ImageTokens, Used},
    nn::{DType, Tensor},
    pipeline::PipelineError,
    text::ImagePrompter,
};

impl Estimator<'_> {
    /// The work of each image encoder, and the tokens of each guidance branch.
    pub(super) fn prompt_images(
        &self,
        prompters: &[Used<ImagePrompter>],
    ) -> Result<(Vec<PartUse>, Vec<Vec<Tensor>>), PipelineError> {
        let (mut uses, mut tokens) = (Vec::new(), Vec::new());
        let prompts = &self.resolved.request.image_prompts;
        for (Used { part, network }, prompt) in prompters.iter().zip(prompts) {
            let (blocks, side) = (self.blocks(*part), network.side());
            let images = self.trace.tensor(&[prompt.images.len(), 3, side, side], DType::F32);
            tokens.push(network.encode(blocks.blocks(), &images, self.resolved.is_guided())?);
            let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
            uses.push(PartUse { part: *part, ways: vec![work] });
        }
        Ok((uses, tokens))
    }

    /// What a denoiser reads of images through its IP-Adapters.
    pub(super) fn image_tokens(&self, denoise: &Denoise, tokens: &[Vec<Tensor>]) -> Vec<ImageTokens> {
        let adapters = denoise.denoiser.network.denoiser.ip_adapters().unwrap_or(0);
        let prompts = self.resolved.request.image_prompts.iter().take(adapters);
        let each = prompts.zip(tokens).map(|(prompt, branches)| ImageTokens {
            branches: self.resolved.for_each_prompt(branches),
            weight: prompt.weight,
            levels: prompt.levels(&denoise.steps.sigmas),
        });
        each.collect()
    }
}
