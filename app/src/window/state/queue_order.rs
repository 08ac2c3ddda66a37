//! The order of the jobs that wait.

use sluice_engine::session::{Command, JobId};

use super::jobs::{Jobs, QueuedJob};

fn waits(job: &QueuedJob) -> bool {
    job.progress.is_none() && !job.cancelling
}

impl Jobs {
    /// Moves a waiting job in front of another one that waits, or to the end. The jobs of a group stay together.
    pub fn reorder(&mut self, id: JobId, before: Option<JobId>) -> Vec<Command> {
        let moved = self.together(id);
        let before = before.and_then(|before| self.together(before).first().copied());
        if moved.is_empty() || before.is_some_and(|before| moved.contains(&before)) {
            return Vec::new();
        }
        let is_moved = |job: &QueuedJob| moved.contains(&job.id);
        let (rows, rest): (Vec<_>, Vec<_>) = self.queue.drain(..).partition(is_moved);
        self.queue.extend(rest);
        let to = before.and_then(|before| self.queue.iter().position(|job| job.id == before));
        let end = self.queue.split_off(to.unwrap_or(self.queue.len()));
        self.queue.extend(rows.into_iter().chain(end));
        moved.into_iter().map(|job| Command::Move { job, before }).collect()
    }

    /// Moves a waiting job to the front of those that wait, with its group.
    pub fn run_next(&mut self, id: JobId) -> Vec<Command> {
        let own = self.together(id);
        let first = self.queue.iter().find(|job| waits(job) && !own.contains(&job.id));
        first.map(|first| first.id).map(|first| self.reorder(id, Some(first))).unwrap_or_default()
    }

    /// Whether a waiting job is the next one, with its group.
    pub fn is_next(&self, id: JobId) -> bool {
        let own = self.together(id);
        let first = self.queue.iter().filter(|job| waits(job)).map(|job| job.id);
        first.take(own.len()).eq(own.iter().copied())
    }

    /// Whether a waiting job is the last one, with its group.
    pub fn is_last(&self, id: JobId) -> bool {
        let own = self.together(id);
        let last = self.queue.iter().rev().filter(|job| waits(job)).map(|job| job.id);
        last.take(own.len()).eq(own.iter().rev().copied())
    }

    /// The waiting job that comes after one.
    pub(super) fn next_after(&self, id: JobId) -> Option<JobId> {
        let place = self.queue.iter().position(|job| job.id == id)?;
        self.queue.iter().skip(place + 1).find(|job| waits(job)).map(|job| job.id)
    }

    /// A waiting job and those of its group, in their order.
    fn together(&self, id: JobId) -> Vec<JobId> {
        let group = self.groups.of(id);
        let belongs = |job: &&QueuedJob| job.id == id || group.is_some_and(|group| group.holds(job.id));
        self.queue.iter().filter(|job| waits(job)).filter(belongs).map(|job| job.id).collect()
    }
}
