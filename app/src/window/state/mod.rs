//! The state of the window, and its changes by events. No drawing and no I/O.

mod clip_frames;
mod detectors;
mod downloads;
mod draft;
mod editing;
mod enhancing;
mod few_steps;
mod groups;
mod input_image;
mod interpolating;
mod jobs;
mod lanes;
mod library;
mod making;
mod maps;
mod mask;
mod messages;
mod object;
mod pixels;
mod planning;
mod playback;
mod player;
mod queue_order;
mod queue_time;
mod recent;
mod sizes;
mod sound;
mod texts;
mod updates;
mod upscaling;
mod watch;

use std::path::{Path, PathBuf};

use egui::ColorImage;
use sluice_engine::{
    adapters::AdapterReport,
    checkpoint::Role,
    hardware::HardwareSample,
    output::Clip,
    request::{LONGEST_SIDE, Mode, ModelSource, References, Request, RequestError, Style},
    session::{Command, Event, Failure, Job, JobId, ModelSummary, Picture, Reading, Serving},
};

use super::{
    sentences::sentence,
    settings::{LastModels, PromptKind, Settings},
};
use crate::{
    engines::Card,
    language::{self, Language, said, tr},
    presets::NamedPreset,
    tags::Tag,
};
pub use clip_frames::{clip_words, frames_of, shortened, snap_frames};
pub use downloads::{Asked, GetModels, TokenState};
pub use draft::Draft;
pub use enhancing::Enhancing;
pub use groups::{GroupChange, Groups, NamedGroup};
pub use input_image::{Dropped, FileState, InputFiles, InputImage, Wanted, map_name};
pub use interpolating::InterpolateChoice;
pub use jobs::{Jobs, Progress, QueuedJob};
pub use lanes::{Lane, LanePhase, Lanes};
pub use library::{EntryId, Fit, Fits, KnownEntry, Library, Likeness, NextFit, Search, SearchedFolder, Way};
pub use mask::{MaskEdit, MaskPainting};
pub use messages::{DeletedPreset, FailureCard, Messages, Notice, Undo};
pub use pixels::{ClipLength, Pixels, color_image, fill_from, is_clip, shrink, shrink_frame, thumbnail};
pub use planning::{Answer, Ask, Planning};
pub use playback::{Control, HeardPart, Playback, SPEEDS, same_moment};
pub use player::Player;
pub use queue_time::Expected;
pub use recent::{Images, Recent, RecentId, Recents, Shown, file_name};
pub use sizes::{Aspect, MAX_SIDE, snap};
pub use texts::{Each, Texts};
pub use updates::Updates;
pub use upscaling::{Estimate, FileChange, Measured, UpscaleChoice, Upscaling};
pub use watch::{Replanned, Watch, Watches};

/// Whether the selected model is ready.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ModelStatus {
    /// Its headers are being read.
    #[default]
    Loading,
    /// Ready.
    Ready(Box<ModelSummary>),
    /// Loading failed.
    Failed,
}

/// The selected model.
#[derive(Debug, Default)]
pub struct Model {
    /// Whether it is ready.
    pub status: ModelStatus,
    /// Whether its defaults replace size, steps and guidance when it is loaded.
    pub adopt_defaults: bool,
    /// What comes back if it cannot be loaded.
    before: Option<Box<Before>>,
}

impl Model {
    /// The first model, while it is loaded.
    pub fn loading(adopt_defaults: bool) -> Self {
        Self { adopt_defaults, ..Self::default() }
    }
}

/// The model before another one was chosen.
#[derive(Debug)]
struct Before {
    summary: Box<ModelSummary>,
    /// The settings, if they were replaced together with the model.
    draft: Option<Draft>,
}

/// What is known about adapters.
#[derive(Debug, Default)]
pub struct Adapters {
    /// How the adapters of the last job matched the model.
    pub reports: Vec<AdapterReport>,
    /// Adapters in the folders next to the model.
    pub known: Vec<PathBuf>,
}

/// The engine and the machine it runs on.
#[derive(Debug, Default)]
pub struct Engine {
    /// The latest hardware sample.
    pub hardware: Option<HardwareSample>,
    /// The engine's process, if it has its own.
    pub serving: Option<Serving>,
    /// Whether the engine has ended.
    pub ended: bool,
}

