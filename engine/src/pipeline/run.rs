//! One run: prompt, noise, steps, picture.

use std::{cell::RefCell, path::PathBuf, time::Instant};

use candle_core::{DType, Device, Tensor};

use super::{
    LoadedModel, PipelineError, PlannedRun, Target,
    dump::{Dump, aside},
    estimate,
    preview::Preview,
};
use crate::{
    checkpoint::read_header,
    hardware::unmetered,
    memory::{MemoryPreferences, Stage},
    models::{Conditioning, DenoiserInput, Model, PrepareInput, Prompt},
    output::Image,
    request::{Request, Schedule},
    residency::{CancelToken, Executor, RunError, WeightStore},
    sampling::{self, Levels, Mixing, NoiseStream, Step, Walk},
    telemetry::{Recorder, StepRecord, TelemetryEvent},
    text::Encoded,
    vae::Tiling,
};

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

    /// The run goes on under another plan; why, in words.
    fn replanned(&mut self, reason: &str);
}

/// The pictures of a run.
pub struct Rendered {
    /// One for each picture of the batch.
    pub images: Vec<Image>,
    /// What was planned and measured.
    pub planned: PlannedRun,
}

/// What a run needs beside the request.
pub struct RunOptions<'a> {
    /// A safetensors file whose `latents` take the place of the noise.
    pub initial_latents: Option<&'a PathBuf>,
    /// Where the tensors of every stage go.
    pub dump: Option<&'a PathBuf>,
    /// Stops the run.
    pub cancel: CancelToken,
    /// How memory is used.
    pub memory: &'a MemoryPreferences,
    /// What the run may take of the machine.
    pub target: &'a Target,
    /// What past runs say activations have to be multiplied by.
    pub activation_factor: f64,
    /// Who is told what happens.
    pub recorder: Recorder,
}

impl LoadedModel {
    /// Draws the pictures of a request under the best plan for it.
    pub fn render(
        &self,
        request: &Request,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, PipelineError> {
        request.validate(self.model.denoiser.size_multiple())?;
        let mut dump = Dump::new(options.dump.map(PathBuf::as_path))?;
        let prompts = unmetered(|| estimate::prompts(&self.model, request))?;
        let sigmas = sigmas(&self.model, request);
        let planned = PlannedRun::new(self, request, &prompts, &evaluated(request, &sigmas), options)?;
        let run = Run {
            loaded: self,
            request,
            options,
            prompts,
            sigmas,
            planned: RefCell::new(planned),
            observer: RefCell::new(observer),
        };
        let images = run.whole(&mut dump);
        let mut planned = run.planned.into_inner();
        planned.observe(self.denoiser_store());
        self.account.set_budget(None);
        self.end(&planned.plan, options.memory.keep);
        let images = images?;
        dump.write()?;
        Ok(Rendered { images, planned })
    }
}

/// A run that goes on.
struct Run<'a> {
    loaded: &'a LoadedModel,
    request: &'a Request,
    options: &'a RunOptions<'a>,
    prompts: Vec<Prompt>,
    sigmas: Vec<f32>,
    planned: RefCell<PlannedRun>,
    observer: RefCell<&'a mut dyn Observer>,
}

