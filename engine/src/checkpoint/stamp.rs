//! Detects whether a file has changed since it was read.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// The state of a file at some time: path, length and modification time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileStamp {
    /// The current state of the file at a path. A missing file has length 0 and no time.
    pub fn of(path: &Path) -> Self {
        let metadata = fs::metadata(path).ok();
        Self {
            path: path.to_owned(),
            bytes: metadata.as_ref().map_or(0, fs::Metadata::len),
            changed: metadata.and_then(|metadata| metadata.modified().ok()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is unchanged.
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
