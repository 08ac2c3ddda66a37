//! All settings. They are kept between sessions: in eframe's storage and, for those needed before the window
//! opens, in a separate file.

mod library;
mod output;
mod startup;
mod tolerant;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{memory::MemoryPreferences, request::ModelSource, session::Job};

use super::{
    files::FolderKind,
    state::{Draft, InterpolateChoice, UpscaleChoice},
};
use crate::engines::EngineList;
pub use library::{DownloadSettings, LibrarySettings};
pub use output::OutputSettings;
pub use startup::{RenderGpu, StartupSettings};
use tolerant::tolerant;

const KEY: &str = "sluice";

/// Light or dark theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// The theme of the system.
    #[default]
    System,
    /// Always dark.
    Dark,
    /// Always light.
    Light,
}

impl From<ThemeChoice> for egui::ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::System => Self::System,
            ThemeChoice::Dark => Self::Dark,
            ThemeChoice::Light => Self::Light,
        }
    }
}

/// Memory settings and panels. They belong to this machine and are never restored from an image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySettings {
    /// The memory preferences.
    pub preferences: MemoryPreferences,
    /// Whether the plan panel is open; if absent, it is open in wide windows.
    pub plan_open: Option<bool>,
    /// Whether the timeline is open.
    pub timeline_open: bool,
}

/// Factors by which the contents of the window are scaled.
pub const SCALES: [f32; 8] = [0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0];

/// The models that were opened last, by what they generate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastModels {
    /// For images.
    pub image: Option<ModelSource>,
    /// For clips.
    pub video: Option<ModelSource>,
}

/// All settings. `startup` is saved when it changes, everything else when the window closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Rises when an older reader would misread the settings.
    pub version: u32,
    /// The contents of the settings panel, including the model.
    pub draft: Draft,
    /// Recently opened models, newest first.
    pub recent_models: Vec<PathBuf>,
    /// Prompts that were used, newest first.
    pub prompts: Vec<String>,
    /// Words that are kept to be put into prompts, newest first.
    pub snippets: Vec<String>,
    /// Words that are kept to be put into negative prompts, newest first.
    pub negative_snippets: Vec<String>,
    /// The last model for images and for clips.
    pub last_models: LastModels,
    /// The tag of the language of the window; that of the system if absent.
    pub language: Option<String>,
    /// Light or dark theme.
    pub theme: ThemeChoice,
    /// The factor by which the contents are scaled.
    pub scale: f32,
    /// Whether nothing fades or slides; as the system says if absent.
    pub reduced_motion: Option<bool>,
    /// Whether live previews are shown.
    pub previews: bool,
    /// Whether the desktop says when the queue is done.
    pub notifies: bool,
    /// Whether newer releases are looked for at the start.
    pub looks_for_updates: bool,
    /// Where images and clips are saved, and how.
    pub output: OutputSettings,
    /// Whether the images of a batch are composed into one, too.
    pub batch_grid: bool,
    /// Whether clips play without sound.
    pub muted: bool,
    /// Files of styles that were opened.
    pub style_files: Vec<PathBuf>,
    /// Files of tags with which prompts are completed.
    pub tag_files: Vec<PathBuf>,
    /// What makes masks of objects; the first in the library if absent.
    pub segmenter: Option<PathBuf>,
    /// What writes better prompts; one of the library if absent.
    pub language_model: Option<PathBuf>,
    /// What describes images; one of the library if absent.
    pub describer: Option<PathBuf>,
    /// The kind of descriptions; that for the chosen model if absent.
    pub description: Option<String>,
    /// What they are told for kinds of prompts and descriptions, where that is not the usual.
    pub instructions: BTreeMap<String, String>,
    /// Folders that the gallery shows beside the output folder.
    pub gallery_folders: Vec<PathBuf>,
    /// In which folders dialogs start.
    pub dialog_folders: BTreeMap<FolderKind, PathBuf>,
    /// Whether the list of collections is open; by the width of the window until it was opened or closed.
    pub collections_open: Option<bool>,
    /// Memory settings and panels.
    pub memory: MemorySettings,
    /// Folders of models, and what is kept about models.
    pub library: LibrarySettings,
    /// The upscaler and the scale.
    pub upscale: UpscaleChoice,
    /// The network that interpolates frames, and how many it makes.
    pub interpolate: InterpolateChoice,
    /// Jobs that had left the queue to be edited when the window was closed.
    pub edited: Vec<Job>,
    /// The settings that are needed before the window opens.
    #[serde(skip)]
    pub startup: StartupSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            draft: Draft::default(),
            recent_models: Vec::new(),
            prompts: Vec::new(),
            snippets: Vec::new(),
            negative_snippets: Vec::new(),
            last_models: LastModels::default(),
            language: None,
            theme: ThemeChoice::default(),
            scale: 1.0,
            reduced_motion: None,
            previews: true,
            notifies: true,
            looks_for_updates: false,
            output: OutputSettings::default(),
            batch_grid: false,
            muted: false,
            style_files: Vec::new(),
            tag_files: Vec::new(),
            segmenter: None,
            language_model: None,
            describer: None,
            description: None,
            instructions: BTreeMap::new(),
            gallery_folders: Vec::new(),
            dialog_folders: BTreeMap::new(),
            collections_open: None,
            memory: MemorySettings::default(),
            library: LibrarySettings::default(),
            upscale: UpscaleChoice::default(),
            interpolate: InterpolateChoice::default(),
            edited: Vec::new(),
            startup: StartupSettings::default(),
        }
    }
}

