//! The noise of a run.

use std::{cell::RefCell, path::PathBuf};

use candle_core::{Device, Tensor};

use super::{PipelineError, Run};
use crate::{
    checkpoint::{CheckpointError, TensorTable, read_header},
    hardware::unmetered,
    models::{GivenFrames, LatentShape, Task},
    request::{Request, Variation},
    sampling::{NoiseStream, slerp},
};

/// The initial noise of a run, with unit variance, in the shape of its latents.
pub(super) struct Noise {
    /// The initial latents.
    pub latents: Tensor,
    /// The noise for samples of the input image's latents.
    pub images: ImageNoise,
}

/// The noise for samples of the input image's latents.
#[derive(Default)]
pub(super) struct ImageNoise {
    /// For the whole image.
    pub whole: Option<Tensor>,
    /// For the masked image.
    pub masked: Option<Tensor>,
    /// For the frames of a clip.
    pub clip: Option<Tensor>,
    /// For each image at a later frame.
    pub later: Vec<Tensor>,
}

impl Run<'_> {
    /// The noise of each image, in the order in which diffusers draws it, or the tensors of a file.
    pub(super) fn noise(&self) -> Result<Noise, PipelineError> {
        let later = self.resolved.clip().map_or(0, |clip| clip.later);
        let shape = self.resolved.latents(0).map(|shape| {
            let own = LatentShape { frames: shape.frames - later, ..shape };
            own.dims(self.request.batch as usize)
        });
        let shape = shape.unwrap_or_default();
        let file = self.options.initial_latents.map(|path| stored(path)).transpose()?;
        let varied = RefCell::new(varied(self.request));
        let next = |name: &str, shape: &[usize]| -> Result<Tensor, PipelineError> {
            let drawn = self.draw_varied(&mut varied.borrow_mut(), name == LATENTS, shape)?;
            let Some((path, tensors)) = &file else { return Ok(drawn) };
            let wrong = |reason: String| PipelineError::InitialLatents { path: (*path).clone(), reason };
            match tensors.get(name) {
                Some(stored) if stored.shape() == shape => Ok(stored.load(&Device::Cpu)?),
                Some(stored) => {
                    let found = stored.shape();
                    Err(wrong(format!("{name} has shape {found:?} instead of {shape:?}")))
                }
                None if name == LATENTS => Err(wrong(format!("it has no tensor named {name}"))),
                None => Ok(drawn),
            }
        };
        let own = &self.resolved.stages[self.resolved.range(None)];
        let images = own.iter().find_map(|task| match task {
            Task::EncodeImage { autoencoder, images, .. } => Some((autoencoder, *images)),
            _ => None,
        });
        let sampled = images.filter(|(autoencoder, _)| autoencoder.network.is_sampled());
        let whole = sampled.filter(|(_, images)| images.whole);
        let whole = whole.map(|_| next("noise.picture", &shape)).transpose()?;
        let clip = sampled.and_then(|(autoencoder, images)| Some((autoencoder, images.clip?)));
        // The pipeline of networks whose frames are renoised draws the noise of the run first.
        let is_renoised = clip.is_some_and(|(_, clip)| clip.shown == GivenFrames::Renoised);
        let first = is_renoised.then(|| next(LATENTS, &shape)).transpose()?;
        let of_clip = clip.filter(|(_, clip)| clip.count > 0).map(|(autoencoder, clip)| {
            let mut shape = shape.clone();
            shape[2] = 1 + (clip.count - 1) / autoencoder.network.frames_per_latent();
            next("noise.picture", &shape)
        });
        let of_clip = of_clip.transpose()?;
        let of_later = clip.map_or(0, |(_, clip)| clip.later);
        let of_later = (0..of_later).map(|_| {
            let mut shape = shape.clone();
            shape[2] = 1;
            let sample = self.draw(&shape)?;
            // The pipeline draws noise for images that are given only in part.
            self.draw(&shape)?;
            Ok(sample)
        });
        let of_later = of_later.collect::<candle_core::Result<_>>()?;
        let latents = first.map_or_else(|| next(LATENTS, &shape), Ok)?;
        let latents = if later > 0 { latents.pad_with_zeros(FRAMES, later, 0)? } else { latents };
        let masked = sampled.filter(|(_, images)| images.masked);
        let masked = masked.map(|_| next("noise.masked_picture", &shape)).transpose()?;
        Ok(Noise { latents, images: ImageNoise { whole, masked, clip: of_clip, later: of_later } })
    }

    /// The noise of a second pass, drawn from the seeds again as image to image does: for samples of encoded images, if
    /// there are any, and for the latents, in the shape of those.
    pub(super) fn noise_again(
        &self,
        shape: LatentShape,
        is_sampled: bool,
    ) -> Result<(Option<Tensor>, Tensor), PipelineError> {
        *self.streams.borrow_mut() = unmetered(|| seeds(self.request));
        let (shape, mut varied) = (shape.dims(self.request.batch as usize), varied(self.request));
        let samples = is_sampled.then(|| self.draw_varied(&mut varied, false, &shape)).transpose()?;
        Ok((samples, self.draw_varied(&mut varied, true, &shape)?))
    }

    /// Draws the next noise, turned towards that of the other seeds if `is_turned`.
    fn draw_varied(
        &self,
        varied: &mut Option<Varied>,
        is_turned: bool,
        shape: &[usize],
    ) -> candle_core::Result<Tensor> {
        let drawn = self.draw(shape)?;
        let Some(Varied { streams, strength }) = varied else { return Ok(drawn) };
        // Both draw the same, so that a strength of 1 is the image of the other seed.
        let other = draw(streams, shape)?;
        if is_turned { slerp(*strength, &drawn, &other) } else { Ok(drawn) }
    }

    /// Draws the next noise of each image, concatenated along the batch.
    pub(super) fn draw(&self, shape: &[usize]) -> candle_core::Result<Tensor> {
        draw(&mut self.streams.borrow_mut(), shape)
    }

    /// The same for a clip `[batch, channels, frames, height, width]`, drawn latent by latent and not channel by channel.
    pub(super) fn draw_tokens(&self, shape: &[usize]) -> candle_core::Result<Tensor> {
        let (batch, channels) = (shape[0], shape[1]);
        let tokens = self.draw(&[batch, shape[2..].iter().product(), channels])?;
        tokens.transpose(1, 2)?.contiguous()?.reshape(shape)
    }
}

