//! Lists the files of folders.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sluice_engine::source::{has_extension, is_clip_name, is_image_name};

use super::item::Stamp;

/// Deepest folder below the one that is listed.
const DEEPEST: usize = 6;
/// What Sluice keeps in the output folder for itself: inputs, and not results.
const INPUTS: [&str; 3] = ["frames", "masks", "pasted"];

/// Images and clips in folders and the folders in them. What cannot be read is left out.
pub(super) fn list(folders: &[PathBuf]) -> Vec<(PathBuf, Stamp)> {
    let mut found = Vec::new();
    for folder in folders {
        list_one(folder, 0, &mut found);
    }
    // A folder may be inside another one.
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.dedup_by(|(a, _), (b, _)| a == b);
    found
}

/// These folders and all folders in them whose images and clips are listed, each with what `about` says before it is read.
pub(super) fn inside<T>(folders: &[PathBuf], about: impl Fn(&Path) -> T) -> Vec<(PathBuf, T)> {
    let mut found = Vec::new();
    for folder in folders {
        add_inside(folder, 0, &about, &mut found);
    }
    found
}

fn add_inside<T>(folder: &Path, depth: usize, about: &impl Fn(&Path) -> T, found: &mut Vec<(PathBuf, T)>) {
    found.push((folder.to_owned(), about(folder)));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
            kind => kind.is_ok_and(|kind| kind.is_dir()),
        };
        if is_folder && is_entered(&entry.file_name().to_string_lossy(), depth) {
            add_inside(&entry.path(), depth + 1, about, found);
        }
    }
}

/// Whether what is in a folder is listed, by its name and the depth of the folder around it.
fn is_entered(name: &str, depth: usize) -> bool {
    let is_input = depth == 0 && INPUTS.contains(&name);
    depth < DEEPEST && !is_input && !name.starts_with('.')
}

fn list_one(folder: &Path, depth: usize, found: &mut Vec<(PathBuf, Stamp)>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::debug!(folder = %folder.display(), %error, "a folder is left out");
            return;
        }
    };
    let (mut files, mut inner) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        // Links are followed.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() {
            if is_entered(&name, depth) {
                inner.push(path);
            }
        } else if is_listed(&path) {
            files.push((path, Stamp::of(&metadata)));
        }
    }
    // The frames of a clip that was saved as a folder are no images of their own.
    let is_frame = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let number = stem.strip_prefix("frame-").unwrap_or(&stem);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    if depth == 0 || files.len() < 2 || !files.iter().all(|(path, _)| is_frame(path)) {
        found.extend(files);
    }
    for folder in inner {
        list_one(&folder, depth + 1, found);
    }
}

fn is_listed(path: &Path) -> bool {
    is_image_name(path) || is_clip_name(path) || has_extension(path, &["gif"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_listed_and_inputs_are_not() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "a.png",
            "b.JPG",
            "notes.txt",
            ".hidden.png",
            "masks/a mask.png",
            "2026/c.mp4",
            "2026/masks/d.webp",
            "clip/frame-00001.png",
            "clip/frame-00002.png",
            "single/0001.png",
            ".trash/e.png",
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"x").unwrap();
        }
        let inside = root.path().join("2026");
        let missing = root.path().join("missing");
        let listed = list(&[root.path().to_owned(), inside, missing]);
        let names: Vec<String> = listed
            .iter()
            .map(|(path, _)| path.strip_prefix(root.path()).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        assert_eq!(names, ["2026/c.mp4", "2026/masks/d.webp", "a.png", "b.JPG", "single/0001.png"]);
        let folders = super::inside(&[root.path().to_owned()], |_| ());
        assert_eq!(folders.len(), 5, "the folder itself, one in another, and no inputs: {folders:?}");
        assert!(listed.iter().all(|(_, stamp)| stamp.bytes == 1 && stamp.modified > 0));
    }
}
