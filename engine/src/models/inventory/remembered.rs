//! What earlier scans found, so that only files that have changed are read again.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{About, Finding};
use crate::wire::{WireError, read_record, write_record};

/// What was found at one path.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// Sizes and times of its files.
    pub stamp: String,
    /// What it is.
    pub finding: Finding,
    /// A checksum of its header.
    pub header: u32,
    /// A checksum of samples of its weights, if they were needed.
    pub sample: Option<u32>,
    /// Sizes and times of the descriptions beside it.
    pub about_stamp: String,
    /// What they say.
    pub about: About,
}

/// What earlier scans found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Remembered {
    pub(super) entries: HashMap<PathBuf, Entry>,
}

#[derive(Deserialize)]
struct Saved {
    version: String,
    entries: HashMap<PathBuf, Entry>,
}

#[derive(Serialize)]
struct Saving<'a> {
    version: &'a str,
    entries: &'a HashMap<PathBuf, Entry>,
}

impl Remembered {
    /// Loads what a program of this version saved. A file that is missing, damaged or of another version counts as empty:
    /// another version may know more kinds of files.
    pub fn load(path: &Path, version: &str) -> Self {
        let Ok(file) = File::open(path) else { return Self::default() };
        match read_record::<Saved>(&mut BufReader::new(file)) {
            Ok(Some(saved)) if saved.version == version => Self { entries: saved.entries },
            Ok(_) => Self::default(),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the list of model files is made anew");
                Self::default()
            }
        }
    }

    /// Saves it, in place of what was there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path, version: &str) -> Result<(), WireError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        write_record(&mut file, &Saving { version, entries: &self.entries })?;
        file.persist(path).map_err(|error| WireError::Io(error.error))?;
        Ok(())
    }
}
