//! A file that has not arrived completely: `NAME.part`, and beside it what it is a part of.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::{DownloadError, Stop};

/// Bytes that are read or written at once.
pub(super) const CHUNK: usize = 256 << 10;

/// How often a lock is asked for, and how long is waited in between.
const LOCKS: u32 = 5;
const BETWEEN_LOCKS: Duration = Duration::from_millis(20);

/// What a part is a part of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Whole {
    /// Where it comes from.
    pub source: String,
    /// What the server calls its contents.
    pub identity: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

/// An incomplete file. Nobody else has it at the same time.
pub(super) struct Part {
    path: PathBuf,
    side: PathBuf,
    file: File,
    whole: Whole,
    /// Bytes that have arrived.
    length: u64,
    hash: Context,
    /// Whether bytes of an earlier session are in it.
    pub is_resumed: bool,
}

impl Part {
    /// The incomplete file of this name, and the description of it.
    pub fn paths(target: &Path) -> [PathBuf; 2] {
        ["part", "part.json"].map(|ending| {
            let mut name = target.file_name().unwrap_or_default().to_owned();
            name.push(".");
            name.push(ending);
            target.with_file_name(name)
        })
    }

    /// Opens the part of a file, or begins it. What is there of another source is removed. Reads what is there, for its
    /// hash; `told` hears how far that is.
    ///
    /// # Errors
    /// If it cannot be written, or another program has it open.
    pub fn open(target: &Path, source: &str, stop: &Stop, told: impl Fn(u64)) -> Result<Self, DownloadError> {
        let [path, side] = Self::paths(target);
        let folder = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|source| failed(folder, "created", source))?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|source| failed(&path, "written", source))?;
        match lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(DownloadError::InUse { path: target.to_owned() }),
            // Some network folders have no locks.
            Err(TryLockError::Error(error)) => tracing::debug!(%error, "the file cannot be locked"),
        }
        let known: Option<Whole> = fs::read(&side).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let whole = known.filter(|whole| whole.source == source);
        let is_known = whole.is_some();
        let whole = whole.unwrap_or_else(|| Whole { source: source.to_owned(), ..Whole::default() });
        let hash = Context::new(&SHA256);
        let mut part = Self { path, side, file, whole, length: 0, hash, is_resumed: false };
        match is_known {
            true => part.read_again(stop, told)?,
            false => part.clear()?,
        }
        Ok(part)
    }

    /// Bytes that have arrived.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What it is a part of.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// Notes what the server says about the file.
    pub fn describe(&mut self, identity: Option<String>, size: Option<u64>) -> Result<(), DownloadError> {
        let whole = Whole { identity, size, ..self.whole.clone() };
        if whole != self.whole || !self.side.exists() {
            let text = serde_json::to_vec(&whole).map_err(|error| self.failed("written", error.into()))?;
            fs::write(&self.side, text).map_err(|source| failed(&self.side, "written", source))?;
            self.whole = whole;
        }
        Ok(())
    }

    /// Forgets what has arrived.
    pub fn clear(&mut self) -> Result<(), DownloadError> {
        let done = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        done.map_err(|source| self.failed("written", source))?;
        self.length = 0;
        self.is_resumed = false;
        self.hash = Context::new(&SHA256);
        Ok(())
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DownloadError> {
        self.file.write_all(bytes).map_err(|source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DownloadError::NoSpace {
                folder: self.path.parent().unwrap_or(&self.path).to_owned(),
                needed: self.whole.size.unwrap_or_default().saturating_sub(self.length),
                free: 0,
            },
            _ => self.failed("written", source),
        })?;
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The SHA-256 of what has arrived.
    pub fn sha256(&self) -> String {
        hex(self.hash.clone().finish().as_ref())
    }

    /// Gives the file its name, once everything is on the disk.
    pub fn finish(self, target: &Path) -> Result<(), DownloadError> {
        self.file.sync_all().map_err(|source| self.failed("written", source))?;
        // Windows renames no open file.
        drop(self.file);
        fs::rename(&self.path, target).map_err(|source| failed(target, "written", source))?;
        remove(&self.side)
    }

    fn read_again(&mut self, stop: &Stop, told: impl Fn(u64)) -> Result<(), DownloadError> {
        let mut chunk = vec![0; CHUNK];
        loop {
            if stop.is_stopped() {
                return Err(DownloadError::Stopped);
            }
            let read = self.file.read(&mut chunk).map_err(|source| self.failed("read", source))?;
            if read == 0 {
                break;
            }
            self.hash.update(&chunk[..read]);
            self.length += read as u64;
            told(self.length);
        }
        self.is_resumed = self.length > 0;
        Ok(())
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> DownloadError {
        failed(&self.path, doing, source)
    }
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> DownloadError {
    DownloadError::File { path: path.to_owned(), doing, source }
}

fn remove(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, "removed", error)),
        _ => Ok(()),
    }
}

/// Removes what has arrived of a file.
///
/// # Errors
/// If it cannot be removed.
pub(super) fn discard(target: &Path) -> Result<(), DownloadError> {
    Part::paths(target).iter().try_for_each(|path| remove(path))
}

/// The SHA-256 of a file.
///
/// # Errors
/// If it cannot be read, or it is stopped.
pub(crate) fn sha256_of(path: &Path, stop: &Stop, told: impl Fn(u64)) -> Result<String, DownloadError> {
    let mut file = File::open(path).map_err(|source| failed(path, "read", source))?;
    let (mut hash, mut chunk, mut done) = (Context::new(&SHA256), vec![0; CHUNK], 0);
    loop {
        if stop.is_stopped() {
            return Err(DownloadError::Stopped);
        }
        match file.read(&mut chunk).map_err(|source| failed(path, "read", source))? {
            0 => return Ok(hex(hash.finish().as_ref())),
            read => {
                hash.update(&chunk[..read]);
                done += read as u64;
                told(done);
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Locks a file. A process that is being started has the locks of all files of this one for a moment.
///
/// # Errors
/// If it is locked already, or cannot be.
pub(crate) fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..LOCKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_LOCKS),
            done => return done,
        }
    }
    file.try_lock()
}
