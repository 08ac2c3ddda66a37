//! A download on the list, and its files.

use std::time::Instant;

use sluice_engine::session::Failure;

use super::{Download, DownloadId, Order, Phase, speed::Speed};
use crate::downloads::{Arrived, Stop, Wanted, link::has_weights};

#[derive(Debug)]
pub(super) enum FileState {
    Waiting,
    Running { stop: Stop, phase: Phase },
    Offline { since: Instant, why: String },
    Failed(Failure),
    Done(Arrived),
}

#[derive(Debug)]
pub(super) struct OneFile {
    pub(super) wanted: Wanted,
    pub(super) state: FileState,
    /// Bytes that are shown as done; while those of an earlier attempt are checked, so many of them.
    pub(super) done: u64,
    /// Bytes on the disk.
    pub(super) here: u64,
    pub(super) bytes: Option<u64>,
}

impl OneFile {
    /// Bytes that still need space on the disk, as far as known.
    pub(super) fn missing(&self) -> u64 {
        self.bytes.unwrap_or_default().saturating_sub(self.here)
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: DownloadId,
    pub(super) order: Order,
    pub(super) is_paused: bool,
    pub(super) is_cancelled: bool,
    pub(super) files: Vec<OneFile>,
    pub(super) speed: Speed,
}

impl Entry {
    pub(super) fn is_running(&self) -> bool {
        self.files.iter().any(|file| matches!(file.state, FileState::Running { .. }))
    }

    pub(super) fn stop(&self) {
        for file in &self.files {
            if let FileState::Running { stop, .. } = &file.state {
                stop.stop();
            }
        }
    }

    pub(super) fn go_on(&mut self) {
        self.is_paused = false;
        for file in &mut self.files {
            if matches!(file.state, FileState::Failed(_) | FileState::Offline { .. }) {
                file.state = FileState::Waiting;
            }
        }
    }

    pub(super) fn seen(&self, now: Instant) -> Download {
        let arrived: Vec<Arrived> = self
            .files
            .iter()
            .filter_map(|file| match &file.state {
                FileState::Done(arrived) => Some(arrived.clone()),
                _ => None,
            })
            .collect();
        Download {
            id: self.id,
            title: self.order.title.clone(),
            phase: self.phase(&arrived),
            done: self.files.iter().map(|file| file.done).sum(),
            bytes: self.files.iter().map(|file| file.bytes).sum(),
            speed: self.speed.at(now),
            files: (arrived.len(), self.files.len()),
            arrived,
        }
    }

    fn phase(&self, arrived: &[Arrived]) -> Phase {
        if arrived.len() == self.files.len() {
            let folder = self.order.opens.as_ref().map(|folder| self.order.folder.join(folder));
            let first = || arrived.first().map(|arrived| arrived.path.clone()).unwrap_or_default();
            // Nobody has hashes of the small files in the layout of diffusers.
            let has_weights = |arrived: &&Arrived| has_weights(&arrived.path.to_string_lossy());
            let is_verified = arrived.iter().filter(has_weights).all(|arrived| arrived.is_verified);
            return Phase::Done { opens: folder.unwrap_or_else(first), is_verified };
        }
        let states = || self.files.iter().map(|file| &file.state);
        if self.is_paused {
            return Phase::Paused;
        }
        let mut running = states().filter_map(|state| match state {
            FileState::Running { phase, .. } => Some(phase),
            _ => None,
        });
        if let Some(first) = running.next() {
            // One file that arrives is enough to say that it runs.
            let is_running = *first == Phase::Running || running.any(|phase| *phase == Phase::Running);
            return if is_running { Phase::Running } else { first.clone() };
        }
        if let Some(failure) = states().find_map(|state| match state {
            FileState::Failed(failure) => Some(failure.clone()),
            _ => None,
        }) {
            return Phase::Failed(failure);
        }
        let offline = states().find_map(|state| match state {
            FileState::Offline { why, .. } => Some(Phase::Offline { why: why.clone() }),
            _ => None,
        });
        offline.unwrap_or(Phase::Waiting)
    }
}