/// A prompt that snippets are kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// What is to be seen.
    Positive,
    /// What to avoid.
    Negative,
}

/// One change of a setting outside the settings panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// The tag of the language of the window, or that of the system.
    Language(Option<String>),
    /// Light or dark theme.
    Theme(ThemeChoice),
    /// The factor by which the contents are scaled.
    Scale(f32),
    /// Whether nothing fades or slides, or as the system says.
    ReducedMotion(Option<bool>),
    /// Where images and clips are saved, and how.
    Output(Box<OutputSettings>),
    /// The engines.
    Engines(Box<EngineList>),
    /// Whether live previews are shown.
    Previews(bool),
    /// Whether the desktop says when the queue is done.
    Notifies(bool),
    /// Whether newer releases are looked for at the start.
    LooksForUpdates(bool),
    /// Whether the images of a batch are composed into one, too.
    BatchGrid(bool),
    /// Whether clips play without sound.
    Muted(bool),
    /// The GPU that renders the window, from the next start on.
    RenderGpu(RenderGpu),
    /// The memory preferences.
    Memory(Box<MemoryPreferences>),
    /// Whether the list of collections is open.
    CollectionsOpen(bool),
    /// Whether the plan panel is open.
    PlanOpen(bool),
    /// Whether the timeline is open.
    TimelineOpen(bool),
}

impl Settings {
    /// The version that is written.
    pub const VERSION: u32 = 1;
    const RECENT_MODELS: usize = 8;
    const PROMPTS: usize = 500;

    /// Changes a setting.
    pub fn set(&mut self, setting: Setting) {
        match setting {
            Setting::Language(tag) => self.language = tag,
            Setting::Theme(theme) => self.theme = theme,
            Setting::Scale(scale) => self.scale = scale,
            Setting::ReducedMotion(reduced) => self.reduced_motion = reduced,
            Setting::Output(output) => self.output = *output,
            Setting::Previews(previews) => self.previews = previews,
            Setting::Notifies(notifies) => self.notifies = notifies,
            Setting::LooksForUpdates(looks) => self.looks_for_updates = looks,
            Setting::BatchGrid(on) => self.batch_grid = on,
            Setting::Muted(muted) => self.muted = muted,
            Setting::RenderGpu(gpu) => self.startup.render_gpu = gpu,
            Setting::Engines(list) => self.startup.engines = *list,
            Setting::Memory(preferences) => self.memory.preferences = *preferences,
            Setting::CollectionsOpen(open) => self.collections_open = Some(open),
            Setting::PlanOpen(open) => self.memory.plan_open = Some(open),
            Setting::TimelineOpen(open) => self.memory.timeline_open = open,
        }
    }

    /// Moves a model to the front of the recent ones.
    pub fn remember_model(&mut self, path: &Path) {
        self.recent_models.retain(|known| known != path);
        self.recent_models.insert(0, path.to_owned());
        self.recent_models.truncate(Self::RECENT_MODELS);
    }

    /// Moves a prompt to the front of those that were used.
    pub fn remember_prompt(&mut self, prompt: &str) {
        if !prompt.trim().is_empty() && self.prompts.first().is_none_or(|last| last != prompt) {
            self.prompts.retain(|known| known != prompt);
            self.prompts.insert(0, prompt.to_owned());
            self.prompts.truncate(Self::PROMPTS);
        }
    }

    /// The snippets for a prompt.
    pub fn snippets_for(&self, prompt: PromptKind) -> &[String] {
        match prompt {
            PromptKind::Positive => &self.snippets,
            PromptKind::Negative => &self.negative_snippets,
        }
    }

