//! Why frames cannot be encoded, whatever the format.

use std::path::Path;

use super::{Image, OutputError};

/// Why frames cannot be encoded.
#[derive(Debug)]
pub(super) enum Unencodable {
    /// The format has no files of this size.
    TooLarge,
    /// The encoder failed: what it says.
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
