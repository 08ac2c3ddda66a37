//! Makes tokens of images for IP-Adapters.

use candle_core::{Device, Tensor};

use super::{Dump, PipelineError, Run};
use crate::{
    checkpoint::FileStamp,
    hardware::unmetered,
    models::{Denoise, ImageTokens, Used},
    nn,
    pipeline::loaded::PromptImages,
    residency::Blocks,
    source::{middle_square, normalized},
    text::{CLIP_SPREAD, ImagePrompter},
};

impl Run<'_> {
    /// Makes tokens of the images of each IP-Adapter, once for the whole batch. Those of the same images are not made again.
    pub(super) fn prompt_images(
        &self,
        stage: usize,
        prompters: &[Used<ImagePrompter>],
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        for (number, (prompter, wanted)) in prompters.iter().zip(self.prompt_files(prompters)).enumerate() {
            let known = self.loaded.image_tokens(&wanted);
            let tokens = match known {
                Some(tokens) => tokens,
                None => self.tokens_of(stage, prompter, &wanted)?,
            };
            for (branch, tokens) in tokens.iter().enumerate() {
                dump.add(format!("image_prompt.{number}.{branch}"), tokens)?;
            }
            self.loaded.keep_image_tokens(&wanted, &tokens)?;
            self.image_tokens.borrow_mut().push(tokens);
        }
        Ok(())
    }

    /// The first part that has to make tokens of images.
    pub(super) fn first_prompter(&self, prompters: &[Used<ImagePrompter>]) -> Option<usize> {
        let new = |wanted: &PromptImages| self.loaded.image_tokens(wanted).is_none();
        self.prompt_files(prompters).find(new).map(|wanted| wanted.part)
    }

    fn prompt_files<'b>(
        &'b self,
        prompters: &'b [Used<ImagePrompter>],
    ) -> impl Iterator<Item = PromptImages> + 'b {
        prompters.iter().zip(&self.request.image_prompts).map(|(prompter, prompt)| PromptImages {
            part: prompter.part,
            files: prompt.images.iter().map(|image| FileStamp::of(image)).collect(),
            is_guided: self.resolved.is_guided(),
        })
    }

    /// The tokens of each guidance branch, in RAM.
    fn tokens_of(
        &self,
        stage: usize,
        Used { part, network }: &Used<ImagePrompter>,
        wanted: &PromptImages,
    ) -> Result<Vec<Tensor>, PipelineError> {
        let side = network.side() as u32;
        let images = unmetered(|| -> Result<Vec<_>, PipelineError> {
            let each = wanted.files.iter().map(|file| Ok(middle_square(file.path(), side)?));
            each.collect()
        })?;
        let images = normalized(&images, CLIP_SPREAD)?;
        let (store, executor) = self.enter(stage, *part);
        self.within_memory(stage, || {
            let images = images.to_device(store.device())?.into();
            let tokens = network.encode(Blocks::stored(&executor, store), &images, wanted.is_guided)?;
            let here = |tokens: &nn::Tensor| tokens.computed()?.to_device(&Device::Cpu)?.copy();
            Ok(tokens.iter().map(here).collect::<candle_core::Result<_>>()?)
        })
    }

    /// What a denoiser reads of images through its IP-Adapters, on a device.
    pub(super) fn seen_images(
        &self,
        denoise: &Denoise,
        device: &Device,
    ) -> Result<Vec<ImageTokens>, PipelineError> {
        let adapters = denoise.denoiser.network.denoiser.ip_adapters().unwrap_or(0);
        let (tokens, prompts) = (self.image_tokens.borrow(), self.request.image_prompts.iter());
        let each = prompts.take(adapters).zip(tokens.iter()).map(|(prompt, branches)| {
            let there = |tokens: &Tensor| Ok(nn::Tensor::from(tokens.to_device(device)?));
            let branches = branches.iter().map(there).collect::<nn::Result<Vec<_>>>()?;
            Ok(ImageTokens {
                branches: self.resolved.for_each_prompt(&branches),
                weight: prompt.weight,
                levels: prompt.levels(&denoise.steps.sigmas),
            })
        });
        each.collect()
    }
}
