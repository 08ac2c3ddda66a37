//! Stars, tags and collections. Nothing else has them, so they are in a file of their own, and not in the index.

use crate::language::tr;
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::item::{Item, Stamp};

/// The version of the file. It rises when an older reader would misread it, or lose a part. In version 1 there were no
/// collections.
const VERSION: u32 = 2;

/// What the user has marked an image with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Whether it has a star.
    pub starred: bool,
    /// Its tags, in alphabetic order.
    pub tags: Vec<String>,
    /// The collections that it is in, in alphabetic order.
    pub collections: Vec<String>,
    /// The file, by which it is found again after it was moved.
    pub stamp: Option<Stamp>,
}

/// A change of a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// With or without a star.
    Star(bool),
    /// Adds a tag.
    Tag(String),
    /// Removes a tag.
    Untag(String),
    /// Adds it to a collection.
    Collect(String),
    /// Takes it out of a collection.
    Leave(String),
}

/// The marks of all files, and the collections, of which some may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    pub(super) files: HashMap<PathBuf, Mark>,
    /// In alphabetic order.
    pub(super) collections: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    #[serde(default)]
    collections: Vec<String>,
    marks: Vec<StoredMark>,
}

#[derive(Serialize, Deserialize)]
struct StoredMark {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp: Option<Stamp>,
    #[serde(default)]
    starred: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    collections: Vec<String>,
}

impl Marks {
    /// The mark of a file.
    pub fn of(&self, path: &Path) -> Option<&Mark> {
        self.files.get(path)
    }

    /// Whether no file has one.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Mark)> {
        self.files.iter()
    }

    /// Replaces the mark of a file.
    #[cfg(test)]
    pub(super) fn insert(&mut self, path: PathBuf, mark: Mark) {
        self.files.insert(path, mark);
    }

    /// Changes the mark of a file.
    pub fn change(&mut self, path: &Path, stamp: Stamp, change: &Change) {
        if let Change::Collect(name) = change {
            add(&mut self.collections, name);
        }
        let mark = self.files.entry(path.to_owned()).or_default();
        mark.stamp = Some(stamp);
        match change {
            Change::Star(starred) => mark.starred = *starred,
            Change::Tag(tag) => add(&mut mark.tags, tag),
            Change::Untag(tag) => mark.tags.retain(|known| known != tag),
            Change::Collect(name) => add(&mut mark.collections, name),
            Change::Leave(name) => mark.collections.retain(|known| known != name),
        }
        if mark.says_nothing() {
            self.files.remove(path);
        }
    }

    /// Moves marks of files that are gone to files with the same length and time, where there is exactly one. Returns
    /// whether there were any.
    pub fn follow<'a>(&mut self, items: impl Iterator<Item = &'a Item> + Clone) -> bool {
        let listed: HashSet<&Path> = items.clone().map(|item| item.path.as_path()).collect();
        let lost = self.files.iter().filter(|(path, _)| !listed.contains(path.as_path()) && !path.exists());
        let lost: Vec<(PathBuf, Stamp)> =
            lost.filter_map(|(path, mark)| Some((path.clone(), mark.stamp?))).collect();
        let mut moved = false;
        for (from, stamp) in lost {
            let mut alike = items.clone().filter(|item| item.stamp == stamp);
            if let (Some(item), None) = (alike.next(), alike.next())
                && !self.files.contains_key(&item.path)
                && let Some(mark) = self.files.remove(&from)
            {
                self.files.insert(item.path.clone(), mark);
                moved = true;
            }
        }
        moved
    }

    /// Reads a file. A missing one has no marks.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or was written by a newer version.
    pub fn load(file: &Path) -> io::Result<Self> {
        let bytes = match fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            bytes => bytes?,
        };
        let Stored { version, mut collections, marks } = serde_json::from_slice(&bytes)?;
        if version > VERSION {
            return Err(io::Error::other(tr!("gallery-marks-newer")));
        }
        // A person may have written it.
        for name in marks.iter().flat_map(|mark| &mark.collections) {
            add(&mut collections, name);
        }
        let mark = |StoredMark { path, stamp, starred, tags, collections }| {
            (PathBuf::from(path), Mark { starred, tags, collections, stamp })
        };
        Ok(Self { files: marks.into_iter().map(mark).collect(), collections })
    }

    /// Writes a file, in one piece or not at all. Paths that are not Unicode are left out.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        let mark = |(path, mark): (&PathBuf, &Mark)| {
            let Mark { starred, tags, collections, stamp } = mark.clone();
            Some(StoredMark { path: path.to_str()?.to_owned(), stamp, starred, tags, collections })
        };
        let mut marks: Vec<StoredMark> = self.files.iter().filter_map(mark).collect();
        marks.sort_by(|a, b| a.path.cmp(&b.path));
        write_whole(
            file,
            &serde_json::to_vec(&Stored { version: VERSION, collections: self.collections.clone(), marks })?,
        )
    }
}

impl Mark {
    /// Whether it need not be kept.
    pub(super) fn says_nothing(&self) -> bool {
        !self.starred && self.tags.is_empty() && self.collections.is_empty()
    }
}

/// Adds a name to names in alphabetic order.
pub(super) fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
        names.sort_by_key(|name| name.to_lowercase());
    }
}

/// Replaces a file, in one piece or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(bytes: u64) -> Stamp {
        Stamp { modified: 5, bytes }
    }

    #[test]
    fn marks_are_kept_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/marks.json");
        let mut marks = Marks::load(&file).unwrap();
        let path = Path::new("/images/a.png");
        for change in [
            Change::Star(true),
            Change::Tag("sea".into()),
            Change::Tag("Boat".into()),
            Change::Tag("sea".into()),
        ] {
            marks.change(path, stamp(1), &change);
        }
        assert_eq!(marks.of(path).unwrap().tags, ["Boat", "sea"]);
        marks.save(&file).unwrap();
        assert_eq!(Marks::load(&file).unwrap(), marks);
        for change in [Change::Star(false), Change::Untag("sea".into()), Change::Untag("Boat".into())] {
            marks.change(path, stamp(1), &change);
        }
        assert_eq!(marks, Marks::default(), "what has no mark is not kept");
    }

    #[test]
    fn a_file_that_is_damaged_or_newer_is_not_taken_for_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("marks.json");
        for text in ["{", "{\"version\": 3, \"marks\": []}"] {
            fs::write(&file, text).unwrap();
            assert!(Marks::load(&file).is_err(), "{text}");
        }
        fs::write(&file, r#"{"version": 1, "later": 1, "marks": [{"path": "a"}]}"#).unwrap();
        assert!(Marks::load(&file).unwrap().of(Path::new("a")).is_some());
    }

    #[test]
    fn a_mark_follows_its_file() {
        let item = |name: &str, bytes| Item {
            path: name.into(),
            stamp: stamp(bytes),
            size: [1, 1],
            clip: None,
            facts: None,
            broken: None,
        };
        let mut marks = Marks::default();
        for (name, bytes) in [("/gone/a.png", 1), ("/gone/b.png", 2)] {
            marks.change(Path::new(name), stamp(bytes), &Change::Star(true));
        }
        let items = [item("moved.png", 1), item("one.png", 2), item("same.png", 2)];
        assert!(marks.follow(items.iter()));
        assert!(marks.of(Path::new("moved.png")).is_some_and(|mark| mark.starred));
        assert!(marks.of(Path::new("/gone/b.png")).is_some(), "two files could be it");
        assert!(!marks.follow(items.iter()));
    }
}
