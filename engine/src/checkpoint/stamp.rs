//! Tells whether a file is still the one that was read.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// A file as it was at a time: path, length and time of the last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileStamp {
    /// The file at a path as it is now; a missing one has no bytes and no time.
    pub fn of(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        Self {
            path: path.to_owned(),
            bytes: metadata.as_ref().map_or(0, fs::Metadata::len),
            changed: metadata.and_then(|metadata| metadata.modified().ok()),
        }
    }

    /// Whether the file is still as it was.
    pub fn is_current(&self) -> bool {
        *self == Self::of(&self.path)
    }
}

impl fmt::Display for FileStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        write!(f, "{} {} {}", self.path.display(), self.bytes, changed.as_nanos())
    }
}
