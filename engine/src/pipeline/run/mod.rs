//! One run: prompt, noise, steps, picture.

mod decode;
mod denoise;
mod encode;
mod noise;
mod preview;
mod source;

use std::{
    cell::{Cell, RefCell},
    path::PathBuf,
    time::Instant,
};

use super::{ActivePlan, Journal, LoadedModel, PipelineError, Target, dump::Dump, estimate};
use crate::{
    hardware::{OutOfMemory, unmetered},
    memory::{MemoryPreferences, Stage, StageKind, StagePlan},
    models::{Conditioning, Model, PrepareInput, Prompt},
    output::Image,
    request::Request,
    residency::{CancelToken, Executor, RunError, WeightStore},
    source::LoadedSource,
    telemetry::{Recorder, TelemetryEvent},
    units,
};
pub use noise::{called, evaluated, guide, sigmas};
use source::Original;

/// Bytes that a driver's counts may be apart.
const SLACK: u64 = 64 << 20;

/// Hears how a run goes on.
pub trait Observer {
    /// A stage begins.
    fn stage_started(&mut self, stage: &Stage);

    /// A stage is done.
    fn stage_finished(&mut self, stage: &Stage, seconds: f64);

    /// The run goes on after a step that was done before; those up to it are not reported.
    fn resumed(&mut self, step: u32);

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
    pub plan: ActivePlan,
}

/// What a run needs beside the request.
pub struct RunOptions<'a> {
    /// A safetensors file whose `latents` take the place of the noise, and `noise.picture` and `noise.masked_picture`
    /// of that which samples of encoded pictures have.
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
    /// What was computed before, and where what is computed is kept.
    pub journal: RefCell<Journal>,
}

impl LoadedModel {
    /// Draws the pictures of a request under the best plan for it.
    pub fn render(
        &self,
        request: &Request,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, PipelineError> {
        self.model.validate(request)?;
        let source = unmetered(|| self.open_source(request))?;
        let mut dump = Dump::new(options.dump.map(PathBuf::as_path))?;
        let prompts = unmetered(|| estimate::prompts(&self.model, request))?;
        let sigmas = sigmas(&self.model, request);
        let plan = ActivePlan::new(self, request, &prompts, options)?;
        let run = Run {
            loaded: self,
            request,
            options,
            prompts,
            source,
            sigmas,
            plan: RefCell::new(plan),
            observer: RefCell::new(observer),
            is_new_stage: Cell::new(true),
        };
        let images = run.whole(&mut dump);
        let plan = run.plan.into_inner();
        self.account.set_budget(None);
        self.end(&plan.plan, options.memory.keep);
        self.account.give_back();
        let images = images?;
        dump.write()?;
        Ok(Rendered { images, plan })
    }

    /// Reads the picture that a request starts from.
    fn open_source(&self, request: &Request) -> Result<Option<LoadedSource>, PipelineError> {
        let Some(source) = &request.source else { return Ok(None) };
        let [_, height, width] = self.model.denoiser.latents_shape(request.width, request.height);
        Ok(Some(LoadedSource::open(source, (request.width, request.height), [height, width])?))
    }
}

/// A run that goes on.
struct Run<'a> {
    loaded: &'a LoadedModel,
    request: &'a Request,
    options: &'a RunOptions<'a>,
    prompts: Vec<Prompt>,
    source: Option<LoadedSource>,
    sigmas: Vec<f32>,
    plan: RefCell<ActivePlan>,
    observer: RefCell<&'a mut dyn Observer>,
    /// Whether no part has been used since peaks were noted.
    is_new_stage: Cell<bool>,
}

