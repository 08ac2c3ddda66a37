//! Denoises latents.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
};

use candle_core::{Device, Tensor};

use super::{Dump, Made, PipelineError, Run, source::Original, turn::Turn};
use crate::{
    hardware::unmetered,
    models::{ClipFrames, Denoise, Denoiser, DenoiserInput, FrameWindows, Start, Task, Window},
    nn,
    pipeline::dump::aside,
    residency::Blocks,
    sampling::{self, Inpaint, Kept, Step, StepCache, Training, Walk},
    telemetry::{StepRecord, TelemetryEvent},
};

impl Run<'_> {
    /// Runs the stages of one sampling loop.
    pub(super) fn denoise(
        &self,
        stages: Range<usize>,
        made: &mut Made,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        let tasks = self.resolved.stages[stages.clone()].iter();
        let denoises: Vec<&Denoise> = tasks.filter_map(Task::denoise).collect();
        let Some(&first) = denoises.first() else { return Ok(()) };
        let training = &first.denoiser.network.training;
        let sigmas = joined(&denoises);
        let order = self.resolved.denoises().take_while(|(number, _)| *number < stages.start).count();
        let prefix = self.prefix(order, first.denoiser.part);
        let turn = RefCell::new(self.take_turn(stages.start, first, &mut made.conditionings)?);
        add_schedule(dump, &prefix, training, &sigmas)?;
        let goes_on = self.resolved.stages.get(stages.end).and_then(Task::denoise);
        let is_last = goes_on.is_none_or(|next| matches!(next.start, Start::Noise | Start::Enlarged));
        let (latents, original, noise) = self.start(first, order, is_last, made)?;
        dump.add(format!("{prefix}latents.start"), &latents)?;
        let (kept, beside) = original.in_steps(training, noise);
        let beside = first.sees.and_then(|stage| made.seen.get(&stage).cloned()).or(beside);
        let clean = ClipFrames::new(self.request, first.denoiser.network.denoiser.as_ref())
            .map_or(0, ClipFrames::clean);
        let calls_in_all: usize = denoises.iter().map(|denoise| denoise.steps.called.len()).sum();
        let calls = Cell::new(0);
        let cache = RefCell::new(StepCache::new(self.request.step_cache.into(), calls_in_all));
        let mut outputs_seen: Vec<(String, Tensor)> = Vec::new();
        let recording = dump.is_recording();
        let is_computed = Cell::new(false);
        let windows = FrameWindows::new(self.request, first.denoiser.network.denoiser.as_ref());
        let mut predict_windows = |asked: &[Asked<'_>]| -> Result<Vec<Tensor>, PipelineError> {
            let turn = turn.borrow();
            let (denoiser, guide) = (turn.denoiser(), &turn.denoise.steps.guide);
            let to_device = |tensor: &Tensor| -> nn::Result<_> {
                Ok(nn::Tensor::from(tensor.to_device(turn.store.device())?))
            };
            let outputs: Vec<Vec<Tensor>> = self.within_memory(turn.stage, || {
                let together = self.plan.borrow().takes_windows_together(turn.stage, turn.part());
                let walks = if together { 1 } else { asked.len() };
                let later = (calls_in_all - calls.get()) * walks;
                let mut outputs = Vec::with_capacity(asked.len());
                for (number, asked) in asked.chunks(asked.len().div_ceil(walks.max(1))).enumerate() {
                    turn.store.announce(later + walks - 1 - number);
                    let there = asked.iter().map(|asked| -> nn::Result<_> {
                        Ok((to_device(asked.latents)?, asked.beside.map(to_device).transpose()?))
                    });
                    let there = there.collect::<nn::Result<Vec<_>>>()?;
                    let inputs = asked.iter().zip(&there).map(|(asked, (latents, beside))| {
                        let &Asked { sigma, clean, .. } = asked;
                        DenoiserInput { latents, sigma, beside: beside.as_ref(), clean }
                    });
                    let prepared = turn.prepared(asked.iter().all(|asked| guide.is_guided(asked.sigma)));
                    let blocks = Blocks::stored(&turn.executor, turn.store);
                    for made in denoiser.predict_all(blocks, &inputs.collect::<Vec<_>>(), prepared)? {
                        let made = made.iter().map(|output| output.computed()?.to_device(&Device::Cpu));
                        outputs.push(made.collect::<candle_core::Result<_>>()?);
                    }
                }
                Ok(outputs)
            })?;
            if let (1, true, Some(outputs)) = (calls.get(), recording, outputs.last()) {
                outputs_seen = first_call(denoiser, outputs)?;
            }
            let each = asked.iter().zip(outputs);
            let joined = |outputs: Vec<Tensor>| match &turn.regions {
                Some(regions) => guide.join(&regions.mixed(outputs)?),
                None => guide.join(&outputs),
            };
            each.map(|(asked, outputs)| Ok(velocity(denoiser, asked, joined(outputs)?)?)).collect()
        };
        let mut predict = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            let direction = windows.predicted(latents, beside.as_ref(), |windows: &[Window]| {
                let asked = windows.iter().map(|Window { start, latents, beside }| Asked {
                    latents,
                    sigma,
                    beside: beside.as_ref(),
                    clean: clean.saturating_sub(*start),
                });
                predict_windows(&asked.collect::<Vec<_>>())
            })?;
            self.options.journal.borrow_mut().predicted(sigma, &direction);
            Ok(direction)
        };
        let mut model = |latents: &Tensor, sigma: f32| -> Result<Tensor, PipelineError> {
            calls.set(calls.get() + 1);
            loop {
                let next = turn.borrow().next(calls.get(), &denoises);
                let Some(next) = next else { break };
                self.hand_over(&mut turn.borrow_mut(), next, &mut made.conditionings)?;
                cache.borrow_mut().forget();
            }
            if let Some(kept) = kept.as_ref().filter(|kept| kept.kept == Kept::Renoised) {
                kept.renoise(&self.draw_tokens(latents.dims())?, sigma)?;
            }
            // The start of the loop already contains the noised kept area.
            let put_back = match &kept {
                Some(kept) if kept.kept != Kept::Noised || calls.get() > 1 => {
                    Some(kept.shown(latents, sigma)?)
                }
                _ => None,
            };
            let shown = put_back.as_ref().unwrap_or(latents);
            let is_guided = turn.borrow().denoise.steps.guide.is_guided(sigma);
            let seen = training.seen(shown, sigma)?;
            let direction = cache.borrow_mut().direction(&seen, is_guided, || {
                if let Some(known) = self.options.journal.borrow_mut().next(sigma, latents.dims()) {
                    return Ok(known);
                }
                is_computed.set(true);
                predict(shown, sigma)
            })?;
            match &kept {
                Some(kept) => Ok(kept.direction(latents, &direction, sigma)?),
                None => Ok(direction),
            }
        };
        let steps = sigmas.len() - 1;
        let mut latents_seen: Vec<Tensor> = Vec::new();
        let mut after = |step: Step<'_>| -> Result<(), PipelineError> {
            if recording {
                latents_seen.push(unmetered(|| aside(&seen(training, kept.as_ref(), &step, steps)?))?);
            }
            let number = first.steps.first + step.index + 1;
            if !is_computed.get() {
                self.observer.borrow_mut().resumed(self.number_in_all(number));
                return Ok(());
            }
            self.step_done(&mut turn.borrow_mut(), number, &step, cache.borrow().reused())
        };
        let mut noise = |like: &Tensor| self.draw(like.dims());
        let walk =
            Walk { sigmas: &sigmas, training, model: &mut model, noise: &mut noise, after: &mut after };
        let latents = sampling::walk(self.request.sampler, walk, latents)
            .inspect_err(|_| self.observe(&turn.borrow()))?;
        for (name, output) in &outputs_seen {
            dump.add(format!("{prefix}{name}"), output)?;
        }
        for (step, latents) in latents_seen.iter().enumerate() {
            dump.add(format!("{prefix}step.{step}.latents"), latents)?;
        }
        self.end_turn(turn.into_inner());
        let latents = match &kept {
            _ if !is_last => latents,
            Some(kept) => kept.clean(&training.finished(latents, sigmas[steps])?)?,
            None => training.finished(latents, sigmas[steps])?,
        };
        if self.resolved.is_seen_later(stages.end - 1) {
            made.seen.insert(stages.end - 1, latents.clone());
        }
        let before = self.resolved.frames_before();
        made.latents = Some(match before {
            0 => latents,
            _ if !is_last => latents,
            _ => latents.narrow(2, before, latents.dim(2)? - before)?.contiguous()?,
        });
        Ok(())
    }

    /// The first latents of a sampling loop, what its steps keep of the input image, and the noise that both
    /// were made with.
    fn start(
        &self,
        first: &Denoise,
        order: usize,
        is_last: bool,
        made: &mut Made,
    ) -> Result<(Tensor, Original, Tensor), PipelineError> {
        let training = &first.denoiser.network.training;
        let sigma = first.steps.sigmas[0];
        if first.start == Start::Noise && order > 0 {
            let shape = first.denoiser.network.denoiser.latents(first.canvas);
            let noise = self.draw(&shape.dims(self.request.batch as usize))?;
            return Ok((training.noised(None, &noise, sigma)?, Original::default(), noise));
        }
        let (original, noise) = if is_last {
            (std::mem::take(&mut made.original), made.noise.take())
        } else {
            (made.original.clone(), made.noise.clone())
        };
        let noise = match noise {
            Some(noise) => noise,
            None => self.noise()?.latents,
        };
        let latents = match made.latents.take() {
            Some(latents) => latents,
            None => training.noised(original.start(), &noise, sigma)?,
        };
        Ok((latents, original, noise))
    }

    /// Reports a step. After the first one, blocks may be placed again.
    fn step_done(
        &self,
        turn: &mut Turn<'_>,
        number: usize,
        step: &Step<'_>,
        reused: usize,
    ) -> Result<(), PipelineError> {
        let recorder = &self.options.recorder;
        let (stage, part, steps) = (turn.stage, turn.part(), self.steps_in_all());
        let in_all = self.number_in_all(number);
        {
            let mut observer = self.observer.borrow_mut();
            if observer.wants_previews() {
                let media = self.in_place(self.preview(stage, part, &step.denoised()?)?);
                if !media.is_empty() {
                    observer.preview(in_all, media);
                }
            }
        }
        let record = StepRecord { step: in_all, steps, ..turn.pace.step(reused, turn.store, recorder.now()) };
        recorder.record(TelemetryEvent::Step(record));
        let seconds = record.took as f64 / 1e6;
        // Predictions of times are for steps without reuse.
        if record.reused == 0 {
            self.plan.borrow_mut().steps.push((stage, seconds));
        }
        self.observer.borrow_mut().step(in_all, steps, seconds);
        let own = &turn.denoise.steps;
        if number == own.first + 1 && own.count() > 2 && self.repeat.get().is_first() {
            let better = unmetered(|| self.plan.borrow_mut().refit(stage, part, turn.store));
            if let Some(reason) = better {
                self.loaded.follow(&self.plan.borrow().plan, stage);
                self.tell(&reason);
            }
        }
        Ok(())
    }
}