impl Run<'_> {
    fn whole(&self, dump: &mut Dump) -> Result<Vec<Image>, PipelineError> {
        let (account, target) = (&self.loaded.account, self.options.target);
        self.mark();
        self.loaded.follow(&self.planned.borrow().plan);
        let known = self.prompts.iter().all(|prompt| self.loaded.knows(prompt));
        self.enter(if known { self.loaded.model.denoiser_index() } else { 0 });
        account.set_budget(target.enforced.then_some(target.machine.device_budget));
        account.take_peaks();
        let latents = self.initial_latents()?;
        dump.add("latents.init", &latents)?;
        let branches = self.stage(Stage::Encode, || self.encode(dump))?;
        if self.observer.borrow().wants_previews() {
            self.fit_preview()?;
        }
        let latents = self.stage(Stage::Denoise, || self.denoise(latents, &branches, dump))?;
        drop(branches);
        self.stage(Stage::Decode, || self.decode(&latents, dump))
    }

    fn mark(&self) {
        let recorder = &self.options.recorder;
        let mark = unmetered(|| self.planned.borrow().mark(recorder.now()));
        recorder.record(TelemetryEvent::Plan(mark));
    }

    fn stage<T>(
        &self,
        stage: Stage,
        work: impl FnOnce() -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let recorder = &self.options.recorder;
        self.observer.borrow_mut().stage_started(stage);
        recorder.record(TelemetryEvent::StageStarted { at: recorder.now(), stage });
        let started = Instant::now();
        let result = work()?;
        recorder.record(TelemetryEvent::StageFinished { at: recorder.now(), stage });
        self.planned.borrow_mut().peaks.push((stage, self.loaded.account.take_peaks()));
        self.observer.borrow_mut().stage_finished(stage, started.elapsed().as_secs_f64());
        Ok(result)
    }

    /// Does `work` until it no longer runs out of memory, each time under a plan that takes less.
    fn within_memory<T>(
        &self,
        stage: Stage,
        mut work: impl FnMut() -> Result<T, RunError>,
    ) -> Result<T, PipelineError> {
        loop {
            match work() {
                Err(RunError::OutOfMemory(error)) => {
                    let reason = unmetered(|| self.planned.borrow_mut().step_down(stage, error))?;
                    self.loaded.follow(&self.planned.borrow().plan);
                    self.loaded.account.take_refusal();
                    self.tell(&reason);
                }
                other => return Ok(other?),
            }
        }
    }

    /// The run goes on under another plan.
    fn tell(&self, reason: &str) {
        let recorder = &self.options.recorder;
        recorder.record(TelemetryEvent::Note { at: recorder.now(), text: reason.to_owned() });
        self.mark();
        self.observer.borrow_mut().replanned(reason);
    }

    /// Store and executor of a component, once there is room for it.
    fn enter(&self, component: usize) -> (&WeightStore, Executor) {
        self.loaded.enter(&self.planned.borrow().plan, component, self.options.memory.keep);
        let executor = Executor::new(self.options.cancel.clone(), self.options.recorder.clone());
        (&self.loaded.stores[component], executor.of_component(component as u8))
    }

    /// Encodes the prompt and, where guidance needs it, the negative prompt. Those that were encoded before need no
    /// encoder.
    fn encode(&self, dump: &mut Dump) -> Result<Vec<Conditioning>, PipelineError> {
        self.add_ids(dump)?;
        let mut new: Vec<&Prompt> = Vec::new();
        for prompt in &self.prompts {
            if !self.loaded.knows(prompt) && !new.contains(&prompt) {
                new.push(prompt);
            }
        }
        let mut fresh: Vec<Vec<Encoded>> = vec![Vec::new(); new.len()];
        for (index, part) in self.loaded.model.text.iter().enumerate().filter(|_| !new.is_empty()) {
            let (store, executor) = self.enter(index);
            let ids: Vec<&[u32]> = new.iter().map(|prompt| prompt.ids[index].as_slice()).collect();
            let encoded =
                self.within_memory(Stage::Encode, || part.encoder.encode(&executor, store, &ids))?;
            fresh.iter_mut().zip(encoded).for_each(|(all, encoded)| all.push(encoded));
        }
        for (prompt, encoded) in new.into_iter().zip(fresh) {
            let conditioning = self.loaded.model.denoiser.conditioning(encoded)?;
            self.loaded.keep_encoded(prompt, &conditioning)?;
        }
        let mut branches = Vec::new();
        for (branch, prompt) in self.prompts.iter().enumerate() {
            let Some(conditioning) = self.loaded.encoded(prompt)? else { continue };
            dump.add(format!("encode_prompt.0.{branch}.0"), &conditioning.prompt)?;
            if let Some(pooled) = &conditioning.pooled {
                dump.add(format!("encode_prompt.0.{branch}.1"), pooled)?;
            }
            branches.push(conditioning);
        }
        Ok(branches)
    }

    /// The ids of every text encoder; the second encoder is `text_encoder_2`.
    fn add_ids(&self, dump: &mut Dump) -> candle_core::Result<()> {
        for (branch, prompt) in self.prompts.iter().enumerate() {
            for (encoder, ids) in prompt.ids.iter().enumerate() {
                let number = if encoder == 0 { String::new() } else { format!("_{}", encoder + 1) };
                dump.add_ids(format!("text_encoder{number}.{branch}.input_ids"), ids)?;
            }
        }
        Ok(())
    }

    /// Fits the map that previews are made with, once a model.
    fn fit_preview(&self) -> Result<(), PipelineError> {
        if self.loaded.preview.borrow().is_some() {
            return Ok(());
        }
        let autoencoder = &self.loaded.model.autoencoder;
        let (store, executor) = self.enter(self.loaded.model.autoencoder_index());
        let preview = self.within_memory(Stage::Decode, || Preview::fit(autoencoder, store, &executor))?;
        *self.loaded.preview.borrow_mut() = Some(preview);
        self.planned.borrow_mut().peaks.push((Stage::Decode, self.loaded.account.take_peaks()));
        Ok(())
    }

    fn denoise(
        &self,
        latents: Tensor,
        branches: &[Conditioning],
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let (store, executor) = self.enter(self.loaded.model.denoiser_index());
        let sigmas = &self.sigmas;
        add_schedule(dump, sigmas)?;
        let denoiser = self.loaded.model.denoiser.as_ref();
        let guidance = self.request.guidance;
        let evaluated = evaluated(self.request, sigmas);
        let input = PrepareInput { branches, sigmas: &evaluated, guidance };
        let prepared = self.within_memory(Stage::Denoise, || {
            store.announce(0);
            denoiser.prepare(&executor, store, &input)
        })?;
        let calls_in_all = self.request.sampler.calls(self.request.steps as usize);
        let mut calls = 0;
        let mut outputs_seen: Vec<(String, Tensor)> = Vec::new();
        let recording = dump.is_recording();
        let mut model = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            calls += 1;
            let input = DenoiserInput { latents, sigma };
            let outputs = self.within_memory(Stage::Denoise, || {
                store.announce(calls_in_all - calls);
                denoiser.predict(&executor, store, &input, &prepared)
            })?;
            if calls == 1 && recording {
                outputs_seen = first_call(&outputs)?;
            }
            Ok(denoiser.velocity(&outputs, guidance)?)
        };
        let mut latents_seen: Vec<Tensor> = Vec::new();
        let mut pace = Pace::new(store);
        let mut after = |step: Step<'_>| -> Result<(), PipelineError> {
            if recording {
                latents_seen.push(aside(step.latents)?);
            }
            self.step_done(&step, &mut pace)
        };
        let mut streams = self.streams(&latents)?;
        let mut noise = |like: &Tensor| draw(&mut streams, like.dims());
        let walk = Walk { sigmas, mixing: MIXING, model: &mut model, noise: &mut noise, after: &mut after };
        let latents = sampling::walk(self.request.sampler, walk, latents)?;
        for (name, output) in &outputs_seen {
            dump.add(name, output)?;
        }
        for (step, latents) in latents_seen.iter().enumerate() {
            dump.add(format!("step.{step}.latents"), latents)?;
        }
        Ok(latents)
    }

    /// Says that a step is done; after the first, blocks may change places.
    fn step_done(&self, step: &Step<'_>, pace: &mut Pace) -> Result<(), PipelineError> {
        let (store, recorder) = (self.loaded.denoiser_store(), &self.options.recorder);
        let (number, steps) = (step.index as u32 + 1, self.request.steps);
        {
            let mut observer = self.observer.borrow_mut();
            if let Some(preview) = self.loaded.preview.borrow().as_ref().filter(|_| observer.wants_previews())
            {
                observer.preview(number, to_images(&preview.picture(&step.denoised()?)?)?);
            }
        }
        let record = pace.step(number, steps, store, recorder.now());
        recorder.record(TelemetryEvent::Step(record));
        let seconds = record.took as f64 / 1e6;
        self.planned.borrow_mut().steps.push(seconds);
        self.observer.borrow_mut().step(number, steps, seconds);
        if number == 1 && steps > 2 {
            let better = unmetered(|| self.planned.borrow_mut().refit(store));
            if let Some(reason) = better {
                store.follow(self.planned.borrow().component(self.loaded.model.denoiser_index()));
                self.tell(&reason);
            }
        }
        Ok(())
    }

    /// Latents to pictures, one after the other, so that one picture's activations are there at a time.
    fn decode(&self, latents: &Tensor, dump: &mut Dump) -> Result<Vec<Image>, PipelineError> {
        let autoencoder = &self.loaded.model.autoencoder;
        let (store, executor) = self.enter(self.loaded.model.autoencoder_index());
        let latents = autoencoder.unscale(&latents.to_dtype(store.dtype())?)?;
        dump.add("vae.decode.in", &latents)?;
        let (mut decoded, mut finished) = (Vec::new(), Vec::new());
        let mut images = Vec::new();
        for index in 0..latents.dim(0)? {
            let latents = latents.narrow(0, index, 1)?;
            let picture = self.within_memory(Stage::Decode, || {
                let tile = self.planned.borrow().component(self.loaded.model.autoencoder_index()).tile;
                let tiling = tile.map(|tile| Tiling::with_tile(tile as usize));
                autoencoder.decode(&executor, store, &latents, tiling)
            })?;
            let scaled = picture.to_dtype(DType::F32)?.affine(0.5, 0.5)?;
            if dump.is_recording() {
                finished.push(aside(&scaled)?);
                decoded.push(aside(&picture)?);
            }
            drop(picture);
            self.check_finite(&scaled)?;
            images.extend(to_images(&scaled)?);
        }
        if dump.is_recording() {
            let join = |parts: &[Tensor]| unmetered(|| Tensor::cat(parts, 0));
            dump.add("vae.decode.out", &join(&decoded)?)?;
            dump.add("output", &unmetered(|| join(&finished)?.clamp(0f32, 1f32))?)?;
        }
        Ok(images)
    }

    /// Noise `[batch, channels, height, width]`: each picture's own seed, so that it can be drawn alone.
    fn initial_latents(&self) -> Result<Tensor, PipelineError> {
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
    fn streams(&self, latents: &Tensor) -> candle_core::Result<Vec<NoiseStream>> {
        let mut streams = seeds(self.request);
        draw(&mut streams, latents.dims())?;
        Ok(streams)
    }

    fn check_finite(&self, picture: &Tensor) -> Result<(), PipelineError> {
        let sum = picture.sum_all()?.to_scalar::<f32>()?;
        if sum.is_finite() {
            Ok(())
        } else {
            Err(PipelineError::NotFinite { dtype: self.request.dtype.name() })
        }
    }
}

