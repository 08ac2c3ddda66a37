//! The engine's side of a visit: a folder with the files that were sent, and with the journals.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use sha2::{Digest as _, Sha256};
use tempfile::{NamedTempFile, TempDir};

use super::{LARGEST_FILE, MARK, TravelError, digits, is_visit, marked, translate, unmarked};
use crate::{
    request::{FileRole, Request, is_sent_name, is_sha256},
    session::{
        command::{Command, Job},
        event::{Event, Failure},
        serve::ServeError,
    },
};

/// In the folder for data.
const VISITS: &str = "visits";
const LOCK: &str = "lock";
const FILES: &str = "files";
const JOURNALS: &str = "journals";
/// The most bytes that a visit keeps.
const MOST: u64 = 64 << 30;
/// How long the previous worker of a visit may take to notice that its caller is gone.
const LET_GO: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(50);
/// After this time nobody comes back to a visit.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);
const LONGEST_JOURNAL: usize = 100;

/// The folder of a visit. It stays when the connection breaks, for the next worker.
pub struct Inbox {
    folder: PathBuf,
    /// Held as long as this worker uses the folder.
    lock: Option<File>,
    /// Where there is no folder for data.
    _temporary: Option<TempDir>,
    there: HashMap<String, u64>,
    lost: HashMap<String, String>,
    receiving: Option<Receiving>,
}

/// A file that is being received.
struct Receiving {
    name: String,
    sha256: String,
    bytes: u64,
    left: u64,
    hash: Sha256,
    /// Or why its bytes are not kept.
    file: Result<NamedTempFile, String>,
}

impl Inbox {
    /// Opens the folder of a visit, and waits until the previous worker has let go of it. Removes folders of visits that
    /// ended long ago.
    pub fn open(data: Option<&Path>, visit: &str) -> Result<Self, ServeError> {
        if !is_visit(visit) {
            return Err(ServeError::NoVisit);
        }
        let mut temporary = None;
        let visits = match data {
            Some(data) => data.join(VISITS),
            None => temporary.insert(tempfile::tempdir().map_err(ServeError::Folder)?).path().join(VISITS),
        };
        sweep(&visits);
        let folder = visits.join(visit);
        let mut inbox = Self {
            lock: Some(locked(&folder).map_err(ServeError::Folder)?.ok_or(ServeError::Occupied)?),
            folder,
            _temporary: temporary,
            there: HashMap::new(),
            lost: HashMap::new(),
            receiving: None,
        };
        inbox.look().map_err(ServeError::Folder)?;
        Ok(inbox)
    }

    /// Finds the files from before. What was not complete is removed.
    fn look(&mut self) -> io::Result<()> {
        for folder in [FILES, JOURNALS] {
            fs::create_dir_all(self.folder.join(folder))?;
        }
        for entry in fs::read_dir(self.folder.join(FILES))? {
            let entry = entry?;
            match entry.file_name().into_string() {
                Ok(name) if is_sent_name(&name) => {
                    self.there.insert(name, entry.metadata()?.len());
                }
                _ => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }

    /// The names of the files that are there.
    pub fn files(&self) -> Vec<String> {
        self.there.keys().cloned().collect()
    }

    /// Removes the folder.
    pub fn remove(mut self) {
        // Windows removes no open file.
        self.receiving = None;
        drop(self.lock.take());
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, path = %self.folder.display(), "files of a visit are left over");
        }
    }

    /// Begins a file. Returns its name if that is not kept, as [`Inbox::receive`] does.
    pub fn begin(&mut self, name: String, bytes: u64, sha256: String) -> Result<Option<String>, ServeError> {
        if self.receiving.is_some() || !is_sent_name(&name) || !is_sha256(&sha256) {
            return Err(ServeError::File);
        }
        self.lost.remove(&name);
        let all: u64 = self.there.values().sum();
        let file = if bytes > LARGEST_FILE || all.saturating_add(bytes) > MOST {
            Err("too many bytes were sent".to_owned())
        } else {
            NamedTempFile::new_in(self.folder.join(FILES)).map_err(|error| error.to_string())
        };
        self.receiving = Some(Receiving { name, sha256, bytes, left: bytes, hash: Sha256::new(), file });
        if bytes == 0 { Ok(self.finish()) } else { Ok(None) }
    }

    /// Takes the next bytes of a file. Returns its name if it was the end and the file is not kept.
    pub fn receive(&mut self, chunk: &[u8]) -> Result<Option<String>, ServeError> {
        let receiving = self.receiving.as_mut().ok_or(ServeError::File)?;
        receiving.left = receiving.left.checked_sub(chunk.len() as u64).ok_or(ServeError::File)?;
        receiving.hash.update(chunk);
        if let Ok(file) = &mut receiving.file
            && let Err(error) = file.write_all(chunk)
        {
            receiving.file = Err(error.to_string());
        }
        if receiving.left == 0 { Ok(self.finish()) } else { Ok(None) }
    }

