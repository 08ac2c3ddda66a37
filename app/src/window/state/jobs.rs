//! Jobs that have not ended.

use std::collections::VecDeque;

use sluice_engine::{
    output::Image,
    request::Request,
    session::{Command, Job, JobId, StageKind},
};

/// How far the running job is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The stage that runs.
    pub stage: Option<StageKind>,
    /// Steps done.
    pub step: u32,
    /// Steps in all; 0 before the first.
    pub steps: u32,
    /// How long the last step took.
    pub step_seconds: f64,
    /// The estimate for the rest, and when it was made.
    pub left: Option<(f64, f64)>,
    /// Live previews.
    pub preview: Vec<Image>,
    /// Rises with every preview.
    pub preview_version: u64,
}

impl Progress {
    /// How much is done, 0…1. Encoding and decoding have no steps and count as one each.
    pub fn fraction(&self) -> f32 {
        let done = match self.stage {
            None => 0.0,
            Some(StageKind::EncodeImage) => 0.15,
            Some(StageKind::EncodePrompt) => 0.3,
            Some(StageKind::Denoise) => 1.0 + self.step as f32,
            Some(StageKind::Decode) => 1.3 + self.steps as f32,
        };
        done / (2.0 + self.steps.max(1) as f32)
    }

    /// Seconds left at a moment.
    pub fn seconds_left(&self, now: f64) -> Option<f64> {
        self.left.map(|(seconds, since)| (seconds - (now - since)).max(0.0))
    }
}

/// A job that has not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedJob {
    /// Its name.
    pub id: JobId,
    /// What it generates.
    pub request: Request,
    /// How far it is; absent while it waits.
    pub progress: Option<Progress>,
    /// Whether the engine was asked to cancel it.
    pub cancelling: bool,
}

/// The queue, and what an earlier window left unfinished.
#[derive(Debug, Default)]
pub struct Jobs {
    /// In the order in which they run.
    pub queue: VecDeque<QueuedJob>,
    /// Jobs that were not finished when Sluice was closed.
    pub unfinished: Vec<Job>,
    last: u64,
}

impl Jobs {
    /// Whether none waits or runs.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The job that runs now.
    pub fn running(&self) -> Option<(&QueuedJob, &Progress)> {
        self.queue.iter().find_map(|job| job.progress.as_ref().map(|progress| (job, progress)))
    }

    /// Adds a job to the queue; `job` gets its name here.
    pub fn add(&mut self, job: Job) -> Command {
        self.last += 1;
        let id = JobId(self.last);
        let request = job.request.clone();
        self.queue.push_back(QueuedJob { id, request, progress: None, cancelling: false });
        Command::Generate(Box::new(Job { id, ..job }))
    }

    /// Queues the unfinished jobs of an earlier window again.
    pub fn resume_unfinished(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.unfinished).into_iter().map(|job| self.add(job)).collect()
    }

    /// Asks once for a job to be cancelled.
    pub fn cancel(&mut self, id: JobId) -> Option<Command> {
        let job = self.queue.iter_mut().find(|job| job.id == id && !job.cancelling)?;
        job.cancelling = true;
        Some(Command::Cancel { job: id })
    }

    /// Cancels the running job, or the first one if none runs yet.
    pub fn cancel_running(&mut self) -> Option<Command> {
        let id = self.running().map(|(job, _)| job.id).or_else(|| self.queue.front().map(|job| job.id))?;
        self.cancel(id)
    }

    /// Cancels everything, the waiting jobs first, so that none of them starts.
    pub fn cancel_all(&mut self) -> Vec<Command> {
        let ids: Vec<_> = self.queue.iter().rev().map(|job| job.id).collect();
        ids.into_iter().filter_map(|id| self.cancel(id)).collect()
    }

    /// A job starts; false if it is not in the queue.
    pub(super) fn start(&mut self, id: JobId) -> bool {
        let job = self.queue.iter_mut().find(|job| job.id == id);
        job.map(|job| job.progress = Some(Progress::default())).is_some()
    }

    /// Changes how far a running job is.
    pub(super) fn update(&mut self, id: JobId, change: impl FnOnce(&mut Progress)) {
        let job = self.queue.iter_mut().find(|job| job.id == id);
        if let Some(progress) = job.and_then(|job| job.progress.as_mut()) {
            change(progress);
        }
    }

    /// Takes a job out of the queue.
    pub(super) fn end(&mut self, id: JobId) -> Option<QueuedJob> {
        let index = self.queue.iter().position(|job| job.id == id)?;
        self.queue.remove(index)
    }
}
