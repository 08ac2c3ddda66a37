//! A file of weights: recognised by what it holds, read at given places.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::CheckpointError;

/// An open file of weights. It is read at given offsets and never memory-mapped: if another program shortens the file,
/// a map would end this process, while a read returns an error.
#[derive(Debug)]
pub struct WeightFile {
    path: PathBuf,
    file: File,
    length: u64,
    /// When it was last written, where the file system says so.
    modified: Option<SystemTime>,
}

/// What the first bytes of a file say that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Begins as GGUF does.
    Gguf,
    /// A Python pickle, or the archive that PyTorch puts pickles in.
    Pickle,
    /// May be safetensors, which has no mark of its own but the brace of its header.
    Safetensors,
    /// None of them.
    Other,
}

/// What kind of file this is, by its first bytes.
///
/// # Errors
/// When the file cannot be read or is empty.
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
        Ok(Self { path: path.to_owned(), file, length, modified: metadata.modified().ok() })
    }

    /// Equal for files of the same content, as far as place, length and time say.
    pub fn identity(&self) -> String {
        format!("{} {} {:?}", self.path.display(), self.length, self.modified)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes it had when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What its first bytes say that it is.
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
    /// When the file has become unreadable or shorter since it was opened.
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> Result<(), CheckpointError> {
        read_exact_at(&self.file, out, offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                let length = self.file.metadata().map_or(0, |metadata| metadata.len());
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

/// The twin for Windows, which no test here has run.
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
