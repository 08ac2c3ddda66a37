//! The noise of a run and its levels.

use std::path::PathBuf;

use candle_core::{Device, Tensor};

use super::{PipelineError, Run};
use crate::{
    checkpoint::{CheckpointError, TensorTable, read_header},
    models::Model,
    pipeline::estimate::encodes,
    request::Request,
    sampling::{self, Guide, NoiseStream},
};

/// The noise of a run before its first step, `[batch, channels, height, width]` of unit variance each.
pub(super) struct Noise {
    /// That of the sample which the source's latents are.
    pub picture: Option<Tensor>,
    /// That which the run starts from.
    pub latents: Tensor,
    /// That of the sample which the masked source's latents are.
    pub masked_picture: Option<Tensor>,
}

impl Run<'_> {
    /// Each picture's noise, in the order in which diffusers draws it, or what a file has in its place.
    pub(super) fn noise(&self) -> Result<Noise, PipelineError> {
        let request = self.request;
        let [channels, height, width] =
            self.loaded.model.denoiser.latents_shape(request.width, request.height);
        let shape = [request.batch as usize, channels, height, width];
        let mut streams = seeds(request);
        let file = self.options.initial_latents.map(|path| stored(path)).transpose()?;
        let mut next = |name: &str| -> Result<Tensor, PipelineError> {
            let drawn = draw(&mut streams, &shape)?;
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
        let encodes = encodes(&self.loaded.model, request);
        Ok(Noise {
            picture: encodes.picture.then(|| next("noise.picture")).transpose()?,
            latents: next(LATENTS)?,
            masked_picture: encodes.masked_picture.then(|| next("noise.masked_picture")).transpose()?,
        })
    }

    /// Each picture's noise after that of [`noise`](Self::noise).
    pub(super) fn streams(&self, shape: &[usize]) -> candle_core::Result<Vec<NoiseStream>> {
        let mut streams = seeds(self.request);
        for _ in 0..=encodes(&self.loaded.model, self.request).count() {
            draw(&mut streams, shape)?;
        }
        Ok(streams)
    }
}

/// What a file has to have in the place of noise.
const LATENTS: &str = "latents";

fn stored(path: &PathBuf) -> Result<(&PathBuf, TensorTable), PipelineError> {
    let wrong = |error: CheckpointError| PipelineError::InitialLatents {
        path: path.clone(),
        reason: error.to_string(),
    };
    Ok((path, read_header(path).map_err(wrong)?))
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
    let mut sigmas = model.training.sigmas(request.schedule, request.steps as usize, tokens);
    // Schedules may have fewer levels than steps.
    let most = sigmas.len().saturating_sub(2);
    sigmas.drain(..(request.steps as usize - model.steps(request)).min(most));
    sigmas
}
