//! A folder of input images: each becomes an image or a clip of the same name.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use sluice_engine::source::size_of;

/// Extensions of images.
const EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// Subfolders of subfolders that are searched.
const DEPTH: usize = 16;

/// The input images of a folder, and what is generated from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputFolder {
    /// Each input image with the file that it becomes, in the order of their names.
    pub images: Vec<(PathBuf, PathBuf)>,
    /// How many are left out because their results are there.
    pub done: usize,
}

/// Whether the images of subfolders count, whose results are in subfolders of the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subfolders {
    /// They do.
    Included,
    /// They do not.
    LeftOut,
}

impl InputFolder {
    /// The images of a folder, and what they become in another one: files with this extension.
    ///
    /// # Errors
    /// When the folder cannot be read, or both are the same.
    pub fn of(folder: &Path, results: &Path, extension: &str, subfolders: Subfolders) -> io::Result<Self> {
        let real_results = fs::canonicalize(results).unwrap_or_default();
        if fs::canonicalize(folder)? == real_results {
            return Err(io::Error::other("the results would replace the input images"));
        }
        let mut found = images_in(folder)?;
        if subfolders == Subfolders::Included {
            // Results that are inside are no input images.
            let mut inside = Vec::new();
            collect(folder, &real_results, DEPTH, &mut inside);
            found.extend(inside);
        }
        let mut all = Self::default();
        let mut taken = HashSet::new();
        for path in found {
            let within = path.parent().and_then(|parent| parent.strip_prefix(folder).ok());
            let results = results.join(within.unwrap_or(Path::new("")));
            // Two images that differ only in their extension would become the same file.
            let named = |name: &std::ffi::OsStr| {
                let mut name = name.to_owned();
                name.push(".");
                name.push(extension);
                results.join(name)
            };
            let mut result = named(path.file_stem().unwrap_or_default());
            if taken.contains(&result) {
                result = named(path.file_name().unwrap_or_default());
            }
            match result.exists() {
                true => all.done += 1,
                false => {
                    taken.insert(result.clone());
                    all.images.push((path, result));
                }
            }
        }
        Ok(all)
    }

    /// How many input images there are.
    pub fn count(&self) -> usize {
        self.images.len() + self.done
    }
}

/// Adds the images of the subfolders of a folder, one subfolder after the other. What cannot be read is left out.
fn collect(folder: &Path, left_out: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // Links could lead back.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden || fs::canonicalize(&folder).is_ok_and(|real| real == left_out) {
            continue;
        }
        found.extend(images_in(&folder).unwrap_or_default());
        if depth > 0 {
            collect(&folder, left_out, depth - 1, found);
        }
    }
}

/// The files of a folder that are images by their names, in the order of these. They may be unreadable.
///
/// # Errors
/// When the folder cannot be read.
pub fn images_named_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| is_image_name(path) && path.is_file()).collect();
    found.sort();
    Ok(found)
}

/// The images of a folder that can be read, in the order of their names.
fn images_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = images_named_in(folder)?;
    found.retain(|path| size_of(path).is_ok());
    Ok(found)
}

/// Whether a file is an image, by its name.
fn is_image_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_known = |known: &str| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known));
    EXTENSIONS.into_iter().any(is_known)
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
        let all = InputFolder::of(&inputs, &results, "png", Subfolders::LeftOut).unwrap();
        assert_eq!(names(&all), ["a.png", "a.png.png", "b.png"]);
        let jpegs = InputFolder::of(&inputs, &results, "jpg", Subfolders::LeftOut).unwrap();
        assert_eq!(names(&jpegs), ["a.jpg", "a.png.jpg", "b.jpg"]);
        fs::write(results.join("b.png"), "done").unwrap();
        let rest = InputFolder::of(&inputs, &results, "png", Subfolders::LeftOut).unwrap();
        assert_eq!((names(&rest).len(), rest.done), (2, 1));
        assert!(InputFolder::of(&inputs, &inputs, "png", Subfolders::LeftOut).is_err());
        fs::create_dir(inputs.join("c.png")).unwrap();
        let named = ["a.JPG", "a.png", "b.png", "broken.png"].map(|name| inputs.join(name));
        assert_eq!(images_named_in(&inputs).unwrap(), named);
        assert!(
            InputFolder::of(&folder.path().join("missing"), &results, "png", Subfolders::LeftOut).is_err()
        );
    }

    #[test]
    fn images_of_subfolders_keep_their_places_and_results_are_no_input() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = folder.path().join("in");
        let results = inputs.join("out");
        let image = image::RgbImage::new(4, 4);
        for name in ["b.png", "sea/a.png", "sea/a.jpg", "sea/deep/c.png", ".hidden/d.png", "out/sea/a.png"] {
            let path = inputs.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            image.save(path).unwrap();
        }
        let of = |subfolders| InputFolder::of(&inputs, &results, "png", subfolders).unwrap();
        let names = |found: &InputFolder| -> Vec<String> {
            let within = found.images.iter().map(|(_, result)| result.strip_prefix(&results).unwrap());
            within.map(|path| path.to_string_lossy().replace('\\', "/")).collect()
        };
        let all = of(Subfolders::Included);
        // The result of one of the two in `sea` is there.
        assert_eq!((names(&all), all.done), (vec!["b.png".to_owned(), "sea/deep/c.png".to_owned()], 2));
        assert_eq!(names(&of(Subfolders::LeftOut)), ["b.png"]);
        fs::remove_file(results.join("sea/a.png")).unwrap();
        assert_eq!(
            names(&of(Subfolders::Included)),
            ["b.png", "sea/a.png", "sea/a.png.png", "sea/deep/c.png"]
        );
    }
}
