//! While a job decodes, reads the files of the next job's model, so that they are in the system's file cache when that
//! job starts.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use super::{options::Library, threads::spawn};
use crate::{hardware::Probe, models::Model, request::Request};

/// RAM that is left to other programs.
const LEFT_FREE: u64 = 2 << 30;
/// Bytes read at a time.
const PIECE: usize = 1 << 20;

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
}

/// A thread that reads files ahead. Dropping it ends it.
pub struct ReadAhead {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl ReadAhead {
    /// Starts to read the files of the next job's model, in the order in which a run needs them and as far as RAM is free.
    /// `None` if there is no next job, or it uses the `current` model.
    pub fn start(next: &NextJob, current: &Model, library: &Arc<Library>) -> Option<Self> {
        let request = next.get()?;
        let (library, path) = (Arc::clone(library), current.path.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let read = move || {
            // What is wrong with the next job is said when it starts.
            let Ok(model) = library.models.of(&request) else { return 0 };
            if model.path == path {
                return 0;
            }
            let mut seen = HashSet::new();
            let files = model.components().flat_map(|component| &component.files);
            let files: Vec<PathBuf> = files.filter(|file| seen.insert((*file).clone())).cloned().collect();
            let room = Probe::new().sample().ram_available.saturating_sub(LEFT_FREE);
            let bytes = read_through(&files, room, &stopped);
            tracing::info!(bytes, model = %model.path.display(), "read ahead for the next job");
            bytes
        };
        match spawn("sluice-read-ahead", read) {
            Ok(thread) => Some(Self { stop, thread: Some(thread) }),
            Err(error) => {
                tracing::warn!(%error, "the next job's model is not read ahead");
                None
            }
        }
    }

    /// Waits until everything is read; returns the bytes.
    #[cfg(test)]
    fn finish(mut self) -> u64 {
        self.thread.take().map_or(0, |thread| thread.join().unwrap_or(0))
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that reads ahead panicked");
        }
    }
}

/// Reads at most `room` bytes of files from their beginnings; returns how many.
fn read_through(files: &[PathBuf], room: u64, stop: &AtomicBool) -> u64 {
    let mut left = room;
    for file in files {
        if let Err(error) = read_file(file, &mut left, stop) {
            tracing::warn!(%error, file = %file.display(), "the file cannot be read ahead");
        }
    }
    room - left
}

fn read_file(path: &Path, left: &mut u64, stop: &AtomicBool) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    while !stop.load(Ordering::Relaxed) {
        let wanted = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
        let read = file.read(&mut piece[..wanted])?;
        if read == 0 {
            break;
        }
        *left -= read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{models::OpenedModels, request::PromptFolders};

    #[test]
    fn files_are_read_in_order_until_the_room_is_used_up() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a", 3_000_000_usize), ("b", 10)].map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![1; bytes]).unwrap();
            path
        });
        let missing = [folder.path().join("none"), files[1].clone()];
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        assert_eq!(read_through(&files, u64::MAX, &go), 3_000_010);
        assert_eq!(read_through(&files, 2_000_000, &go), 2_000_000);
        assert_eq!(read_through(&missing, 100, &go), 10);
        assert_eq!(read_through(&files, u64::MAX, &stop), 0);
    }

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
        assert!(ReadAhead::start(&next, &current, &library).is_none(), "nothing is queued");
        next.set(Some(&request));
        assert_eq!(ReadAhead::start(&next, &current, &library).unwrap().finish(), 0);
        let other = Model { path: PathBuf::from("other"), ..Model::clone(&current) };
        let bytes = ReadAhead::start(&next, &other, &library).unwrap().finish();
        let files: HashSet<&PathBuf> = current.components().flat_map(|component| &component.files).collect();
        let expected: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
        assert_eq!(bytes, expected);
    }
}
