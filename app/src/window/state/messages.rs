//! Messages for the user.

use std::path::PathBuf;

use crate::{
    language::tr,
    window::{collection::Trashed, job_names::failed, settings::PromptKind, told::Told},
};
use sluice_engine::{
    memory::{Forecast, MemoryPreferences, PlanError},
    request::{Request, Style},
    session::{Failure, Job, JobId},
};

use super::{Planning, draft::Draft, jobs::QueuedJob};

/// A failure that was not dismissed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCard {
    /// Short title.
    pub title: String,
    /// What happened and what to do.
    pub failure: Failure,
    /// What failed.
    cause: Cause,
    /// The request and the preferences of the job that failed.
    run: Option<Box<(Request, MemoryPreferences)>>,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// A model could not be opened.
    Opening,
    /// A job.
    Job,
    /// Something else.
    Other,
}

impl FailureCard {
    fn new(title: String, failure: Failure, cause: Cause) -> Self {
        Self { title, failure, cause, run: None }
    }

    /// The forecast for the job that failed, and why it does not fit, if that is why it failed and the settings are still the same.
    pub fn lack_of_room<'a>(&self, planning: &'a Planning) -> Option<(&'a Forecast, &'a PlanError)> {
        let (request, memory) = self.run.as_deref()?;
        planning.lack_of_room(request, memory, &self.failure)
    }

    /// Whether it says the same.
    fn is_like(&self, other: &Self) -> bool {
        self.title == other.title && self.failure == other.failure && self.cause == other.cause
    }
}

/// A notice, with an optional undo.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// The name in it, which is shortened where there is not enough room; empty if there is none.
    pub name: String,
    /// Unexpected details.
    pub details: Vec<String>,
    /// How to undo it.
    pub undo: Option<Undo>,
    /// The folder in which the result is.
    pub folder: Option<PathBuf>,
}

/// How something is undone.
#[derive(Debug, Clone, PartialEq)]
pub enum Undo {
    /// With the settings before the change.
    Settings(Box<Draft>),
    /// With the prompt before the change.
    Prompt(String),
    /// With the settings before the change, and the job that was taken out of the queue.
    Edited(Box<Draft>),
    /// By queueing the cancelled jobs again, each with the place that it had in the queue. The engine continues where they were.
    Cancelled(Vec<(usize, Job)>),
    /// By keeping a snippet again.
    Snippet(PromptKind, String),
    /// By writing the file of a preset again.
    Preset(Box<DeletedPreset>),
    /// By saving a style again.
    Style(Box<Style>),
    /// By taking files back from the trash.
    Trash(Vec<Trashed>),
}

/// A preset that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedPreset {
    /// Its name.
    pub name: String,
    /// What was in its file.
    pub contents: Vec<u8>,
}

/// Cancelled jobs whose progress the engine keeps.
const RESUMABLE: usize = 4;

/// Failures and the notice.
#[derive(Debug, Default)]
pub struct Messages {
    /// The failures, newest last.
    pub failures: Vec<FailureCard>,
    /// The notice.
    pub notice: Option<Notice>,
    /// The number of notices so far.
    told: u64,
    /// Jobs that were cancelled while they ran, the latest last. They can be resumed after the notice is gone, too.
    resumable: Vec<Job>,
}

impl Messages {
    /// Adds a failure, unless it is the one that is shown.
    pub fn fail(&mut self, title: &str, failure: Failure) {
        self.add(FailureCard::new(title.to_owned(), failure, Cause::Other));
    }

    /// Adds the failure of a job.
    pub(super) fn job_failed(&mut self, job: Option<QueuedJob>, failure: Failure) {
        let title = job.as_ref().map_or_else(|| tr!("state-generation-failed"), |job| failed(job.request()));
        let run = job.map(|QueuedJob { job, .. }| Box::new((job.request, job.memory)));
        let card = FailureCard::new(title, failure, Cause::Job);
        self.add(FailureCard { run, ..card });
    }

    /// Adds the failure to open a model. It goes once one is open or a job runs.
    pub(super) fn not_opened(&mut self, failure: Failure) {
        self.add(FailureCard::new(tr!("state-model-not-opened"), failure, Cause::Opening));
    }

