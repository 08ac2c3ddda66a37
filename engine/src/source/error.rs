//! Why a run cannot start from a picture.

use std::{io, path::PathBuf};

/// A picture or a mask that cannot be used. [`SourceError::advice`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file cannot be read.
    #[error("the picture {} cannot be read: {cause}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file holds something else, or is damaged.
    #[error("{} is no picture that can be read: {detail}", path.display())]
    NotAPicture {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Nothing may change.
    #[error(
        "the mask {} leaves nothing to draw: {}",
        path.display(),
        if *any { "what is light in it is smaller than a latent" } else { "no part of it is light" }
    )]
    NothingMasked {
        /// Which file.
        path: PathBuf,
        /// Whether anything in it is light.
        any: bool,
    },
}

impl SourceError {
    /// What the person can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Read { .. } => "Choose a file that is there and may be read.",
            Self::NotAPicture { .. } => "Choose a PNG, JPEG or WebP picture.",
            Self::NothingMasked { any: false, .. } => {
                "Paint white what is to be drawn anew, or draw without a mask."
            }
            Self::NothingMasked { any: true, .. } => "Mask a larger part of the picture.",
        }
    }
}
