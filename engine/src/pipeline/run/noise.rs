//! The noise of a run and its levels.

use candle_core::{Device, Tensor};

use super::{PipelineError, Run};
use crate::{
    checkpoint::read_header,
    models::Model,
    request::Request,
    sampling::{self, Guide, NoiseStream},
};

impl Run<'_> {
    /// Noise `[batch, channels, height, width]` of unit variance: each picture's own seed, so that it can be drawn alone.
    pub(super) fn initial_latents(&self) -> Result<Tensor, PipelineError> {
        let request = self.request;
        let denoiser = &self.loaded.model.denoiser;
        let [channels, height, width] = denoiser.latents_shape(request.width, request.height);
        let shape = [request.batch as usize, channels, height, width];
        let Some(path) = self.options.initial_latents else {
            return Ok(draw(&mut seeds(request), &shape)?);
        };
        let wrong = |reason: String| PipelineError::InitialLatents { path: path.clone(), reason };
        let tensors = read_header(path).map_err(|error| wrong(error.to_string()))?;
        let stored = tensors.get("latents").ok_or_else(|| wrong("it has no tensor latents".to_owned()))?;
        if stored.shape() != shape {
            return Err(wrong(format!("their shape is {:?} and {shape:?} is needed", stored.shape())));
        }
        Ok(stored.load(&Device::Cpu)?)
    }

    /// Each picture's noise after that which it starts from.
    pub(super) fn streams(&self, shape: &[usize]) -> candle_core::Result<Vec<NoiseStream>> {
        let mut streams = seeds(self.request);
        draw(&mut streams, shape)?;
        Ok(streams)
    }
}

/// The noise of each picture of the batch: its own seed, so that it can be drawn alone.
fn seeds(request: &Request) -> Vec<NoiseStream> {
    (0..request.batch).map(|index| NoiseStream::new(request.seed.wrapping_add(index.into()))).collect()
}

/// The next draw of each stream, side by side.
pub(super) fn draw(streams: &mut [NoiseStream], shape: &[usize]) -> candle_core::Result<Tensor> {
    let each = shape.iter().skip(1).product();
    let noise: Vec<f32> = streams.iter_mut().flat_map(|stream| stream.draw(each)).collect();
    Tensor::from_vec(noise, shape, &Device::Cpu)
}

/// The noise levels at which a request calls the model.
pub fn evaluated(model: &Model, request: &Request, sigmas: &[f32]) -> Vec<f32> {
    sampling::evaluated(request.sampler, model.training.mixing(), sigmas)
}

/// The noise levels of all calls of the model, in their order.
pub fn called(model: &Model, request: &Request, sigmas: &[f32]) -> Vec<f32> {
    sampling::called(request.sampler, model.training.mixing(), sigmas)
}

/// The guidance of a request.
pub fn guide(model: &Model, request: &Request, sigmas: &[f32]) -> Guide {
    Guide::new(model.denoiser.guidance_weight(request), &request.guiding, sigmas)
}

/// The noise levels of a request's steps, and the one that the last ends at.
pub fn sigmas(model: &Model, request: &Request) -> Vec<f32> {
    let multiple = model.denoiser.size_multiple();
    let tokens = (request.width / multiple) as usize * (request.height / multiple) as usize;
    model.training.sigmas(request.schedule, request.steps as usize, tokens)
}
