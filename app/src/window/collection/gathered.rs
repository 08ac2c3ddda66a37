//! Collections: named sets of images and clips. One may be in several, and files stay where they are.

use std::path::PathBuf;

use super::{
    item::Stamp,
    marks::{Change, Marks, add},
};

/// A change of the list of collections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectionStep {
    /// Adds one, which may be empty.
    Add(String, Vec<(PathBuf, Stamp)>),
    /// Gives one another name.
    Rename {
        /// Its name.
        from: String,
        /// The new one.
        to: String,
    },
    /// Deletes one, and no file.
    Delete(String),
}

/// A collection that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// Its name.
    pub name: String,
    /// What was in it.
    pub files: Vec<(PathBuf, Stamp)>,
}

impl Marks {
    /// The names of all collections, in alphabetic order.
    pub fn collections(&self) -> &[String] {
        &self.collections
    }

    /// Changes the list. Returns what was deleted.
    pub fn gather(&mut self, step: CollectionStep) -> Option<Deleted> {
        match step {
            CollectionStep::Add(name, files) => {
                add(&mut self.collections, &name);
                let change = Change::Collect(name);
                for (path, stamp) in files {
                    self.change(&path, stamp, &change);
                }
                None
            }
            CollectionStep::Rename { from, to } => {
                self.rename(&from, &to);
                None
            }
            CollectionStep::Delete(name) => Some(self.delete(name)),
        }
    }

    /// One that has the name already takes what is in the other one.
    fn rename(&mut self, from: &str, to: &str) {
        if from == to || !self.collections.iter().any(|known| known == from) {
            return;
        }
        self.collections.retain(|known| known != from);
        add(&mut self.collections, to);
        for mark in self.files.values_mut().filter(|mark| mark.collections.iter().any(|name| name == from)) {
            mark.collections.retain(|known| known != from);
            add(&mut mark.collections, to);
        }
    }

    fn delete(&mut self, name: String) -> Deleted {
        self.collections.retain(|known| *known != name);
        let mut files = Vec::new();
        self.files.retain(|path, mark| {
            if mark.collections.contains(&name) {
                mark.collections.retain(|known| *known != name);
                // Marks of old versions have no stamp.
                files.push((path.clone(), mark.stamp.unwrap_or(Stamp { modified: 0, bytes: 0 })));
            }
            !mark.says_nothing()
        });
        Deleted { name, files }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const STAMP: Stamp = Stamp { modified: 5, bytes: 7 };

    fn add_to(marks: &mut Marks, name: &str, files: &[&str]) {
        let files = files.iter().map(|file| (PathBuf::from(file), STAMP)).collect();
        assert_eq!(marks.gather(CollectionStep::Add(name.to_owned(), files)), None);
    }

    fn of<'a>(marks: &'a Marks, file: &str) -> &'a [String] {
        marks.of(Path::new(file)).map_or(&[], |mark| &mark.collections)
    }

    fn rename(marks: &mut Marks, from: &str, to: &str) {
        marks.gather(CollectionStep::Rename { from: from.to_owned(), to: to.to_owned() });
    }

    #[test]
    fn a_file_is_in_several_collections_and_an_empty_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gallery.json");
        let mut marks = Marks::default();
        add_to(&mut marks, "sea", &["a", "b"]);
        add_to(&mut marks, "Boats", &["a"]);
        add_to(&mut marks, "later", &[]);
        add_to(&mut marks, "later", &[]);
        assert_eq!(marks.collections(), ["Boats", "later", "sea"]);
        assert_eq!(of(&marks, "a"), ["Boats", "sea"]);
        marks.save(&file).unwrap();
        assert_eq!(Marks::load(&file).unwrap(), marks);
        marks.change(Path::new("b"), STAMP, &Change::Leave("sea".to_owned()));
        assert!(marks.of(Path::new("b")).is_none(), "what has no mark is not kept");
        assert_eq!(marks.collections(), ["Boats", "later", "sea"]);
    }

    #[test]
    fn a_file_of_the_version_without_collections_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gallery.json");
        std::fs::write(
            &file,
            r#"{"version": 1, "marks": [{"path": "a", "starred": true, "tags": ["sea"]}]}"#,
        )
        .unwrap();
        let mut marks = Marks::load(&file).unwrap();
        assert_eq!(marks.collections(), &[] as &[String]);
        add_to(&mut marks, "new", &["a"]);
        marks.save(&file).unwrap();
        let mark = Marks::load(&file).unwrap().of(Path::new("a")).unwrap().clone();
        assert!(mark.starred);
        assert_eq!((mark.tags, mark.collections), (vec!["sea".to_owned()], vec!["new".to_owned()]));
        // One that only a file names is a collection, too.
        std::fs::write(&file, r#"{"version": 2, "marks": [{"path": "a", "collections": ["x"]}]}"#).unwrap();
        assert_eq!(Marks::load(&file).unwrap().collections(), ["x"]);
    }

    #[test]
    fn a_new_name_is_that_of_all_files() {
        let mut marks = Marks::default();
        add_to(&mut marks, "sea", &["a", "b"]);
        add_to(&mut marks, "boats", &["b", "c"]);
        rename(&mut marks, "sea", "water");
        assert_eq!(marks.collections(), ["boats", "water"]);
        assert_eq!(of(&marks, "b"), ["boats", "water"]);
        rename(&mut marks, "water", "boats");
        assert_eq!(marks.collections(), ["boats"]);
        assert!(["a", "b", "c"].iter().all(|file| of(&marks, file) == ["boats"]));
        let before = marks.clone();
        for (from, to) in [("gone", "x"), ("boats", "boats")] {
            rename(&mut marks, from, to);
        }
        assert_eq!(marks, before);
    }

    #[test]
    fn a_deleted_collection_comes_back() {
        let mut marks = Marks::default();
        add_to(&mut marks, "sea", &["a", "b"]);
        add_to(&mut marks, "boats", &["b"]);
        marks.change(Path::new("a"), STAMP, &Change::Star(true));
        let before = marks.clone();
        let Deleted { name, files } = marks.gather(CollectionStep::Delete("sea".to_owned())).unwrap();
        assert_eq!((name.as_str(), files.len()), ("sea", 2));
        assert_eq!(marks.collections(), ["boats"]);
        assert!(marks.of(Path::new("a")).is_some_and(|mark| mark.starred), "no file is forgotten");
        marks.gather(CollectionStep::Add(name, files));
        assert_eq!(marks, before);
    }
}
