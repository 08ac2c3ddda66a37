//! Previews of the images during a run.

use candle_core::Tensor;

use super::{PipelineError, Run, decode::to_images};
use crate::{
    models::{LatentShape, Task, Used},
    nn,
    output::{Clip, Media},
    pipeline::{estimate::LISTS, preview::Preview, tiny::Tiny},
    residency::RunError,
    vae::{Tiling, TinyDecoderError},
};

/// Sides of the tiles of a tiny decoder, in latents.
const TILES: [usize; 3] = [64, 32, 16];
/// Most pixels of all frames of a decoded preview. Longer clips are shown at a half, a quarter … of the resolution.
const PIXELS: usize = 1 << 21;

/// How a tiny decoder decodes.
struct Decoding<'a> {
    tiny: &'a Tiny,
    tile: usize,
    halvings: usize,
}

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

    /// Converts denoised latents to images, or to clips with a frame for each latent frame. Returns none if the file
    /// of the tiny decoder has become unreadable.
    pub(super) fn preview(
        &self,
        stage: usize,
        part: usize,
        latents: &Tensor,
    ) -> Result<Vec<Media>, PipelineError> {
        let latents = &match self.resolved.frames_before() {
            0 => latents.clone(),
            before => latents.narrow(2, before, latents.dim(2)? - before)?,
        };
        if let Some(decoding) = self.tiny_decoder(stage, part) {
            return match self.moving(latents, |frames| self.decoded(&decoding, frames)) {
                Ok(media) => Ok(media),
                Err(TinyDecoderError::Compute(error)) => Err(RunError::from(error).into()),
                Err(TinyDecoderError::Checkpoint(error)) => {
                    tracing::warn!(%error, "the preview failed");
                    Ok(Vec::new())
                }
            };
        }
        match self.loaded.preview.borrow().as_ref() {
            Some(preview) => Ok(self.moving(latents, |frames| preview.picture(frames))?),
            None => Ok(Vec::new()),
        }
    }

    fn decoded(&self, decoding: &Decoding<'_>, frames: &Tensor) -> Result<Tensor, TinyDecoderError> {
        let Decoding { tiny, tile, halvings } = decoding;
        let mut latents = nn::Tensor::from(frames.clone());
        if let (true, Some(autoencoder)) = (tiny.takes_unscaled, self.loaded.model.autoencoders().next()) {
            latents = autoencoder.network.unscale(&latents)?;
        }
        let tiling = Tiling::with_tile(*tile);
        Ok(tiny.decoder.decode(&latents, Some(tiling), *halvings)?.into_computed()?)
    }

    /// Images, or clips that take as long as those of the run. `picture` makes images `[frames, 3, height, width]` in
    /// 0…1 of latents `[frames, channels, height, width]`.
    fn moving<E: From<candle_core::Error>>(
        &self,
        latents: &Tensor,
        picture: impl Fn(&Tensor) -> Result<Tensor, E>,
    ) -> Result<Vec<Media>, E> {
        let is_clip = latents.rank() == 5;
        let kept = latents.dim(2)?.saturating_sub(1) as f32 / (self.request.frames - 1).max(1) as f32;
        let of_one = |index: usize| {
            let latents = latents.narrow(0, index, 1)?;
            let frames = if is_clip { latents.get(0)?.transpose(0, 1)?.contiguous()? } else { latents };
            let frames = to_images(&picture(&frames)?)?;
            Ok(match is_clip {
                true => vec![Media::Clip(Clip::silent(frames, self.request.frame_rate * kept))],
                false => frames.into_iter().map(Media::Image).collect(),
            })
        };
        let each = (0..latents.dim(0)?).map(of_one).collect::<Result<Vec<_>, E>>()?;
        Ok(each.into_iter().flatten().collect())
    }

    /// The tiny decoder, with the highest resolution of a clip and the largest tile that fit into the memory that the
    /// plan leaves free between two steps: previews do not change the plan.
    fn tiny_decoder(&self, stage: usize, part: usize) -> Option<Decoding<'_>> {
        let tiny = self.loaded.tiny_decoder()?;
        let LatentShape { frames, height, width, .. } = self.resolved.shown_latents(stage)?;
        let decoder = &tiny.decoder;
        let pixels = |halvings: usize| frames * height * width * (decoder.scale() >> halvings).pow(2);
        let halvings = match frames {
            1 => 0..=0,
            _ => 0..=decoder.doublings(),
        };
        let mut shown = halvings.clone().filter(|count| pixels(*count) <= PIXELS || count == halvings.end());
        let free = self.plan.borrow().free_between_walks(stage, part);
        shown.find_map(|halvings| {
            let fits = |tile: &usize| {
                let peak = decoder.peak([frames, height, width], Tiling::with_tile(*tile), halvings);
                peak.is_ok_and(|peak| peak <= free)
            };
            Some(Decoding { tiny, tile: TILES.into_iter().find(fits)?, halvings })
        })
    }
}
