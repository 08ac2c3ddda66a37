//! The thread that computes.

use std::{
    cell::RefCell,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use crossbeam_channel::{Receiver, Sender};

use super::{
    command::{Job, JobId},
    event::{Event, Failure, Picture},
    options::Library,
    outcomes::Outcomes,
    protocol::CARD_LOST,
    read_ahead::NextJob,
    sizes::KnownSizes,
    threads::Emitter,
};
use crate::{
    hardware::{MemoryAccount, Probe, ProcessMemory, unmetered},
    memory,
    models::Model,
    output::{Date, InputMark, Media, OutputError, Settings},
    pipeline::{
        self, ActivePlan, Journal, LoadedModel, ModelSummary, Observer, Pace, PipelineError, Resolved,
        RunOptions, Stage, StageKind, Target,
    },
    request::{AdapterUse, Request},
    residency::{CancelToken, ReadAhead, RunError},
    source::{ClipInfo, SourceError},
    telemetry::{MemorySample, Recorder, Sampler, Sink, TelemetryFiles},
};

/// A task for the inference thread.
pub enum Assignment {
    /// Generate images.
    Draw(Box<Job>, CancelToken),
    /// Free all weights.
    Unload,
}

/// The loaded model, which is kept for the next job.
struct Current {
    /// The model as opened, without adapters.
    opened: Arc<Model>,
    summary: ModelSummary,
    loaded: LoadedModel,
}

/// Runs jobs one at a time.
pub struct InferenceThread {
    emitter: Emitter,
    account: Arc<MemoryAccount>,
    outcomes: Outcomes,
    library: Arc<Library>,
    probe: Probe,
    sizes: KnownSizes,
    current: Option<Current>,
    next_job: NextJob,
    read_ahead: RefCell<Option<ReadAhead>>,
    ends_with_card: bool,
}

impl InferenceThread {
    /// A worker without a model.
    pub fn new(
        emitter: Emitter,
        account: Arc<MemoryAccount>,
        outcomes: Outcomes,
        library: Arc<Library>,
        next_job: NextJob,
    ) -> Self {
        Self {
            emitter,
            account,
            outcomes,
            library,
            probe: Probe::new(),
            sizes: KnownSizes::default(),
            current: None,
            next_job,
            read_ahead: RefCell::default(),
            ends_with_card: false,
        }
    }

    /// Makes the worker end the process when its GPU is lost.
    pub fn ending_with_card(self) -> Self {
        Self { ends_with_card: true, ..self }
    }

    /// Measures the CPU, and runs tasks until the sender of `assigned` is dropped; sends to `done` after each job.
    pub fn run(mut self, speed: pipeline::Expected<'_>, assigned: &Receiver<Assignment>, done: &Sender<()>) {
        speed.measure();
        for work in assigned {
            match work {
                Assignment::Unload => {
                    self.current = None;
                    self.emitter.emit(Event::Unloaded);
                }
                Assignment::Draw(job, cancel) => {
                    let id = job.id;
                    self.emitter.emit(Event::Started { job: id });
                    // A panic is a bug in Sluice. It must only fail this job; the model may be in an invalid
                    // state and is dropped.
                    let result = catch_unwind(AssertUnwindSafe(|| self.generate(&job, cancel)));
                    self.emitter.emit(result.unwrap_or_else(|_| {
                        self.current = None;
                        let failure = Failure {
                            message: "an internal error occurred in the engine".to_owned(),
                            advice: Some(
                                "Please report this bug, with the model and the settings that you used."
                                    .to_owned(),
                            ),
                        };
                        Event::Failed { job: Some(id), failure }
                    }));
                    if done.send(()).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn generate(&mut self, job: &Job, cancel: CancelToken) -> Event {
        let started = Instant::now();
        // This job reads its files itself from here on.
        self.read_ahead.take();
        match self.images(job, cancel) {
            Ok(pictures) => {
                Event::Finished { job: job.id, pictures, seconds: started.elapsed().as_secs_f64() }
            }
            Err(JobError::Pipeline(PipelineError::Run(RunError::Cancelled))) => {
                Event::Cancelled { job: job.id }
            }
            Err(JobError::Pipeline(PipelineError::Run(RunError::DeviceLost(error))))
                if self.ends_with_card =>
            {
                // The next process resumes from the journal.
                tracing::error!(%error, "the GPU is lost to this process, which exits");
                std::process::exit(CARD_LOST);
            }
            Err(error) => {
                Event::Failed { job: Some(job.id), failure: failure(&error, error.advice().as_deref()) }
            }
        }
    }

    fn images(&mut self, job: &Job, cancel: CancelToken) -> Result<Vec<Picture>, JobError> {
        if let Some(output) = &job.output {
            output.prepare(unmetered(|| makes_clip(&job.request)), job.codec)?;
        }
        let files =
            TelemetryFiles { events: job.reports.telemetry.clone(), trace: job.reports.trace.clone() };
        let sinks = unmetered(|| files.open()).map_err(PipelineError::from)?;
        let target = unmetered(|| self.target(job))?;
        let job = &unmetered(|| self.with_allowed_precision(job, &target))?;
        let request = &unmetered(|| pipeline::spelled_out(&job.request, &self.library.prompt_folders))?;
        unmetered(|| self.load(job, &target))?;
        unmetered(|| self.adapt(job.id, &request.adapters))?;
        let Some(current) = &self.current else { return Ok(Vec::new()) };
        let resolved = unmetered(|| Resolved::new(current.loaded.model(), request, current.loaded.dtype()))?
            .with_tile(job.memory.tile);
        let mut target = target.computing_in(current.loaded.dtype());
        let run = pipeline::run_identity(current.opened.identity(), &resolved, &job.memory);
        let correction =
            unmetered(|| target.correct(&self.outcomes.all(), Some(&run), &current.loaded.footprint()));
        target.machine = correction.machine;
        let recorder = Recorder::new();
        let journal = unmetered(|| self.journal(job, &resolved.request, &current.loaded));
        // Steps from a journal compute nothing, so neither the times nor the peaks of a resumed run are those of a whole one.
        let resumed = journal.is_ahead();
        let options = RunOptions {
            initial_latents: job.initial_latents.as_ref(),
            dump: job.dump.as_ref(),
            cancel,
            memory: &job.memory,
            target: &target,
            activation_factor: correction.activation_factor,
            recorder: recorder.clone(),
            journal: RefCell::new(journal),
        };
        // The input as it is now: it may be another one when the run ends.
        let made_of = unmetered(|| mark_of_input(&resolved.request))?;
        let sampler = self.watch(job, &recorder, sinks)?;
        let read_ahead = || match self.next_job.read_ahead(current.loaded.model(), &self.library) {
            Ok(started) => *self.read_ahead.borrow_mut() = started,
            Err(error) => tracing::warn!(%error, "the next job's model is not read ahead"),
        };
        let stopped = |plan: &ActivePlan| {
            if let Some(outcome) = plan.outcome_of_steps(run.clone()).filter(|_| !resumed) {
                unmetered(|| self.outcomes.add(&outcome));
            }
        };
        let mut observer = Reporter {
            job: job.id,
            previews: job.previews,
            emitter: &self.emitter,
            counted: None,
            done: 0,
            work: unmetered(|| resolved.work_of_steps()),
            read_ahead: &read_ahead,
            stopped: &stopped,
        };
        let rendered = current.loaded.render(&resolved, &options, &mut observer);
        let reported = sampler.finish();
        let rendered = rendered?;
        if let Err(error) = reported {
            let failure = failure(&error, error.advice());
            self.emitter.emit(Event::NotSaved { job: job.id, failure });
        }
        let outcome = rendered.plan.outcome(run);
        if !resumed {
            self.outcomes.add(&outcome);
        }
        self.emitter.emit(Event::Outcome { job: job.id, outcome: Box::new(outcome) });
        let journal = options.journal.into_inner();
        Ok(self.save(job, &resolved.request, made_of, &current.summary, rendered.media, journal))
    }

    /// The job with the storage of weights that its memory preferences allow and its run is to use.
    fn with_allowed_precision(&mut self, job: &Job, target: &Target) -> Result<Job, PipelineError> {
        if !job.memory.may_use_8_bit {
            return Ok(job.clone());
        }
        let model = self.library.models.of(&job.request)?;
        let request = pipeline::spelled_out(&job.request, &self.library.prompt_folders)?;
        let resolved = pipeline::resolve(&model, &request, target)?.with_tile(job.memory.tile);
        let sizes = self.sizes.of(&model, None, &resolved, target.computes())?;
        let target = target.clone().computing_in(sizes.footprint.dtype);
        let run = pipeline::run_identity(model.identity(), &resolved, &job.memory);
        let correction = target.correct(&self.outcomes.all(), Some(&run), &sizes.footprint);
        let workload = sizes.workload.clone().scaled(correction.activation_factor);
        let memory =
            memory::with_allowed_precision(&sizes.footprint, &workload, &correction.machine, &job.memory);
        Ok(Job { memory, ..job.clone() })
    }

    /// Applies a job's adapters to the current model, and removes those of the previous job.
    fn adapt(&mut self, job: JobId, uses: &[AdapterUse]) -> Result<(), PipelineError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let reports = current.loaded.adapt(uses)?;
        if !reports.is_empty() {
            self.emitter.emit(Event::Adapted { job: Some(job), reports });
        }
        Ok(())
    }

    /// The device that a job asks for, with its current free memory.
    fn target(&mut self, job: &Job) -> Result<Target, PipelineError> {
        let held = self.account.holdings();
        let held = held.weights + held.activations + held.host;
        Target::choose(&job.memory, &self.probe.sample(), held, Pace::Here)
    }

    /// Starts the telemetry of a run.
    fn watch(
        &self,
        job: &Job,
        recorder: &Recorder,
        sinks: Vec<Box<dyn Sink>>,
    ) -> Result<Sampler, PipelineError> {
        let account = Arc::clone(&self.account);
        let mut process = ProcessMemory::new();
        let sample = move || {
            let held = account.holdings();
            MemorySample {
                at: 0,
                weights: held.weights,
                activations: held.activations,
                others: account.others(),
                host: held.host,
                pinned: held.pinned,
                process: process.bytes(),
            }
        };
        let (emitter, id) = (self.emitter.clone(), job.id);
        let deliver = move |events| {
            emitter.offer(Event::Telemetry { job: id, events });
        };
        Sampler::start(recorder, Box::new(sample), sinks, Box::new(deliver))
            .map_err(|error| PipelineError::Run(RunError::Thread(error)))
    }

    /// The journal of a job. A run with a dump is computed without one, because the dump must be complete.
    fn journal(&self, job: &Job, request: &Request, loaded: &LoadedModel) -> Journal {
        let Some(path) = job.journal.as_ref().filter(|_| job.dump.is_none()) else {
            return Journal::default();
        };
        let latents = job.initial_latents.as_deref();
        Journal::open(path, loaded.model(), request, latents).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "the journal of this run cannot be written");
            Journal::default()
        })
    }

    fn save(
        &self,
        job: &Job,
        request: &Request,
        made_of: Option<InputMark>,
        summary: &ModelSummary,
        media: Vec<Media>,
        mut journal: Journal,
    ) -> Vec<Picture> {
        let today = Date::today();
        let loaded = self.current.as_ref().map(|current| &current.loaded);
        let in_bf16 = loaded.and_then(|loaded| loaded.multiplies_in_bf16());
        let in_8_bits = loaded.is_some_and(|loaded| loaded.multiplies_in_8_bits());
        let mut described = Vec::new();
        let save = |(index, media): (usize, Media)| {
            let settings = match Settings::of_changed(request, &summary.name, &summary.family) {
                Some(settings) => settings,
                None => Settings::new(request, &summary.name, &summary.family, index as u32)
                    .held_as(job.memory.precisions())
                    .multiplied_in_bf16(in_bf16)
                    .multiplied_in_8_bits(in_8_bits),
            };
            let settings = Settings { made_of: made_of.clone(), ..settings };
            if job.output.is_none() {
                let seed = settings.seed;
                described.push(settings);
                return Picture { media, seed, path: None };
            }
            if let Some(path) = journal.saved(index as u32).map(Path::to_owned) {
                return Picture { media, seed: settings.seed, path: Some(path) };
            }
            let path = job.output.as_ref().and_then(|output| {
                output.save(index as u32, &media, &settings, job.encoding(), today).map_or_else(
                    |error| {
                        let failure = failure(&error, error.advice());
                        self.emitter.emit(Event::NotSaved { job: job.id, failure });
                        error.kept_at().map(Path::to_owned)
                    },
                    Some,
                )
            });
            if let Some(path) = &path {
                journal.save(index as u32, path);
            }
            Picture { media, seed: settings.seed, path }
        };
        let pictures = media.into_iter().enumerate().map(save).collect();
        if !described.is_empty() {
            self.emitter.emit(Event::Described { job: job.id, settings: described });
        }
        pictures
    }

    /// Loads the model of a job with its options, unless it is loaded already.
    fn load(&mut self, job: &Job, target: &Target) -> Result<(), JobError> {
        let request = &job.request;
        let model = self.library.models.of(request).map_err(PipelineError::from)?;
        let dtype = target.dtype(&model, request.dtype);
        let serves = |kept: &Current| {
            Arc::ptr_eq(&kept.opened, &model) && kept.loaded.serves(dtype, &target.choice, &job.memory)
        };
        if self.current.as_ref().is_some_and(serves) {
            return Ok(());
        }
        self.current = None;
        let summary = pipeline::summarise(&model, &request.model).map_err(PipelineError::from)?;
        let own = Model::clone(&model);
        let loaded = LoadedModel::new(own, summary.name.clone(), dtype, target, &job.memory, &self.account);
        self.current = Some(Current { opened: model, summary, loaded });
        Ok(())
    }
}

/// Whether the result of a request is a clip. An enlarged clip or one of maps may have a single frame.
pub(super) fn makes_clip(request: &Request) -> bool {
    let is_clip = |path: &PathBuf| matches!(ClipInfo::open(path), Ok(Some(_)));
    let enlarged = request.upscale.as_ref().map(|upscale| &upscale.path);
    let given = enlarged.or(request.map_of.as_ref().map(|map| &map.image));
    request.frames > 1 || request.interpolate.is_some() || given.is_some_and(is_clip)
}

#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl JobError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Pipeline(error) => error.advice(),
            Self::Output(error) => error.advice().map(str::to_owned),
        }
    }
}

