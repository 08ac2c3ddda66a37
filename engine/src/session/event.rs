//! What the engine tells its caller.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::command::JobId;
use crate::{hardware::HardwareSample, output::Image, request::ModelSource};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Prompt to embeddings.
    Encode,
    /// Noise to latents.
    Denoise,
    /// Latents to picture.
    Decode,
}

/// A message from the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// What the machine has and how busy it is; about once a second.
    Hardware(HardwareSample),
    /// The headers of a model were read.
    ModelLoaded(Box<ModelSummary>),
    /// All weights were given back.
    Unloaded,
    /// A job waits; 0 is the next to run.
    Queued {
        /// Which job.
        job: JobId,
        /// How many jobs are before it, the running one not counted.
        position: usize,
    },
    /// A job begins.
    Started {
        /// Which job.
        job: JobId,
    },
    /// A stage begins.
    StageStarted {
        /// Which job.
        job: JobId,
        /// Which stage.
        stage: Stage,
    },
    /// A stage is done.
    StageFinished {
        /// Which job.
        job: JobId,
        /// Which stage.
        stage: Stage,
        /// How long it took.
        seconds: f64,
    },
    /// A denoising step is done.
    Step {
        /// Which job.
        job: JobId,
        /// Its number, from 1.
        step: u32,
        /// How many there are.
        steps: u32,
        /// How long this one took.
        seconds: f64,
        /// Estimate for the rest of the job, decoding included once it has been seen.
        seconds_left: f64,
    },
    /// The picture as it looks after a step. May be left out when the caller is slow to read.
    Preview {
        /// Which job.
        job: JobId,
        /// After which step, from 1.
        step: u32,
        /// Low resolution, one for each picture of the batch.
        images: Vec<Image>,
    },
    /// A job is done.
    Finished {
        /// Which job.
        job: JobId,
        /// Its pictures.
        pictures: Vec<Picture>,
        /// How long all of it took.
        seconds: f64,
    },
    /// A job was ended by [`Command::Cancel`](super::Command::Cancel).
    Cancelled {
        /// Which job.
        job: JobId,
    },
    /// Something went wrong; the engine goes on with the next job.
    Failed {
        /// Which job, if it was one.
        job: Option<JobId>,
        /// What happened and what to do.
        failure: Failure,
    },
    /// The engine has ended; nothing follows.
    ShutDown,
}

/// An error in words for the person at the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong and where.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// A finished picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Its pixels.
    pub image: Image,
    /// The seed that draws it again in a batch of one.
    pub seed: u64,
    /// Where it was written.
    pub path: Option<PathBuf>,
}

/// What a model is made of and how it likes to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// Where it came from.
    pub source: ModelSource,
    /// What to call it.
    pub name: String,
    /// Identifier of its family, such as `z_image`.
    pub family: String,
    /// The family in words, such as `Z-Image`.
    pub family_name: String,
    /// How its files are arranged, in words.
    pub layout: String,
    /// Text encoder, denoiser, autoencoder.
    pub components: Vec<ComponentSummary>,
    /// Width and height must be multiples of this.
    pub size_multiple: u32,
    /// What to start from.
    pub defaults: Defaults,
    /// Prompts that show what it can do.
    pub examples: Vec<String>,
}

/// One part of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentSummary {
    /// `text_encoder`, `denoiser` or `autoencoder`.
    pub role: String,
    /// The architecture, such as `Qwen3`.
    pub architecture: String,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes as stored.
    pub bytes: u64,
    /// Stored dtype → bytes.
    pub dtypes: BTreeMap<String, u64>,
    /// The units that move, in the order in which they run.
    pub blocks: Vec<BlockSummary>,
    /// The files it is read from.
    pub files: Vec<PathBuf>,
}

/// One unit of weights that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSummary {
    /// Its name.
    pub name: String,
    /// Number of tensors.
    pub tensors: usize,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes as stored.
    pub bytes: u64,
}

/// Settings to start from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Guidance.
    pub guidance: f32,
}
