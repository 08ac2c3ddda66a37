//! A folder of input images: each becomes an image or a clip of the same name.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use sluice_engine::{
    output::InputFile,
    source::{is_image_name, size_of},
};

/// Subfolders of subfolders that are searched.
const DEPTH: usize = 16;

/// The input images of a folder, and what is generated from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputFolder {
    /// Each input image with the file that it becomes, in the order of their names, but those whose results are there.
    pub images: Vec<(PathBuf, PathBuf)>,
    /// These, too.
    pub all: Vec<(PathBuf, PathBuf)>,
    /// How many are left out because their results are there.
    pub done: usize,
    /// Why others are left out: they cannot be read.
    pub unreadable: Vec<String>,
}

/// Whether the images of subfolders count, whose results are in subfolders of the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subfolders {
    /// They do.
    Included,
    /// They do not.
    LeftOut,
}

/// The images of a folder, whether or not their results are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputImages {
    /// Each input image with the file that it becomes, in the order of their names.
    pub all: Vec<(PathBuf, PathBuf)>,
    /// Why others are left out: they cannot be read.
    pub unreadable: Vec<String>,
}

impl InputImages {
    /// The images of a folder, and what they become: files with this extension in the folder of the results. `files` names all
    /// that are written for one of these, such as those of several prompts. A result is called so that none of its files is one
    /// of another input image, and none that is there already was made of another image.
    ///
    /// # Errors
    /// When the folder cannot be read, or both are the same.
    pub fn of(
        folder: &Path,
        (results, extension): (&Path, &str),
        subfolders: Subfolders,
        files: impl Fn(&Path) -> Vec<PathBuf>,
    ) -> io::Result<Self> {
        let real_results = fs::canonicalize(results).unwrap_or_default();
        if fs::canonicalize(folder)? == real_results {
            return Err(io::Error::other("the results would replace the input images"));
        }
        let mut found = Found::default();
        found.add(folder)?;
        if subfolders == Subfolders::Included {
            // Results that are inside are no input images.
            found.add_subfolders(folder, &real_results, DEPTH);
        }
        let mut all = Self { unreadable: found.unreadable, ..Self::default() };
        let mut taken: HashSet<PathBuf> = HashSet::new();
        for path in found.images {
            let within = path.parent().and_then(|parent| parent.strip_prefix(folder).ok());
            let results = results.join(within.unwrap_or(Path::new("")));
            let input = InputFile::new(&path);
            let is_own = |file: &PathBuf| !taken.contains(file) && (!file.exists() || input.made(file));
            let is_free = |result: &PathBuf| files(result).iter().all(is_own);
            let result = names_for(&path, extension).map(|name| results.join(name)).find(is_free);
            if let Some(result) = result {
                taken.extend(files(&result));
                all.all.push((path, result));
            }
        }
        Ok(all)
    }
}

/// Names for the result of an image, the best first. Images that differ only in their extension would have the same.
fn names_for(path: &Path, extension: &str) -> impl Iterator<Item = OsString> {
    let named = move |name: &OsStr, end: String| {
        let mut name = name.to_owned();
        name.push(end);
        name
    };
    let (stem, whole) = (path.file_stem().unwrap_or_default(), path.file_name().unwrap_or_default());
    let first = [named(stem, format!(".{extension}")), named(whole, format!(".{extension}"))];
    let more = (2_u32..).map(move |number| named(whole, format!("-{number}.{extension}")));
    first.into_iter().chain(more)
}

impl InputFolder {
    /// The images of a folder, and what they become in another one: files with this extension.
    ///
    /// # Errors
    /// When the folder cannot be read, or both are the same.
    pub fn of(folder: &Path, results: &Path, extension: &str, subfolders: Subfolders) -> io::Result<Self> {
        let alone = |result: &Path| vec![result.to_owned()];
        let InputImages { all, unreadable } =
            InputImages::of(folder, (results, extension), subfolders, alone)?;
        let mut images = all.clone();
        images.retain(|(_, result)| !result.exists());
        Ok(Self { done: all.len() - images.len(), images, all, unreadable })
    }

    /// All images, with results in a new folder in place of the one where some are.
    pub fn again(&self, [results, new]: [&Path; 2]) -> Self {
        let moved = |(input, result): &(PathBuf, PathBuf)| {
            (input.clone(), new.join(result.strip_prefix(results).unwrap_or(result)))
        };
        let all: Vec<_> = self.all.iter().map(moved).collect();
        Self { images: all.clone(), all, done: 0, unreadable: self.unreadable.clone() }
    }

