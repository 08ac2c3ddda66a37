//! What gets more frames, and what the results are called.

use std::{
    io,
    path::{Path, PathBuf},
};

use sluice_engine::{
    request::{Interpolate, Interpolation, ModelSource, Request},
    source::{GivenMedia, SourceError, is_clip_name},
};

use crate::upscaling::inputs_in;

/// The request that puts frames between those of a clip, and what its header says.
///
/// # Errors
/// When it cannot be read, or is neither an image nor a clip.
pub fn request_of(
    path: &Path,
    model: &ModelSource,
    how: Interpolation,
) -> Result<(Request, GivenMedia), SourceError> {
    let given = GivenMedia::open(path)?;
    let request = request_of_given(path, &given, model, how);
    Ok((request, given))
}

/// The same for a clip whose header was read.
pub fn request_of_given(path: &Path, given: &GivenMedia, model: &ModelSource, how: Interpolation) -> Request {
    let interpolate = Some(Interpolate { path: path.to_owned(), how });
    given.sized(&Request { model: model.clone(), interpolate, ..Request::default() })
}

/// The name of the result: `boat-2x-frames.mp4` of `boat.mov`.
pub fn name_of_result(input: &Path, factor: u32) -> String {
    let stem = input.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{factor}x-frames.mp4")
}

/// The clips in a folder, in the order of their names.
///
/// # Errors
/// When the folder cannot be read.
pub fn clips_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = inputs_in(folder)?;
    found.retain(|path| is_clip_name(path));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_called_after_clips() {
        assert_eq!(name_of_result(Path::new("in/my.boat.mov"), 4), "my.boat-4x-frames.mp4");
    }

    #[test]
    fn clips_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.MP4", "a.mov", "c.png", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(clips_in(folder.path()).unwrap(), ["a.mov", "b.MP4"].map(|name| folder.path().join(name)));
    }
}
