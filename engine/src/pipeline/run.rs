//! One run: prompt, noise, steps, picture.

use std::{path::PathBuf, time::Instant};

use candle_core::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{PipelineError, dump::Dump, placement::residencies, preview::Preview};
use crate::{
    checkpoint::{Component, read_header},
    models::{Conditioning, DenoiserInput, Model},
    output::Image,
    request::{ComputeDtype, Request, Sampler, Schedule},
    residency::{CancelToken, Executor, WeightStore},
    sampling::{Step, euler, heun, randn},
    vae::Tiling,
};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Prompt to embeddings.
    Encode,
    /// Noise to latents.
    Denoise,
    /// Latents to picture.
    Decode,
}

/// Hears how a run goes on.
pub trait Observer {
    /// A stage begins.
    fn stage_started(&mut self, stage: Stage);

    /// A stage is done.
    fn stage_finished(&mut self, stage: Stage, seconds: f64);

    /// A step, counted from 1, is done.
    fn step(&mut self, step: u32, steps: u32, seconds: f64);

    /// The pictures as they look after a step; only called if [`wants_previews`](Self::wants_previews).
    fn preview(&mut self, step: u32, images: Vec<Image>);

    /// Whether previews are to be made.
    fn wants_previews(&self) -> bool;
}

/// The pictures of a run.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// One for each picture of the batch.
    pub images: Vec<Image>,
}

/// What a run needs beside the request.
pub struct RunOptions<'a> {
    /// A safetensors file whose `latents` take the place of the noise.
    pub initial_latents: Option<&'a PathBuf>,
    /// Where the tensors of every stage go.
    pub dump: Option<&'a PathBuf>,
    /// Stops the run.
    pub cancel: CancelToken,
}

/// Latents above this side, in any direction, are decoded in tiles.
const LARGEST_TILE: usize = 96;
const TILE: usize = 64;

/// A model with stores for its weights; it keeps what fits between runs.
pub struct LoadedModel {
    model: Model,
    dtype: ComputeDtype,
    text: WeightStore,
    denoiser: WeightStore,
    autoencoder: WeightStore,
    preview: Option<Preview>,
}