impl Run<'_> {
    fn whole(&self, dump: &mut Dump) -> Result<Vec<Image>, PipelineError> {
        let (account, target) = (&self.loaded.account, self.options.target);
        self.mark();
        let number = |kind| self.plan.borrow().plan.first_of(kind).map_or(0, |stage| stage.stage.number);
        let [encode, denoise, decode] =
            [StageKind::EncodePrompt, StageKind::Denoise, StageKind::Decode].map(number);
        self.loaded.follow(&self.plan.borrow().plan, 0);
        if self.prompts.iter().all(|prompt| self.loaded.knows(prompt)) {
            self.enter(denoise, self.loaded.model.denoiser_index());
        } else {
            self.enter(encode, 0);
        }
        account.set_budget(target.enforced.then_some(target.machine.device_budget));
        account.take_peaks();
        let noise = self.noise()?;
        dump.add("latents.init", &noise.latents)?;
        let original = match &self.source {
            Some(source) => {
                let stage = number(StageKind::EncodeImage);
                self.stage(stage, || self.encode_source(stage, source, &noise, dump))?
            }
            None => Original::default(),
        };
        let branches = self.stage(encode, || self.encode(encode, dump))?;
        let noise = noise.latents;
        if self.observer.borrow().wants_previews() {
            self.fit_preview(decode)?;
        }
        let latents = self.stage(denoise, || self.denoise(denoise, noise, original, &branches, dump))?;
        drop(branches);
        self.stage(decode, || self.decode(decode, &latents, dump))
    }

    /// What the denoiser is told before its first prediction.
    fn prepare_input<'a>(&self, branches: &'a [Conditioning], sigmas: &'a [f32]) -> PrepareInput<'a> {
        prepare_input(&self.loaded.model, self.request, branches, sigmas)
    }

    fn mark(&self) {
        let recorder = &self.options.recorder;
        let mark = unmetered(|| self.plan.borrow().mark(recorder.now()));
        recorder.record(TelemetryEvent::Plan(mark));
    }

    /// Does the work of the stage of this number.
    fn stage<T>(
        &self,
        number: usize,
        work: impl FnOnce() -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let recorder = &self.options.recorder;
        self.make_fit(number)?;
        let stage = self.plan.borrow().plan.stages[number].stage.clone();
        self.observer.borrow_mut().stage_started(&stage);
        recorder.record(TelemetryEvent::StageStarted { at: recorder.now(), stage: stage.clone() });
        let started = Instant::now();
        let result = work()?;
        let spilled = self.loaded.account.spilled();
        if spilled > SLACK {
            self.tell(&format!(
                "The driver moved {} of the card's memory to RAM, which slows down every step. Set \u{201c}CUDA - Sysmem \
                 Fallback Policy\u{201d} to \u{201c}Prefer No Sysmem Fallback\u{201d} in the NVIDIA Control Panel, or \
                 allow less VRAM",
                units::memory_needed(spilled)
            ));
        }
        recorder.record(TelemetryEvent::StageFinished { at: recorder.now(), stage: stage.clone() });
        self.note_peaks(number);
        self.observer.borrow_mut().stage_finished(&stage, started.elapsed().as_secs_f64());
        Ok(result)
    }

    /// What was held since the last call, or since a part was first used after it, was held by this stage.
    fn note_peaks(&self, stage: usize) {
        self.plan.borrow_mut().peaks.push((stage, self.loaded.account.take_peaks()));
        self.is_new_stage.set(true);
    }

    /// Takes less for a stage where other programs have taken of a card what the plan counted with.
    fn make_fit(&self, stage: usize) -> Result<(), PipelineError> {
        let Some(available) = self.loaded.account.available() else { return Ok(()) };
        let budget = available.saturating_sub(self.options.memory.min_free_vram);
        loop {
            let needed = self.plan.borrow().plan.stages.get(stage).map_or(0, StagePlan::device);
            if needed <= budget {
                return Ok(());
            }
            let short = OutOfMemory { needed, budget };
            let reason = unmetered(|| self.plan.borrow_mut().step_down(stage, short))?;
            self.loaded.follow(&self.plan.borrow().plan, stage);
            self.tell(&reason);
        }
    }

    /// Does `work` until it no longer runs out of memory, each time under a plan that takes less.
    fn within_memory<T>(
        &self,
        stage: usize,
        mut work: impl FnMut() -> Result<T, RunError>,
    ) -> Result<T, PipelineError> {
        loop {
            match work().map_err(|error| error.told_apart(&self.loaded.account)) {
                Err(RunError::OutOfMemory(error)) => {
                    let reason = unmetered(|| self.plan.borrow_mut().step_down(stage, error))?;
                    self.loaded.follow(&self.plan.borrow().plan, stage);
                    self.loaded.account.settle();
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

    /// Store and executor of a part in a stage, once there is room for it.
    fn enter(&self, stage: usize, part: usize) -> (&WeightStore, Executor) {
        let number = {
            let plan = &self.plan.borrow().plan;
            self.loaded.enter(plan, stage, part, self.options.memory.keep);
            plan.use_number(stage, part).unwrap_or_default()
        };
        self.loaded.account.settle();
        if self.is_new_stage.take() {
            // What the stage before held was its own.
            self.loaded.account.take_peaks();
        }
        let executor = Executor::new(self.options.cancel.clone(), self.options.recorder.clone());
        (&self.loaded.stores[part], executor.of_component(number as u8))
    }
}

/// What a denoiser is told before the first prediction of a request.
pub fn prepare_input<'a>(
    model: &Model,
    request: &Request,
    branches: &'a [Conditioning],
    sigmas: &'a [f32],
) -> PrepareInput<'a> {
    PrepareInput {
        branches,
        sigmas,
        guidance: request.guidance,
        latents: model.denoiser.latents_shape(request.width, request.height),
        pixels: [request.height as usize, request.width as usize],
    }
}