/// The mark of the file that results of a request are made of, if there is one.
fn mark_of_input(request: &Request) -> Result<Option<InputMark>, PipelineError> {
    let marked = |path: &PathBuf| InputMark::of(path).map_err(|cause| SourceError::unread(path, cause));
    Ok(request.marked_input().map(marked).transpose()?)
}

fn failure(error: &impl ToString, advice: Option<&str>) -> Failure {
    Failure { message: error.to_string(), advice: advice.map(str::to_owned) }
}

/// Converts the progress of a run to events.
struct Reporter<'a> {
    job: JobId,
    previews: bool,
    emitter: &'a Emitter,
    /// When the measurement of steps started, and how many were done then.
    counted: Option<(Instant, u32)>,
    /// The number of steps done.
    done: u32,
    /// How much there is to do in each step, in parts of the same size; empty if all are alike.
    work: Vec<f64>,
    /// Reads files for the next job.
    read_ahead: &'a dyn Fn(),
    /// Keeps the measurements of a run without images.
    stopped: &'a dyn Fn(&ActivePlan),
}

impl Reporter<'_> {
    fn work_in(&self, steps: Range<u32>) -> f64 {
        // Further boxes than were expected are like the last one.
        let of_step = |step: u32| self.work.get(step as usize).or(self.work.last()).copied().unwrap_or(1.0);
        let work: f64 = steps.map(of_step).sum();
        // The sum of nothing is −0.
        work + 0.0
    }
}