    /// How many input images there are.
    pub fn count(&self) -> usize {
        self.images.len() + self.done
    }
}

/// A folder beside another one that is not there yet: `photos 2` for `photos`.
pub fn unused(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let numbered = |number: u32| folder.with_file_name(format!("{name} {number}"));
    (2..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| folder.to_owned())
}

/// Images that can be read, and why others cannot.
#[derive(Default)]
struct Found {
    images: Vec<PathBuf>,
    unreadable: Vec<String>,
}

impl Found {
    /// Adds the images of a folder, in the order of their names.
    fn add(&mut self, folder: &Path) -> io::Result<()> {
        for path in images_named_in(folder)? {
            match size_of(&path) {
                Ok(_) => self.images.push(path),
                Err(error) => self.unreadable.push(error.to_string()),
            }
        }
        Ok(())
    }

    /// Adds the images of the subfolders of a folder but one, one subfolder after the other.
    fn add_subfolders(&mut self, folder: &Path, left_out: &Path, depth: usize) {
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
            if let Err(error) = self.add(&folder) {
                self.unreadable.push(format!("{} cannot be read: {error}", folder.display()));
            } else if depth > 0 {
                self.add_subfolders(&folder, left_out, depth - 1);
            }
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
        let [broken] = &all.unreadable[..] else { panic!("{:?}", all.unreadable) };
        assert!(broken.contains("broken.png"), "{broken}");
        let jpegs = InputFolder::of(&inputs, &results, "jpg", Subfolders::LeftOut).unwrap();
        assert_eq!(names(&jpegs), ["a.jpg", "a.png.jpg", "b.jpg"]);
        fs::write(results.join("b.png"), "done").unwrap();
        let rest = InputFolder::of(&inputs, &results, "png", Subfolders::LeftOut).unwrap();
        assert_eq!((names(&rest).len(), rest.done), (2, 1));
        let new = unused(&results);
        assert_eq!(new, folder.path().join("out 2"));
        let again = rest.again([&results, &new]);
        assert_eq!(
            (names(&again), again.done),
            (["a.png", "a.png.png", "b.png"].map(str::to_owned).to_vec(), 0)
        );
        assert!(again.images.iter().all(|(_, result)| result.parent() == Some(new.as_path())));
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
        fs::write(inputs.join("sea/broken.png"), "no image").unwrap();
        let of = |subfolders| InputFolder::of(&inputs, &results, "png", subfolders).unwrap();
        let names = |found: &InputFolder| -> Vec<String> {
            let within = found.images.iter().map(|(_, result)| result.strip_prefix(&results).unwrap());
            within.map(|path| path.to_string_lossy().replace('\\', "/")).collect()
        };
        let all = of(Subfolders::Included);
        // The result of one of the two in `sea` is there.
        let rest = ["b.png", "sea/a.png.png", "sea/deep/c.png"].map(str::to_owned);
        assert_eq!((names(&all), all.done), (rest.to_vec(), 1));
        assert_eq!(all.unreadable.len(), 1);
        let own = of(Subfolders::LeftOut);
        assert_eq!((names(&own), own.unreadable), (vec!["b.png".to_owned()], Vec::new()));
        fs::remove_file(results.join("sea/a.png")).unwrap();
        assert_eq!(
            names(&of(Subfolders::Included)),
            ["b.png", "sea/a.png", "sea/a.png.png", "sea/deep/c.png"]
        );
    }

    #[test]
    fn no_image_takes_a_file_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = folder.path().join("in");
        fs::create_dir(&inputs).unwrap();
        for name in ["a.png", "a-2.png", "a.jpg"] {
            image::RgbImage::new(4, 4).save(inputs.join(name)).unwrap();
        }
        let results = Path::new("out");
        let twice = |result: &Path| {
            let stem = result.file_stem().unwrap().to_str().unwrap();
            vec![result.to_owned(), result.with_file_name(format!("{stem}-2.png"))]
        };
        let all = InputImages::of(&inputs, (results, "png"), Subfolders::LeftOut, twice).unwrap().all;
        let names: Vec<&Path> = all.iter().map(|(_, result)| result.strip_prefix(results).unwrap()).collect();
        assert_eq!(names, ["a-2.png", "a.jpg.png", "a.png.png"].map(Path::new));
    }
}
