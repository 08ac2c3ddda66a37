//! What the window knows, and how an event changes it. No drawing and no I/O.

use std::{collections::VecDeque, path::PathBuf};

use sluice_engine::{
    adapters::AdapterReport,
    hardware::HardwareSample,
    output::{Image, Output},
    request::{LONGEST_SIDE, ModelSource, Request, RequestError},
    session::{Command, Event, Failure, Job, JobId, ModelSummary, Serving, Stage},
};

use super::{
    draft::Draft,
    mask_painting::Painting,
    planning::{Answer, Ask, Planning},
    recent::{RecentId, Recents},
    source_picture::{Dropped, SourceFiles},
    watch::Watches,
};

/// Whether the chosen model can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStatus {
    /// Its headers are being read.
    Loading,
    /// It can draw.
    Ready(Box<ModelSummary>),
    /// It could not be read.
    Failed,
}

/// How far the running job is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The part that runs.
    pub stage: Option<Stage>,
    /// Steps done.
    pub step: u32,
    /// Steps in all; 0 before the first.
    pub steps: u32,
    /// How long the last step took.
    pub step_seconds: f64,
    /// The estimate for the rest, and when it was made.
    pub left: Option<(f64, f64)>,
    /// The forming pictures.
    pub preview: Vec<Image>,
    /// Rises with every preview.
    pub preview_version: u64,
}

impl Progress {
    /// How much is done, 0…1. Encoding and decoding have no steps and count as one each.
    pub fn fraction(&self) -> f32 {
        let done = match self.stage {
            None => 0.0,
            Some(Stage::Encode) => 0.3,
            Some(Stage::Denoise) => 1.0 + self.step as f32,
            Some(Stage::Decode) => 1.3 + self.steps as f32,
        };
        done / (2.0 + self.steps.max(1) as f32)
    }

    /// Seconds left at a moment.
    pub fn seconds_left(&self, now: f64) -> Option<f64> {
        self.left.map(|(seconds, since)| (seconds - (now - since)).max(0.0))
    }
}

/// A job that has not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedJob {
    /// Its name.
    pub id: JobId,
    /// What it draws.
    pub request: Request,
    /// How far it is; absent while it waits.
    pub progress: Option<Progress>,
    /// Whether the engine was asked to end it.
    pub cancelling: bool,
}

/// What the picture's place shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// No picture yet.
    Nothing,
    /// The forming picture.
    Live,
    /// A finished one.
    Recent(RecentId),
}

/// Something that went wrong and was not dismissed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCard {
    /// In a few words.
    pub title: String,
    /// What happened and what to do.
    pub failure: Failure,
}

/// Something good to know, with a way back.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// What did not go as one would expect.
    pub details: Vec<String>,
    /// The settings before it.
    pub undo: Option<Box<Draft>>,
}

/// How the window asks the engine for jobs.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Where pictures go.
    pub folder: Option<PathBuf>,
    /// Whether forming pictures are wanted.
    pub previews: bool,
}

/// All that the window shows.
pub struct State {
    /// The settings panel.
    pub draft: Draft,
    /// The chosen model.
    pub model: ModelSource,
    /// Whether it can be used.
    pub status: ModelStatus,
    /// Whether the model's defaults replace size, steps and guidance once it is read.
    pub adopt_defaults: bool,
    /// Jobs that have not ended, in the order in which they run.
    pub jobs: VecDeque<QueuedJob>,
    /// Finished pictures, newest first.
    pub recents: Recents,
    /// What the picture's place shows.
    pub shown: Shown,
    /// Whether a new picture takes that place by itself.
    pub follow: bool,
    /// What became of adapters the last time that they were put to the model.
    pub adapter_reports: Vec<AdapterReport>,
    /// Adapters in the folders beside the model.
    pub known_adapters: Vec<PathBuf>,
    /// What went wrong, the newest last.
    pub failures: Vec<FailureCard>,
    /// What was restored.
    pub notice: Option<Notice>,
    /// The files of the picture that is drawn over.
    pub sources: SourceFiles,
    /// A mask that is being painted.
    pub painting: Option<Painting>,
    /// A picture that may be meant to be drawn over, or its settings.
    pub dropped: Option<Dropped>,
    /// The machine.
    pub hardware: Option<HardwareSample>,
    /// How memory is to be used, and what that would take.
    pub planning: Planning,
    /// What the last run says about itself.
    pub watches: Watches,
    /// The process that serves as the engine, where it is one of its own.
    pub serving: Option<Serving>,
    /// Jobs that were not finished when Sluice was closed.
    pub unfinished: Vec<Job>,
    /// Whether the engine has ended.
    pub engine_ended: bool,
    last_job: u64,
    seed_is_fresh: bool,
}

