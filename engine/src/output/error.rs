//! Errors about the files of images and clips that Sluice writes or reads settings from.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::Codec;

/// Why an image could not be written or its settings could not be read. [`OutputError::advice`] says what to do
/// about it.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file name does not end in an extension for images.
    #[error("{} does not end in .png, .jpg or .webp", path.display())]
    Extension {
        /// The name.
        path: PathBuf,
    },
    /// The file name does not end in an extension for clips with this codec.
    #[error("{} does not end in {}", path.display(), endings(*codec))]
    ClipExtension {
        /// The name.
        path: PathBuf,
        /// The codec.
        codec: Codec,
    },
    /// The folder for the frames of a clip has other files in it.
    #[error("the folder {} has other files in it", path.display())]
    OtherFiles {
        /// The folder.
        path: PathBuf,
    },
    /// The frames are larger than the format allows.
    #[error("frames of {width}×{height} pixels are too large for {}", path.display())]
    ClipTooLarge {
        /// The file.
        path: PathBuf,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The frames cannot be encoded.
    #[error("{} cannot be encoded: {detail}", path.display())]
    Encoder {
        /// The file.
        path: PathBuf,
        /// The details.
        detail: String,
    },
    /// The codec needs a program that is not there.
    #[error("the codec {} needs the program ffmpeg, which is not on the PATH", codec.name())]
    NoFfmpeg {
        /// The codec.
        codec: Codec,
    },
    /// That program failed.
    #[error("ffmpeg could not write {}: {detail}", path.display())]
    Ffmpeg {
        /// The file.
        path: PathBuf,
        /// What it said.
        detail: String,
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
    /// A JPEG file has no room for settings as long as these.
    #[error("the settings are too long for a JPEG file: {}", path.display())]
    SettingsTooLong {
        /// The file.
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
    /// The image or clip could not be saved where it should go, and was saved elsewhere.
    #[error("{cause}; it was saved as {} instead", path.display())]
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
    /// The file is of a kind that has no settings.
    #[error("{} is not a PNG, JPEG, WebP, GIF or MP4 file", path.display())]
    NotMedia {
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
    /// The part of the file with the settings is larger than any settings.
    #[error("the part {keyword:?} of {} is too large for settings", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its name.
        keyword: &'static str,
    },
    /// The file has no settings.
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
            Self::Extension { .. } => "Choose a file name that ends in one of these; .png keeps every pixel.",
            Self::ClipExtension { codec: Codec::H264, .. } => {
                "Choose one of these, or the name of a folder for a PNG of each frame."
            }
            Self::ClipExtension { .. } => "Choose one of these, or another codec.",
            Self::OtherFiles { .. } => "Choose a new folder for the frames.",
            Self::ClipTooLarge { .. } => {
                "Save the frames as a folder of PNG images, or generate a smaller clip."
            }
            Self::Encoder { .. } => "Save the clip in another format, such as a folder of PNG images.",
            Self::NoFfmpeg { .. } => "Install ffmpeg, or use the codec h264.",
            Self::Ffmpeg { .. } => "Install a build of ffmpeg with this encoder, or use the codec h264.",
            Self::IsFolder { .. } => "Add a file name that ends in .png.",
            Self::NotAFolder { .. } | Self::CreateFolder { .. } | Self::NotWritable { .. } => {
                "Choose a folder that you can write to."
            }
            Self::DiskFull { .. } => "Free some disk space, or choose a folder on another disk.",
            Self::Write { .. } => "Choose another folder.",
            Self::Exists { .. } => "Choose another file name.",
            Self::SettingsTooLong { .. } => "Choose PNG or WebP, or leave the settings out.",
            Self::KeptElsewhere { .. } => {
                "Move it to a safe place: the system deletes temporary files from time to time."
            }
            Self::NotMedia { .. } => {
                "Choose an image or a clip made by Sluice or another program that writes its settings into files."
            }
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

/// The extensions of clips with a codec: `.mp4, .webp or .gif`.
fn endings(codec: Codec) -> String {
    let others: &[&str] = if codec == Codec::H264 { &["webp", "gif", "png"] } else { &[] };
    let all: Vec<String> =
        codec.extensions().iter().chain(others).map(|extension| format!(".{extension}")).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}
