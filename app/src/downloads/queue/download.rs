//! What is downloaded, and how far it is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sluice_engine::session::Failure;

use crate::downloads::{Arrived, Wanted};

/// What is downloaded together, such as the files of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What to call it.
    pub title: String,
    /// Its files, that which opens as a model first.
    pub files: Vec<Wanted>,
    /// The folder of downloads.
    pub folder: PathBuf,
    /// The folder inside it that opens as a model; the first file if absent.
    #[serde(default)]
    pub opens: Option<PathBuf>,
}

/// Identifies a download of this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DownloadId(pub u64);

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Others come first.
    Waiting,
    /// Bytes arrive.
    Running,
    /// What is here already is read, for the check at the end.
    Checking,
    /// There is a fault that may pass; it is tried again.
    Retrying {
        /// What is wrong.
        why: String,
    },
    /// There is no connection; it goes on when there is one.
    Offline {
        /// What is wrong.
        why: String,
    },
    /// A person has paused it.
    Paused,
    /// It needs a person.
    Failed(Failure),
    /// Everything is here.
    Done {
        /// What opens as a model.
        opens: PathBuf,
        /// Whether the hashes of all files with weights were known before.
        is_verified: bool,
    },
}

/// A download as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Download {
    /// Which.
    pub id: DownloadId,
    /// What.
    pub title: String,
    /// How far.
    pub phase: Phase,
    /// Bytes that are here.
    pub done: u64,
    /// Bytes of all files, as far as known.
    pub bytes: Option<u64>,
    /// Bytes per second; 0 while nothing arrives.
    pub speed: f64,
    /// Files that are complete, and all files.
    pub files: (usize, usize),
    /// The files that have arrived.
    pub arrived: Vec<Arrived>,
}

impl Download {
    /// The share that is here, from 0 to 1.
    pub fn share(&self) -> f32 {
        match self.bytes {
            Some(bytes) if bytes > 0 => (self.done as f64 / bytes as f64).clamp(0.0, 1.0) as f32,
            _ => 0.0,
        }
    }

    /// Seconds that are left at this speed, if that can be said.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.bytes?.saturating_sub(self.done);
        (self.speed > 1.0 && self.phase == Phase::Running).then(|| left as f64 / self.speed)
    }

    /// Whether it is neither complete nor failed.
    pub fn is_unfinished(&self) -> bool {
        !matches!(self.phase, Phase::Done { .. } | Phase::Failed(_))
    }
}