impl State {
    /// A window that has just been opened.
    pub fn new(model: ModelSource, draft: Draft, adopt_defaults: bool, planning: Planning) -> Self {
        Self {
            draft,
            model,
            status: ModelStatus::Loading,
            adopt_defaults,
            jobs: VecDeque::new(),
            recents: Recents::default(),
            shown: Shown::Nothing,
            follow: true,
            adapter_reports: Vec::new(),
            known_adapters: Vec::new(),
            failures: Vec::new(),
            notice: None,
            sources: SourceFiles::default(),
            painting: None,
            dropped: None,
            hardware: None,
            planning,
            watches: Watches::default(),
            serving: None,
            unfinished: Vec::new(),
            engine_ended: false,
            last_job: 0,
            seed_is_fresh: false,
        }
    }

    /// What the model says about itself, once it is read.
    pub fn summary(&self) -> Option<&ModelSummary> {
        match &self.status {
            ModelStatus::Ready(summary) => Some(summary),
            ModelStatus::Loading | ModelStatus::Failed => None,
        }
    }

    /// What sizes must be multiples of.
    pub fn size_multiple(&self) -> u32 {
        self.summary().map_or(16, |summary| summary.size_multiple)
    }

    /// What is wrong with the settings.
    pub fn mistake(&self) -> Option<RequestError> {
        let longest = self.summary().map_or(LONGEST_SIDE, |summary| summary.longest_side);
        self.draft.request(self.model.clone()).validate(self.size_multiple(), longest).err()
    }

    /// Whether Generate would do anything.
    pub fn can_generate(&self) -> bool {
        self.summary().is_some() && !self.engine_ended && self.mistake().is_none()
    }

    /// The job that runs now.
    pub fn running(&self) -> Option<(&QueuedJob, &Progress)> {
        self.jobs.iter().find_map(|job| job.progress.as_ref().map(|progress| (job, progress)))
    }

    /// What is to be asked about the memory that the next picture takes.
    pub fn ask(&mut self, now: f64) -> Ask {
        let request = self.can_generate().then(|| self.draft.request(self.model.clone()));
        self.planning.look(request.as_ref(), now)
    }

    /// Chooses another model.
    pub fn choose_model(&mut self, model: ModelSource, adopt_defaults: bool) -> Command {
        if model != self.model {
            self.planning.forget();
        }
        self.model = model.clone();
        self.status = ModelStatus::Loading;
        self.adopt_defaults = adopt_defaults;
        Command::Load { model }
    }

    /// Queues a job with the panel's settings. A seed that is not locked is drawn anew.
    pub fn generate(&mut self, options: &JobOptions, new_seed: impl FnOnce() -> u64) -> Option<Command> {
        if !self.can_generate() {
            return None;
        }
        if !self.draft.seed_locked && !self.seed_is_fresh {
            self.draft.seed = new_seed();
        }
        self.seed_is_fresh = false;
        self.last_job += 1;
        let id = JobId(self.last_job);
        let request = self.draft.request(self.model.clone());
        self.jobs.push_back(QueuedJob { id, request: request.clone(), progress: None, cancelling: false });
        self.follow = true;
        self.notice = None;
        if self.running().is_some() {
            self.shown = Shown::Live;
        }
        Some(Command::Generate(Box::new(Job {
            output: options.folder.clone().map(Output::Folder),
            previews: options.previews,
            memory: self.planning.preferences.clone(),
            ..Job::new(id, request)
        })))
    }

