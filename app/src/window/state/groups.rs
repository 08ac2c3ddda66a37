//! Jobs whose images are composed into one. No drawing and no I/O.

use std::collections::VecDeque;

use sluice_engine::session::{JobId, Picture};

use crate::groups::Group;

/// Groups that have ended are kept for this many more, in case their cancelled jobs are queued again.
const KEPT: usize = 8;

/// A group, and the names of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedGroup {
    /// The group.
    pub group: Group,
    /// The model.
    pub model: String,
    /// Its family.
    pub family: String,
}

/// The groups of the queue.
#[derive(Debug, Default)]
pub struct Groups {
    list: VecDeque<NamedGroup>,
    /// Those that have ended and are not composed yet.
    complete: Vec<NamedGroup>,
}

impl Groups {
    /// Adds a group whose jobs are queued.
    pub fn add(&mut self, group: NamedGroup) {
        self.list.push_back(group);
        let ended = |named: &NamedGroup| named.group.jobs().next().is_none();
        while self.list.len() > KEPT
            && let Some(oldest) = self.list.iter().position(ended)
        {
            self.list.remove(oldest);
        }
    }

    /// The group of a job that has not ended.
    pub fn of(&self, job: JobId) -> Option<&Group> {
        self.list.iter().map(|named| &named.group).find(|group| group.holds(job))
    }

    /// A job has finished.
    pub(super) fn finished(&mut self, job: JobId, pictures: &[Picture]) {
        self.list.iter_mut().for_each(|named| named.group.finished(job, pictures));
    }

    /// A job has ended, in whatever way.
    pub(super) fn ended(&mut self, job: JobId) {
        for named in &mut self.list {
            if named.group.ended(job) && named.group.has_images() {
                self.complete.push(named.clone());
            }
        }
    }

    /// A cancelled job is queued again.
    pub(super) fn resumed(&mut self, before: JobId, job: JobId) {
        self.list.iter_mut().for_each(|named| named.group.resumed(before, job));
    }

    /// Groups to compose.
    pub fn take_complete(&mut self) -> Vec<NamedGroup> {
        std::mem::take(&mut self.complete)
    }
}
