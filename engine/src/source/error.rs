//! Errors about the inputs of a run.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{ClipError, is_clip_name};
use crate::units::without_numbers;

/// Why an input image, a mask or an input clip cannot be used. [`SourceError::advice`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read.
    #[error("the image {} cannot be read: {}", path.display(), without_numbers(&cause.to_string()))]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file is not an image, or is damaged.
    #[error("{} is not an image that can be read: {detail}", path.display())]
    NotAPicture {
        /// Which file.
        path: PathBuf,
        /// The details.
        detail: String,
    },
    /// A clip where an image is needed.
    #[error("{} is a clip, and an image is needed", path.display())]
    ClipForImage {
        /// Which file.
        path: PathBuf,
    },
    /// The mask selects nothing.
    #[error(
        "the mask {} selects nothing to inpaint: {}",
        path.display(),
        if *any { "its white area is smaller than one latent" } else { "it has no white area" }
    )]
    NothingMasked {
        /// Which file.
        path: PathBuf,
        /// Whether it has any white area.
        any: bool,
    },
    /// What is added around the image is less than the autoencoder can tell.
    #[error("what is added around {} is smaller than one latent", path.display())]
    NothingAdded {
        /// Which file.
        path: PathBuf,
    },
    /// Nothing is in a region.
    #[error("nothing of the image is in the region {area}")]
    EmptyRegion {
        /// The box, or the file of its mask.
        area: String,
    },
    /// The input clip cannot be used.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

impl SourceError {
    /// An image or a clip that cannot be read.
    pub fn unread(path: &Path, cause: io::Error) -> Self {
        let path = path.to_owned();
        if is_clip_name(&path) { ClipError::Read { path, cause }.into() } else { Self::Read { path, cause } }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Read { .. } => "Choose a file that exists and that you are allowed to read.",
            Self::NotAPicture { .. } | Self::ClipForImage { .. } => "Choose a PNG, JPEG or WebP image.",
            Self::NothingMasked { any: false, .. } => {
                "Paint the area to inpaint white, or generate without a mask."
            }
            Self::NothingMasked { any: true, .. } => "Mask a larger area.",
            Self::NothingAdded { .. } => "Add more pixels around the image.",
            Self::EmptyRegion { .. } => "Make the box larger, or paint the mask white where the region is.",
            Self::Clip(error) => error.advice(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_as_what_it_is() {
        let said = |name: &str| SourceError::unread(Path::new(name), io::ErrorKind::PermissionDenied.into());
        assert_eq!(said("fox.png").to_string(), "the image fox.png cannot be read: permission denied");
        assert_eq!(said("fox.mp4").to_string(), "the clip fox.mp4 cannot be read: permission denied");
    }
}