/// What the noise levels of the families mean.
const MIXING: Mixing = Mixing::Flow;

/// The noise of each picture of the batch: its own seed, so that it can be drawn alone.
fn seeds(request: &Request) -> Vec<NoiseStream> {
    (0..request.batch).map(|index| NoiseStream::new(request.seed.wrapping_add(index.into()))).collect()
}

/// The next draw of each stream, side by side.
fn draw(streams: &mut [NoiseStream], shape: &[usize]) -> candle_core::Result<Tensor> {
    let each = shape.iter().skip(1).product();
    let noise: Vec<f32> = streams.iter_mut().flat_map(|stream| stream.draw(each)).collect();
    Tensor::from_vec(noise, shape, &Device::Cpu)
}

/// The noise levels at which a request calls the model.
fn evaluated(request: &Request, sigmas: &[f32]) -> Vec<f32> {
    sampling::evaluated(request.sampler, MIXING, sigmas)
}

/// The noise levels of a request's steps, and 0 at the end.
fn sigmas(model: &Model, request: &Request) -> Vec<f32> {
    let multiple = model.denoiser.size_multiple();
    let tokens = (request.width / multiple) as usize * (request.height / multiple) as usize;
    let steps = request.steps as usize;
    let own = model.shift.own(tokens);
    let levels = Levels::Flow(own);
    match request.schedule {
        Schedule::Model => own.sigmas(steps),
        Schedule::StaticShift => model.shift.constant().sigmas(steps),
        Schedule::DynamicShift => model.shift.dynamic(tokens).sigmas(steps),
        other => levels.spaced(other, steps),
    }
}

