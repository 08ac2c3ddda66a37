//! What a caller can ask of the engine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    memory::MemoryPreferences,
    output::Output,
    request::{ModelSource, Request},
};

/// Names one job for as long as the session lives; chosen by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// A message to the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Reads the headers of a model and answers with [`Event::ModelLoaded`](super::Event::ModelLoaded).
    /// No weight is read yet.
    Load {
        /// Which model.
        model: ModelSource,
    },
    /// Works out what a request would take and answers with [`Event::Planned`](super::Event::Planned) or
    /// [`Event::NotPlanned`](super::Event::NotPlanned). No weight is read.
    Plan(Box<PlanQuery>),
    /// Queues a job.
    Generate(Box<Job>),
    /// Ends a job, running or queued. The running one ends within one block of weights.
    Cancel {
        /// Which job.
        job: JobId,
    },
    /// Gives back all memory that holds weights.
    Unload,
    /// Forgets the jobs that were not finished when Sluice was closed, see
    /// [`Event::Unfinished`](super::Event::Unfinished).
    Forget,
    /// Cancels what runs, drops what is queued and ends the engine.
    ShutDown,
}

/// One request and what is to be done with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The caller's name for it.
    pub id: JobId,
    /// What to draw.
    pub request: Request,
    /// Where the images go; nowhere if absent.
    pub output: Option<Output>,
    /// Whether previews of the forming image are wanted.
    pub previews: bool,
    /// A safetensors file whose tensor `latents` takes the place of the seed's noise.
    pub initial_latents: Option<PathBuf>,
    /// A safetensors file to write the tensors of every stage to.
    pub dump: Option<PathBuf>,
    /// How memory is used. In the same precision it changes no bit of the result, except where tiles of the decoder
    /// blend.
    #[serde(default)]
    pub memory: MemoryPreferences,
    /// What is written about the run while it goes on.
    #[serde(default)]
    pub reports: Reports,
    /// Where the run keeps what it has computed, and takes it from when its process died in the middle.
    #[serde(default)]
    pub journal: Option<PathBuf>,
}

/// Files that a run writes about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reports {
    /// Every observation as a line of JSON.
    pub telemetry: Option<PathBuf>,
    /// A trace for Perfetto or Chrome.
    pub trace: Option<PathBuf>,
}

/// A question about memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanQuery {
    /// The caller's number for it, so that an answer to an outdated question can be told.
    pub id: u64,
    /// What is to be planned.
    pub subject: PlanSubject,
    /// What is to be drawn; its model counts only if the subject is the request's.
    pub request: Request,
    /// How memory is to be used.
    pub memory: MemoryPreferences,
}

/// Which model a plan is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSubject {
    /// The request's model, whose headers are read.
    Model,
    /// A well-known model by its identifier, such as `flux.1-dev`; it need not be on this machine.
    Known(String),
}

impl Job {
    /// A job that keeps its images in memory only.
    pub fn new(id: JobId, request: Request) -> Self {
        Self {
            id,
            request,
            output: None,
            previews: false,
            initial_latents: None,
            dump: None,
            memory: MemoryPreferences::default(),
            reports: Reports::default(),
            journal: None,
        }
    }
}
