//! Noise to latents.

use std::{
    cell::{Cell, RefCell},
    time::Instant,
};

use candle_core::{Device, Tensor};

use super::{
    Dump, PipelineError, Run,
    noise::{called, draw, evaluated, guide},
    source::Original,
};
use crate::{
    hardware::unmetered,
    models::{Conditioning, Denoiser, DenoiserInput},
    nn,
    pipeline::dump::aside,
    residency::{Blocks, WeightStore},
    sampling::{self, Inpaint, Step, StepCache, Training, Walk},
    telemetry::{StepRecord, TelemetryEvent},
};

impl Run<'_> {
    pub(super) fn denoise(
        &self,
        stage: usize,
        noise: Tensor,
        original: Original,
        branches: &[Conditioning],
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let (store, executor) = self.enter(stage, self.loaded.model.denoiser_index());
        let sigmas = &self.sigmas;
        let training = &self.loaded.model.training;
        add_schedule(dump, training, sigmas)?;
        let latents = training.noised(original.start(), &noise, sigmas[0])?;
        dump.add("latents.start", &latents)?;
        let (kept, beside) = original.in_steps(training, noise);
        let denoiser = self.loaded.model.denoiser.as_ref();
        let guide = guide(&self.loaded.model, self.request, sigmas);
        let evaluated = evaluated(&self.loaded.model, self.request, sigmas);
        let input = self.prepare_input(branches, &evaluated);
        let prepared = self.within_memory(stage, || {
            store.announce(0);
            denoiser.prepare(Blocks::stored(&executor, store), &input)
        })?;
        let prompt_alone = prepared.prompt_alone();
        let steps = sigmas.len() - 1;
        let calls_in_all = called(&self.loaded.model, self.request, sigmas).len();
        let calls = Cell::new(0);
        let cache = RefCell::new(StepCache::new(self.request.step_cache.into(), calls_in_all));
        let mut outputs_seen: Vec<(String, Tensor)> = Vec::new();
        let recording = dump.is_recording();
        let is_computed = Cell::new(false);
        let mut predict = |input: &Asked<'_>, is_guided: bool| -> Result<Tensor, PipelineError> {
            let prepared = if is_guided { &prepared } else { &prompt_alone };
            let outputs: Vec<Tensor> = self.within_memory(stage, || {
                store.announce(calls_in_all - calls.get());
                let to_device = |tensor: &Tensor| -> nn::Result<_> {
                    Ok(nn::Tensor::from(tensor.to_device(store.device())?))
                };
                let latents = to_device(input.latents)?;
                let beside = input.beside.map(to_device).transpose()?;
                let there = DenoiserInput { latents: &latents, sigma: input.sigma, beside: beside.as_ref() };
                let outputs = denoiser.predict(Blocks::stored(&executor, store), &there, prepared)?;
                outputs.iter().map(|output| Ok(output.computed()?.to_device(&Device::Cpu)?)).collect()
            })?;
            if calls.get() == 1 && recording {
                outputs_seen = first_call(denoiser, &outputs)?;
            }
            let direction = velocity(denoiser, input, guide.join(&outputs)?)?;
            self.options.journal.borrow_mut().predicted(input.sigma, &direction);
            Ok(direction)
        };
        let mut model = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            calls.set(calls.get() + 1);
            // What the walk starts from is as it is to be.
            let put_back = match &kept {
                Some(kept) if calls.get() > 1 => Some(kept.noised(latents, sigma)?),
                _ => None,
            };
            let shown = put_back.as_ref().unwrap_or(latents);
            let input = Asked { latents: shown, sigma, beside: beside.as_ref() };
            let is_guided = guide.is_guided(sigma);
            let seen = training.seen(shown, sigma)?;
            let direction = cache.borrow_mut().direction(&seen, is_guided, || {
                if let Some(known) = self.options.journal.borrow_mut().next(sigma, latents.dims()) {
                    return Ok(known);
                }
                is_computed.set(true);
                predict(&input, is_guided)
            })?;
            match &kept {
                Some(kept) => Ok(kept.direction(latents, &direction, sigma)?),
                None => Ok(direction),
            }
        };
        let mut latents_seen: Vec<Tensor> = Vec::new();
        let mut pace = Pace::new(store);
        let mut after = |step: Step<'_>| -> Result<(), PipelineError> {
            if recording {
                latents_seen.push(unmetered(|| aside(&seen(training, kept.as_ref(), &step, steps)?))?);
            }
            if !is_computed.get() {
                self.observer.borrow_mut().resumed(step.index as u32 + 1);
                return Ok(());
            }
            self.step_done(stage, &step, cache.borrow().reused(), &mut pace)
        };
        let mut streams = self.streams(latents.dims())?;
        let mut noise = |like: &Tensor| draw(&mut streams, like.dims());
        let walk = Walk { sigmas, training, model: &mut model, noise: &mut noise, after: &mut after };
        let latents = sampling::walk(self.request.sampler, walk, latents)?;
        for (name, output) in &outputs_seen {
            dump.add(name, output)?;
        }
        for (step, latents) in latents_seen.iter().enumerate() {
            dump.add(format!("step.{step}.latents"), latents)?;
        }
        self.plan.borrow_mut().observe(stage, self.loaded.model.denoiser_index(), store);
        let latents = training.finished(latents, sigmas[steps])?;
        Ok(match &kept {
            Some(kept) => kept.clean(&latents)?,
            None => latents,
        })
    }

    /// Says that a step is done; after the first, blocks may change places.
    fn step_done(
        &self,
        stage: usize,
        step: &Step<'_>,
        reused: usize,
        pace: &mut Pace,
    ) -> Result<(), PipelineError> {
        let (store, recorder) = (self.loaded.denoiser_store(), &self.options.recorder);
        let (number, steps) = (step.index as u32 + 1, self.sigmas.len() as u32 - 1);
        {
            let mut observer = self.observer.borrow_mut();
            if observer.wants_previews() {
                let images = self.preview(&step.denoised()?)?;
                if !images.is_empty() {
                    observer.preview(number, images);
                }
            }
        }
        let record = StepRecord { step: number, steps, ..pace.step(reused, store, recorder.now()) };
        recorder.record(TelemetryEvent::Step(record));
        let seconds = record.took as f64 / 1e6;
        // Forecasts are of steps whose predictions are made.
        if record.reused == 0 {
            self.plan.borrow_mut().steps.push(seconds);
        }
        self.observer.borrow_mut().step(number, steps, seconds);
        if number == 1 && steps > 2 {
            let part = self.loaded.model.denoiser_index();
            let better = unmetered(|| self.plan.borrow_mut().refit(stage, part, store));
            if let Some(reason) = better {
                self.loaded.follow(&self.plan.borrow().plan, stage);
                self.tell(&reason);
            }
        }
        Ok(())
    }
}