impl Observer for Reporter<'_> {
    fn stage_started(&mut self, stage: &Stage) {
        match stage.kind {
            StageKind::Preprocess | StageKind::Denoise | StageKind::Upscale | StageKind::Interpolate => {
                self.counted = Some((Instant::now(), self.done))
            }
            // Images that are denoised again are decoded before.
            StageKind::Decode if self.done as usize == self.work.len() => unmetered(self.read_ahead),
            _ => {}
        }
        self.emitter.emit(Event::StageStarted { job: self.job, stage: stage.clone() });
    }

    fn stage_finished(&mut self, stage: &Stage, seconds: f64) {
        self.emitter.emit(Event::StageFinished { job: self.job, stage: stage.clone(), seconds });
    }

    fn resumed(&mut self, step: u32) {
        self.counted = Some((Instant::now(), step));
        self.done = step;
    }

    fn step(&mut self, step: u32, steps: u32, seconds: f64) {
        let (elapsed, before) =
            self.counted.map_or((0.0, 0), |(since, before)| (since.elapsed().as_secs_f64(), before));
        let seconds_left = elapsed / self.work_in(before..step) * self.work_in(step..steps);
        self.done = step;
        self.emitter.emit(Event::Step { job: self.job, step, steps, seconds, seconds_left });
    }

    fn preview(&mut self, step: u32, media: Vec<Media>) {
        self.emitter.offer(Event::Preview { job: self.job, step, media });
    }

    fn text(&mut self, text: &str, is_whole: bool) {
        let event = Event::Text { job: self.job, text: text.to_owned(), is_whole };
        if is_whole {
            self.emitter.emit(event);
        } else {
            self.emitter.offer(event);
        }
    }

    fn wants_previews(&self) -> bool {
        self.previews
    }

    fn found(&mut self, detailer: usize, boxes: usize) {
        self.emitter.emit(Event::Found { job: self.job, detailer, boxes });
    }

    fn replanned(&mut self, reason: &str) {
        self.emitter.emit(Event::Replanned { job: self.job, reason: reason.to_owned() });
    }

    fn stopped(&mut self, plan: &ActivePlan) {
        (self.stopped)(plan);
    }
}
