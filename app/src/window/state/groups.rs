//! Jobs whose images are composed into one. No drawing and no I/O.

use std::{collections::VecDeque, path::PathBuf};

use serde::{Deserialize, Serialize};
use sluice_engine::session::{GroupPlace, Job, JobId, Picture};

use crate::groups::Group;

/// Groups that have ended are kept for this many more, in case their cancelled jobs are queued again.
const KEPT: usize = 8;

/// A group, and the names of its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedGroup {
    /// The group.
    pub group: Group,
    /// The model.
    pub model: String,
    /// Its family.
    pub family: String,
}

/// What becomes of a group. It is written down for the next start.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupChange {
    /// Its jobs are queued.
    Begun(Box<NamedGroup>),
    /// A job has finished.
    Drawn {
        /// The name of the group.
        id: String,
        /// The place of the first image.
        place: usize,
        /// The files of its images.
        files: Vec<Option<PathBuf>>,
    },
    /// No job is left: the images are composed, if there are any.
    Ended(Box<NamedGroup>),
}

/// The groups of the queue.
#[derive(Debug, Default)]
pub struct Groups {
    list: VecDeque<NamedGroup>,
    changes: VecDeque<GroupChange>,
    earlier: Earlier,
}

/// Groups of previous sessions.
#[derive(Debug, Default)]
struct Earlier {
    /// Whether they were read.
    are_read: bool,
    /// Whether those without unfinished jobs have ended.
    are_settled: bool,
    /// Those whose jobs are not queued again.
    list: Vec<NamedGroup>,
    /// Jobs that are queued again, until their groups are read.
    jobs: Vec<(GroupPlace, JobId)>,
}

impl Groups {
    /// Adds a group whose jobs are queued.
    pub fn add(&mut self, group: NamedGroup) {
        self.changes.push_back(GroupChange::Begun(Box::new(group.clone())));
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
        for NamedGroup { group, .. } in &mut self.list {
            if let Some(place) = group.finished(job, pictures) {
                let (id, files) =
                    (group.id().to_owned(), pictures.iter().map(|picture| picture.path.clone()));
                self.changes.push_back(GroupChange::Drawn { id, place, files: files.collect() });
            }
        }
    }

    /// A job has ended, in whatever way.
    pub(super) fn ended(&mut self, job: JobId) {
        for named in &mut self.list {
            if named.group.ended(job) {
                self.changes.push_back(GroupChange::Ended(Box::new(named.clone())));
            }
        }
    }

    /// A cancelled job is queued again.
    pub(super) fn resumed(&mut self, before: JobId, job: JobId) {
        for named in &mut self.list {
            if named.group.resumed(before, job) {
                self.changes.push_back(GroupChange::Begun(Box::new(named.clone())));
            }
        }
    }

    /// Hands over what has changed, as long as `take` takes it. Returns whether something is left.
    pub fn hand_over(&mut self, mut take: impl FnMut(GroupChange) -> bool) -> bool {
        while self.changes.front().is_some_and(|change| take(change.clone())) {
            self.changes.pop_front();
        }
        !self.changes.is_empty()
    }

    /// Takes the groups of previous sessions.
    pub fn restore(&mut self, groups: Vec<NamedGroup>) {
        self.earlier.are_read = true;
        self.earlier.list = groups;
        for (place, job) in std::mem::take(&mut self.earlier.jobs) {
            self.rejoin(place, job);
        }
    }

    /// A job of a previous session is queued again.
    pub(super) fn rejoin(&mut self, place: GroupPlace, job: JobId) {
        let list = &mut self.earlier.list;
        if let Some(earlier) = list.iter().position(|named| named.group.id() == place.group) {
            self.list.push_back(list.swap_remove(earlier));
        }
        match self.list.iter_mut().find(|named| named.group.id() == place.group) {
            Some(named) => named.group.add(job, place.place),
            None if self.earlier.are_read => {
                tracing::warn!(group = place.group, "what was known of a grid is gone");
            }
            None => self.earlier.jobs.push((place, job)),
        }
    }

    /// Ends the groups of previous sessions that have no unfinished job. The engine says what is unfinished before
    /// anything else.
    pub(super) fn settle(&mut self, unfinished: &[Job]) {
        if !self.earlier.are_read || self.earlier.are_settled {
            return;
        }
        self.earlier.are_settled = true;
        let has_job = |named: &NamedGroup| {
            let places = unfinished.iter().filter_map(|job| job.group.as_ref());
            places.into_iter().any(|place| place.group == named.group.id())
        };
        self.end_earlier(|named| !has_job(named));
    }

    /// The unfinished jobs of the previous session are not wanted.
    pub(super) fn discard_earlier(&mut self) {
        self.end_earlier(|_| true);
    }

    fn end_earlier(&mut self, ends: impl Fn(&NamedGroup) -> bool) {
        let ended = self.earlier.list.extract_if(.., |named| ends(named));
        self.changes.extend(ended.map(|named| GroupChange::Ended(Box::new(named))));
    }
}