/// The sigmas of stages that share a sampling loop.
fn joined(denoises: &[&Denoise]) -> Vec<f32> {
    let mut sigmas: Vec<f32> = Vec::new();
    for denoise in denoises {
        let shared = usize::from(!sigmas.is_empty());
        sigmas.extend(denoise.steps.sigmas.iter().skip(shared));
    }
    sigmas
}

/// The inputs of one prediction, in RAM.
#[derive(Clone, Copy)]
struct Asked<'a> {
    latents: &'a Tensor,
    sigma: f32,
    beside: Option<&'a Tensor>,
    clean: usize,
}

/// The direction from a denoiser's guided output.
fn velocity(denoiser: &dyn Denoiser, asked: &Asked<'_>, output: Tensor) -> nn::Result<Tensor> {
    let latents = asked.latents.clone().into();
    let input = DenoiserInput { latents: &latents, sigma: asked.sigma, beside: None, clean: 0 };
    denoiser.velocity(&input, &output.into())?.into_computed()
}

/// The latents after a step in the form of the model's own scheduler.
fn seen(
    training: &Training,
    kept: Option<&Inpaint<'_>>,
    step: &Step<'_>,
    steps: usize,
) -> candle_core::Result<Tensor> {
    match kept {
        Some(kept) if step.index + 1 == steps => kept.clean(&training.recorded(step.latents, step.sigma)?),
        Some(kept) => training.recorded(&kept.shown(step.latents, step.sigma)?, step.sigma),
        None => training.recorded(step.latents, step.sigma),
    }
}

/// The outputs of a call with their names in the reference.
fn first_call(denoiser: &dyn Denoiser, outputs: &[Tensor]) -> candle_core::Result<Vec<(String, Tensor)>> {
    let outputs: Vec<nn::Tensor> = outputs.iter().cloned().map(nn::Tensor::from).collect();
    let named = unmetered(|| denoiser.recorded(&outputs))?;
    named.into_iter().map(|(name, output)| Ok((name, aside(output.computed()?)?))).collect()
}

fn add_schedule(
    dump: &mut Dump,
    prefix: &str,
    training: &Training,
    sigmas: &[f32],
) -> candle_core::Result<()> {
    let timesteps: Vec<f32> =
        sigmas[..sigmas.len() - 1].iter().map(|sigma| training.timestep(*sigma)).collect();
    dump.add(format!("{prefix}scheduler.sigmas"), &Tensor::new(sigmas, &Device::Cpu)?)?;
    dump.add(format!("{prefix}scheduler.timesteps"), &Tensor::new(timesteps.as_slice(), &Device::Cpu)?)
}
