//! Noise to latents.

use std::{cell::Cell, time::Instant};

use candle_core::{Device, Tensor};

use super::{
    Dump, PipelineError, Run, Stage,
    decode::to_images,
    noise::{draw, evaluated},
    source::Original,
};
use crate::{
    hardware::unmetered,
    models::{Conditioning, Denoiser, DenoiserInput},
    pipeline::dump::aside,
    residency::WeightStore,
    sampling::{self, Kept, Step, Training, Walk},
    telemetry::{StepRecord, TelemetryEvent},
};

impl Run<'_> {
    pub(super) fn denoise(
        &self,
        noise: Tensor,
        original: Original,
        branches: &[Conditioning],
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let (store, executor) = self.enter(self.loaded.model.denoiser_index());
        let sigmas = &self.sigmas;
        let training = &self.loaded.model.training;
        add_schedule(dump, training, sigmas)?;
        let latents = training.noised(original.start(), &noise, sigmas[0])?;
        dump.add("latents.start", &latents)?;
        let (kept, beside) = original.in_steps(training, noise);
        let denoiser = self.loaded.model.denoiser.as_ref();
        let guidance = self.request.guidance;
        let evaluated = evaluated(&self.loaded.model, self.request, sigmas);
        let input = self.prepare_input(branches, &evaluated);
        let prepared = self.within_memory(Stage::Denoise, || {
            store.announce(0);
            denoiser.prepare(&executor, store, &input)
        })?;
        let steps = sigmas.len() - 1;
        let calls_in_all = self.request.sampler.calls(steps);
        let mut calls = 0;
        let mut outputs_seen: Vec<(String, Tensor)> = Vec::new();
        let recording = dump.is_recording();
        let is_computed = Cell::new(false);
        let mut model = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            calls += 1;
            if let Some(known) = self.options.journal.borrow_mut().next(sigma, latents.dims()) {
                return Ok(known);
            }
            is_computed.set(true);
            // What the walk starts from is as it is to be.
            let put_back = match &kept {
                Some(kept) if calls > 1 => Some(kept.noised(latents, sigma)?),
                _ => None,
            };
            let input = DenoiserInput {
                latents: put_back.as_ref().unwrap_or(latents),
                sigma,
                beside: beside.as_ref(),
            };
            let outputs = self.within_memory(Stage::Denoise, || {
                store.announce(calls_in_all - calls);
                denoiser.predict(&executor, store, &input, &prepared)
            })?;
            if calls == 1 && recording {
                outputs_seen = first_call(denoiser, &outputs)?;
            }
            let direction = denoiser.velocity(&input, &outputs, guidance)?;
            let direction = match &kept {
                Some(kept) => kept.direction(latents, &direction, sigma)?,
                None => direction,
            };
            self.options.journal.borrow_mut().predicted(sigma, &direction);
            Ok(direction)
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
            self.step_done(&step, &mut pace)
        };
        let mut streams = self.streams(latents.dims())?;
        let mut noise = |like: &Tensor| draw(&mut streams, like.dims());
        let walk = Walk {
            sigmas,
            mixing: training.mixing(),
            model: &mut model,
            noise: &mut noise,
            after: &mut after,
        };
        let latents = sampling::walk(self.request.sampler, walk, latents)?;
        for (name, output) in &outputs_seen {
            dump.add(name, output)?;
        }
        for (step, latents) in latents_seen.iter().enumerate() {
            dump.add(format!("step.{step}.latents"), latents)?;
        }
        let latents = training.finished(latents, sigmas[steps])?;
        Ok(match &kept {
            Some(kept) => kept.clean(&latents)?,
            None => latents,
        })
    }

    /// Says that a step is done; after the first, blocks may change places.
    fn step_done(&self, step: &Step<'_>, pace: &mut Pace) -> Result<(), PipelineError> {
        let (store, recorder) = (self.loaded.denoiser_store(), &self.options.recorder);
        let (number, steps) = (step.index as u32 + 1, self.sigmas.len() as u32 - 1);
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

/// The latents after a step as the model's own scheduler keeps them.
fn seen(
    training: &Training,
    kept: Option<&Kept<'_>>,
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
    let named = unmetered(|| denoiser.recorded(outputs))?;
    named.into_iter().map(|(name, output)| Ok((name, aside(&output)?))).collect()
}

fn add_schedule(dump: &mut Dump, training: &Training, sigmas: &[f32]) -> candle_core::Result<()> {
    let timesteps: Vec<f32> =
        sigmas[..sigmas.len() - 1].iter().map(|sigma| training.timestep(*sigma)).collect();
    dump.add("scheduler.sigmas", &Tensor::new(sigmas, &Device::Cpu)?)?;
    dump.add("scheduler.timesteps", &Tensor::new(timesteps.as_slice(), &Device::Cpu)?)
}
