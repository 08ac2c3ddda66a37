//! The state of the window, and its changes by events. No drawing and no I/O.

mod abilities;
mod clip_frames;
mod cuda;
mod detectors;
mod displayed;
mod downloads;
mod draft;
mod editing;
mod enhancing;
mod events;
mod few_steps;
mod folder_run;
mod groups;
mod images;
mod input_image;
mod interpolating;
mod jobs;
mod lanes;
mod library;
mod made_before;
mod making;
mod maps;
mod mask;
mod messages;
mod model;
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
mod tool_costs;
mod undoing;
mod updates;
mod upscaling;
mod watch;

use std::path::{Path, PathBuf};

use sluice_engine::{
    adapters::AdapterReport,
    hardware::HardwareSample,
    request::Style,
    session::{Command, Job, Serving},
};

use super::settings::Settings;
use crate::{
    engines::Card,
    language::{self, Language},
    presets::NamedPreset,
    tags::Tag,
};
pub use clip_frames::{clip_words, frames_of, shortened, snap_frames};
pub use cuda::{CudaInstall, CudaPhase};
pub use downloads::{Asked, GetModels, TokenState};
pub use draft::Draft;
pub use enhancing::Enhancing;
pub use folder_run::FolderRun;
pub use groups::{GroupChange, Groups, NamedGroup};
pub use images::{Images, Shown};
pub use input_image::{Applied, Dropped, FileState, InputFiles, InputImage, Wanted, map_name};
pub use interpolating::InterpolateChoice;
pub use jobs::{Jobs, Progress, QueuedJob};
pub use lanes::{Lane, LanePhase, Lanes};
pub use library::{
    EntryId, Fit, Fits, KnownEntry, Library, Likeness, NextFit, Search, SearchedFolder, Way, title_of,
};
pub use made_before::{MadeBefore, Makers, ResultOf};
pub use mask::{MaskEdit, MaskPainting};
pub use messages::{DeletedPreset, FailureCard, Messages, Notice, Undo};
pub use model::{Model, ModelStatus};
pub use pixels::{ClipLength, Pixels, color_image, fill_from, is_clip, shrink, shrink_frame, thumbnail};
pub use planning::{Answer, Ask, Planning};
pub use playback::{Control, HeardPart, Playback, SPEEDS, same_moment};
pub use player::Player;
pub use queue_time::Expected;
pub use recent::{Recent, RecentId, Recents, file_name};
pub use sizes::{Aspect, MAX_SIDE, snap};
pub use texts::{Each, Texts};
pub use tool_costs::ToolCosts;
pub use updates::Updates;
pub use upscaling::{Estimate, FileChange, Measured, UpscaleChoice, Upscaling};
pub use watch::{Replanned, Watch, Watches};

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
    /// Whether the CPU draws the window.
    pub is_drawn_by_cpu: bool,
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
    /// The engine for NVIDIA GPUs that may be installed.
    pub cuda: CudaInstall,
    /// The models on disk.
    pub library: Library,
    /// Downloads of models.
    pub downloads: GetModels,
    /// The question what to enlarge, while it is asked.
    pub upscaling: Option<Upscaling>,
    /// What a run over a folder takes, while that is asked.
    pub folder_run: FolderRun,
    /// What masks of objects and maps take.
    pub tool_costs: ToolCosts,
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

    /// Whether Generate is enabled.
    pub fn can_generate(&self) -> bool {
        self.can_ask() && !self.planning.is_refused()
    }

    /// Whether there is something to ask the engine about. What it said about the panel's settings is no matter to what replaces
    /// some of them.
    pub fn can_ask(&self) -> bool {
        self.summary().is_some() && !self.engine.ended && self.mistake().is_none()
    }

    /// The next query for a prediction, if any.
    pub fn ask(&mut self, now: f64) -> Ask {
        let mut planning = std::mem::take(&mut self.planning);
        let is_known = self.summary().is_some() && !self.engine.ended;
        let asks = is_known && self.mistake().as_ref().is_none_or(abilities::waits_for_image);
        let request = asks.then(|| self.to_send());
        let ask = planning.look(request.as_deref(), &self.settings.memory.preferences, now);
        self.planning = planning;
        ask
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
        // The seed of the job is that of no other.
        self.settings.draft.seed_locked &= self.jobs.was_locked().unwrap_or(true);
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

    /// Whether panels and popups appear at once: each step of a motion draws the whole window.
    pub fn appears_at_once(&self) -> bool {
        self.surroundings.is_drawn_by_cpu || self.reduces_motion()
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
}
