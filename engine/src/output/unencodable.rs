//! Why frames cannot be encoded, whatever the format.

use std::path::Path;

use super::{Image, OutputError};

/// Why frames cannot be encoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unencodable {
    /// The format has no files of this size.
    #[error("the frames are too large for the format")]
    TooLarge,
    /// The encoder failed.
    #[error("{0}")]
    Encoder(String),
}

impl Unencodable {
    /// The error of a file with frames like this one.
    pub(super) fn at(self, path: &Path, frame: &Image) -> OutputError {
        let path = path.to_owned();
        match self {
            Self::TooLarge => OutputError::ClipTooLarge { path, width: frame.width, height: frame.height },
            Self::Encoder(detail) => OutputError::Encoder { path, detail },
        }
    }
}
