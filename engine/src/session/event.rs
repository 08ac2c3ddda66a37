//! The events from the engine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::command::{Job, JobId};
use crate::{
    adapters::AdapterReport,
    hardware::HardwareSample,
    memory::{Forecast, Outcome},
    models::Inventory,
    output::{Media, Settings},
    pipeline::{ModelSummary, Readings, Stage},
    request::ModelSource,
    telemetry::TelemetryEvent,
};

/// An event from the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The machine's resources and their current use; about once per second.
    Hardware(HardwareSample),
    /// The headers of a model were read.
    ModelLoaded(Box<ModelSummary>),
    /// The response to [`Command::Load`](super::Command::Load) if the model cannot be opened.
    NotLoaded {
        /// The model.
        model: ModelSource,
        /// The error, with advice.
        failure: Failure,
    },
    /// The response to [`Command::List`](super::Command::List).
    Listed {
        /// Of several engines, the one that answers, by its place.
        lane: usize,
        /// The folders that were searched.
        folders: Vec<PathBuf>,
        /// What is in them.
        inventory: Box<Inventory>,
    },
    /// All weights were freed.
    Unloaded,
    /// A process now serves as the engine.
    Serving(Serving),
    /// The engine's process ended unexpectedly and is restarted; jobs resume.
    Restarting {
        /// The error.
        failure: Failure,
    },
    /// Jobs that were unfinished when Sluice was closed. When sent again, they resume. See also
    /// [`Command::Forget`](super::Command::Forget).
    Unfinished {
        /// The jobs, in order.
        jobs: Vec<Job>,
    },
    /// Jobs that were cancelled in a session before. When sent again, they go on where they were.
    Resumable {
        /// The jobs, the latest last.
        jobs: Vec<Job>,
    },
    /// The response to [`Command::Plan`](super::Command::Plan).
    Planned {
        /// The number of the query.
        id: u64,
        /// What the request would need.
        forecast: Box<Forecast>,
        /// What each text encoder reads of the prompts. Empty for well-known models that no family generates with.
        #[serde(default)]
        readings: Readings,
    },
    /// The response to [`Command::Plan`](super::Command::Plan) if the model cannot be read or the request is
    /// not valid.
    NotPlanned {
        /// The number of the query.
        id: u64,
        /// The error, with advice.
        failure: Failure,
    },
    /// The adapters of a starting job, or of a planned request, were applied to its model.
    Adapted {
        /// The job; `None` for a plan.
        job: Option<JobId>,
        /// A report for each adapter, in order.
        reports: Vec<AdapterReport>,
    },
    /// Telemetry of a run, several times per second. Can be skipped if the caller reads slowly.
    Telemetry {
        /// The job.
        job: JobId,
        /// The events, in order.
        events: Vec<TelemetryEvent>,
    },
    /// A run continues under another plan, because memory ran out or block timings differ from the
    /// prediction.
    Replanned {
        /// The job.
        job: JobId,
        /// The reason, for the user.
        reason: String,
    },
    /// The measurements of a run, with the predictions.
    Outcome {
        /// The job.
        job: JobId,
        /// The measurements.
        outcome: Box<Outcome>,
    },
    /// A job is queued; position 0 runs next.
    Queued {
        /// The job.
        job: JobId,
        /// The number of jobs before it, without the running one.
        position: usize,
    },
    /// A job goes to one of several engines.
    Assigned {
        /// The job.
        job: JobId,
        /// The engine, by its place.
        lane: usize,
    },
    /// A job waits again in front of all others, because the engine that had it is given up.
    Returned {
        /// The job.
        job: JobId,
    },
    /// One of several engines is in another state.
    Lane {
        /// The engine, by its place.
        lane: usize,
        /// Its state.
        change: LaneChange,
    },
    /// A job starts.
    Started {
        /// The job.
        job: JobId,
    },
    /// A stage starts.
    StageStarted {
        /// The job.
        job: JobId,
        /// The stage.
        #[serde(flatten)]
        stage: Stage,
    },
    /// A stage is done.
    StageFinished {
        /// The job.
        job: JobId,
        /// The stage.
        #[serde(flatten)]
        stage: Stage,
        /// Its duration.
        seconds: f64,
    },
    /// A denoising step is done.
    Step {
        /// The job.
        job: JobId,
        /// The number of the step, from 1.
        step: u32,
        /// The number of steps.
        steps: u32,
        /// The duration of this step.
        seconds: f64,
        /// Estimated time for the remaining steps.
        seconds_left: f64,
    },
    /// The image or clip as it looks after a step. Can be skipped if the caller reads slowly.
    Preview {
        /// The job.
        job: JobId,
        /// The number of the step, from 1.
        step: u32,
        /// In low resolution, one per image of the batch. Clips have fewer frames per second.
        media: Vec<Media>,
    },
    /// What a language model has written so far. Can be skipped if the caller reads slowly, but for the whole text.
    Text {
        /// The job.
        job: JobId,
        /// The text.
        text: String,
        /// Whether no more follows.
        is_whole: bool,
    },
    /// A detector has looked at the images of a job.
    Found {
        /// The job.
        job: JobId,
        /// The number of the detailer in the request, from 0.
        detailer: usize,
        /// The boxes that are inpainted, in all images together.
        boxes: usize,
    },
    /// An image, or a report about the run, could not be written to its path. The job still finishes: with
    /// the path where the image was saved instead, or without a path.
    NotSaved {
        /// The job.
        job: JobId,
        /// The error, with advice.
        failure: Failure,
    },
    /// The settings of the images of a job without an output, for a caller that writes them. Comes before
    /// [`Event::Finished`].
    Described {
        /// The job.
        job: JobId,
        /// Those of each image, in order.
        settings: Vec<Settings>,
    },
    /// A job is done.
    Finished {
        /// The job.
        job: JobId,
        /// Its images.
        pictures: Vec<Picture>,
        /// Its duration.
        seconds: f64,
    },
    /// A job was cancelled by [`Command::Cancel`](super::Command::Cancel).
    Cancelled {
        /// The job.
        job: JobId,
    },
    /// An error occurred; the engine continues with the next job.
    Failed {
        /// The job, if the error concerns one.
        job: Option<JobId>,
        /// The error, with advice.
        failure: Failure,
    },
    /// The engine has ended; no event follows.
    ShutDown,
}

/// A process that serves as the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Its device, such as `CPU`.
    pub engine: String,
    /// Its process id.
    pub process: u32,
    /// Why a faster engine is not used, if there is one.
    pub instead_of: Option<Failure>,
}

/// What becomes of one of several engines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneChange {
    /// It takes jobs.
    Serves(Serving),
    /// Its process ended unexpectedly or its connection broke, and it is started again.
    Restarts(Failure),
    /// It takes no jobs any more.
    GivenUp(Failure),
    /// It has this model.
    Has(ModelSource),
    /// It cannot open this model, and gets no job of it.
    Lacks(ModelSource, Failure),
}

/// An error message for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong, and where.
    pub message: String,
    /// What the user can do.
    pub advice: Option<String>,
}

/// A finished image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Its pixels.
    pub media: Media,
    /// The seed that reproduces it in a batch of one.
    pub seed: u64,
    /// Where it was saved.
    pub path: Option<PathBuf>,
}
