//! Files that appear whole or not at all: a temporary name beside the final one, everything on the disk, then a rename.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::OutputError;

/// What to do with a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and the write fails with [`OutputError::Exists`].
    Keep,
}

/// Gives a temporary file its name. Its contents are on the disk before.
pub(super) fn persist(file: NamedTempFile, path: &Path, existing: Existing) -> Result<(), OutputError> {
    // Without this a full disk may show up only after the rename.
    file.as_file().sync_all().map_err(|cause| write_error(path, cause))?;
    let renamed = match existing {
        Existing::Replace => file.persist(path),
        Existing::Keep => file.persist_noclobber(path),
    };
    renamed.map(drop).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.to_owned() },
        _ => write_error(path, error.error),
    })
}

/// Writes a file that is complete in memory.
pub(super) fn write_whole(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), OutputError> {
    let mut file = temporary_file(folder_of(path)).map_err(|cause| write_error(path, cause))?;
    file.write_all(bytes).map_err(|cause| write_error(path, cause))?;
    persist(file, path, existing)
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// A temporary file that is deleted unless it is renamed.
pub(super) fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    // The standard library creates it with the usual permissions; tempfile would make it private.
    tempfile::Builder::new().prefix(".sluice-").suffix(".tmp").make_in(folder, |path| File::create_new(path))
}

/// A folder under a temporary name, which is deleted unless it is renamed.
pub(super) struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates it in `folder`.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let number = std::process::id();
        for attempt in 0..1000_u32 {
            let path = folder.join(format!(".sluice-{number}-{attempt}.tmp"));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result.map(|()| Self { path }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Its path until it is renamed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name, which must be free.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "a temporary folder is left over");
        }
    }
}

pub(super) fn write_error(path: &Path, cause: io::Error) -> OutputError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OutputError::DiskFull { path },
        io::ErrorKind::IsADirectory => OutputError::IsFolder { path },
        _ => OutputError::Write { path, cause },
    }
}
