//! Decodes latents to images and clips.

use std::sync::Arc;

use candle_core::{Device, Tensor};

use super::{Dump, PipelineError, Run, clip::Decoded};
use crate::{
    hardware::unmetered,
    models::Used,
    output::{Image, Media},
    pipeline::{dump::aside, image_work::finish},
    residency::Blocks,
    vae::Autoencoder,
};

impl Run<'_> {
    /// Decodes latents one image or clip at a time, so that only the activations of one are in memory.
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
            if latents.rank() == 5 {
                let used = Used { part: *part, network: Arc::clone(autoencoder) };
                let Decoded { media, values } =
                    self.decode_clip(stage, &used, &latents, dump.is_recording())?;
                if let Some(values) = values {
                    finished.push(unmetered(|| finish(values.clone().into())?.into_computed())?);
                    decoded.push(values);
                }
                made.push(media);
                continue;
            }
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
            made.extend(to_images(&scaled)?.into_iter().map(Media::Image));
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
        if let Some(given) = self.given.borrow().as_ref() {
            let join = |media| match media {
                Media::Clip(clip) => Media::Clip(given.joined(clip)),
                image => image,
            };
            made = unmetered(|| made.into_iter().map(join).collect());
        }
        Ok(made)
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

/// The byte of a value in 0…1. Values between two bytes are rounded half to even, as in the reference.
pub(super) fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
}

/// Channels of an image.
const COLOURS: usize = 3;

/// Converts pixels `[batch, 3, height, width]` in 0…1 to images with bytes in 0…255. Values outside are
/// clamped. With a fourth channel, their opacity, they are laid over white.
pub(super) fn to_images(pixels: &Tensor) -> candle_core::Result<Vec<Image>> {
    let (batch, channels, height, width) = pixels.dims4()?;
    (0..batch)
        .map(|index| {
            let values = pixels.get(index)?.flatten_all()?.to_vec1::<f32>()?;
            let plane = height * width;
            let value = |place: usize, channel: usize| {
                let colour = values[channel * plane + place];
                if channels == COLOURS {
                    return colour;
                }
                let opacity = values[COLOURS * plane + place].clamp(0.0, 1.0);
                colour.clamp(0.0, 1.0) * opacity + (1.0 - opacity)
            };
            let bytes = (0..plane)
                .flat_map(|place| (0..COLOURS).map(move |channel| (place, channel)))
                .map(|(place, channel)| byte(value(place, channel)));
            let pixels = unmetered(|| bytes.collect());
            Ok(Image::opaque(width as u32, height as u32, pixels))
        })
        .collect()
}