    fn add(&mut self, card: FailureCard) {
        self.failures.pop_if(|last| last.is_like(&card));
        self.failures.push(card);
    }

    /// Removes the failures to open a model.
    pub(super) fn works(&mut self) {
        self.failures.retain(|card| card.cause != Cause::Opening);
    }

    /// Says something without a way back.
    pub fn say(&mut self, told: impl Into<Told>, details: Vec<String>) {
        self.tell(told, details, None);
    }

    /// Says something, with a way back if there is one.
    pub fn tell(&mut self, told: impl Into<Told>, details: Vec<String>, undo: Option<Undo>) {
        self.told += 1;
        let Told { text, name } = told.into();
        self.notice = Some(Notice { text, name, details, undo, folder: None });
    }

    /// Says something without a way back, below a way back that is offered, which stays. Returns the notice.
    pub(super) fn add_to_notice(
        &mut self,
        told: impl Into<Told>,
        details: Vec<String>,
    ) -> Option<&mut Notice> {
        let told = told.into();
        if !self.add_line(&told.text) {
            self.say(told, details);
        }
        self.notice.as_mut()
    }

    /// Adds a line below a way back that is offered, once. Returns whether one is.
    pub(super) fn add_line(&mut self, line: &str) -> bool {
        let offer = self.notice.as_mut().filter(|notice| notice.undo.is_some());
        let is_offered = offer.is_some();
        if let Some(notice) = offer
            && notice.details.iter().all(|detail| detail != line)
        {
            notice.details.push(line.to_owned());
        }
        is_offered
    }

    /// The number of the notice: the same words that are said again are another one.
    pub fn told(&self) -> u64 {
        self.told
    }

    /// The notice that jobs were cancelled, which offers to resume them.
    pub fn of_cancelled(&self) -> Option<&Notice> {
        self.notice.as_ref().filter(|notice| matches!(notice.undo, Some(Undo::Cancelled(_))))
    }

    /// Offers to queue a cancelled job again, with those that were cancelled just before.
    pub(super) fn cancelled(&mut self, place: usize, job: QueuedJob) {
        if job.progress.is_some() {
            self.resumable.push(job.job.clone());
            let over = self.resumable.len().saturating_sub(RESUMABLE);
            self.resumable.drain(..over);
        }
        let at = job.progress.filter(|progress| progress.step > 0);
        let at = at.map(|progress| tr!("state-cancelled-at", step = progress.step, steps = progress.steps));
        let mut jobs = match self.notice.take() {
            Some(Notice { undo: Some(Undo::Cancelled(jobs)), .. }) => jobs,
            _ => Vec::new(),
        };
        jobs.push((place, job.job));
        let (text, details) = match jobs.len() {
            1 => (tr!("state-cancelled"), at.into_iter().collect()),
            count => (tr!("state-jobs-cancelled", count = count), Vec::new()),
        };
        self.tell(text, details, Some(Undo::Cancelled(jobs)));
    }

    /// Offers jobs that were cancelled in a session before. Their numbers and their grids are those of that session.
    pub(super) fn resumable_from_before(&mut self, jobs: Vec<Job>) {
        let jobs = jobs.into_iter().map(|job| Job { id: JobId(0), group: None, ..job });
        self.resumable = jobs.collect();
    }

    /// The cancelled jobs that can be resumed, the next one last.
    pub fn resumable(&self) -> &[Job] {
        &self.resumable
    }

    /// The job that was cancelled last while it ran. It is no longer offered.
    pub(super) fn take_resumable(&mut self) -> Option<Job> {
        let job = self.resumable.pop()?;
        let has_it = |jobs: &[(usize, Job)]| jobs.iter().any(|(_, known)| *known == job);
        self.notice.take_if(|notice| matches!(&notice.undo, Some(Undo::Cancelled(jobs)) if has_it(jobs)));
        Some(job)
    }

    /// No longer offers jobs that are queued again.
    pub(super) fn resumed(&mut self, jobs: &[Job]) {
        self.resumable.retain(|job| !jobs.contains(job));
    }
}
