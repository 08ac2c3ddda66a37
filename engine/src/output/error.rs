//! What can go wrong with a picture's file.

use std::{io, path::PathBuf};

/// Why a picture could not be written or its settings could not be read. [`OutputError::advice`] says what to
/// do about it.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file name for something else than a PNG.
    #[error("{} is no name for a PNG picture, and pictures are written as PNG only", path.display())]
    Extension {
        /// The name.
        path: PathBuf,
    },
    /// A folder stands where the picture should go.
    #[error("{} is a folder, not the name of a picture", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Something else stands where the folder should be.
    #[error("{} is a file, so no picture can be put into it", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder was missing and could not be made.
    #[error("the folder {} cannot be made: {cause}", folder.display())]
    CreateFolder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The folder takes no files.
    #[error("pictures cannot be written to the folder {}: {cause}", folder.display())]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// No room is left.
    #[error("no room is left on the disk for {}", path.display())]
    DiskFull {
        /// The picture.
        path: PathBuf,
    },
    /// Writing failed in another way.
    #[error("{} cannot be written: {cause}", path.display())]
    Write {
        /// The picture.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Nothing may be overwritten and the name is taken.
    #[error("{} is already there", path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// The picture is no picture.
    #[error("a picture of {width}×{height} pixels with {bytes} bytes cannot be written")]
    Pixels {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes of pixels.
        bytes: usize,
    },
    /// The picture could not go where it should, and was put elsewhere.
    #[error("{cause}; the picture was kept as {}", path.display())]
    KeptElsewhere {
        /// Where it is now.
        path: PathBuf,
        /// Why it is not where it should be.
        cause: Box<OutputError>,
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
    #[error("{} is not a PNG picture", path.display())]
    NotPng {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before its end.
    #[error("{} is cut off", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// The text with the settings is broken.
    #[error("the settings in {} are damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what way.
        detail: String,
    },
    /// The text with the settings is larger than settings can be.
    #[error("the text {keyword:?} in {} is too large to be settings", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The text's keyword.
        keyword: &'static str,
    },
    /// A picture without settings.
    #[error("{} has no settings inside", path.display())]
    NoSettings {
        /// The file.
        path: PathBuf,
    },
    /// Settings in a form that this program does not know yet.
    #[error("{} was made by a newer Sluice: its settings have version {found}, and {known} is known here", path.display())]
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
    /// What to do about it, for the person at the window.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Extension { .. } => "End the name in .png.",
            Self::IsFolder { .. } => "Add a file name that ends in .png.",
            Self::NotAFolder { .. } | Self::CreateFolder { .. } | Self::NotWritable { .. } => {
                "Choose a folder that you may write to."
            }
            Self::DiskFull { .. } => "Free some room, or choose a folder on another disk.",
            Self::Write { .. } => "Choose another place for the picture.",
            Self::Exists { .. } => "Choose another name.",
            Self::KeptElsewhere { .. } => {
                "Move the picture to a safe place: the folder for temporary files is emptied now and then."
            }
            Self::NotPng { .. } => "Choose a picture that Sluice or A1111's web UI wrote as PNG.",
            Self::Truncated { .. } | Self::Damaged { .. } => {
                "Use the original file: copying or sending it may have been broken off."
            }
            Self::TooLarge { .. } | Self::NoSettings { .. } => {
                "Use the original file: many programs and web sites remove settings when they save a picture."
            }
            Self::NewerVersion { .. } => "Update Sluice.",
            Self::Pixels { .. } | Self::Read { .. } => return None,
        })
    }
}
