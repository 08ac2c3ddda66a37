//! Weight files: recognized by content, read at offsets.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::CheckpointError;

/// An open weight file. It is read at offsets and never memory-mapped: if another program truncates the file,
/// access through a map would end this process, while a read returns an error.
#[derive(Debug)]
pub struct WeightFile {
    path: PathBuf,
    /// Absent for the weights of a [hollow checkpoint](super::Checkpoint::hollow).
    file: Option<File>,
    length: u64,
    /// Modification time, if the file system has it.
    modified: Option<SystemTime>,
}

/// The kind of a file according to its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Begins with GGUF's magic number.
    Gguf,
    /// A Python pickle, or PyTorch's archive of pickles.
    Pickle,
    /// Possibly safetensors, whose only mark is the opening brace of its header.
    Safetensors,
    /// None of them.
    Other,
}

/// Determines the kind of a file from its first bytes.
///
/// # Errors
/// Fails if the file cannot be read or is empty.
pub fn file_kind(path: &Path) -> Result<FileKind, CheckpointError> {
    WeightFile::open(path)?.kind()
}

impl WeightFile {
    pub(super) fn open(path: &Path) -> Result<Self, CheckpointError> {
        let io = |source| CheckpointError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let length = metadata.len();
        if length == 0 {
            return Err(CheckpointError::EmptyFile { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), file: Some(file), length, modified: metadata.modified().ok() })
    }

    /// Stands for weights that are on no disk. `path` is what errors call it.
    pub(super) fn hollow(path: PathBuf) -> Self {
        Self { path, file: None, length: 0, modified: None }
    }

    /// Whether there is no file.
    pub fn is_hollow(&self) -> bool {
        self.file.is_none()
    }

    /// Equal for files of the same content, judging by path, length and modification time.
    pub fn identity(&self) -> String {
        format!("{} {} {:?}", self.path.display(), self.length, self.modified)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length in bytes when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Its kind, according to its first bytes.
    pub(super) fn kind(&self) -> Result<FileKind, CheckpointError> {
        let mut start = [0; 9];
        let count = start.len().min(usize::try_from(self.length).unwrap_or(usize::MAX));
        self.read_at(&mut start[..count], 0)?;
        Ok(match start {
            [b'G', b'G', b'U', b'F', ..] => FileKind::Gguf,
            [.., b'{'] => FileKind::Safetensors,
            [b'P', b'K', 3, 4, ..] | [0x80, 2..=5, ..] => FileKind::Pickle,
            _ => FileKind::Other,
        })
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Fails if the file became unreadable or shorter since it was opened, or if there is none.
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> Result<(), CheckpointError> {
        let Some(file) = &self.file else { return Err(CheckpointError::Hollow { path: self.path.clone() }) };
        read_exact_at(file, out, offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                let length = file.metadata().map_or(0, |metadata| metadata.len());
                let expected = offset.saturating_add(out.len() as u64);
                CheckpointError::Truncated { path: self.path.clone(), expected, length }
            }
            _ => CheckpointError::Io { path: self.path.clone(), source },
        })
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

/// The Windows variant, not covered by any test run so far.
#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !out.is_empty() {
        match file.seek_read(out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                out = &mut out[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
