//! Opened models, kept while their files stay as they are.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Model, open};
use crate::{
    checkpoint::{CheckpointError, FileStamp, Layout},
    request::Request,
};

/// Models that are kept.
const KEPT: usize = 8;

/// Opens models and keeps them: the next time only the times of their files are read. It can be shared by threads.
#[derive(Debug, Default)]
pub struct OpenedModels {
    folders: Vec<PathBuf>,
    known: Mutex<VecDeque<Known>>,
}

#[derive(Debug)]
struct Known {
    path: PathBuf,
    stamps: Vec<FileStamp>,
    model: Arc<Model>,
}

impl OpenedModels {
    /// `folders` are where a person keeps models: missing parts are looked for there.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, known: Mutex::default() }
    }

    /// The model that a request is for.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn of(&self, request: &Request) -> Result<Arc<Model>, CheckpointError> {
        self.open(&request.model.resolve()?)
    }

    /// The model at a path.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self, path: &Path) -> Result<Arc<Model>, CheckpointError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.iter().position(|known| known.path == path)
            && let Some(found) = known.remove(place)
            && found.stamps.iter().all(FileStamp::is_current)
        {
            let model = Arc::clone(&found.model);
            known.push_front(found);
            return Ok(model);
        }
        let model = Arc::new(open(path, &self.folders)?);
        known.truncate(KEPT - 1);
        known.push_front(Known { path: path.to_owned(), stamps: stamps(&model), model: Arc::clone(&model) });
        Ok(model)
    }
}

/// The files that a model was read from; of a diffusers folder, all in it and in the folders of its components.
fn stamps(model: &Model) -> Vec<FileStamp> {
    let mut paths = vec![model.path.clone()];
    paths.extend(model.components().flat_map(|component| component.files.iter().cloned()));
    if model.layout == Layout::Diffusers {
        let inner = entries(&model.root).into_iter().flat_map(|entry| {
            let inside = entries(&entry);
            std::iter::once(entry).chain(inside)
        });
        paths.extend(inner);
    }
    paths.sort();
    paths.dedup();
    paths.iter().map(|path| FileStamp::of(path)).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::starter_folder;

    #[test]
    fn a_model_is_opened_again_only_when_a_file_of_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        copy(&starter_folder().unwrap(), folder.path());
        let models = OpenedModels::new(Vec::new());
        let first = models.open(folder.path()).unwrap();
        assert!(Arc::ptr_eq(&first, &models.open(folder.path()).unwrap()));
        let config = folder.path().join("transformer/config.json");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text + "\n").unwrap();
        let second = models.open(folder.path()).unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        fs::remove_dir_all(folder.path().join("transformer")).unwrap();
        assert!(models.open(folder.path()).is_err());
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in entries(from) {
            let there = to.join(entry.file_name().unwrap());
            if entry.is_dir() { copy(&entry, &there) } else { fs::copy(&entry, &there).map(|_| ()).unwrap() }
        }
    }
}
