//! Messages for the user.

use crate::language::tr;
use sluice_engine::session::{Failure, Job};

use super::{draft::Draft, jobs::QueuedJob};

/// A failure that was not dismissed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCard {
    /// Short title.
    pub title: String,
    /// What happened and what to do.
    pub failure: Failure,
}

/// A notice, with an optional undo.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// Unexpected details.
    pub details: Vec<String>,
    /// How to undo it.
    pub undo: Option<Undo>,
}

/// How something is undone.
#[derive(Debug, Clone, PartialEq)]
pub enum Undo {
    /// With the settings before the change.
    Settings(Box<Draft>),
    /// By queueing the cancelled jobs again. The engine continues where they were.
    Cancelled(Vec<Job>),
    /// By keeping a snippet again.
    Snippet(String),
    /// By writing the file of a preset again.
    Preset(Box<DeletedPreset>),
}

/// A preset that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedPreset {
    /// Its name.
    pub name: String,
    /// What was in its file.
    pub contents: Vec<u8>,
}

/// Failures and the notice.
#[derive(Debug, Default)]
pub struct Messages {
    /// The failures, newest last.
    pub failures: Vec<FailureCard>,
    /// The notice.
    pub notice: Option<Notice>,
}

impl Messages {
    /// Adds a failure, unless it is the one that is shown.
    pub fn fail(&mut self, title: &str, failure: Failure) {
        let card = FailureCard { title: title.to_owned(), failure };
        if self.failures.last() != Some(&card) {
            self.failures.push(card);
        }
    }

    /// Says something without a way back.
    pub fn say(&mut self, text: String, details: Vec<String>) {
        self.notice = Some(Notice { text, details, undo: None });
    }

    /// Offers to queue a cancelled job again, with those that were cancelled just before.
    pub(super) fn cancelled(&mut self, job: QueuedJob) {
        let at = job.progress.filter(|progress| progress.step > 0);
        let at = at.map(|progress| tr!("state-cancelled-at", step = progress.step, steps = progress.steps));
        let mut jobs = match self.notice.take() {
            Some(Notice { undo: Some(Undo::Cancelled(jobs)), .. }) => jobs,
            _ => Vec::new(),
        };
        jobs.push(job.job);
        let (text, details) = match jobs.len() {
            1 => (tr!("state-cancelled"), at.into_iter().collect()),
            count => (tr!("state-jobs-cancelled", count = count), Vec::new()),
        };
        self.notice = Some(Notice { text, details, undo: Some(Undo::Cancelled(jobs)) });
    }
}
