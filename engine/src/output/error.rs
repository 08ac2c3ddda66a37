//! Errors about image files that Sluice writes or reads settings from.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why an image could not be written or its settings could not be read. [`OutputError::advice`] says what to do
/// about it.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file name does not end in `.png`.
    #[error("{} does not end in .png, and images are written as PNG only", path.display())]
    Extension {
        /// The name.
        path: PathBuf,
    },
    /// There is a folder where the image should go.
    #[error("{} is a folder, not a file name", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// There is a file where the folder should be.
    #[error("{} is a file, not a folder", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder was missing and could not be created.
    #[error("the folder {} cannot be created: {cause}", folder.display())]
    CreateFolder {
        /// The folder.
        folder: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The folder is not writable.
    #[error("the folder {} is not writable: {cause}", folder.display())]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The disk is full.
    #[error("{} cannot be written: the disk is full", path.display())]
    DiskFull {
        /// The image.
        path: PathBuf,
    },
    /// Writing failed in another way.
    #[error("{} cannot be written: {cause}", path.display())]
    Write {
        /// The image.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file exists and must not be overwritten.
    #[error("{} already exists", path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// The number of bytes does not match the size of the image.
    #[error("an image of {width}×{height} pixels with {bytes} bytes cannot be written")]
    Pixels {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes of pixels.
        bytes: usize,
    },
    /// The image could not be saved where it should go, and was saved elsewhere.
    #[error("{cause}; the image was saved as {} instead", path.display())]
    KeptElsewhere {
        /// Where it is now.
        path: PathBuf,
        /// Why it could not be saved where it should go.
        cause: Box<OutputError>,
    },
    /// The file cannot be opened or read.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file is not a PNG.
    #[error("{} is not a PNG image", path.display())]
    NotPng {
        /// The file.
        path: PathBuf,
    },
    /// The file is incomplete.
    #[error("{} is incomplete", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// The settings cannot be parsed.
    #[error("the settings in {} are damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The details.
        detail: String,
    },
    /// The text chunk with the settings is larger than any settings.
    #[error("the text chunk {keyword:?} in {} is too large for settings", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The keyword of the chunk.
        keyword: &'static str,
    },
    /// The image has no settings.
    #[error("{} contains no generation settings", path.display())]
    NoSettings {
        /// The file.
        path: PathBuf,
    },
    /// The settings have a newer version than this program can read.
    #[error("{} was made by a newer version of Sluice: its settings have version {found}, and this version reads up to {known}", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Their version.
        found: u64,
        /// The newest version that can be read.
        known: u32,
    },
}

impl OutputError {
    /// Where the image is, if it was saved elsewhere.
    pub fn kept_at(&self) -> Option<&Path> {
        match self {
            Self::KeptElsewhere { path, .. } => Some(path),
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Extension { .. } => "Choose a file name that ends in .png.",
            Self::IsFolder { .. } => "Add a file name that ends in .png.",
            Self::NotAFolder { .. } | Self::CreateFolder { .. } | Self::NotWritable { .. } => {
                "Choose a folder that you can write to."
            }
            Self::DiskFull { .. } => "Free some disk space, or choose a folder on another disk.",
            Self::Write { .. } => "Choose another folder for the image.",
            Self::Exists { .. } => "Choose another file name.",
            Self::KeptElsewhere { .. } => {
                "Move the image to a safe place: the system deletes temporary files from time to time."
            }
            Self::NotPng { .. } => "Choose a PNG image made by Sluice or AUTOMATIC1111's web UI.",
            Self::Truncated { .. } | Self::Damaged { .. } => {
                "Use the original file: this copy may be the result of an interrupted transfer."
            }
            Self::TooLarge { .. } | Self::NoSettings { .. } => {
                "Use the original file: many programs and websites strip settings when they save an image."
            }
            Self::NewerVersion { .. } => "Update Sluice.",
            Self::Pixels { .. } | Self::Read { .. } => return None,
        })
    }
}
