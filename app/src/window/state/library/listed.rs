//! What is asked about all listed files with each frame, found once when they are listed.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    path::{Path, PathBuf},
};

use sluice_engine::models::{Inventory, Item};

/// What to call a file.
pub fn title_of(item: &Item) -> &str {
    item.about.title.as_deref().unwrap_or(&item.name)
}

/// The names of what is listed.
#[derive(Debug, Default)]
pub struct Listed {
    /// The sizes of the files of each name; `None` for those that cannot be read.
    sizes: HashMap<String, Vec<Option<u64>>>,
    repositories: HashSet<String>,
    /// What tells apart files of the same title.
    differences: HashMap<PathBuf, String>,
}

impl Listed {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let mut listed = Self::default();
        let mut titles: HashMap<&str, Vec<&Path>> = HashMap::new();
        for item in &inventory.items {
            let name = item.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            listed.sizes.entry(name).or_default().push(item.content().map(|content| content.bytes));
            listed.repositories.insert(item.name.to_ascii_lowercase());
            titles.entry(title_of(item)).or_default().push(&item.path);
        }
        for paths in titles.into_values().filter(|paths| paths.len() > 1) {
            let names = differences(&paths);
            listed.differences.extend(paths.into_iter().map(Path::to_owned).zip(names));
        }
        listed
    }

    /// Whether there is a file of this name with one of the sizes that are right.
    pub fn has_file(&self, name: &str, is_right: impl Fn(Option<u64>) -> bool) -> bool {
        let sizes = self.sizes.get(&name.to_ascii_lowercase());
        sizes.is_some_and(|sizes| sizes.iter().any(|size| is_right(*size)))
    }

    /// Whether a whole repository is there, as far as its name says.
    pub fn has_repository(&self, name: &str) -> bool {
        self.repositories.contains(&name.to_ascii_lowercase())
    }

    /// What tells a file from others of the same title, if there are any.
    pub fn difference(&self, path: &Path) -> Option<&str> {
        self.differences.get(path).map(String::as_str)
    }
}

/// What tells each of these files from the others: the name of the lowest folder from which on the way up to it is that of no
/// other, or its own name among those of the same folder.
fn differences(paths: &[&Path]) -> Vec<String> {
    let ways: Vec<Vec<&OsStr>> =
        paths.iter().map(|path| path.parent().into_iter().flat_map(Path::iter).rev().collect()).collect();
    let mut names: Vec<Option<&OsStr>> = vec![None; paths.len()];
    for height in 1..=ways.iter().map(Vec::len).max().unwrap_or(0) {
        let mut counts: HashMap<&[&OsStr], usize> = HashMap::new();
        for way in &ways {
            *counts.entry(&way[..height.min(way.len())]).or_default() += 1;
        }
        for (name, way) in
            names.iter_mut().zip(&ways).filter(|(name, way)| name.is_none() && way.len() >= height)
        {
            *name = (counts[&way[..height]] == 1).then_some(way[height - 1]);
        }
        if names.iter().all(Option::is_some) {
            break;
        }
    }
    let own = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = names.into_iter().zip(paths);
    named
        .map(|(name, path)| name.map_or_else(|| own(path), |name| name.to_string_lossy().into_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_title_are_told_apart_by_the_first_folders_that_differ() {
        let told = |paths: &[&str]| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            differences(&paths)
        };
        assert_eq!(told(&["/a/flux/ink.gguf", "/a/wan/ink.gguf"]), ["flux", "wan"]);
        assert_eq!(told(&["/a/loras/ink.gguf", "/b/loras/ink.gguf"]), ["a", "b"]);
        let three = ["/a/loras/ink.gguf", "/b/loras/ink.gguf", "/b/old/ink.gguf"];
        assert_eq!(told(&three), ["a", "b", "old"]);
        assert_eq!(told(&["/a/one.gguf", "/a/two.gguf"]), ["one.gguf", "two.gguf"]);
        assert_eq!(told(&["ink.gguf", "loras/ink.gguf"]), ["ink.gguf", "loras"]);
    }
}
