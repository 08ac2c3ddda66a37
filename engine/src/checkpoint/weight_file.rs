//! Weight files: recognized by content, read at offsets.

use std::{
    fs::File,
    io,
    num::NonZeroUsize,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::SystemTime,
};

use super::CheckpointError;

/// Bytes that are worth a thread of their own. From the file cache, one thread fills fresh memory at about 3 GB/s.
const SHARE: usize = 4 << 20;
/// The most threads that share a read.
const READERS: usize = 4;
/// Bytes of stack of such a thread, which only calls the system.
const STACK: usize = 128 << 10;
/// Bytes that the system is asked to read at a time: Linux reads no more than a device's read-ahead of each request, which
/// is as much as this by default.
const AHEAD: u64 = 128 << 10;

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

/// Some of a weight file's bytes.
#[derive(Debug, Clone)]
pub struct FilePart {
    pub(super) file: Arc<WeightFile>,
    /// Offsets of the bytes.
    pub(super) bytes: Range<u64>,
}

impl FilePart {
    /// All of a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is empty.
    pub fn whole(path: &Path) -> Result<Self, CheckpointError> {
        let file = WeightFile::open(path)?;
        Ok(Self { bytes: 0..file.length, file: Arc::new(file) })
    }

    /// How many bytes.
    pub fn length(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// Its parts that the system is asked for one by one, from the first byte to the last.
    pub fn pieces(&self) -> impl Iterator<Item = Self> {
        let Range { start, end } = self.bytes;
        let starts = (start..end).step_by(AHEAD as usize);
        starts.map(move |start| Self { bytes: start..end.min(start + AHEAD), file: Arc::clone(&self.file) })
    }

    /// Asks the system to get it into its file cache. Weights that are on no disk are there.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn expect(&self) -> Result<(), CheckpointError> {
        let Some(file) = &self.file.file else { return Ok(()) };
        expect(file, self.bytes.start, self.length()).map_err(|source| self.unread(source))
    }

    /// Waits until what was [expected](Self::expect) is there.
    ///
    /// # Errors
    /// Fails if the file became unreadable or shorter since it was opened.
    pub fn wait(&self) -> Result<(), CheckpointError> {
        let Some(file) = self.file.file.as_ref().filter(|_| self.length() > 0) else { return Ok(()) };
        read_exact_at(file, &mut [0], self.bytes.end - 1).map_err(|source| self.unread(source))
    }

    fn unread(&self, source: io::Error) -> CheckpointError {
        CheckpointError::Io { path: self.file.path.clone(), source }
    }
}

/// Gets bytes of a file into the system's file cache, without waiting for them.
#[cfg(target_os = "linux")]
fn expect(file: &File, offset: u64, length: u64) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise};
    Ok(fadvise(file, offset, std::num::NonZeroU64::new(length), Advice::WillNeed)?)
}

/// The same by reading them, which waits. Not covered by any test run so far.
#[cfg(not(target_os = "linux"))]
fn expect(file: &File, offset: u64, length: u64) -> io::Result<()> {
    read_exact_at(file, &mut vec![0; length as usize], offset)
}

/// Fills `out` with the bytes from `offset` on, with several threads if there are many.
fn read_shared(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    // Asking how many threads there are reads files, which takes longer than most tensors.
    let readers = match (out.len() / SHARE).min(READERS) {
        0 | 1 => 1,
        wanted => wanted.min(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
    };
    read_parts(file, out, offset, readers, STACK)
}

/// Fills `out` with as many threads of `stack` bytes as can be started, this one included, but not more than `readers`.
fn read_parts(file: &File, out: &mut [u8], offset: u64, readers: usize, stack: usize) -> io::Result<()> {
    let share = out.len().div_ceil(readers).max(1);
    let places = (0..).map(|index: u64| offset + index * share as u64);
    let parts = Mutex::new(out.chunks_mut(share).zip(places));
    let read = || -> io::Result<()> {
        loop {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((part, offset)) = next else { return Ok(()) };
            read_exact_at(file, part, offset)?;
        }
    };
    thread::scope(|scope| {
        let start = |_| {
            let thread = thread::Builder::new().name("sluice-read-part".to_owned()).stack_size(stack);
            // A limit of the process may refuse a thread. The others then read its part, too.
            thread.spawn_scoped(scope, read).ok()
        };
        let others: Vec<_> = (1..readers).map_while(start).collect();
        read()?;
        for other in others {
            other.join().map_err(|_| io::Error::other("a thread that reads weights panicked"))??;
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

    fn file_of(length: usize) -> (File, Vec<u8>) {
        let bytes: Vec<u8> = (0..length).map(|index| (index * 31 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        (file, bytes)
    }

    #[test]
    fn a_read_goes_on_if_no_thread_can_be_started() {
        let (file, bytes) = file_of(10_000);
        let no_memory_has_room = 1 << 50;
        let refused = thread::Builder::new().stack_size(no_memory_has_room).spawn(|| ());
        assert!(refused.is_err(), "the test needs a stack that no system grants");
        let mut out = vec![0; 9_000];
        read_parts(&file, &mut out, 500, 4, no_memory_has_room).unwrap();
        assert!(out == bytes[500..9_500]);
    }

    #[test]
    fn pieces_make_the_part_and_arrive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights");
        std::fs::write(&path, vec![1; 300_000]).unwrap();
        let whole = FilePart::whole(&path).unwrap();
        let part = FilePart { bytes: 1_000..280_000, ..whole.clone() };
        for part in [&whole, &part] {
            let pieces: Vec<_> = part.pieces().collect();
            assert_eq!((pieces[0].bytes.start, pieces[2].bytes.end), (part.bytes.start, part.bytes.end));
            assert!(pieces.len() == 3 && pieces.windows(2).all(|two| two[0].bytes.end == two[1].bytes.start));
            for piece in pieces {
                piece.expect().unwrap();
                piece.wait().unwrap();
            }
        }
        let past = FilePart { bytes: 0..300_001, ..whole.clone() };
        assert!(matches!(past.wait(), Err(CheckpointError::Io { .. })));
        assert_eq!(FilePart { bytes: 5..5, ..whole }.pieces().count(), 0);
        let hollow = FilePart { file: Arc::new(WeightFile::hollow(path)), bytes: 0..10 };
        hollow.expect().unwrap();
        hollow.wait().unwrap();
        assert!(matches!(FilePart::whole(&folder.path().join("none")), Err(CheckpointError::Io { .. })));
    }

    #[test]
    fn many_bytes_are_those_of_the_file_and_too_few_are_an_error() {
        let length = 3 * SHARE + 12_345;
        let (file, bytes) = file_of(length);
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
