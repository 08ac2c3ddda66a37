//! The commands to the engine.

use std::{collections::BTreeMap, path::PathBuf};

use crossbeam_channel::TrySendError;
use serde::{Deserialize, Serialize};

use crate::{
    memory::MemoryPreferences,
    models::StoredAs,
    output::{Codec, Encoding, Output},
    request::{ModelSource, Request},
};

/// Identifies a job during a session; chosen by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// A command to the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Reads the headers of a model and responds with [`Event::ModelLoaded`](super::Event::ModelLoaded) or
    /// [`Event::NotLoaded`](super::Event::NotLoaded). Reads no weights.
    Load {
        /// The model.
        model: ModelSource,
    },
    /// Replaces [`SessionOptions::model_folders`](super::SessionOptions::model_folders).
    SearchIn {
        /// Folders and files.
        folders: Vec<PathBuf>,
    },
    /// Lists what is in the model folders of the engine's computer, and responds with
    /// [`Event::Listed`](super::Event::Listed). Reads only headers.
    List {
        /// Of several engines, the one that is asked, by its place. If it is gone, the first that is there answers.
        lane: usize,
    },
    /// Predicts what a request would need and responds with [`Event::Planned`](super::Event::Planned) or
    /// [`Event::NotPlanned`](super::Event::NotPlanned). Reads no weights.
    Plan(Box<PlanQuery>),
    /// Queues a job.
    Generate(Box<Job>),
    /// Cancels a running or queued job. A running job stops within one block of weights.
    Cancel {
        /// The job.
        job: JobId,
    },
    /// Moves a queued job in front of another one, or to the end. The running job stays where it is.
    Move {
        /// The job.
        job: JobId,
        /// The job that it is to run before; `None` for the end of the queue.
        before: Option<JobId>,
    },
    /// Starts no further job until the queue is no longer paused. A running job goes on.
    Pause {
        /// Whether the queue is paused.
        paused: bool,
    },
    /// Of several engines, answers [`Command::Plan`] and reports the hardware with this one, by its place.
    Show {
        /// The engine.
        lane: usize,
    },
    /// Frees all memory that holds weights.
    Unload,
    /// Deletes the jobs that were unfinished when Sluice was closed, see
    /// [`Event::Unfinished`](super::Event::Unfinished).
    Forget,
    /// Cancels the running job, drops queued ones and ends the engine.
    ShutDown,
}

/// A request, and what to do with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The caller's identifier for it.
    pub id: JobId,
    /// What to generate.
    pub request: Request,
    /// Where to save the images or clips; `None` keeps them in memory only.
    pub output: Option<Output>,
    /// The codec of clips.
    #[serde(default)]
    pub codec: Codec,
    /// The quality of JPEG and WebP images, 1…100.
    #[serde(default = "usual_quality")]
    pub quality: u8,
    /// Whether to send previews during the run.
    pub previews: bool,
    /// A safetensors file whose tensor `latents` replaces the seed's noise.
    pub initial_latents: Option<PathBuf>,
    /// A safetensors file to which the tensors of every stage are written.
    pub dump: Option<PathBuf>,
    /// How memory is used. With the same precision, this does not change the result, except where the decoder
    /// blends tiles.
    #[serde(default)]
    pub memory: MemoryPreferences,
    /// Reports that are written during the run.
    #[serde(default)]
    pub reports: Reports,
    /// Path of the run's journal, from which it resumes if its process died.
    #[serde(default)]
    pub journal: Option<PathBuf>,
    /// The place among jobs whose images the caller composes. It is kept with the job, so that the caller knows it again
    /// after a restart.
    #[serde(default)]
    pub group: Option<GroupPlace>,
}

/// The place of a job in a group of the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPlace {
    /// The name of the group, which no other one has.
    pub group: String,
    /// The place of the job's first image, from 0.
    pub place: usize,
}

/// Reports about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reports {
    /// Every telemetry event as a line of JSON.
    pub telemetry: Option<PathBuf>,
    /// A trace for Perfetto or Chrome.
    pub trace: Option<PathBuf>,
}

/// A query for a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanQuery {
    /// The caller's number for the query, so that answers to outdated queries can be recognised.
    pub id: u64,
    /// The model to plan for.
    pub subject: PlanSubject,
    /// The request; its model is used only if the subject is [`PlanSubject::Model`].
    pub request: Request,
    /// How memory is used.
    pub memory: MemoryPreferences,
}

/// The model that a plan is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSubject {
    /// The request's model, whose headers are read.
    Model,
    /// A known model by its identifier, such as `flux.1-dev`; its files need not exist.
    Known(String),
    /// A known model in other files than the published ones: how its components are stored, by their folders. Components
    /// that are not named are left out.
    KnownAs(String, BTreeMap<String, StoredAs>),
}

/// A command that was not sent.
#[derive(Debug)]
pub enum Unsent {
    /// Too many commands are waiting.
    Full(Box<Command>),
    /// The engine has ended.
    Ended(Box<Command>),
}

impl From<TrySendError<Command>> for Unsent {
    fn from(error: TrySendError<Command>) -> Self {
        match error {
            TrySendError::Full(command) => Self::Full(Box::new(command)),
            TrySendError::Disconnected(command) => Self::Ended(Box::new(command)),
        }
    }
}

impl Job {
    /// A job that keeps its images in memory only.
    pub fn new(id: JobId, request: Request) -> Self {
        Self {
            id,
            request,
            output: None,
            codec: Codec::default(),
            quality: Encoding::USUAL_QUALITY,
            previews: false,
            initial_latents: None,
            dump: None,
            memory: MemoryPreferences::default(),
            reports: Reports::default(),
            journal: None,
            group: None,
        }
    }

    /// How its images and clips are encoded.
    pub fn encoding(&self) -> Encoding {
        Encoding { codec: self.codec, quality: self.quality }
    }
}

fn usual_quality() -> u8 {
    Encoding::USUAL_QUALITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_an_earlier_version_has_the_usual_quality() {
        let job = Job::new(JobId(1), Request::default());
        let mut json = serde_json::to_value(&job).unwrap();
        json.as_object_mut().unwrap().remove("quality").unwrap();
        assert_eq!(serde_json::from_value::<Job>(json).unwrap(), job);
    }
}
