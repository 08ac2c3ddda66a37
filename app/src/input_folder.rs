//! A folder of input images: each becomes an image or a clip of the same name.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sluice_engine::source::size_of;

/// Extensions of images.
const EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// The input images of a folder, and what is generated from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputFolder {
    /// Each input image with the file that it becomes, in the order of their names.
    pub images: Vec<(PathBuf, PathBuf)>,
    /// How many are left out because their results are there.
    pub done: usize,
}

impl InputFolder {
    /// The images of a folder, and what they become in another one: files with this extension.
    ///
    /// # Errors
    /// When the folder cannot be read, or both are the same.
    pub fn of(folder: &Path, results: &Path, extension: &str) -> io::Result<Self> {
        let is_same = fs::canonicalize(folder)? == fs::canonicalize(results).unwrap_or_default();
        if is_same {
            return Err(io::Error::other("the results would replace the input images"));
        }
        let found = images_in(folder)?;
        let mut all = Self::default();
        for path in found {
            // Two images that differ only in their extension would become the same file.
            let named = |name: &std::ffi::OsStr| {
                let mut name = name.to_owned();
                name.push(".");
                name.push(extension);
                results.join(name)
            };
            let mut result = named(path.file_stem().unwrap_or_default());
            if all.images.iter().any(|(_, taken)| *taken == result) {
                result = named(path.file_name().unwrap_or_default());
            }
            match result.exists() {
                true => all.done += 1,
                false => all.images.push((path, result)),
            }
        }
        Ok(all)
    }
}

/// The images of a folder that can be read, in the order of their names.
///
/// # Errors
/// When the folder cannot be read.
pub fn images_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| is_image(path)).collect();
    found.sort();
    Ok(found)
}

/// Whether a file is an image that can be read, by its name and its header.
fn is_image(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_known = |known: &str| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known));
    EXTENSIONS.into_iter().any(is_known) && size_of(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_files_of_the_same_name_once() {
        let folder = tempfile::tempdir().unwrap();
        let (inputs, results) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir_all(&inputs).unwrap();
        fs::create_dir_all(&results).unwrap();
        let image = image::RgbImage::new(4, 4);
        for name in ["b.png", "a.JPG", "a.png"] {
            let format = image::ImageFormat::from_path(name).unwrap();
            image.save_with_format(inputs.join(name), format).unwrap();
        }
        fs::write(inputs.join("notes.txt"), "no image").unwrap();
        fs::write(inputs.join("broken.png"), "no image").unwrap();
        let names = |found: &InputFolder| -> Vec<String> {
            let names = found.images.iter().map(|(_, result)| result.file_name().unwrap().to_str().unwrap());
            names.map(str::to_owned).collect()
        };
        let all = InputFolder::of(&inputs, &results, "png").unwrap();
        assert_eq!(names(&all), ["a.png", "a.png.png", "b.png"]);
        let jpegs = InputFolder::of(&inputs, &results, "jpg").unwrap();
        assert_eq!(names(&jpegs), ["a.jpg", "a.png.jpg", "b.jpg"]);
        fs::write(results.join("b.png"), "done").unwrap();
        let rest = InputFolder::of(&inputs, &results, "png").unwrap();
        assert_eq!((names(&rest).len(), rest.done), (2, 1));
        assert!(InputFolder::of(&inputs, &inputs, "png").is_err());
        assert!(InputFolder::of(&folder.path().join("missing"), &results, "png").is_err());
    }
}