    /// Draws another seed, which the next job uses whether it is locked or not.
    pub fn draw_seed(&mut self, new_seed: impl FnOnce() -> u64) {
        self.draft.seed = new_seed();
        self.seed_is_fresh = true;
    }

    /// Asks for a job's end, once.
    pub fn cancel(&mut self, id: JobId) -> Option<Command> {
        let job = self.jobs.iter_mut().find(|job| job.id == id && !job.cancelling)?;
        job.cancelling = true;
        Some(Command::Cancel { job: id })
    }

    /// Asks for the running job's end, or the first one's if none runs yet.
    pub fn cancel_running(&mut self) -> Option<Command> {
        let id = self.running().map(|(job, _)| job.id).or_else(|| self.jobs.front().map(|job| job.id))?;
        self.cancel(id)
    }

    /// Asks for the end of everything.
    pub fn cancel_all(&mut self) -> Vec<Command> {
        // The waiting ones first, so that none of them begins.
        let ids: Vec<_> = self.jobs.iter().rev().map(|job| job.id).collect();
        ids.into_iter().filter_map(|id| self.cancel(id)).collect()
    }

    /// Takes settings over, with a way back.
    pub fn restore(&mut self, draft: Draft, text: String, details: Vec<String>) {
        let before = std::mem::replace(&mut self.draft, draft);
        self.notice = Some(Notice { text, details, undo: Some(Box::new(before)) });
    }

    /// Shows a finished picture and keeps it.
    pub fn show(&mut self, shown: Shown) {
        self.follow = shown == Shown::Live;
        self.shown = shown;
    }

    /// A painted mask goes with the picture that it is for.
    pub fn leave_painting_of_another(&mut self) {
        let source = self.draft.source.as_ref().map(|source| &source.path);
        self.painting.take_if(|painting| Some(&painting.picture) != source);
    }

    /// Begins to paint a mask for the picture that is drawn over, going on with the one that there is.
    pub fn paint_mask(&mut self) {
        let Some(source) = &self.draft.source else { return };
        let Some(picture) = self.sources.pixels(&source.path) else { return };
        let before = source.mask.as_ref().and_then(|mask| self.sources.pixels(&mask.path));
        let before = before.map(|mask| &**mask);
        self.painting = Some(Painting::new(source.path.clone(), picture.size, before));
    }

    /// Adds a failure to what has to be read.
    pub fn fail(&mut self, title: &str, message: String, advice: Option<String>) {
        self.failures.push(FailureCard { title: title.to_owned(), failure: Failure { message, advice } });
    }

    /// The engine has ended, and nothing comes from it any more.
    pub fn engine_gone(&mut self) {
        if self.engine_ended {
            return;
        }
        self.engine_ended = true;
        self.jobs.clear();
        self.leave_live();
        let advice = Some("Start Sluice again. Your settings are kept.".to_owned());
        self.fail("The engine has ended", "Nothing more can be generated.".to_owned(), advice);
    }