/// The axis of frames in latents of clips.
const FRAMES: usize = 2;
/// The file's tensor that replaces the initial noise.
const LATENTS: &str = "latents";

fn stored(path: &PathBuf) -> Result<(&PathBuf, TensorTable), PipelineError> {
    let wrong = |error: CheckpointError| PipelineError::InitialLatents {
        path: path.clone(),
        reason: error.to_string(),
    };
    Ok((path, read_header(path).map_err(wrong)?))
}

/// The noise generator of each image of the batch. Each has its own seed, so that the image can also be
/// generated alone.
pub(super) fn seeds(request: &Request) -> Vec<NoiseStream> {
    (0..request.batch).map(|index| NoiseStream::new(request.alone(index).seed)).collect()
}

/// The generators of the noise that the first noise is turned towards, and how far.
struct Varied {
    streams: Vec<NoiseStream>,
    strength: f32,
}

fn varied(request: &Request) -> Option<Varied> {
    let Variation { strength, .. } = request.variation.filter(Variation::is_felt)?;
    let other = |index| request.alone(index).variation.map(|variation| NoiseStream::new(variation.seed));
    Some(Varied { streams: (0..request.batch).filter_map(other).collect(), strength })
}

fn draw(streams: &mut [NoiseStream], shape: &[usize]) -> candle_core::Result<Tensor> {
    let each = shape.iter().skip(1).product();
    let noise: Vec<f32> = streams.iter_mut().flat_map(|stream| stream.draw(each)).collect();
    Tensor::from_vec(noise, shape, &Device::Cpu)
}