/// Keeps count of what each step takes.
struct Pace {
    started: Instant,
    waited: u64,
    moved: u64,
}

impl Pace {
    fn new(store: &WeightStore) -> Self {
        Self { started: Instant::now(), waited: store.waited_micros(), moved: store.moved_bytes() }
    }

    /// A step is done.
    fn step(&mut self, step: u32, steps: u32, store: &WeightStore, at: u64) -> StepRecord {
        let next = Self::new(store);
        let record = StepRecord {
            at,
            step,
            steps,
            took: (next.started - self.started).as_micros() as u64,
            wait: next.waited - self.waited,
            bytes: next.moved - self.moved,
        };
        *self = next;
        record
    }
}

/// The outputs of a call by their names in the reference: one for each branch and picture, with a frame axis.
fn first_call(outputs: &[Tensor]) -> candle_core::Result<Vec<(String, Tensor)>> {
    let mut named = Vec::new();
    for output in outputs {
        for index in 0..output.dim(0)? {
            named.push((
                format!("transformer.0.out.0.{}", named.len()),
                aside(&output.get(index)?.unsqueeze(1)?)?,
            ));
        }
    }
    Ok(named)
}

fn add_schedule(dump: &mut Dump, sigmas: &[f32]) -> candle_core::Result<()> {
    let timesteps: Vec<f32> = sigmas[..sigmas.len() - 1].iter().map(|sigma| sigma * 1000.0).collect();
    dump.add("scheduler.sigmas", &Tensor::new(sigmas, &Device::Cpu)?)?;
    dump.add("scheduler.timesteps", &Tensor::new(timesteps.as_slice(), &Device::Cpu)?)
}

/// Pictures `[batch, 3, height, width]` to bytes: 0…1 is spread over 0…255, what is beyond is cut, and values between
/// two bytes are rounded half to even as the reference does.
fn to_images(pictures: &Tensor) -> candle_core::Result<Vec<Image>> {
    let (batch, channels, height, width) = pictures.dims4()?;
    (0..batch)
        .map(|index| {
            let values = pictures.get(index)?.flatten_all()?.to_vec1::<f32>()?;
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
