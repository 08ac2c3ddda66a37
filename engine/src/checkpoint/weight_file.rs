//! Weight files: recognized by content, read at offsets.

use std::{
    fs::File,
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    thread,
    time::SystemTime,
};

use super::CheckpointError;

/// Bytes that are worth a thread of their own. From the file cache, one thread fills fresh memory at about 3 GB/s.
const SHARE: usize = 4 << 20;
/// The most threads that share a read.
const READERS: usize = 4;

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
        read_shared(file, out, offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                let length = file.metadata().map_or(0, |metadata| metadata.len());
                let expected = offset.saturating_add(out.len() as u64);
                CheckpointError::Truncated { path: self.path.clone(), expected, length }
            }
            _ => CheckpointError::Io { path: self.path.clone(), source },
        })
    }
}

/// Fills `out` with the bytes from `offset` on, with several threads if there are many.
fn read_shared(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    let here = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let readers = (out.len() / SHARE).clamp(1, READERS.min(here));
    let share = out.len().div_ceil(readers).max(1);
    thread::scope(|scope| {
        let places = (0..).map(|index: u64| offset + index * share as u64);
        let mut parts = out.chunks_mut(share).zip(places);
        let Some((first, offset)) = parts.next() else { return Ok(()) };
        let others: Vec<_> = parts
            .map(|(part, offset)| {
                let read = move || read_exact_at(file, part, offset);
                thread::Builder::new().name("sluice-read-part".to_owned()).spawn_scoped(scope, read)
            })
            .collect();
        read_exact_at(file, first, offset)?;
        for other in others {
            other?.join().map_err(|_| io::Error::other("a thread that reads weights panicked"))??;
        }
        Ok(())
    })
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn many_bytes_are_those_of_the_file_and_too_few_are_an_error() {
        let length = 3 * SHARE + 12_345;
        let bytes: Vec<u8> = (0..length).map(|index| (index * 31 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        for (first, count) in [(0, length), (7, length - 7), (length - 5, 5), (9, 0), (1, 2 * SHARE)] {
            let mut out = vec![0; count];
            read_shared(&file, &mut out, first as u64).unwrap();
            assert!(out == bytes[first..first + count], "{count} from {first}");
        }
        let mut out = vec![0; length];
        let error = read_shared(&file, &mut out, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