/// What one prediction is made of, on the host.
#[derive(Clone, Copy)]
struct Asked<'a> {
    latents: &'a Tensor,
    sigma: f32,
    beside: Option<&'a Tensor>,
}

/// The direction that a denoiser makes of its guided output.
fn velocity(denoiser: &dyn Denoiser, asked: &Asked<'_>, output: Tensor) -> nn::Result<Tensor> {
    let latents = asked.latents.clone().into();
    let input = DenoiserInput { latents: &latents, sigma: asked.sigma, beside: None };
    denoiser.velocity(&input, &output.into())?.into_computed()
}

/// Keeps count of what each step takes.
struct Pace {
    started: Instant,
    waited: u64,
    moved: u64,
    /// Predictions that were not made so far.
    reused: usize,
}

impl Pace {
    fn new(store: &WeightStore) -> Self {
        let (waited, moved) = (store.waited_micros(), store.moved_bytes());
        Self { started: Instant::now(), waited, moved, reused: 0 }
    }

    /// A step is done; `reused` predictions were not made since the first.
    fn step(&mut self, reused: usize, store: &WeightStore, at: u64) -> StepRecord {
        let next = Self { reused, ..Self::new(store) };
        let record = StepRecord {
            at,
            step: 0,
            steps: 0,
            took: (next.started - self.started).as_micros() as u64,
            wait: next.waited - self.waited,
            bytes: next.moved - self.moved,
            reused: (next.reused - self.reused) as u32,
        };
        *self = next;
        record
    }
}

/// The latents after a step as the model's own scheduler keeps them.
fn seen(
    training: &Training,
    kept: Option<&Inpaint<'_>>,
    step: &Step<'_>,
    steps: usize,
) -> candle_core::Result<Tensor> {
    match kept {
        Some(kept) if step.index + 1 == steps => kept.clean(&training.recorded(step.latents, step.sigma)?),
        Some(kept) => training.recorded(&kept.noised(step.latents, step.sigma)?, step.sigma),
        None => training.recorded(step.latents, step.sigma),
    }
}

/// The outputs of a call by their names in the reference.
fn first_call(denoiser: &dyn Denoiser, outputs: &[Tensor]) -> candle_core::Result<Vec<(String, Tensor)>> {
    let outputs: Vec<nn::Tensor> = outputs.iter().cloned().map(nn::Tensor::from).collect();
    let named = unmetered(|| denoiser.recorded(&outputs))?;
    named.into_iter().map(|(name, output)| Ok((name, aside(output.computed()?)?))).collect()
}

fn add_schedule(dump: &mut Dump, training: &Training, sigmas: &[f32]) -> candle_core::Result<()> {
    let timesteps: Vec<f32> =
        sigmas[..sigmas.len() - 1].iter().map(|sigma| training.timestep(*sigma)).collect();
    dump.add("scheduler.sigmas", &Tensor::new(sigmas, &Device::Cpu)?)?;
    dump.add("scheduler.timesteps", &Tensor::new(timesteps.as_slice(), &Device::Cpu)?)
}
