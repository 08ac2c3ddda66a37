//! A clip as a folder with a PNG for each frame, each with the settings if there are any.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::{
    Clip, OutputError, Settings,
    file::{Existing, TemporaryFolder, folder_of, write_error},
    png_file,
};

/// Writes the folder. One that is empty or holds only such frames is replaced.
pub(super) fn write(
    path: &Path,
    clip: &Clip,
    settings: Option<&Settings>,
    existing: Existing,
) -> Result<(), OutputError> {
    check(path, existing)?;
    let parent = folder_of(path);
    let folder = TemporaryFolder::create(parent).map_err(|cause| write_error(path, cause))?;
    clip.frames.par_iter().enumerate().try_for_each(|(number, frame)| {
        let file = folder.path().join(name(number));
        png_file::write_frame(&file, frame, settings).map_err(|error| under_its_name(error, path))
    })?;
    let renamed = match replaced(path, parent) {
        Ok(old) => folder.persist(path).map(|()| drop(old)),
        Err(error) => Err(error),
    };
    renamed.map_err(|cause| write_error(path, cause))
}

/// Whether a folder of frames may be written here.
pub(super) fn check(path: &Path, existing: Existing) -> Result<(), OutputError> {
    let own = || path.to_owned();
    if !path.exists() {
        return Ok(());
    }
    if existing == Existing::Keep {
        return Err(OutputError::Exists { path: own() });
    }
    if !path.is_dir() {
        return Err(OutputError::NotAFolder { path: own() });
    }
    let entries = fs::read_dir(path).map_err(|cause| write_error(path, cause))?;
    for entry in entries {
        let entry = entry.map_err(|cause| write_error(path, cause))?;
        if !entry.file_name().to_str().is_some_and(is_frame) {
            return Err(OutputError::OtherFiles { path: own() });
        }
    }
    Ok(())
}

/// Moves an existing folder out of the way; dropping the result deletes it.
fn replaced(path: &Path, parent: &Path) -> io::Result<Option<TemporaryFolder>> {
    if !path.exists() {
        return Ok(None);
    }
    let old = TemporaryFolder::create(parent)?;
    fs::rename(path, old.path().join("replaced"))?;
    Ok(Some(old))
}

/// The name of a frame.
fn name(number: usize) -> PathBuf {
    format!("frame-{:05}.png", number + 1).into()
}

fn is_frame(name: &str) -> bool {
    let number = name.strip_prefix("frame-").and_then(|rest| rest.strip_suffix(".png"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An error about a file in the temporary folder, as one about the folder.
fn under_its_name(error: OutputError, folder: &Path) -> OutputError {
    let path = folder.to_owned();
    match error {
        OutputError::DiskFull { .. } => OutputError::DiskFull { path },
        OutputError::Write { cause, .. } => OutputError::Write { path, cause },
        other => other,
    }
}
