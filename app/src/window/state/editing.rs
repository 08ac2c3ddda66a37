//! A waiting job whose settings are changed.

use sluice_engine::{
    output::Output,
    session::{Command, Job, JobId},
};

use super::{Draft, State, Undo, jobs::Jobs};
use crate::language::tr;

/// A job that has left the queue for that.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edited {
    job: Job,
    /// The one that came after it.
    before: Option<JobId>,
    /// Whether the seed was locked before.
    was_locked: bool,
}

impl Jobs {
    /// Takes a waiting job out of the queue. One that was taken out before it is put back.
    fn withdraw(&mut self, id: JobId, was_locked: bool) -> Vec<Command> {
        let Some(queued) = self.queue.iter().find(|job| job.id == id && job.progress.is_none()) else {
            return Vec::new();
        };
        let job = queued.job.clone();
        let mut commands = self.put_back();
        let before = self.next_after(id);
        commands.extend(self.cancel(id));
        (self.withdrawn, self.edited) = (Some(id), Some(Edited { job, before, was_locked }));
        commands
    }

    /// Whether the settings of a job are in the panel. It is not in the queue, or leaves it.
    pub fn is_edited(&self, id: JobId) -> bool {
        self.withdrawn == Some(id) || self.edited.as_ref().is_some_and(|edited| edited.job.id == id)
    }

    /// Whether the seed was locked before a job was edited, if one is.
    pub(super) fn was_locked(&self) -> Option<bool> {
        self.edited.as_ref().map(|edited| edited.was_locked)
    }

    /// Queues the job that was taken out as it was.
    fn put_back(&mut self) -> Vec<Command> {
        let Some(edited) = &self.edited else { return Vec::new() };
        let job = Job { journal: None, ..edited.job.clone() };
        let mut commands = vec![self.add(job)];
        commands.extend(self.take_edited_place());
        commands
    }

    /// Jobs whose settings were being edited, for the next session.
    pub fn to_keep(&self) -> Vec<Job> {
        let edited = self.edited.as_ref().map(|edited| Job { journal: None, ..edited.job.clone() });
        // Those of the session before that were neither resumed nor discarded.
        self.unfinished.iter().filter(|job| job.journal.is_none()).cloned().chain(edited).collect()
    }

    /// Where the result of the job goes that takes the place of one that was taken out.
    pub(super) fn output_of_edited(&self) -> Option<Output> {
        let output = self.edited.as_ref()?.job.output.clone();
        output.filter(|output| matches!(output, Output::File(_)))
    }

    /// Moves the newest job to the place of the one that was taken out.
    pub(super) fn take_edited_place(&mut self) -> Vec<Command> {
        let Some(Edited { before: Some(before), .. }) = self.edited.take() else { return Vec::new() };
        let newest = self.newest();
        let still_waits = self.queue.iter().any(|job| job.id == before && job.progress.is_none());
        if still_waits { self.reorder(newest, Some(before)) } else { self.run_next(newest) }
    }
}

impl State {
    /// Takes a waiting job out of the queue and restores its settings. The next job takes its place.
    pub fn edit_job(&mut self, id: JobId) -> Vec<Command> {
        let queued = self.jobs.queue.iter().find(|job| job.id == id && job.progress.is_none());
        let Some(draft) = queued.map(|job| Draft::from_request(job.request())) else { return Vec::new() };
        let was_locked = self.jobs.was_locked().unwrap_or(self.settings.draft.seed_locked);
        let mut commands = self.jobs.withdraw(id, was_locked);
        let (before, load) = self.replace(draft);
        commands.extend(load);
        let details = vec![tr!("state-job-goes-back")];
        self.messages.tell(tr!("state-job-edited"), details, Some(Undo::Edited(Box::new(before))));
        commands
    }

    /// Restores the settings from before, and puts the job back.
    pub(super) fn edit_no_longer(&mut self, before: Draft) -> Vec<Command> {
        let load = self.replace(before).1;
        let mut commands = self.jobs.put_back();
        commands.extend(load);
        commands
    }
}
