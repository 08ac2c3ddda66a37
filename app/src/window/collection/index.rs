//! What is known about files, so that the next start reads only new ones. It may be deleted at any time.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{item::Item, marks::write_whole};

/// Rises when [`Item`] says something else about the same file.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Stored<'a> {
    version: u32,
    items: Vec<&'a Item>,
}

#[derive(Deserialize)]
struct Loaded {
    version: u32,
    items: Vec<Item>,
}

/// Items by the path of their file.
pub(super) type Index = HashMap<PathBuf, Arc<Item>>;

/// Reads a file. One that is missing, damaged or of another version is empty.
pub(super) fn load(file: &Path) -> Index {
    let loaded = fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is none yet".to_owned(),
        _ => error.to_string(),
    });
    let loaded = loaded.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
    match loaded {
        Ok(Loaded { version: VERSION, items }) => {
            items.into_iter().map(|item| (item.path.clone(), Arc::new(item))).collect()
        }
        Ok(Loaded { version, .. }) => {
            tracing::debug!(version, "the index is of another version and is made anew");
            Index::new()
        }
        Err(error) => {
            tracing::debug!(error, file = %file.display(), "the index is made anew");
            Index::new()
        }
    }
}

/// Writes a file. Paths that are not Unicode are left out, and are read again at the next start.
pub(super) fn save(file: &Path, index: &Index) -> io::Result<()> {
    let items = index.values().map(AsRef::as_ref).filter(|item: &&Item| item.path.to_str().is_some());
    write_whole(file, &serde_json::to_vec(&Stored { version: VERSION, items: items.collect() })?)
}

#[cfg(test)]
mod tests {
    use super::{
        super::item::{Facts, Stamp},
        *,
    };

    #[test]
    fn an_index_comes_back_and_a_damaged_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.json");
        let item = Item {
            path: "/images/ä.mp4".into(),
            stamp: Stamp { modified: u64::MAX, bytes: 7 },
            size: [832, 480],
            clip: Some((81, 16.0)),
            facts: Some(Facts { prompt: "a boat".to_owned(), seed: u64::MAX, ..Facts::default() }),
            broken: None,
        };
        let index = Index::from([(item.path.clone(), Arc::new(item))]);
        save(&file, &index).unwrap();
        assert_eq!(load(&file), index);
        let bytes = fs::read(&file).unwrap();
        for damaged in [&bytes[..bytes.len() / 2], b"[]", b"{\"version\": 99, \"items\": []}"] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(load(&file), Index::new());
        }
        assert_eq!(load(&folder.path().join("none")), Index::new());
    }
}