    /// Takes an event in. `now` is the window's clock in seconds.
    pub fn apply(&mut self, event: Event, now: f64) {
        match event {
            Event::Hardware(sample) => self.hardware = Some(sample),
            Event::ModelLoaded(summary) => self.model_loaded(summary),
            Event::Unloaded => {}
            Event::Adapted { reports, .. } => self.adapter_reports = reports,
            Event::Queued { job, .. } => {
                tracing::debug!(job = job.0, "queued");
            }
            Event::Planned { id, forecast, readings } => {
                self.planning.take(id, Answer::Forecast(forecast), readings);
            }
            Event::NotPlanned { id, failure } => {
                self.planning.take(id, Answer::Failure(failure), Vec::new());
            }
            Event::Telemetry { job, events } => self.watches.telemetry(job, &events),
            Event::Replanned { job, reason } => self.watches.replan(job, reason),
            Event::Outcome { outcome, .. } => {
                self.watches.outcome = Some(outcome);
                self.planning.ask_again();
            }
            Event::Started { job } => {
                self.watches.started(job);
                if let Some(job) = self.job_mut(job) {
                    job.progress = Some(Progress::default());
                    if self.follow {
                        self.shown = Shown::Live;
                    }
                }
            }
            Event::StageStarted { job, stage } => {
                if let Some(progress) = self.progress_mut(job) {
                    progress.stage = Some(stage);
                }
            }
            Event::StageFinished { job, stage, seconds } => {
                tracing::debug!(job = job.0, ?stage, seconds, "stage finished");
            }
            Event::Step { job, step, steps, seconds, seconds_left } => {
                if let Some(progress) = self.progress_mut(job) {
                    progress.step = step;
                    progress.steps = steps;
                    progress.step_seconds = seconds;
                    progress.left = Some((seconds_left, now));
                }
            }
            Event::Preview { job, images, .. } => {
                if let Some(progress) = self.progress_mut(job) {
                    progress.preview = images;
                    progress.preview_version += 1;
                }
            }
            Event::NotSaved { failure: Failure { message, advice }, .. } => {
                self.fail("The picture was not saved where it should be", message, advice);
            }
            Event::Finished { job, pictures, seconds } => {
                let Some(job) = self.end(job) else { return };
                let ids = self.recents.add_finished(&job.request, pictures, seconds);
                if self.follow
                    && let Some(&first) = ids.first()
                {
                    self.shown = Shown::Recent(first);
                }
                self.leave_live();
            }
            Event::Cancelled { job } => {
                self.end(job);
                self.leave_live();
            }
            Event::Failed { job, failure } => self.failed(job, failure),
            Event::Serving(serving) => self.serving = Some(serving),
            Event::Restarting { failure } => self.restarting(failure),
            Event::Unfinished { jobs } => self.unfinished = jobs,
            Event::ShutDown => self.engine_gone(),
        }
    }

    /// Sends the jobs again that were not finished when Sluice was closed.
    pub fn finish_earlier(&mut self) -> Vec<Command> {
        let jobs = std::mem::take(&mut self.unfinished).into_iter();
        let again = jobs.map(|job| {
            self.last_job += 1;
            let (id, request) = (JobId(self.last_job), job.request.clone());
            self.jobs.push_back(QueuedJob { id, request, progress: None, cancelling: false });
            Command::Generate(Box::new(Job { id, ..job }))
        });
        again.collect()
    }

    /// The engine's process has ended and comes back.
    fn restarting(&mut self, failure: Failure) {
        let details = std::iter::once(failure.message).chain(failure.advice).collect();
        self.notice = Some(Notice { text: "The engine is started again".to_owned(), details, undo: None });
    }

    fn model_loaded(&mut self, summary: Box<ModelSummary>) {
        if summary.source != self.model {
            return;
        }
        if self.adopt_defaults {
            self.draft.adopt(&summary.defaults);
            self.adopt_defaults = false;
        }
        self.status = ModelStatus::Ready(summary);
    }

    fn failed(&mut self, job: Option<JobId>, failure: Failure) {
        let title = match job {
            Some(id) => {
                self.end(id);
                self.leave_live();
                "This picture could not be made"
            }
            None if self.status == ModelStatus::Loading => {
                self.status = ModelStatus::Failed;
                "This model could not be opened"
            }
            None => "Something went wrong",
        };
        self.failures.push(FailureCard { title: title.to_owned(), failure });
    }

    fn job_mut(&mut self, id: JobId) -> Option<&mut QueuedJob> {
        self.jobs.iter_mut().find(|job| job.id == id)
    }

    fn progress_mut(&mut self, id: JobId) -> Option<&mut Progress> {
        self.job_mut(id).and_then(|job| job.progress.as_mut())
    }

    fn end(&mut self, id: JobId) -> Option<QueuedJob> {
        self.watches.ended(id);
        let index = self.jobs.iter().position(|job| job.id == id)?;
        self.jobs.remove(index)
    }

    /// When nothing forms any more, the newest picture takes its place.
    fn leave_live(&mut self) {
        if self.shown == Shown::Live && self.running().is_none() {
            self.shown = self.recents.newest().map_or(Shown::Nothing, Shown::Recent);
        }
    }
}
