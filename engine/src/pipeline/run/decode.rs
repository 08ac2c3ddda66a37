//! Decodes latents to images.

use candle_core::{Device, Error, Tensor};

use super::{Dump, PipelineError, Run};
use crate::{
    hardware::unmetered,
    models::Used,
    output::{Clip, Image, Media},
    pipeline::{dump::aside, estimate::finish},
    residency::Blocks,
    vae::Autoencoder,
};

impl Run<'_> {
    /// Decodes latents one image at a time, so that only one image's activations are in memory.
    pub(super) fn decode(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        latents: &Tensor,
        dump: &mut Dump,
    ) -> Result<Vec<Media>, PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        let latents = autoencoder.unscale(&latents.to_dtype(store.dtype())?.into())?.into_computed()?;
        dump.add("vae.decode.in", &latents)?;
        let (mut decoded, mut finished) = (Vec::new(), Vec::new());
        let mut made = Vec::new();
        for index in 0..latents.dim(0)? {
            let latents = latents.narrow(0, index, 1)?;
            let image = self.within_memory(stage, || {
                let latents = latents.to_device(store.device())?.into();
                let blocks = Blocks::stored(&executor, store);
                let image = autoencoder.decode(blocks, &latents, self.tiling(stage, *part))?;
                Ok(image.into_computed()?.to_device(&Device::Cpu)?)
            })?;
            let scaled = finish(image.clone().into())?.into_computed()?;
            if dump.is_recording() {
                finished.push(aside(&scaled)?);
                decoded.push(aside(&image)?);
            }
            drop(image);
            self.check_finite(&scaled)?;
            made.push(self.media(&scaled)?);
        }
        if dump.is_recording() {
            let join = |parts: &[Tensor]| unmetered(|| Tensor::cat(parts, 0));
            dump.add("vae.decode.out", &join(&decoded)?)?;
            dump.add("output", &unmetered(|| join(&finished)?.clamp(0f32, 1f32))?)?;
        }
        if let Some(source) = &self.source {
            let frames = made.iter_mut().flat_map(Media::frames_mut);
            unmetered(|| frames.for_each(|frame| source.restore(frame)));
        }
        Ok(made)
    }

    /// Converts pixels `[1, 3, height, width]`, or `[1, 3, frames, height, width]` for a clip, in 0…1.
    fn media(&self, pixels: &Tensor) -> candle_core::Result<Media> {
        if pixels.rank() == 4 {
            let mut images = to_images(pixels)?;
            return images.pop().map(Media::Image).ok_or_else(|| Error::msg("nothing was decoded"));
        }
        let frames = to_images(&pixels.squeeze(0)?.transpose(0, 1)?)?;
        Ok(Media::Clip(Clip { frames, rate: self.request.frame_rate }))
    }

    fn check_finite(&self, image: &Tensor) -> Result<(), PipelineError> {
        let sum = image.sum_all()?.to_scalar::<f32>()?;
        if sum.is_finite() {
            Ok(())
        } else {
            Err(PipelineError::NotFinite { dtype: self.loaded.dtype().name() })
        }
    }
}

/// Converts pixels `[batch, 3, height, width]` in 0…1 to images with bytes in 0…255. Values outside are
/// clamped, and values between two bytes are rounded half to even as in the reference.
pub(super) fn to_images(pixels: &Tensor) -> candle_core::Result<Vec<Image>> {
    let (batch, channels, height, width) = pixels.dims4()?;
    (0..batch)
        .map(|index| {
            let values = pixels.get(index)?.flatten_all()?.to_vec1::<f32>()?;
            let plane = height * width;
            let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8;
            let bytes = (0..plane)
                .flat_map(|place| (0..channels).map(move |channel| channel * plane + place))
                .map(|place| byte(values[place]));
            let pixels = unmetered(|| bytes.collect());
            Ok(Image { width: width as u32, height: height as u32, pixels })
        })
        .collect()
}
