//! While a job decodes, reads the files of the next job's model, so that they are in the system's file cache when that
//! job starts.

use std::{
    collections::HashSet,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use super::options::Library;
use crate::{checkpoint::FilePart, hardware::Probe, models::Model, request::Request, residency::ReadAhead};

/// RAM that is left to other programs.
const LEFT_FREE: u64 = 2 << 30;

/// The request of the job that is next in the queue, as the inference thread sees it.
#[derive(Debug, Clone, Default)]
pub struct NextJob(Arc<Mutex<Option<Request>>>);

impl NextJob {
    /// Sets it.
    pub fn set(&self, request: Option<&Request>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = request.cloned();
    }

    fn get(&self) -> Option<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts to read the files of its model, in the order in which a run needs them and as far as RAM is free. `None` if
    /// there is no next job, or it uses the `current` model.
    ///
    /// # Errors
    /// Fails if the system grants no thread.
    pub fn read_ahead(&self, current: &Model, library: &Arc<Library>) -> io::Result<Option<ReadAhead>> {
        let Some(request) = self.get() else { return Ok(None) };
        let (library, path) = (Arc::clone(library), current.path.clone());
        let find = move || {
            // What is wrong with the next job or its files is said when it starts.
            let Some(model) = library.models.of(&request).ok().filter(|model| model.path != path) else {
                return (Vec::new(), 0);
            };
            let mut seen = HashSet::new();
            let files = model.components().flat_map(|component| &component.files);
            let files = files.filter(|file| seen.insert((*file).clone()));
            let room = Probe::new().sample().ram_available.saturating_sub(LEFT_FREE);
            (files.filter_map(|file| FilePart::whole(file).ok()).collect(), room)
        };
        ReadAhead::start(find).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{models::OpenedModels, request::PromptFolders};

    #[test]
    fn only_another_model_of_the_next_job_is_read() {
        let library = Arc::new(Library {
            models: OpenedModels::new(Vec::new()),
            downloads: None,
            listed: Default::default(),
            prompt_folders: PromptFolders::default(),
        });
        let request = Request::default();
        let current = library.models.of(&request).unwrap();
        let next = NextJob::default();
        let read = |current: &Model| next.read_ahead(current, &library).unwrap().map(ReadAhead::finish);
        assert_eq!(read(&current), None, "nothing is queued");
        next.set(Some(&request));
        assert_eq!(read(&current), Some(0));
        let other = Model { path: PathBuf::from("other"), ..Model::clone(&current) };
        let files: HashSet<_> = current.components().flat_map(|component| &component.files).collect();
        let expected: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
        assert_eq!(read(&other), Some(expected));
    }
}
