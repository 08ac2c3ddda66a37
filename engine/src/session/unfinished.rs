//! Unfinished jobs, saved to disk so that they survive the end of a worker or of the window.

use std::{
    collections::{HashSet, VecDeque},
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{Job, JobId, cancelled::Cancelled, kept_list::KeptList};

const FOLDER: &str = "unfinished";
const LOCK: &str = "lock";
const JOURNAL: &str = "journal";

/// A job and its progress.
#[derive(Debug)]
pub struct Entry {
    /// The job.
    pub job: Job,
    /// Whether the caller knows that it is queued.
    pub is_announced: bool,
    /// Whether the caller knows that it has started.
    pub is_started: bool,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
    /// The last step that was reported.
    pub step: u32,
    /// How many workers died with it since its last progress.
    pub deaths: u32,
}

/// The unfinished jobs of a window, in order.
pub struct Unfinished {
    folder: Folder,
    list: KeptList,
    entries: VecDeque<Entry>,
    /// The jobs of the previous window.
    earlier: VecDeque<Job>,
    /// Cancelled jobs whose journals are still there.
    cancelled: Cancelled,
    started: u128,
}

/// The folder in which jobs are saved.
enum Folder {
    /// Kept for the next window; no other window uses it while the lock is held.
    Kept { path: PathBuf, _lock: File },
    /// Deleted when this window ends.
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Kept { path, .. } => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

impl Unfinished {
    /// Reads the saved jobs in `data`, if it is given and no other window uses it.
    pub fn open(data: Option<&Path>) -> io::Result<Self> {
        let kept = data.map(|data| kept(&data.join(FOLDER)));
        let folder = match kept {
            Some(Ok(Some(folder))) => folder,
            Some(Err(error)) => {
                tracing::warn!(%error, "unfinished jobs cannot be saved");
                Folder::Temporary(tempfile::tempdir()?)
            }
            Some(Ok(None)) | None => Folder::Temporary(tempfile::tempdir()?),
        };
        let (list, earlier) = KeptList::open(folder.path());
        let cancelled = Cancelled::open(folder.path());
        remove_journals(folder.path(), earlier.iter().chain(cancelled.jobs()))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let earlier = earlier.into();
        Ok(Self { folder, list, entries: VecDeque::new(), earlier, cancelled, started })
    }

    /// The jobs of the previous window.
    pub fn earlier(&self) -> Vec<Job> {
        self.earlier.iter().cloned().collect()
    }

    /// Cancelled jobs that go on where they were when they are sent again, the latest last.
    pub fn resumable(&self) -> Vec<Job> {
        self.cancelled.jobs().cloned().collect()
    }

    /// Deletes the jobs of the previous window.
    pub fn forget_earlier(&mut self) {
        for job in std::mem::take(&mut self.earlier) {
            forget_journal(&job);
        }
        self.list.write_anew(all(&self.earlier, &self.entries));
    }

    /// The unfinished jobs.
    pub fn entries(&mut self) -> &mut VecDeque<Entry> {
        &mut self.entries
    }

    /// The job with this identifier.
    pub fn entry(&mut self, id: JobId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.job.id == id)
    }

    /// The running job.
    pub fn running(&mut self) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.is_started)
    }

    /// Adds a job at the end, with a path for its journal: that of a cancelled job with the same request, if there is one.
    pub fn add(&mut self, mut job: Job) -> &Job {
        let is_same = |known: &Job| known.journal.is_some() && known.journal == job.journal;
        if let Some(place) = self.earlier.iter().position(is_same) {
            self.earlier.remove(place);
        }
        self.cancelled.take(is_same);
        let name = || format!("{}-{}-{}.{JOURNAL}", self.started, process::id(), job.id.0);
        let resumed = self.cancelled.take(|cancelled| cancelled.request == job.request);
        let resumed = resumed.and_then(|cancelled| cancelled.journal);
        let path = job.journal.clone().or(resumed).unwrap_or_else(|| self.folder.path().join(name()));
        job.journal = Some(path);
        self.entries.push_back(Entry {
            job,
            is_announced: false,
            is_started: false,
            is_cancelled: false,
            step: 0,
            deaths: 0,
        });
        let job = &self.entries[self.entries.len() - 1].job;
        self.list.added(job, all(&self.earlier, &self.entries));
        job
    }

    /// Moves a job that has not started in front of another one, or to the end.
    pub fn reorder(&mut self, id: JobId, before: Option<JobId>) {
        let place =
            |entries: &VecDeque<Entry>, id: JobId| entries.iter().position(|entry| entry.job.id == id);
        let Some(from) = place(&self.entries, id).filter(|&from| !self.entries[from].is_started) else {
            return;
        };
        let Some(entry) = self.entries.remove(from) else { return };
        let started = self.entries.iter().filter(|entry| entry.is_started).count();
        let to = before.and_then(|before| place(&self.entries, before)).unwrap_or(self.entries.len());
        let to = to.max(started);
        self.entries.insert(to, entry);
        let journal = |place: usize| self.entries.get(place)?.job.journal.as_deref();
        if let Some(moved) = journal(to) {
            self.list.moved(moved, journal(to + 1), all(&self.earlier, &self.entries));
        }
    }

    /// Removes a job that has ended.
    pub fn end(&mut self, id: JobId) {
        if let Some(job) = self.take(id) {
            forget_journal(&job.job);
        }
    }

    /// Removes a job that was cancelled. Its journal stays until a few others were cancelled, in case it is wanted again.
    /// Returns jobs that are too long ago.
    pub fn cancel(&mut self, id: JobId) -> Vec<Job> {
        let Some(Entry { job, is_started, .. }) = self.take(id) else { return Vec::new() };
        let gone = if is_started { self.cancelled.add(job) } else { Vec::new() };
        gone.iter().for_each(forget_journal);
        gone
    }

    /// Removes a job from the list.
    fn take(&mut self, id: JobId) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.job.id == id)?;
        let entry = self.entries.remove(place)?;
        if let Some(journal) = &entry.job.journal {
            self.list.gone(journal, all(&self.earlier, &self.entries));
        }
        Some(entry)
    }
}

/// The jobs that are kept, and their number.
fn all<'a>(
    earlier: &'a VecDeque<Job>,
    entries: &'a VecDeque<Entry>,
) -> (usize, impl Iterator<Item = &'a Job>) {
    let jobs = earlier.iter().chain(entries.iter().map(|entry| &entry.job));
    (earlier.len() + entries.len(), jobs)
}

/// Opens the folder if no other window uses it.
fn kept(path: &Path) -> io::Result<Option<Folder>> {
    fs::create_dir_all(path)?;
    let lock = File::create(path.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(Folder::Kept { path: path.to_owned(), _lock: lock })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn forget_journal(job: &Job) {
    let Some(path) = &job.journal else { return };
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "the journal of a finished run cannot be removed");
    }
}

/// Removes the journals of other jobs than these.
fn remove_journals<'a>(folder: &Path, jobs: impl Iterator<Item = &'a Job>) -> io::Result<()> {
    let kept: HashSet<&Path> = jobs.filter_map(|job| job.journal.as_deref()).collect();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_journal = path.extension().is_some_and(|extension| extension == JOURNAL);
        if is_journal && !kept.contains(path.as_path()) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