/// The environment of the window.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// Where images are saved.
    pub output_folder: Option<PathBuf>,
    /// The GPU that renders the window.
    pub gpu: Option<String>,
    /// The locales that the user prefers, the first one most.
    pub locales: Vec<String>,
    /// Whether files can be dragged out of the window.
    pub drags_out: bool,
    /// Whether the system asks for less motion.
    pub reduces_motion: bool,
    /// The NVIDIA cards of this computer.
    pub cards: Vec<Card>,
}

/// The complete state of the window.
#[derive(Debug, Default)]
pub struct State {
    /// All settings.
    pub settings: Settings,
    /// Newer releases.
    pub updates: Updates,
    /// The selected model.
    pub model: Model,
    /// Unfinished jobs.
    pub jobs: Jobs,
    /// Finished images and clips.
    pub images: Images,
    /// How the clip in the viewer is played.
    pub player: Player,
    /// The input image and its files.
    pub input: InputImage,
    /// What is known about adapters.
    pub adapters: Adapters,
    /// Messages for the user.
    pub messages: Messages,
    /// The prediction for the next image.
    pub planning: Planning,
    /// Telemetry of the last run.
    pub watches: Watches,
    /// The engine, or that of several which is shown.
    pub engine: Engine,
    /// Several engines.
    pub lanes: Lanes,
    /// The models on disk.
    pub library: Library,
    /// Downloads of models.
    pub downloads: GetModels,
    /// The question what to enlarge, while it is asked.
    pub upscaling: Option<Upscaling>,
    /// The prompt that is being made better, while that is shown.
    pub enhancing: Option<Enhancing>,
    /// The texts about images that are described one by one.
    pub texts: Texts,
    /// The presets that are kept.
    pub presets: Vec<NamedPreset>,
    /// The styles that were found.
    pub styles: Vec<Style>,
    /// Those that were saved in the window.
    pub own_styles: Vec<Style>,
    /// The tags with which prompts are completed.
    pub tags: Vec<Tag>,
    /// The environment of the window.
    pub surroundings: Surroundings,
}

/// Whether a job makes a map, a mask or a text, which is no image of the session.
fn makes_no_image(request: &Request) -> bool {
    request.map_of.is_some() || request.mask_of.is_some() || request.writes()
}

impl State {
    /// The contents of the settings panel.
    pub fn draft(&self) -> &Draft {
        &self.settings.draft
    }

