//! What a caller can ask of the engine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
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
    /// Queues a job.
    Generate(Box<Job>),
    /// Ends a job, running or queued. The running one ends within one block of weights.
    Cancel {
        /// Which job.
        job: JobId,
    },
    /// Gives back all memory that holds weights.
    Unload,
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
    /// Where the pictures go; nowhere if absent.
    pub output: Option<Output>,
    /// Whether previews of the forming picture are wanted.
    pub previews: bool,
    /// A safetensors file whose tensor `latents` takes the place of the seed's noise.
    pub initial_latents: Option<PathBuf>,
    /// A safetensors file to write the tensors of every stage to.
    pub dump: Option<PathBuf>,
}

impl Job {
    /// A job that keeps its pictures in memory only.
    pub fn new(id: JobId, request: Request) -> Self {
        Self { id, request, output: None, previews: false, initial_latents: None, dump: None }
    }
}
