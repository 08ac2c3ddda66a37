//! Hires fix: between two passes, what was made is enlarged and becomes what the second pass starts from.

use candle_core::Tensor;

use super::{
    Dump, Made, PipelineError, Run,
    source::{Original, sample},
    upscale::finished,
};
use crate::{
    hardware::unmetered,
    models::{Denoise, LatentShape, Used},
    output::Media,
    sampling::enlarged,
    source::tensor_of,
    upscale::Upscaler,
    vae::Autoencoder,
};

impl Run<'_> {
    /// Enlarges decoded images to a width and height.
    pub(super) fn enlarge_images(
        &self,
        stage: usize,
        used: &Used<dyn Upscaler>,
        size: [u32; 2],
        media: Vec<Media>,
    ) -> Result<Vec<Media>, PipelineError> {
        let (store, executor) = self.enter(stage, used.part);
        let mut larger = Vec::with_capacity(media.len());
        for media in media {
            let Media::Image(image) = media else { continue };
            let (canvas, is_finite) = self.within_memory(stage, || {
                self.enlarged(stage, used, &image, (store, &executor), &mut |_, _| {})
            })?;
            if !is_finite {
                return Err(PipelineError::NotFinite { dtype: self.loaded.dtype().name() });
            }
            larger.push(Media::Image(unmetered(|| finished(canvas, &image, size))));
        }
        Ok(larger)
    }

    /// Encodes enlarged images, each with noise of its own, as image to image encodes its input image. Returns their
    /// latents, in this shape, and the noise of the second pass.
    pub(super) fn encode_enlarged(
        &self,
        stage: usize,
        used: &Used<dyn Autoencoder>,
        (shape, media): (LatentShape, Vec<Media>),
        dump: &mut Dump,
    ) -> Result<(Original, Tensor), PipelineError> {
        let (samples, noise) = self.noise_again(shape, used.network.is_sampled())?;
        let images = media.into_iter().filter_map(|media| match media {
            Media::Image(image) => Some(image),
            Media::Clip(_) => None,
        });
        let mut latents = Vec::new();
        for (index, image) in images.enumerate() {
            let picture = tensor_of(&image, |_| true)?;
            let moments = self.moments(stage, used, &picture)?;
            dump.add(format!("vae.encode.{index}.in"), &picture)?;
            dump.add(format!("vae.encode.{index}.mean"), &moments.0)?;
            drop(picture);
            let sampled = samples.as_ref().map(|samples| samples.narrow(0, index, 1)).transpose()?;
            latents.push(sample(used.network.as_ref(), moments, sampled.as_ref())?);
        }
        let latents = match latents.len() {
            1 => latents.remove(0),
            _ => Tensor::cat(&latents, 0)?,
        };
        dump.add("source.latents", &latents)?;
        Ok((Original::of_latents(latents), noise))
    }

    /// Makes what the first pass ended with what the second one starts from: enlarged latents and new noise. Does nothing
    /// if the images were decoded and enlarged.
    pub(super) fn enlarge_latents(&self, denoise: &Denoise, made: &mut Made) -> Result<(), PipelineError> {
        let Some(latents) = made.latents.take() else { return Ok(()) };
        let shape = denoise.denoiser.network.denoiser.latents(denoise.canvas);
        let latents = enlarged(&latents.contiguous()?, [shape.height, shape.width])?;
        made.original = Original::of_latents(latents);
        made.noise = Some(self.noise_again(shape, false)?.1);
        Ok(())
    }
}
