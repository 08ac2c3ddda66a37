//! What can go wrong with telemetry. None of it ends a run.

use std::{io, path::PathBuf};

use super::TelemetrySummary;

/// Why telemetry could not be written or read. [`TelemetryError::advice`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Both files have one name.
    #[error("{} cannot hold both the telemetry and the trace", path.display())]
    SameFile {
        /// The name.
        path: PathBuf,
    },
    /// The file cannot be made.
    #[error("{} cannot be made for telemetry: {cause}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// No room is left.
    #[error("no room is left on the disk for telemetry in {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed in another way.
    #[error("telemetry cannot be written to {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file was removed while it was written.
    #[error("{} was removed while telemetry was written to it", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The thread that samples ended early: a mistake in what it calls.
    #[error("the thread that samples memory ended early, and the rest of the telemetry is lost")]
    Stopped,
    /// The run is over, and not all of its telemetry was written.
    #[error("{cause}")]
    Incomplete {
        /// The first thing that went wrong.
        cause: Box<TelemetryError>,
        /// What is known of the run all the same.
        summary: Box<TelemetrySummary>,
    },
    /// The file cannot be opened or read.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Another kind of file.
    #[error("{} is not telemetry that Sluice wrote: its first line is no header", path.display())]
    NotTelemetry {
        /// The file.
        path: PathBuf,
    },
    /// Telemetry in a form that this program does not know.
    #[error("the telemetry in {} has version {found}, and {known} is known here", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that can be read.
        known: u32,
    },
    /// A line is broken.
    #[error("line {line} of {} is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// In what way.
        detail: String,
    },
}

impl TelemetryError {
    /// What is known of a run whose telemetry was not all written.
    pub fn summary(&self) -> Option<&TelemetrySummary> {
        match self {
            Self::Incomplete { summary, .. } => Some(summary),
            _ => None,
        }
    }

    /// What to do about it, for the person at the window.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::SameFile { .. } => "Give the two files different names.",
            Self::Create { .. } => "Choose a folder that is there and that you may write to.",
            Self::DiskFull { .. } => "Free some room, or choose a folder on another disk.",
            Self::Write { .. } | Self::Gone { .. } => "Choose another place for the file.",
            Self::Stopped => "Please report this with the model and the settings.",
            Self::Incomplete { cause, .. } => return cause.advice(),
            Self::NotTelemetry { .. } => "Choose a file that was written with --telemetry.",
            Self::Version { found, known, .. } if *found > u64::from(*known) => "Update Sluice.",
            Self::Version { .. } => "Read it with the Sluice that wrote it; its header says which that was.",
            Self::Damaged { .. } => {
                "Use the original file: copying or sending it may have been broken off, or it was edited."
            }
            Self::Read { .. } => return None,
        })
    }
}
