//! Gets weights into the system's file cache before they are needed.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use crate::checkpoint::{CheckpointError, FilePart};

/// Bytes that are on their way at once.
const AT_ONCE: u64 = 8 << 20;

/// A thread that reads ahead. Dropping it ends it.
#[derive(Debug)]
pub struct ReadAhead {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl ReadAhead {
    /// Starts to read what `find` returns, on a thread that calls it: parts of files, in the order in which they are needed,
    /// and how many bytes of them at most.
    ///
    /// # Errors
    /// Fails if the system grants no thread.
    pub fn start(find: impl FnOnce() -> (Vec<FilePart>, u64) + Send + 'static) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let read = move || {
            let (parts, room) = find();
            read_through(&parts, room, &stopped)
        };
        let thread = thread::Builder::new().name("sluice-read-ahead".to_owned()).spawn(read)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Waits until everything is read; returns the bytes.
    #[cfg(test)]
    pub fn finish(mut self) -> u64 {
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

/// Reads the parts as long as `room` bytes reach; returns how many. A part that cannot be read is left to those who need it,
/// who say what is wrong.
fn read_through(parts: &[FilePart], room: u64, stop: &AtomicBool) -> u64 {
    let (mut read, mut ahead) = (0, Ahead::default());
    'parts: for part in parts {
        for piece in part.pieces() {
            let length = piece.length();
            if read + length > room || stop.load(Ordering::Relaxed) {
                break 'parts;
            }
            if let Err(error) = ahead.expect(piece) {
                tracing::warn!(%error, "weights cannot be read ahead");
                break;
            }
            read += length;
        }
    }
    tracing::debug!(bytes = read, "read ahead");
    read
}

/// What the system was asked for and is on its way. It is little, because what a run reads itself waits for all that was asked
/// for before.
#[derive(Default)]
struct Ahead {
    pieces: VecDeque<FilePart>,
    bytes: u64,
}

impl Ahead {
    fn expect(&mut self, piece: FilePart) -> Result<(), CheckpointError> {
        piece.expect()?;
        self.bytes += piece.length();
        self.pieces.push_back(piece);
        while self.bytes > AT_ONCE
            && let Some(first) = self.pieces.pop_front()
        {
            self.bytes -= first.length();
            first.wait()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_in_order_until_the_room_is_used_up() {
        let folder = tempfile::tempdir().unwrap();
        let [large, small] = [("a", 3_000_000_usize), ("b", 10)].map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![1; bytes]).unwrap();
            FilePart::whole(&path).unwrap()
        });
        let parts = vec![large, small];
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        assert_eq!(read_through(&parts, u64::MAX, &go), 3_000_010);
        assert_eq!(read_through(&parts, 3_000_009, &go), 3_000_000);
        assert_eq!(read_through(&parts, u64::MAX, &stop), 0);
        let in_whole_pieces = ReadAhead::start(move || (parts, 2_000_000)).unwrap().finish();
        assert!((1_800_000..=2_000_000).contains(&in_whole_pieces), "{in_whole_pieces}");
    }
}