    /// Keeps words in front of the snippets for a prompt.
    pub fn keep_snippet(&mut self, prompt: PromptKind, words: String) {
        self.forget_snippet(prompt, &words);
        self.snippets_mut(prompt).insert(0, words);
    }

    /// Removes words from the snippets for a prompt.
    pub fn forget_snippet(&mut self, prompt: PromptKind, words: &str) {
        self.snippets_mut(prompt).retain(|known| known != words);
    }

    fn snippets_mut(&mut self, prompt: PromptKind) -> &mut Vec<String> {
        match prompt {
            PromptKind::Positive => &mut self.snippets,
            PromptKind::Negative => &mut self.negative_snippets,
        }
    }

    /// Removes a model from the recent ones.
    pub fn forget_model(&mut self, path: &Path) {
        self.recent_models.retain(|known| known != path);
    }

    /// Loads saved settings, if there are any. Invalid values get their defaults.
    pub fn load(storage: &dyn eframe::Storage) -> Option<Self> {
        storage.get_string(KEY).map(|text| Self::from_json(&text))
    }

    /// Saves the settings.
    pub fn store(&self, storage: &mut dyn eframe::Storage) {
        storage.set_string(KEY, self.to_json());
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            tracing::warn!(%error, "the settings cannot be written");
            String::new()
        })
    }

    /// Parses JSON written by this or another version.
    pub fn from_json(text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(stored) => Self { version: Self::VERSION, ..tolerant(&stored) },
            Err(error) => {
                tracing::warn!(%error, "the kept settings cannot be read; the defaults are used");
                Self::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sluice_engine::{
        memory::{DeviceChoice, OffloadMode, Residence},
        request::{AdapterUse, Request},
    };

    use super::*;

    #[test]
    fn settings_survive_a_round_trip() {
        let settings = Settings {
            draft: Draft {
                request: Request {
                    model: ModelSource::Path("/models/z-image".into()),
                    prompt: "a red boat".to_owned(),
                    seed: u64::MAX,
                    frames: 33,
                    frame_rate: 24.0,
                    adapters: vec![AdapterUse { path: "/loras/ink.safetensors".into(), weight: 0.5 }],
                    ..Request::default()
                },
                switched_off: BTreeSet::from(["/loras/ink.safetensors".into()]),
                ..Draft::default()
            },
            recent_models: vec!["/models/z-image".into()],
            last_models: LastModels {
                image: Some(ModelSource::Starter),
                video: Some(ModelSource::Path("/models/wan".into())),
            },
            theme: ThemeChoice::Light,
            previews: false,
            memory: MemorySettings {
                preferences: MemoryPreferences {
                    mode: OffloadMode::LayerStreaming,
                    denoiser: Some(Residence::OnDemand),
                    vram_budget: Some(8 << 30),
                    device: DeviceChoice::Simulated("rtx-4060".to_owned()),
                    ..MemoryPreferences::default()
                },
                plan_open: Some(false),
                timeline_open: true,
            },
            ..Settings::default()
        };
        assert_eq!(Settings::from_json(&settings.to_json()), settings);
    }

    #[test]
    fn what_is_unknown_missing_or_wrong_has_its_default() {
        let text = r#"{
            "version": 7, "theme": "sepia", "previews": false, "new_in_seven": [1, 2],
            "draft": {"model": {"path": "/models/a"}, "prompt": "a boat", "steps": "many", "sampler": "unipc", "width": 256, "later": {}},
            "memory": {"timeline_open": true, "preferences": {"mode": "teleport", "prefetch": 3}}
        }"#;
        let expected = Settings {
            previews: false,
            draft: Draft {
                request: Request {
                    model: ModelSource::Path("/models/a".into()),
                    prompt: "a boat".to_owned(),
                    width: 256,
                    ..Request::default()
                },
                ..Draft::default()
            },
            memory: MemorySettings {
                preferences: MemoryPreferences { prefetch: Some(3), ..MemoryPreferences::default() },
                timeline_open: true,
                ..MemorySettings::default()
            },
            ..Settings::default()
        };
        assert_eq!(Settings::from_json(text), expected);
        assert_eq!(Settings::from_json("nonsense"), Settings::default());
        assert_eq!(Settings::from_json("[]"), Settings::default());
    }

    #[test]
    fn a_model_is_remembered_once_and_first() {
        let mut settings = Settings::default();
        for name in ["a", "b", "a"] {
            settings.remember_model(Path::new(name));
        }
        assert_eq!(settings.recent_models, [PathBuf::from("a"), PathBuf::from("b")]);
    }
}