    /// The language of the window, if it can be drawn.
    pub fn language(&self) -> &'static Language {
        let chosen = self.settings.language.as_deref().and_then(language::find);
        let system = || language::of_system(&self.surroundings.locales);
        chosen.or_else(system).unwrap_or_else(language::english)
    }

    /// The selected model.
    pub fn chosen_model(&self) -> &ModelSource {
        &self.settings.draft.request.model
    }

    /// The model's summary, once it is loaded.
    pub fn summary(&self) -> Option<&ModelSummary> {
        match &self.model.status {
            ModelStatus::Ready(summary) => Some(summary),
            ModelStatus::Loading | ModelStatus::Failed => None,
        }
    }

    /// The number that sizes must be multiples of.
    pub fn size_multiple(&self) -> u32 {
        self.summary().map_or(16, |summary| summary.size_multiple)
    }

    /// The error in the settings, if any.
    pub fn mistake(&self) -> Option<RequestError> {
        let request = &self.draft().request;
        let longest = self.summary().map_or(LONGEST_SIDE, |summary| summary.longest_side);
        let multiple = self.summary().and_then(|summary| summary.frame_multiple).unwrap_or(1);
        let checked = request.validate(self.size_multiple(), longest);
        let checked = checked.and_then(|()| request.validate_frames(multiple));
        let of_mode = || match self.summary() {
            Some(summary) if !summary.modes.is_empty() => {
                request.validate_mode(&summary.modes, multiple, summary.overlap)
            }
            _ => Ok(()),
        };
        let of_mask = || request.validate_mask(self.summary().is_some_and(|summary| summary.fills_in));
        let of_references = || match self.summary() {
            Some(_) => request.validate_references(self.takes_references().as_ref()),
            None => Ok(()),
        };
        checked.and_then(|()| of_mode()).and_then(|()| of_mask()).and_then(|()| of_references()).err()
    }

    /// Whether the section for the inputs of a clip is shown, and not that for an input image: for clips, and as long as
    /// there is an input that only clips have.
    pub fn takes_clip_inputs(&self, request: &Request) -> bool {
        request.is_of_clip() || (request.frames > 1 && self.makes_clips())
    }

    /// How the chosen model takes references with the settings, if it does.
    pub fn takes_references(&self) -> Option<References> {
        let summary = self.summary()?;
        match self.reads_through_redux() {
            true => Some(References::through_redux()),
            false => summary.references.clone(),
        }
    }

    /// Whether references are read through a Redux model.
    pub fn reads_through_redux(&self) -> bool {
        let takes = self.summary().is_some_and(|summary| summary.takes_redux);
        takes && self.draft().request.redux.is_some()
    }

    /// Whether the chosen model is made to change images, which are references.
    pub fn edits(&self) -> bool {
        self.takes_references().is_some_and(|takes| takes.edits)
    }

    /// Gives the next image the size that suits a first reference of this size, if it was just added.
    pub fn follow_reference(&mut self, path: &Path, own: [usize; 2]) {
        if self.input.gives_size.take_if(|waiting| waiting.as_path() == path).is_none() || !self.edits() {
            return;
        }
        let Some(summary) = self.summary() else { return };
        let multiple = summary.size_multiple;
        let takes = summary.references.as_ref();
        let Some(size) = takes.and_then(|takes| takes.size(own.map(|side| side as u32), None)) else {
            return;
        };
        let request = &mut self.settings.draft.request;
        [request.width, request.height] = size;
        self.settings.draft.snap_size(multiple);
    }

    /// Whether the chosen model changes or continues clips.
    pub fn takes_clips(&self) -> bool {
        self.can(Mode::VideoToVideo) || self.can(Mode::Extend)
    }

    /// Whether the chosen model can do this.
    pub fn can(&self, mode: Mode) -> bool {
        self.summary().is_some_and(|summary| summary.modes.contains(&mode))
    }

    /// Whether the chosen model generates clips, as far as that is known.
    pub fn makes_clips(&self) -> bool {
        match self.summary() {
            Some(summary) => summary.frame_multiple.is_some(),
            None => self.model_of_each_kind()[1] == *self.chosen_model(),
        }
    }

    /// The model for images and the one for clips that were used last, or the starters.
    pub fn model_of_each_kind(&self) -> [ModelSource; 2] {
        let LastModels { image, video } = &self.settings.last_models;
        let or = |last: &Option<ModelSource>, starter| last.clone().unwrap_or(starter);
        [or(image, ModelSource::Starter), or(video, ModelSource::StarterClip)]
    }

    /// Whether Generate is enabled.
    pub fn can_generate(&self) -> bool {
        self.summary().is_some() && !self.engine.ended && self.mistake().is_none()
    }

    /// The next query for a prediction, if any.
    pub fn ask(&mut self, now: f64) -> Ask {
        let mut planning = std::mem::take(&mut self.planning);
        let request = self.can_generate().then(|| self.to_send());
        let ask = planning.look(request.as_deref(), &self.settings.memory.preferences, now);
        self.planning = planning;
        ask
    }

    /// Selects another model.
    pub fn choose_model(&mut self, model: ModelSource, adopt_defaults: bool) -> Command {
        if model != *self.chosen_model() {
            self.planning.forget();
        }
        let Model { status, before, .. } = std::mem::take(&mut self.model);
        let before = match status {
            ModelStatus::Ready(summary) => Some(Box::new(Before { summary, draft: None })),
            ModelStatus::Loading | ModelStatus::Failed => before,
        };
        self.settings.draft.request.model = model.clone();
        self.model = Model { status: ModelStatus::Loading, adopt_defaults, before };
        Command::Load { model }
    }

    /// Queues a job with the panel's settings. Randomizes the seed unless it is locked.
    pub fn generate(&mut self, new_seed: impl FnOnce() -> u64) -> Vec<Command> {
        if !self.can_generate() {
            return Vec::new();
        }
        self.take_seed(new_seed);
        let job = self.job_of(self.to_send().into_owned());
        let job = Job { output: self.jobs.output_of_edited().or(job.output), ..job };
        self.settings.remember_prompt(&job.request.prompt);
        self.follow_jobs();
        let add = match self.settings.batch_grid && job.request.batch > 1 {
            true => self.compose_batch(job),
            false => self.jobs.add(job),
        };
        self.jobs.expect(self.expected());
        let mut commands = vec![add];
        commands.extend(self.jobs.take_edited_place());
        commands
    }

    /// Randomizes the seed; the next job uses it whether it is locked or not.
    pub fn randomize_seed(&mut self, new_seed: impl FnOnce() -> u64) {
        self.settings.draft.request.seed = new_seed();
        self.settings.draft.seed_is_fresh = true;
    }

    /// Whether nothing moves by itself: as the settings say, or else the system.
    pub fn reduces_motion(&self) -> bool {
        self.settings.reduced_motion.unwrap_or(self.surroundings.reduces_motion)
    }

    /// Replaces the settings and shows a notice with an undo. Loads the model if it is another one.
    pub fn restore(&mut self, draft: Draft, text: String, details: Vec<String>) -> Option<Command> {
        let (before, load) = self.replace(draft);
        self.messages.notice = Some(Notice { text, details, undo: Some(Undo::Settings(Box::new(before))) });
        load
    }

    /// Deletes a snippet, and offers to undo that.
    pub fn delete_snippet(&mut self, prompt: PromptKind, words: String) {
        self.settings.forget_snippet(prompt, &words);
        let text = match prompt {
            PromptKind::Positive => tr!("state-snippet-deleted", words = &words),
            PromptKind::Negative => tr!("state-negative-snippet-deleted", words = &words),
        };
        let undo = Some(Undo::Snippet(prompt, words));
        self.messages.notice = Some(Notice { text, details: Vec::new(), undo });
    }

    /// Restores the settings from before a notice, keeps a snippet again, or queues cancelled jobs again.
    pub fn undo(&mut self, undo: Undo) -> Vec<Command> {
        match undo {
            Undo::Settings(before) => self.replace(*before).1.into_iter().collect(),
            Undo::Edited(before) => self.edit_no_longer(*before),
            Undo::Cancelled(jobs) => {
                self.images.follow = true;
                self.messages.resumed(&jobs);
                jobs.into_iter().map(|job| self.jobs.add_again(job)).collect()
            }
            Undo::Snippet(prompt, words) => {
                self.settings.keep_snippet(prompt, words);
                Vec::new()
            }
            // They are in files.
            Undo::Preset(_) | Undo::Style(_) | Undo::Trash(_) => Vec::new(),
        }
    }

    /// Queues the job again that was cancelled last while it ran. The engine continues where it was.
    pub fn resume_cancelled(&mut self) -> Option<Command> {
        let job = self.messages.take_resumable()?;
        self.images.follow = true;
        Some(self.jobs.add_again(job))
    }

    fn replace(&mut self, draft: Draft) -> (Draft, Option<Command>) {
        let model = draft.request.model.clone();
        let before = self.settings.draft.clone();
        let load = (model != before.request.model).then(|| self.choose_model(model, false));
        if load.is_some()
            && let Some(earlier) = &mut self.model.before
        {
            earlier.draft.get_or_insert_with(|| before.clone());
        }
        self.settings.draft = draft;
        (before, load)
    }

    /// Applies a style to the prompts, or no longer.
    pub fn toggle_style(&mut self, name: &str) {
        let used = &mut self.settings.draft.request.styles;
        if used.iter().any(|style| style.name == name) {
            used.retain(|style| style.name != name);
        } else {
            used.extend(self.styles.iter().find(|style| style.name == name).cloned());
        }
    }

    /// Starts painting a mask for the input image.
    pub fn paint_mask(&mut self) {
        if let Some(source) = &self.settings.draft.request.source {
            self.input.paint_mask(source);
        }
    }

    /// Starts painting a mask for the input image as soon as it is read.
    pub fn paint_mask_soon(&mut self) {
        if let Some(source) = &self.settings.draft.request.source {
            self.input.paint_mask_soon(source);
        }
    }

    /// Starts painting if that waits for this file.
    pub fn paint_waiting(&mut self, path: &Path) {
        let is_awaited = self.input.paints.take_if(|awaited| awaited.as_path() == path).is_some();
        let source = self.settings.draft.request.source.as_ref().filter(|source| source.path == path);
        if let Some(source) = source.filter(|_| is_awaited) {
            self.input.paint_mask(source);
        }
    }

    /// Handles the end of the engine, after its last event.
    pub fn engine_gone(&mut self) {
        if self.engine.ended {
            return;
        }
        self.engine.ended = true;
        self.jobs.queue.clear();
        self.leave_live();
        let failure = Failure {
            message: tr!("state-engine-stopped-message"),
            advice: Some(tr!("state-engine-stopped-advice")),
        };
        self.messages.fail(&tr!("state-engine-stopped"), failure);
    }

    /// Applies an event. `now` is the window's clock in seconds.
    pub fn apply(&mut self, event: Event, now: f64) {
        match event {
            Event::Hardware(sample) => self.engine.hardware = Some(sample),
            Event::Serving(serving) => self.engine.serving = Some(serving),
            Event::ShutDown => self.engine_gone(),
            // Of several, it is said which.
            Event::Restarting { .. } if self.lanes.shown().is_some() => {}
            Event::Restarting { failure } => self.restarting(tr!("state-engine-restarted"), None, failure),
            Event::Assigned { job, lane } => self.assigned(job, lane),
            Event::Returned { job } => {
                self.watches.ended(job);
                self.jobs.returned(job);
                self.leave_live();
            }
            Event::Lane { lane, change } => self.lane_changed(lane, change),
            Event::ModelLoaded(summary) => self.model_loaded(summary),
            Event::Listed { folders, inventory } => {
                self.library.folders = folders.into_iter().map(SearchedFolder::Named).collect();
                self.library.list(Some(*inventory), now);
            }
            // The window writes no images itself.
            Event::Unloaded | Event::Described { .. } => {}
            Event::Adapted { reports, .. } => self.adapters.reports = reports,
            Event::Planned { id, forecast, readings } => {
                self.planned(id, Answer::Forecast(forecast), readings);
            }
            Event::NotPlanned { id, failure } => self.planned(id, Answer::Failure(failure), Vec::new()),
            Event::Telemetry { job, events } => self.watches.telemetry(job, self.jobs.aside(job), &events),
            Event::Replanned { job, reason } => self.watches.replan(job, reason),
            Event::Outcome { job, outcome } => {
                self.watches.measured(self.jobs.aside(job), outcome);
                self.planning.ask_again();
                self.library.fits.renew();
            }
            // Nobody waits for a text any more.
            Event::Unfinished { mut jobs } => {
                jobs.retain(|job| !job.request.writes());
                // What was being edited is known only here.
                jobs.extend(self.jobs.unfinished.drain(..).filter(|job| job.journal.is_none()));
                self.jobs.unfinished = jobs;
            }
            Event::Resumable { mut jobs } => {
                jobs.retain(|job| !job.request.writes());
                self.messages.resumable_from_before(jobs);
            }
            Event::Text { job, text, is_whole } => self.take_text(job, text, is_whole),
            Event::Queued { job, .. } => tracing::debug!(job = job.0, "queued"),
            Event::Started { job } => self.started(job),
            Event::StageStarted { job, stage } => {
                self.jobs.update(job, |progress| progress.start(stage.kind));
            }
            Event::StageFinished { job, stage, seconds } => {
                tracing::debug!(job = job.0, ?stage, seconds, "stage finished");
            }
            Event::Step { job, step, steps, seconds, seconds_left } => {
                let left = Some((seconds_left, now));
                self.jobs.update(job, |progress| {
                    *progress =
                        Progress { step, steps, step_seconds: seconds, left, ..std::mem::take(progress) };
                });
            }
            Event::Preview { job, media, .. } => self.jobs.update(job, |progress| {
                progress.preview = media;
                progress.preview_version += 1;
            }),
            Event::NotSaved { failure, .. } => {
                self.messages.fail(&tr!("state-not-saved"), failure);
            }
            Event::Finished { job, pictures, seconds } => self.finished(job, pictures, seconds),
            Event::Cancelled { job } => {
                if let Some(job) = self.end(job)
                    && self.jobs.is_cancelled(&job)
                    && !job.request().writes()
                {
                    self.messages.cancelled(job);
                }
                self.leave_live();
            }
            Event::Failed { job, failure } => self.failed(job, failure),
        }
        self.jobs.groups.settle(&self.jobs.unfinished);
    }

    /// A file of an earlier session was found, newest first. The first one that was generated is shown, unless a model is
    /// missing, which is to be seen first.
    pub fn found(
        &mut self,
        path: PathBuf,
        thumbnail: ColorImage,
        length: Option<ClipLength>,
        request: Option<Request>,
    ) {
        let is_generated = request.is_some();
        let id = self.images.recents.add_found(path, thumbnail, length, request);
        if let Some(id) = id.filter(|_| is_generated && self.model.status != ModelStatus::Failed) {
            self.images.show_at_start(id);
        }
    }

    /// Plays the clip that is shown, once its frames are in memory.
    pub fn follow_clip(&mut self, now: f64) {
        let shown = self.images.shown_recent();
        let clip = shown.and_then(|recent| Some((recent.id, recent.clip()?)));
        let clip = clip.map(|(id, clip)| (id, clip.frames.len() as u32, clip.rate));
        let is_asked_for = |id| !self.images.is_of_start(id) && !self.reduces_motion();
        let waits = clip.is_some_and(|(id, ..)| !is_asked_for(id) && self.player.playback(id).is_none());
        self.player.follow(clip, now);
        if waits {
            // It moves, and may have sound.
            self.player.control(Control::Go(0), now);
        }
        self.player.keep(|id| self.images.recents.get(id).is_some());
    }

    /// The file of an image or a clip, if it can be dragged out of the window.
    pub fn file_to_drag<'a>(&self, recent: &'a Recent) -> Option<&'a Path> {
        recent.path.as_deref().filter(|_| self.surroundings.drags_out)
    }

    /// A clip and the frame of it that is displayed.
    pub fn displayed_frame(&self, id: RecentId, now: f64) -> Option<(&Recent, u32)> {
        let frame = self.player.playback(id)?.frame(now);
        Some((self.images.recents.get(id)?, frame))
    }

    /// The pixels of an image, or of the frame of a clip that is displayed.
    pub fn displayed(&self, id: RecentId, now: f64) -> Option<ColorImage> {
        match self.images.recents.get(id)?.pixels.as_ref()? {
            Pixels::Image(image) => Some((**image).clone()),
            Pixels::Clip(clip) => {
                let frame = self.player.playback(id).map_or(0, |playback| playback.frame(now));
                clip.frames.get(frame as usize).and_then(color_image)
            }
        }
    }

    /// The frame of a clip that is displayed: of the one being played, or of the one it is compared with, which shows
    /// the same moment or its last frame.
    pub fn frame_of(&self, id: RecentId, clip: &Clip, now: f64) -> u32 {
        let Some((current, playback)) = self.player.current() else { return 0 };
        let frame = playback.frame(now);
        let last = clip.frames.len().saturating_sub(1) as u32;
        match id == current {
            true => frame,
            false => same_moment(frame, playback.rate(), f64::from(clip.rate)).min(last),
        }
    }

    fn planned(&mut self, id: u64, answer: Answer, readings: Vec<Vec<Reading>>) {
        let Some(answer) = self.library.fits.take(id, answer) else { return };
        if id <= enhancing::FIRST {
            return self.planning.take(id, answer, readings);
        }
        if id <= upscaling::FIRST {
            if let Some(enhancing) = &mut self.enhancing {
                enhancing.take(id, answer);
            }
            return;
        }
        if let Some(upscaling) = &mut self.upscaling {
            upscaling.take(id, answer);
        }
    }

    fn started(&mut self, job: JobId) {
        self.watches.started(job);
        let is_image =
            self.jobs.queue.iter().all(|known| known.id != job || !makes_no_image(known.request()));
        if self.jobs.start(job) && self.images.follow && is_image {
            self.images.shown = Shown::Live;
        }
    }

    fn finished(&mut self, job: JobId, images: Vec<Picture>, seconds: f64) {
        self.jobs.groups.finished(job, &images);
        let Some(job) = self.end(job) else { return };
        self.jobs.groups.ended(job.id);
        self.jobs.ended_well(&job);
        if job.request().writes() {
            return self.leave_live();
        }
        if let Some(map) = &job.request().map_of {
            self.input.files.take_map(map, &images);
            return self.leave_live();
        }
        if let Some(mask) = &job.request().mask_of {
            self.take_mask(mask, &images);
            return self.leave_live();
        }
        let ids = self.images.recents.add_finished(job.request(), images, seconds);
        if self.images.follow
            && let Some(&first) = ids.first()
        {
            self.images.shown = Shown::Recent(first);
        }
        self.leave_live();
    }

    /// The process of an engine, of several that at a place, has ended and is being restarted.
    fn restarting(&mut self, text: String, lane: Option<usize>, failure: Failure) {
        let advice = failure.advice.map(|advice| said(&advice));
        let message = std::iter::once(sentence(&failure.message));
        let details = self.jobs.goes_on(lane).into_iter().chain(message).chain(advice).collect();
        self.messages.notice = Some(Notice { text, details, undo: None });
    }

    fn model_loaded(&mut self, summary: Box<ModelSummary>) {
        if summary.source != *self.chosen_model() {
            return;
        }
        let is_all = |role| summary.components.iter().all(|component| component.role == role);
        if is_all(Role::Upscaler) {
            return self.use_upscaler(summary.source);
        }
        if is_all(Role::Interpolator) {
            return self.use_interpolator(summary.source);
        }
        if let Some(kind) = summary.maps {
            return self.use_estimator(kind, summary.source);
        }
        if is_all(Role::Segmenter) {
            return self.use_segmenter(summary.source);
        }
        if is_all(Role::Detector) {
            return self.use_detector(summary.source);
        }
        self.model.before = None;
        if let ModelSource::Path(path) = &summary.source {
            self.settings.remember_model(path);
        }
        if std::mem::take(&mut self.model.adopt_defaults) {
            self.settings.draft.adopt(&summary.defaults);
            if let Some(own) = self.settings.library.defaults_of(&summary.source) {
                let request = std::mem::take(&mut self.settings.draft.request);
                self.settings.draft.request = own.given_to(request);
            }
        }
        let request = &mut self.settings.draft.request;
        if !summary.takes_refiner {
            request.refiner = None;
        }
        if !summary.takes_redux {
            request.redux = None;
        }
        if !summary.takes_control_nets {
            request.control_nets.clear();
        }
        if !summary.takes_ip_adapters {
            request.image_prompts.clear();
        }
        if summary.references.is_none() && request.redux.is_none() {
            request.references.clear();
        }
        let last = &mut self.settings.last_models;
        match summary.frame_multiple {
            Some(multiple) => {
                request.hires = None;
                request.detailers.clear();
                request.frames = snap_frames(request.frames, multiple);
                last.video = Some(summary.source.clone());
            }
            None => {
                request.smooth = None;
                request.frames = 1;
                request.last_image = None;
                request.keyframes.clear();
                request.clip = None;
                request.control = None;
                last.image = Some(summary.source.clone());
            }
        }
        self.model.status = ModelStatus::Ready(summary);
    }

    /// An upscaler was opened as a model: from now on it enlarges, and the model is the one before.
    fn use_upscaler(&mut self, source: ModelSource) {
        let name = match &source {
            ModelSource::Path(path) => file_name(path),
            built_in => built_in.to_string(),
        };
        self.settings.upscale.model = source;
        self.not_opened();
        let text = tr!("upscale-chosen", name = name);
        self.messages.notice = Some(Notice { text, details: Vec::new(), undo: None });
    }

    fn failed(&mut self, job: Option<JobId>, failure: Failure) {
        let title = match job {
            Some(id) => {
                self.end(id);
                self.jobs.stop_repeating();
                self.jobs.groups.ended(id);
                self.leave_live();
                tr!("state-generation-failed")
            }
            None if self.model.status == ModelStatus::Loading => {
                self.not_opened();
                tr!("state-model-not-opened")
            }
            None => tr!("state-went-wrong"),
        };
        self.messages.fail(&title, failure);
    }

    /// Goes back to the model before the one that could not be opened.
    fn not_opened(&mut self) {
        let Some(before) = self.model.before.take() else {
            self.model.status = ModelStatus::Failed;
            self.images.hide_start();
            return;
        };
        let Before { summary, draft } = *before;
        if let Some(draft) = draft {
            self.settings.draft = draft;
            self.messages.notice = None;
        }
        self.planning.forget();
        self.settings.draft.request.model = summary.source.clone();
        self.model = Model { status: ModelStatus::Ready(summary), ..Model::default() };
    }

    fn end(&mut self, id: JobId) -> Option<QueuedJob> {
        self.watches.ended(id);
        self.ended_writing(id);
        self.jobs.end(id)
    }

    /// Shows the newest image instead of the live preview when no job is running.
    fn leave_live(&mut self) {
        if self.images.shown == Shown::Live && self.jobs.running().is_none() {
            self.images.show_newest();
        }
    }
}
