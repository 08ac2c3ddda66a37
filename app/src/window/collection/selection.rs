//! What is selected, as in a file manager.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::item::Item;

/// How a click selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Only this one.
    Only,
    /// This one too, or no longer.
    Toggle,
    /// All between the last one and this one.
    Range,
}

/// Selected files. They stay selected when the order changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    paths: HashSet<PathBuf>,
    /// The last one that was clicked or reached with a key.
    current: Option<PathBuf>,
    /// Where a range begins.
    anchor: Option<PathBuf>,
}

impl Selection {
    /// How many are selected.
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    /// Whether a file is selected.
    pub fn contains(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// The last one that was clicked or reached with a key.
    pub fn current(&self) -> Option<&Path> {
        self.current.as_deref()
    }

    /// Selects one of the shown items.
    pub fn pick(&mut self, shown: &[Arc<Item>], place: usize, how: How) {
        let Some(item) = shown.get(place) else { return };
        let path = &item.path;
        let position = |path: &PathBuf| shown.iter().position(|item| item.path == *path);
        match how {
            How::Only => self.paths = HashSet::from([path.clone()]),
            How::Toggle => {
                if !self.paths.remove(path) {
                    self.paths.insert(path.clone());
                }
            }
            How::Range => {
                let from = self.anchor.as_ref().and_then(position).unwrap_or(place);
                let range = from.min(place)..=from.max(place);
                self.paths = shown[range].iter().map(|item| item.path.clone()).collect();
            }
        }
        if how != How::Range || self.anchor.is_none() {
            self.anchor = Some(path.clone());
        }
        self.current = Some(path.clone());
    }

    /// Selects all shown items.
    pub fn all(&mut self, shown: &[Arc<Item>]) {
        self.paths = shown.iter().map(|item| item.path.clone()).collect();
        if self.current.is_none() {
            self.current = shown.first().map(|item| item.path.clone());
        }
    }

    /// Selects nothing.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Selects these files.
    pub fn set(&mut self, paths: Vec<PathBuf>) {
        self.current = paths.first().cloned();
        self.anchor.clone_from(&self.current);
        self.paths = paths.into_iter().collect();
    }

    /// Forgets files that are no longer there.
    pub fn keep(&mut self, is_there: impl Fn(&Path) -> bool) {
        self.paths.retain(|path| is_there(path));
        self.current.take_if(|path| !is_there(path));
        self.anchor.take_if(|path| !is_there(path));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::item::Stamp, *};

    fn items() -> Vec<Arc<Item>> {
        let item = |name: &str| Item {
            path: name.into(),
            stamp: Stamp { modified: 0, bytes: 0 },
            size: [1, 1],
            clip: None,
            facts: None,
            broken: None,
        };
        ["a", "b", "c", "d", "e"].map(|name| Arc::new(item(name))).to_vec()
    }

    fn selected(selection: &Selection) -> String {
        items().iter().filter(|item| selection.contains(&item.path)).map(|item| item.name()).collect()
    }

    #[test]
    fn clicks_select_as_in_a_file_manager() {
        let (shown, mut selection) = (items(), Selection::default());
        for (place, how, expected) in [
            (1, How::Only, "b"),
            (3, How::Range, "bcd"),
            (0, How::Range, "ab"),
            (4, How::Toggle, "abe"),
            (0, How::Toggle, "be"),
            (2, How::Range, "abc"),
            (2, How::Only, "c"),
            (9, How::Only, "c"),
        ] {
            selection.pick(&shown, place, how);
            assert_eq!(selected(&selection), expected, "{place} {how:?}");
        }
        selection.all(&shown);
        assert_eq!((selected(&selection).as_str(), selection.current()), ("abcde", Some(Path::new("c"))));
        selection.keep(|path| path != Path::new("c"));
        assert_eq!((selection.count(), selection.current()), (4, None));
        selection.pick(&shown, 3, How::Range);
        assert_eq!(selected(&selection), "d", "without a beginning, a range is one");
        selection.clear();
        assert_eq!(selection, Selection::default());
    }
}
