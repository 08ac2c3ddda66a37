//! What is enlarged, and what the results are called.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sluice_engine::{
    request::{ModelSource, Request, Upscale},
    source::{GivenMedia, SourceError, is_clip_name, is_image_name},
};

/// The request that enlarges a file, and what its header says.
///
/// # Errors
/// When it cannot be read, or is neither an image nor a clip.
pub fn request_of(
    path: &Path,
    model: &ModelSource,
    scale: f32,
) -> Result<(Request, GivenMedia), SourceError> {
    let given = GivenMedia::open(path)?;
    let request = request_of_given(path, &given, model, scale);
    Ok((request, given))
}

/// The same for a file whose header was read.
pub fn request_of_given(path: &Path, given: &GivenMedia, model: &ModelSource, scale: f32) -> Request {
    let upscale = Some(Upscale { path: path.to_owned(), scale });
    given.sized(&Request { model: model.clone(), upscale, ..Request::default() })
}

/// The name of the result: `photo-2x.png` of `photo.jpg`, `boat-1.5x.mp4` of `boat.mov`.
pub fn name_of_result(input: &Path, scale: f32, is_clip: bool) -> String {
    let stem = input.file_stem().unwrap_or_default().to_string_lossy();
    let extension = if is_clip { "mp4" } else { "png" };
    format!("{stem}-{scale}x.{extension}")
}

/// The images and clips in a folder, in the order of their names.
///
/// # Errors
/// When the folder cannot be read.
pub fn inputs_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let is_input = |path: &PathBuf| (is_image_name(path) || is_clip_name(path)) && path.is_file();
    let mut found: Vec<PathBuf> = entries.filter(is_input).collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_called_after_inputs() {
        let name = |path: &str, scale| name_of_result(Path::new(path), scale, path.ends_with("mov"));
        assert_eq!(name("in/photo.of.me.jpg", 2.0), "photo.of.me-2x.png");
        assert_eq!(name("boat.mov", 1.5), "boat-1.5x.mp4");
    }

    #[test]
    fn images_and_clips_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.PNG", "a.mp4", "notes.txt", "weights.safetensors"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("c.png")).unwrap();
        let names = ["a.mp4", "b.PNG"].map(|name| folder.path().join(name));
        assert_eq!(inputs_in(folder.path()).unwrap(), names);
        assert!(inputs_in(&folder.path().join("missing")).is_err());
    }
}
