//! What the settings panel shows: the request that the next press of Generate sends.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sluice_engine::{
    request::{
        AdapterUse, ComputeDtype, GuidanceOptions, ModelSource, Request, Sampler, Schedule, SourceImage,
    },
    session::Defaults,
};

use super::sizes::snap;

/// The settings of the panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// What the picture shows.
    pub prompt: String,
    /// What it must not show.
    pub negative_prompt: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Denoising steps.
    pub steps: u32,
    /// How strongly the prompt is followed.
    pub guidance: f32,
    /// Picks the noise.
    pub seed: u64,
    /// Whether the seed stays for the next picture.
    pub seed_locked: bool,
    /// Pictures drawn at once.
    pub batch: u32,
    /// Method.
    pub sampler: Sampler,
    /// Spacing of the noise levels.
    pub schedule: Schedule,
    /// Precision of the computation; what suits model and device if absent.
    pub dtype: Option<ComputeDtype>,
    /// Longest prompt in tokens.
    pub max_sequence_length: u32,
    /// What changes the model.
    pub adapters: Vec<DraftAdapter>,
    /// Which layer of CLIP is taken, from the end; 0 is the model's own.
    pub clip_skip: u32,
    /// What guidance does beside its scale.
    pub guiding: GuidanceOptions,
    /// How far predictions may be off to be used again.
    pub step_cache: f32,
    /// The picture that is drawn over.
    pub source: Option<SourceImage>,
}

/// An adapter in the list of the panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftAdapter {
    /// Its file.
    pub path: PathBuf,
    /// How strongly it is used.
    pub weight: f32,
    /// Whether it is used at all.
    pub enabled: bool,
}

impl DraftAdapter {
    /// An adapter that is used.
    pub fn new(path: PathBuf, weight: f32) -> Self {
        Self { path, weight, enabled: true }
    }

    /// Its file's name without the extension.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Default for Draft {
    fn default() -> Self {
        let mut draft = Self::from_request(&Request::default());
        draft.seed_locked = false;
        draft
    }
}

impl Draft {
    /// The most pictures drawn at once.
    pub const MAX_BATCH: u32 = 8;

    /// The settings that a request was made of. The seed is locked: it is the one that was wanted.
    pub fn from_request(request: &Request) -> Self {
        Self {
            prompt: request.prompt.clone(),
            negative_prompt: request.negative_prompt.clone(),
            width: request.width,
            height: request.height,
            steps: request.steps,
            guidance: request.guidance,
            seed: request.seed,
            seed_locked: true,
            batch: request.batch,
            sampler: request.sampler,
            schedule: request.schedule,
            dtype: request.dtype,
            max_sequence_length: request.max_sequence_length,
            adapters: request
                .adapters
                .iter()
                .map(|adapter| DraftAdapter::new(adapter.path.clone(), adapter.weight))
                .collect(),
            clip_skip: request.clip_skip,
            guiding: request.guiding,
            step_cache: request.step_cache,
            source: request.source.clone(),
        }
    }

    /// The request for a model.
    pub fn request(&self, model: ModelSource) -> Request {
        Request {
            model,
            prompt: self.prompt.clone(),
            negative_prompt: self.negative_prompt.clone(),
            width: self.width,
            height: self.height,
            steps: self.steps,
            guidance: self.guidance,
            seed: self.seed,
            batch: self.batch,
            sampler: self.sampler,
            schedule: self.schedule,
            dtype: self.dtype,
            max_sequence_length: self.max_sequence_length,
            adapters: self
                .adapters
                .iter()
                .filter(|adapter| adapter.enabled)
                .map(|adapter| AdapterUse { path: adapter.path.clone(), weight: adapter.weight })
                .collect(),
            clip_skip: self.clip_skip,
            guiding: self.guiding,
            step_cache: self.step_cache,
            source: self.source.clone(),
        }
    }

    /// Takes over how a model likes to be used.
    pub fn adopt(&mut self, defaults: &Defaults) {
        self.width = defaults.width;
        self.height = defaults.height;
        self.steps = defaults.steps;
        self.guidance = defaults.guidance;
    }

    /// Moves both sides to the nearest sizes that a model can draw.
    pub fn snap_size(&mut self, multiple: u32) {
        self.width = snap(self.width, multiple);
        self.height = snap(self.height, multiple);
    }
}
