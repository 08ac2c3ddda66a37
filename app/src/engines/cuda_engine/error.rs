//! Why the engine for NVIDIA GPUs is not installed, in words for the person who asked for it.

use std::path::PathBuf;

use crate::downloads::DownloadError;

/// Why the engine for NVIDIA GPUs is not installed.
#[derive(Debug, thiserror::Error)]
pub enum CudaEngineError {
    /// There are no packages for this kind of computer.
    #[error("the engine for NVIDIA GPUs can be installed only on Linux on x86-64")]
    Platform,
    /// There is nowhere to put it.
    #[error("this user has no folder for data")]
    NoFolder,
    /// A file cannot be had, read or written.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// Nobody has told where releases are.
    #[error("this program does not know where its releases are")]
    NoReleases,
    /// The releases have none of this version.
    #[error("there is no engine for Sluice {version} on {host}")]
    NotReleased {
        /// The version of this program.
        version: String,
        /// The server.
        host: String,
    },
    /// The list that belongs to an archive is not there.
    #[error("the list of engines {} is missing", .path.display())]
    NoIndex {
        /// Where it should be.
        path: PathBuf,
    },
    /// The list is not one.
    #[error("the list of engines {name} is not understood: {reason}")]
    Index {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The list does not name the archive.
    #[error("{name} is not in the list of engines")]
    NotListed {
        /// The archive.
        name: String,
    },
    /// No GPU says what it can do.
    #[error("the compute capability of the NVIDIA GPU is not known")]
    UnknownCapability,
    /// The GPU is too old.
    #[error("the GPU has compute capability {found}; the engine needs {least}")]
    TooOld {
        /// Of the GPU, such as 6.1.
        found: String,
        /// Of the engine for the oldest GPUs.
        least: String,
    },
    /// An archive has not what it should have.
    #[error("{name} is damaged: {reason}")]
    Damaged {
        /// The archive.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A file of an archive would be written elsewhere.
    #[error("{inside} in {name} leads out of its folder")]
    Outside {
        /// The path in the archive.
        inside: String,
        /// The archive.
        name: String,
    },
    /// It was installed, and does not run.
    #[error("the engine for NVIDIA GPUs does not start: {reason}")]
    Start {
        /// What it says.
        reason: String,
    },
    /// It runs, and belongs to another program.
    #[error("the engine is of version {found}, and this program of version {own}")]
    Version {
        /// The version of the engine.
        found: String,
        /// The version of this program.
        own: String,
    },
}

impl CudaEngineError {
    /// Whether somebody has stopped it.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Download(DownloadError::Stopped))
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Platform => "Compute on the CPU, or on an engine elsewhere.".to_owned(),
            Self::NoFolder => "Set the variable HOME or XDG_DATA_HOME.".to_owned(),
            Self::Download(error) => error.advice(),
            Self::NoReleases | Self::NotReleased { .. } => {
                "Install it from an archive on this computer, or build it with packaging/cuda/build."
                    .to_owned()
            }
            Self::NoIndex { .. } => "Put it beside the archive: it comes from the same place.".to_owned(),
            Self::Index { .. } | Self::Damaged { .. } => "Fetch it again from where it came from.".to_owned(),
            Self::NotListed { .. } => "Use an archive and a list that were made together.".to_owned(),
            Self::UnknownCapability => "Check that the NVIDIA driver is installed.".to_owned(),
            Self::TooOld { .. } => "Compute on the CPU, or on another GPU.".to_owned(),
            Self::Outside { .. } => {
                "Do not use this archive: it was made to write into other folders.".to_owned()
            }
            Self::Start { .. } => {
                "Check that the NVIDIA driver is installed and supports CUDA 13. Nothing was changed."
                    .to_owned()
            }
            Self::Version { .. } => "Use the engine of the same version. Nothing was changed.".to_owned(),
        }
    }
}
