//! Errors about telemetry. None of them ends a run.

use std::{io, path::PathBuf};

use super::TelemetrySummary;

/// Why telemetry could not be written or read. [`TelemetryError::advice`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Both files have the same name.
    #[error("{} cannot be both the telemetry file and the trace file", path.display())]
    SameFile {
        /// The name.
        path: PathBuf,
    },
    /// The file cannot be created.
    #[error("the telemetry file {} cannot be created: {cause}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The disk is full.
    #[error("telemetry cannot be written to {}: the disk is full", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed in another way.
    #[error("telemetry cannot be written to {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file was deleted while it was being written.
    #[error("{} was deleted while telemetry was being written to it", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The sampling thread ended early because of a bug in a callback.
    #[error("the thread that samples memory stopped early; the rest of the telemetry is lost")]
    Stopped,
    /// The run is over, and part of its telemetry was not written.
    #[error("{cause}")]
    Incomplete {
        /// The first error.
        cause: Box<TelemetryError>,
        /// The summary of the run.
        summary: Box<TelemetrySummary>,
    },
    /// The file cannot be opened or read.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file is not telemetry.
    #[error("{} is not a telemetry file from Sluice: its first line is not a header", path.display())]
    NotTelemetry {
        /// The file.
        path: PathBuf,
    },
    /// The telemetry has a version that this program cannot read.
    #[error("the telemetry in {} has version {found}, but this version of Sluice reads version {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that can be read.
        known: u32,
    },
    /// A line cannot be parsed.
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
    /// The summary of a run whose telemetry is incomplete.
    pub fn summary(&self) -> Option<&TelemetrySummary> {
        match self {
            Self::Incomplete { summary, .. } => Some(summary),
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::SameFile { .. } => "Give the two files different names.",
            Self::Create { .. } => "Choose an existing folder that you can write to.",
            Self::DiskFull { .. } => "Free some disk space, or choose a folder on another disk.",
            Self::Write { .. } | Self::Gone { .. } => "Choose another folder for the file.",
            Self::Stopped => "Please report this bug, with the model and the settings that you used.",
            Self::Incomplete { cause, .. } => return cause.advice(),
            Self::NotTelemetry { .. } => "Choose a telemetry file written by Sluice.",
            Self::Version { found, known, .. } if *found > u64::from(*known) => "Update Sluice.",
            Self::Version { .. } => {
                "Read it with the version of Sluice that wrote it, which is in the file's header."
            }
            Self::Damaged { .. } => {
                "Use the original file: this copy may have been edited, or its transfer interrupted."
            }
            Self::Read { .. } => return None,
        })
    }
}
