//! What the engine tells its caller.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::command::{Job, JobId};
use crate::{
    adapters::AdapterReport,
    hardware::HardwareSample,
    memory::{Forecast, Outcome},
    output::{Image, Media},
    pipeline::{ModelSummary, Reading, Stage},
    telemetry::TelemetryEvent,
};

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
    /// A process has begun to serve as the engine.
    Serving(Serving),
    /// The engine's process ended unexpectedly and is started again; jobs go on where they were.
    Restarting {
        /// What happened.
        failure: Failure,
    },
    /// Jobs that were not finished when Sluice was closed. Sent again they go on where they were; see also
    /// [`Command::Forget`](super::Command::Forget).
    Unfinished {
        /// In their order.
        jobs: Vec<Job>,
    },
    /// The answer to [`Command::Plan`](super::Command::Plan).
    Planned {
        /// The number of the question.
        id: u64,
        /// What the request would take.
        forecast: Box<Forecast>,
        /// What each text encoder reads of the prompt and, where guidance uses it, of the negative prompt. Nothing of a
        /// well-known model, whose tokenizers are not here.
        #[serde(default)]
        readings: Vec<Vec<Reading>>,
    },
    /// There is no answer to [`Command::Plan`](super::Command::Plan): the model cannot be read, or the request makes
    /// no sense.
    NotPlanned {
        /// The number of the question.
        id: u64,
        /// What happened and what to do.
        failure: Failure,
    },
    /// The adapters of a job that begins, or of a request that was planned, have been put to its model.
    Adapted {
        /// Which job; none for a question about memory.
        job: Option<JobId>,
        /// What became of each, in their order.
        reports: Vec<AdapterReport>,
    },
    /// What a run says about itself, several times a second. May be left out when the caller is slow to read.
    Telemetry {
        /// Which job.
        job: JobId,
        /// In their order.
        events: Vec<TelemetryEvent>,
    },
    /// A run goes on under another plan, because memory ran out or measured times differ from the expected.
    Replanned {
        /// Which job.
        job: JobId,
        /// What happened, in words.
        reason: String,
    },
    /// What a run took, compared with what was said before it.
    Outcome {
        /// Which job.
        job: JobId,
        /// The figures.
        outcome: Box<Outcome>,
    },
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
        #[serde(flatten)]
        stage: Stage,
    },
    /// A stage is done.
    StageFinished {
        /// Which job.
        job: JobId,
        /// Which stage.
        #[serde(flatten)]
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
        /// Estimate for the steps that are left.
        seconds_left: f64,
    },
    /// The image as it looks after a step. May be left out when the caller is slow to read.
    Preview {
        /// Which job.
        job: JobId,
        /// After which step, from 1.
        step: u32,
        /// Low resolution, one for each image of the batch.
        images: Vec<Image>,
    },
    /// An image, or a report about the run, could not be written where it should go. The job still finishes: with
    /// the place where the image was kept instead, or without any.
    NotSaved {
        /// Which job.
        job: JobId,
        /// What happened and what to do.
        failure: Failure,
    },
    /// A job is done.
    Finished {
        /// Which job.
        job: JobId,
        /// Its images.
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

/// A process that serves as the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// What it computes with, such as `CPU`.
    pub engine: String,
    /// Its number in the operating system.
    pub process: u32,
    /// Why an engine that would be faster does not serve, if there is one.
    pub instead_of: Option<Failure>,
}

/// An error in words for the person at the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong and where.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// A finished image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Its pixels.
    pub media: Media,
    /// The seed that draws it again in a batch of one.
    pub seed: u64,
    /// Where it was written.
    pub path: Option<PathBuf>,
}