    fn finish(&mut self) -> Option<String> {
        let Receiving { name, sha256, bytes, hash, file, .. } = self.receiving.take()?;
        let kept = file.and_then(|file| {
            if digits(hash) != sha256 {
                return Err("it has changed on the way".to_owned());
            }
            let path = self.folder.join(FILES).join(&name);
            file.persist(path).map(drop).map_err(|error| error.error.to_string())
        });
        match kept {
            Ok(()) => {
                self.there.insert(name, bytes);
                None
            }
            Err(reason) => {
                tracing::warn!(name, reason, "a file that was sent is not kept");
                self.lost.insert(name.clone(), reason);
                Some(name)
            }
        }
    }

    /// Ends a file that is not wanted any more.
    pub fn abandon(&mut self) {
        self.receiving = None;
    }

    /// Removes a file.
    pub fn drop_file(&mut self, name: &str) {
        if self.there.remove(name).is_some() {
            remove(&self.folder.join(FILES).join(name));
        }
    }

    /// Removes the journal of a job that has ended.
    pub fn forget(&self, journal: &Path) {
        if let Some(path) = self.journal(journal) {
            remove(&path);
        }
    }

    fn journal(&self, name: &Path) -> Option<PathBuf> {
        let is_name = |name: &&str| {
            let stem = name.strip_suffix(".journal").unwrap_or_default();
            let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-';
            !stem.is_empty() && stem.len() <= LONGEST_JOURNAL && stem.bytes().all(is_plain)
        };
        let name = name.to_str().filter(is_name)?;
        Some(self.folder.join(JOURNALS).join(name))
    }

    /// A command with paths of this computer. An error is the event that answers it.
    pub fn inward(&self, command: Command) -> Result<Command, Box<Event>> {
        match command {
            Command::Generate(mut job) => match self.take_job(&mut job) {
                Ok(()) => Ok(Command::Generate(job)),
                Err(error) => {
                    Err(Box::new(Event::Failed { job: Some(job.id), failure: Failure::from(error) }))
                }
            },
            Command::Plan(mut query) => match self.take_request(&mut query.request) {
                Ok(()) => Ok(Command::Plan(query)),
                Err(error) => {
                    Err(Box::new(Event::NotPlanned { id: query.id, failure: Failure::from(error) }))
                }
            },
            other => Ok(other),
        }
    }

    fn take_job(&self, job: &mut Job) -> Result<(), TravelError> {
        let written = [&job.dump, &job.reports.telemetry, &job.reports.trace];
        if let Some(path) = written.into_iter().flatten().next() {
            return Err(TravelError::Report { path: path.clone() });
        }
        job.output = None;
        job.journal = job.journal.as_deref().and_then(|name| self.journal(name));
        if let Some(path) = &mut job.initial_latents {
            *path = self.path(path)?;
        }
        self.take_request(&mut job.request)
    }

    fn take_request(&self, request: &mut Request) -> Result<(), TravelError> {
        for (role, path) in request.files_mut() {
            match role {
                FileRole::Input => *path = self.path(path)?,
                FileRole::Adapter if unmarked(path).is_some() => *path = self.path(path)?,
                FileRole::Adapter | FileRole::Model => {}
            }
        }
        Ok(())
    }

    /// The path of a file that was sent.
    fn path(&self, path: &Path) -> Result<PathBuf, TravelError> {
        let name = unmarked(path).ok_or_else(|| TravelError::NotSent { path: path.to_owned() })?;
        if self.there.contains_key(name) {
            return Ok(self.folder.join(FILES).join(name));
        }
        let reason = self.lost.get(name).map_or("it was not sent", String::as_str).to_owned();
        Err(TravelError::NotThere { name: marked(name).display().to_string(), reason })
    }

    /// What names files in events as the caller knows them.
    pub fn names(&self) -> Names {
        Names { folder: Arc::from(self.folder.join(FILES)) }
    }
}

/// Names files in events as the caller knows them.
#[derive(Clone)]
pub struct Names {
    folder: Arc<Path>,
}

impl Names {
    /// Replaces the paths of files that were sent.
    pub fn outward(&self, event: &mut Event) {
        let path = |path: &mut PathBuf| {
            if let Ok(name) = path.strip_prefix(&self.folder)
                && let Some(name) = name.to_str()
            {
                *path = marked(name);
            }
        };
        let prefix = self.folder.join("").display().to_string();
        translate(event, path, |text| *text = text.replace(&prefix, MARK));
    }
}

/// Creates a folder that only this user reads, and locks it; `None` if another process keeps it.
fn locked(folder: &Path) -> io::Result<Option<File>> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)?;
    let mut file = File::create(folder.join(LOCK))?;
    let until = Instant::now() + LET_GO;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    // Its time tells when the folder was last used.
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(Some(file))
}

/// Removes the folders of visits that ended long ago without saying so.
fn sweep(visits: &Path) {
    let is_old = |folder: &Path| -> io::Result<bool> {
        let used = fs::metadata(folder.join(LOCK))?.modified()?;
        Ok(SystemTime::now().duration_since(used).is_ok_and(|age| age > OLD))
    };
    for folder in fs::read_dir(visits).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_left = is_old(&folder).unwrap_or_default()
            && File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_left && let Err(error) = fs::remove_dir_all(&folder) {
            tracing::warn!(%error, path = %folder.display(), "files of an old visit are left over");
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "a file of a visit cannot be removed");
    }
}

#[cfg(test)]
mod tests;
