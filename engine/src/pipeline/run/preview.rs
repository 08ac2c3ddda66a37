//! Previews of the images during a run.

use candle_core::Tensor;

use super::{PipelineError, Run, decode::to_images};
use crate::{
    models::{LatentShape, Task, Used},
    output::{Clip, Media},
    pipeline::{estimate::LISTS, preview::Preview},
    residency::RunError,
    vae::{Tiling, TinyDecoder, TinyDecoderError},
};

/// Sides of the tiles of a tiny decoder, in latents.
const TILES: [usize; 3] = [64, 32, 16];

impl Run<'_> {
    /// Fits the map for previews, once per model, unless there is a tiny decoder. This may use as much memory
    /// as decoding is predicted to need beside what is in memory already. If that is not enough, there are no
    /// previews.
    pub(super) fn fit_preview(&self) -> Result<(), PipelineError> {
        let wanted = self.observer.borrow().wants_previews() && self.loaded.preview.borrow().is_none();
        let first = self.resolved.denoises().next().filter(|_| wanted);
        let Some((stage, denoise)) = first else { return Ok(()) };
        if self.tiny_decoder(stage, denoise.denoiser.part).is_some() {
            return Ok(());
        }
        let decode = self.resolved.stages.iter().enumerate().find_map(|(number, task)| match task {
            Task::Decode { autoencoder } => Some((number, autoencoder)),
            _ => None,
        });
        let Some((stage, Used { part, network })) = decode else { return Ok(()) };
        let autoencoder = network.as_ref();
        let (store, executor) = self.enter(stage, *part);
        let planned = self.plan.borrow().plan.stages[stage].activations;
        let held = self.loaded.account.holdings().activations + LISTS;
        let free = planned.saturating_sub(held);
        let computes = self.options.target.computes();
        let Some(side) = Preview::side(autoencoder, store, free, computes)? else {
            tracing::warn!(free, "not enough memory for previews");
            return Ok(());
        };
        let preview = self.within_memory(stage, || Preview::fit(autoencoder, store, &executor, side))?;
        *self.loaded.preview.borrow_mut() = Some(preview);
        self.note_peaks(stage);
        Ok(())
    }

    /// Converts denoised latents to images, or to clips with a frame for each latent frame. A tiny decoder makes an
    /// image of the frame in the middle. Returns none if its file has become unreadable.
    pub(super) fn preview(
        &self,
        stage: usize,
        part: usize,
        latents: &Tensor,
    ) -> Result<Vec<Media>, PipelineError> {
        let Some((decoder, tile)) = self.tiny_decoder(stage, part) else {
            return match self.loaded.preview.borrow().as_ref() {
                Some(preview) => Ok(self.moving(preview, latents)?),
                None => Ok(Vec::new()),
            };
        };
        let latents = &match latents.rank() {
            5 => latents.narrow(2, latents.dim(2)? / 2, 1)?.squeeze(2)?,
            _ => latents.clone(),
        };
        let mut images = Vec::new();
        for index in 0..latents.dim(0)? {
            let latents = latents.narrow(0, index, 1)?.into();
            match decoder.decode(&latents, Some(Tiling::with_tile(tile))) {
                Ok(image) => images.extend(to_images(image.computed()?)?),
                Err(TinyDecoderError::Compute(error)) => return Err(RunError::from(error).into()),
                Err(TinyDecoderError::Checkpoint(error)) => {
                    tracing::warn!(%error, "the preview failed");
                    return Ok(Vec::new());
                }
            }
        }
        Ok(images.into_iter().map(Media::Image).collect())
    }

    /// Images, or clips that take as long as those of the run.
    fn moving(&self, preview: &Preview, latents: &Tensor) -> candle_core::Result<Vec<Media>> {
        if latents.rank() == 4 {
            return Ok(to_images(&preview.picture(latents)?)?.into_iter().map(Media::Image).collect());
        }
        let kept = (latents.dim(2)? - 1) as f32 / (self.request.frames - 1).max(1) as f32;
        let clip = |index: usize| {
            let frames = latents.get(index)?.transpose(0, 1)?;
            let frames = to_images(&preview.picture(&frames)?)?;
            Ok(Media::Clip(Clip::silent(frames, self.request.frame_rate * kept)))
        };
        (0..latents.dim(0)?).map(clip).collect()
    }

    /// The tiny decoder, with the largest tile that fits into the memory that the plan leaves free between
    /// two steps: previews do not change the plan.
    fn tiny_decoder(&self, stage: usize, part: usize) -> Option<(&TinyDecoder, usize)> {
        let decoder = self.loaded.tiny_decoder()?;
        let LatentShape { height, width, .. } = self.resolved.latents(stage)?;
        let free = self.plan.borrow().free_between_walks(stage, part);
        let fits = |tile: &usize| decoder.peak([height, width], *tile).is_ok_and(|peak| peak <= free);
        let tile = TILES.into_iter().find(fits)?;
        Some((decoder, tile))
    }
}
