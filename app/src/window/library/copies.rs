//! Hashes files that look the same, on a thread of its own. Hashes are kept with the sizes and times of files.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};
use sluice_engine::models::{content_hash, stamp};

use crate::window::files::Wake;

/// Maximum number of waiting lists, and of waiting results.
const LISTS: usize = 2;
const RESULTS: usize = 64;
/// How often it is looked whether the disk is free again.
const PAUSE: Duration = Duration::from_millis(200);

/// A file with its hash, or why it cannot be read.
type Hashed = (PathBuf, Result<String, String>);

/// The thread and its results.
pub struct CopyFinder {
    lists: Sender<Vec<PathBuf>>,
    results: Receiver<Hashed>,
    told: Arc<Told>,
}

/// What the thread is told while it reads a file.
#[derive(Default)]
struct Told {
    /// It waits, because others need the disk.
    waits: AtomicBool,
    /// Rises with each list.
    version: AtomicU64,
    /// Nobody listens any more.
    ended: AtomicBool,
}

impl Drop for CopyFinder {
    fn drop(&mut self) {
        self.told.ended.store(true, Ordering::Relaxed);
    }
}

impl CopyFinder {
    /// Starts the thread. It ends when this is dropped. Hashes are kept in a file.
    pub fn start(kept: Option<PathBuf>, wake: Wake) -> Self {
        let (lists, queue) = bounded(LISTS);
        let (report, results) = bounded(RESULTS);
        let told = Arc::<Told>::default();
        let hasher = Hasher { known: None, kept, queue, report, wake, told: Arc::clone(&told) };
        let thread = thread::Builder::new().name("sluice-hashes".to_owned());
        if let Err(error) = thread.spawn(move || hasher.run()) {
            tracing::error!(%error, "the thread that finds copies of models cannot be started");
        }
        Self { lists, results, told }
    }

    /// Hashes these files, and no longer those of the list before. Returns `false` if it has to be asked again.
    pub fn ask(&self, files: Vec<PathBuf>) -> bool {
        self.told.version.fetch_add(1, Ordering::Relaxed);
        self.lists.try_send(files).is_ok()
    }

    /// Whether hashing waits, because others need the disk.
    pub fn wait(&self, waits: bool) {
        self.told.waits.store(waits, Ordering::Relaxed);
    }

    /// The next result, if there is one.
    pub fn try_recv(&self) -> Option<Hashed> {
        self.results.try_recv().ok()
    }
}

/// The hash of a file that had this stamp.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    stamp: String,
    hash: String,
}

struct Hasher {
    /// Read when it is first needed.
    known: Option<HashMap<PathBuf, Known>>,
    kept: Option<PathBuf>,
    queue: Receiver<Vec<PathBuf>>,
    report: Sender<Hashed>,
    wake: Wake,
    told: Arc<Told>,
}

impl Hasher {
    fn run(mut self) {
        while let Ok(mut files) = self.queue.recv() {
            // Only the newest list counts.
            while let Ok(newer) = self.queue.try_recv() {
                files = newer;
            }
            let version = self.told.version.load(Ordering::Relaxed);
            for file in files {
                let hash = match self.hash(&file, version) {
                    Ok(Some(hash)) => Ok(hash),
                    Ok(None) => break,
                    Err(error) => Err(error),
                };
                if self.report.send((file, hash)).is_err() {
                    return;
                }
                (self.wake)();
            }
        }
    }

    /// `None` if there is a newer list, or nobody listens.
    fn hash(&mut self, file: &Path, version: u64) -> Result<Option<String>, String> {
        let stamp = stamp(file);
        let kept = self.kept.as_deref();
        let known = self.known.get_or_insert_with(|| kept.map(read).unwrap_or_default());
        if let Some(known) = known.get(file).filter(|known| known.stamp == stamp) {
            return Ok(Some(known.hash.clone()));
        }
        let told = &self.told;
        let goes_on = || {
            loop {
                let is_newest = told.version.load(Ordering::Relaxed) == version;
                if !is_newest || told.ended.load(Ordering::Relaxed) {
                    return false;
                }
                if !told.waits.load(Ordering::Relaxed) {
                    return true;
                }
                thread::sleep(PAUSE);
            }
        };
        let hash = content_hash(file, goes_on).map_err(|error| error.to_string())?;
        let Some(hash) = hash else { return Ok(None) };
        known.insert(file.to_owned(), Known { stamp, hash: hash.clone() });
        known.retain(|path, _| path.exists());
        if let Some(path) = kept
            && let Err(error) = write(path, known)
        {
            tracing::warn!(path = %path.display(), %error, "the hashes of models cannot be kept");
        }
        Ok(Some(hash))
    }
}

/// What was kept; nothing, if it is missing or damaged.
fn read(path: &Path) -> HashMap<PathBuf, Known> {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn write(path: &Path, known: &HashMap<PathBuf, Known>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(file.as_file_mut(), known)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
