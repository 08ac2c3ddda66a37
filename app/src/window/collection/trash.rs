//! The system's trash.

use crate::language::tr;
use std::path::{Path, PathBuf};

use sluice_engine::session::Failure;

/// Whether files can be taken back from here. On macOS only Finder does that.
pub const TAKES_BACK: bool = cfg!(not(target_os = "macos"));

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// Where it was.
    pub path: PathBuf,
    /// The same without links, as the trash names it.
    real: PathBuf,
}

/// Moves a file to the trash.
pub(super) fn put(path: &Path) -> Result<Trashed, Failure> {
    let real = real_path(path).map_err(|error| failure(path, &error.to_string()))?;
    trash::delete(path).map_err(|error| failure(path, &error.to_string()))?;
    Ok(Trashed { path: path.to_owned(), real })
}

fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(".")).canonicalize()?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

/// Takes files back to where they were. Returns those that are back.
#[cfg(not(target_os = "macos"))]
pub(super) fn take_back(files: &[Trashed]) -> Result<Vec<PathBuf>, Failure> {
    use trash::os_limited::{list, restore_all};
    let first = files.first().map_or(Path::new(""), |file| &file.path);
    let all = list().map_err(|error| failure(first, &error.to_string()))?;
    let mut back = Vec::new();
    for Trashed { path, real } in files {
        // The last one, if files of this name were deleted before.
        let last =
            all.iter().filter(|item| item.original_path() == *real).max_by_key(|item| item.time_deleted);
        let Some(item) = last else {
            return Err(failure(path, &tr!("gallery-trash-gone")));
        };
        restore_all([item.clone()]).map_err(|error| failure(path, &error.to_string()))?;
        back.push(path.clone());
    }
    Ok(back)
}

#[cfg(target_os = "macos")]
pub(super) fn take_back(files: &[Trashed]) -> Result<Vec<PathBuf>, Failure> {
    let first = files.first().map_or(Path::new(""), |file| &file.path);
    Err(failure(first, &tr!("gallery-trash-put-back")))
}

fn failure(path: &Path, reason: &str) -> Failure {
    let advice = tr!("gallery-trash-advice");
    Failure { message: format!("{}: {reason}", path.display()), advice: Some(advice) }
}

#[cfg(all(test, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a boat.png");
        std::fs::write(&path, b"one").unwrap();
        let trashed = put(&path).unwrap();
        assert!(!path.exists());
        let back = take_back(std::slice::from_ref(&trashed)).unwrap();
        assert_eq!(back, std::slice::from_ref(&path));
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        let gone = take_back(&[trashed]).unwrap_err();
        assert!(gone.message.contains("no longer in the trash"), "{gone:?}");
        assert!(put(&folder.path().join("none.png")).is_err());
    }
}