impl LoadedModel {
    /// Places the weights of `model`, given the bytes of memory that are available. Reads none yet.
    ///
    /// The autoencoder is computed in f32 where the rest is in f16, whose range it exceeds.
    pub fn new(model: Model, dtype: ComputeDtype, available: Option<u64>) -> Self {
        let compute = match dtype {
            ComputeDtype::F32 => DType::F32,
            ComputeDtype::Bf16 => DType::BF16,
            ComputeDtype::F16 => DType::F16,
        };
        let pixels = if compute == DType::F16 { DType::F32 } else { compute };
        let [denoiser, autoencoder, text] = residencies(
            [
                (&model.denoiser_component, compute),
                (&model.autoencoder_component, pixels),
                (&model.text.component, compute),
            ],
            available,
        );
        let store = |component: &Component, dtype, residency| {
            WeightStore::new(component.clone(), dtype, Device::Cpu, |_| residency)
        };
        Self {
            text: store(&model.text.component, compute, text),
            denoiser: store(&model.denoiser_component, compute, denoiser),
            autoencoder: store(&model.autoencoder_component, pixels, autoencoder),
            model,
            dtype,
            preview: None,
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The precision of the computation.
    pub fn dtype(&self) -> ComputeDtype {
        self.dtype
    }

    /// Draws the pictures of a request.
    pub fn render(
        &mut self,
        request: &Request,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, PipelineError> {
        request.validate(self.model.denoiser.size_multiple())?;
        let executor = Executor::new(options.cancel.clone());
        let mut dump = Dump::new(options.dump.map(PathBuf::as_path))?;
        let latents = self.initial_latents(request, options)?;
        dump.add("latents.init", &latents)?;

        let branches = timed(observer, Stage::Encode, |_| self.encode(request, &executor, &mut dump))?;
        let latents = timed(observer, Stage::Denoise, |observer| {
            self.denoise(request, &executor, latents, &branches, observer, &mut dump)
        })?;
        let pictures = timed(observer, Stage::Decode, |_| self.decode(&executor, &latents, &mut dump))?;
        dump.write()?;
        self.check_finite(&pictures)?;
        Ok(Rendered { images: to_images(&pictures)? })
    }

    /// Embeds the prompt and, where guidance needs it, the negative prompt.
    fn encode(
        &self,
        request: &Request,
        executor: &Executor,
        dump: &mut Dump,
    ) -> Result<Vec<Conditioning>, PipelineError> {
        let mut prompts = vec![&request.prompt];
        if self.model.denoiser.uses_negative(request.guidance) {
            prompts.push(&request.negative_prompt);
        }
        let mut branches = Vec::new();
        for (branch, prompt) in prompts.into_iter().enumerate() {
            let stage = &self.model.text;
            let ids = stage.tokenizer.encode_chat(prompt, request.max_sequence_length as usize)?;
            dump.add_ids(format!("text_encoder.{branch}.input_ids"), &ids)?;
            let prompt = stage.encoder.penultimate(executor, &self.text, &ids)?;
            dump.add(format!("encode_prompt.0.{branch}.0"), &prompt)?;
            branches.push(Conditioning { prompt });
        }
        Ok(branches)
    }

    fn denoise(
        &mut self,
        request: &Request,
        executor: &Executor,
        latents: Tensor,
        branches: &[Conditioning],
        observer: &mut dyn Observer,
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        if observer.wants_previews() && self.preview.is_none() {
            self.preview = Some(Preview::fit(&self.model.autoencoder, &self.autoencoder, executor)?);
        }
        let sigmas = self.sigmas(request);
        add_schedule(dump, &sigmas)?;
        let denoiser = self.model.denoiser.as_ref();
        let branches = denoiser.prepare(executor, &self.denoiser, branches)?;
        let mut calls = 0;
        let mut outputs_seen: Vec<(String, Tensor)> = Vec::new();
        let model = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            let input = DenoiserInput { latents, sigma };
            let outputs = denoiser.predict(executor, &self.denoiser, &input, &branches)?;
            if calls == 0 {
                outputs_seen = first_call(&outputs)?;
            }
            calls += 1;
            Ok(denoiser.velocity(&outputs, request.guidance)?)
        };
        let mut started = Instant::now();
        let mut latents_seen: Vec<Tensor> = Vec::new();
        let keep_latents = dump.is_recording();
        let after = |step: Step<'_>| -> Result<(), PipelineError> {
            if keep_latents {
                latents_seen.push(step.latents.clone());
            }
            let number = step.index as u32 + 1;
            if let Some(preview) = self.preview.as_ref().filter(|_| observer.wants_previews()) {
                observer.preview(number, to_images(&preview.picture(&step.denoised()?)?)?);
            }
            observer.step(number, request.steps, started.elapsed().as_secs_f64());
            started = Instant::now();
            Ok(())
        };
        let latents = match request.sampler {
            Sampler::Euler => euler(model, latents, &sigmas, after),
            Sampler::Heun => heun(model, latents, &sigmas, after),
        }?;
        for (name, output) in &outputs_seen {
            dump.add(name, output)?;
        }
        for (step, latents) in latents_seen.iter().enumerate() {
            dump.add(format!("step.{step}.latents"), latents)?;
        }
        Ok(latents)
    }

    /// Latents to pictures `[batch, 3, height, width]` in 0…1.
    fn decode(
        &self,
        executor: &Executor,
        latents: &Tensor,
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let latents = self.model.autoencoder.unscale(&latents.to_dtype(self.autoencoder.dtype())?)?;
        dump.add("vae.decode.in", &latents)?;
        let (_, _, height, width) = latents.dims4()?;
        let tiling = (height.max(width) > LARGEST_TILE).then(|| Tiling::with_tile(TILE));
        let pictures = self.model.autoencoder.decode(executor, &self.autoencoder, &latents, tiling)?;
        dump.add("vae.decode.out", &pictures)?;
        let pictures = ((pictures.to_dtype(DType::F32)? / 2.0)? + 0.5)?.clamp(0f32, 1f32)?;
        dump.add("output", &pictures)?;
        Ok(pictures)
    }

    fn sigmas(&self, request: &Request) -> Vec<f32> {
        let multiple = self.model.denoiser.size_multiple();
        let tokens = (request.width / multiple) as usize * (request.height / multiple) as usize;
        let shift = match request.schedule {
            Schedule::Model => self.model.shift.own(tokens),
            Schedule::StaticShift => self.model.shift.constant(),
            Schedule::DynamicShift => self.model.shift.dynamic(tokens),
        };
        shift.sigmas(request.steps as usize)
    }

    /// Noise `[batch, channels, height, width]`: each picture's own seed, so that it can be drawn alone.
    fn initial_latents(&self, request: &Request, options: &RunOptions<'_>) -> Result<Tensor, PipelineError> {
        let [channels, height, width] = self.model.denoiser.latents_shape(request.width, request.height);
        let shape = [request.batch as usize, channels, height, width];
        let Some(path) = options.initial_latents else {
            let noise: Vec<f32> = (0..request.batch)
                .flat_map(|index| randn(request.seed.wrapping_add(index.into()), channels * height * width))
                .collect();
            return Ok(Tensor::from_vec(noise, &shape, &Device::Cpu)?);
        };
        let wrong = |reason: String| PipelineError::InitialLatents { path: path.clone(), reason };
        let tensors = read_header(path).map_err(|error| wrong(error.to_string()))?;
        let stored = tensors.get("latents").ok_or_else(|| wrong("it has no tensor latents".to_owned()))?;
        if stored.shape() != shape {
            return Err(wrong(format!("their shape is {:?} and {shape:?} is needed", stored.shape())));
        }
        Ok(stored.load(DType::F32, &Device::Cpu)?)
    }

    fn check_finite(&self, pictures: &Tensor) -> Result<(), PipelineError> {
        let sum = pictures.sum_all()?.to_scalar::<f32>()?;
        if sum.is_finite() { Ok(()) } else { Err(PipelineError::NotFinite { dtype: self.dtype.name() }) }
    }
}

fn timed<T>(
    observer: &mut dyn Observer,
    stage: Stage,
    work: impl FnOnce(&mut dyn Observer) -> Result<T, PipelineError>,
) -> Result<T, PipelineError> {
    observer.stage_started(stage);
    let started = Instant::now();
    let result = work(observer)?;
    observer.stage_finished(stage, started.elapsed().as_secs_f64());
    Ok(result)
}

/// The outputs of a call by their names in the reference: one for each branch and picture, with a frame axis.
fn first_call(outputs: &[Tensor]) -> candle_core::Result<Vec<(String, Tensor)>> {
    let mut named = Vec::new();
    for output in outputs {
        for index in 0..output.dim(0)? {
            named.push((format!("transformer.0.out.0.{}", named.len()), output.get(index)?.unsqueeze(1)?));
        }
    }
    Ok(named)
}

fn add_schedule(dump: &mut Dump, sigmas: &[f32]) -> candle_core::Result<()> {
    let timesteps: Vec<f32> = sigmas[..sigmas.len() - 1].iter().map(|sigma| sigma * 1000.0).collect();
    dump.add("scheduler.sigmas", &Tensor::new(sigmas, &Device::Cpu)?)?;
    dump.add("scheduler.timesteps", &Tensor::new(timesteps.as_slice(), &Device::Cpu)?)
}

/// Pictures `[batch, 3, height, width]` in 0…1 to bytes, rounded half to even as the reference does.
fn to_images(pictures: &Tensor) -> candle_core::Result<Vec<Image>> {
    let (batch, _, height, width) = pictures.dims4()?;
    let rows = pictures.permute((0, 2, 3, 1))?.contiguous()?;
    (0..batch)
        .map(|index| {
            let values = rows.get(index)?.flatten_all()?.to_vec1::<f32>()?;
            let pixels = values.iter().map(|value| (value * 255.0).round_ties_even() as u8).collect();
            Ok(Image { width: width as u32, height: height as u32, pixels })
        })
        .collect()
}
