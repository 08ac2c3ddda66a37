//! When something was last heard at a pipe, even in the middle of a long message.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Tells how long a pipe has been silent.
#[derive(Debug, Clone)]
pub struct Pulse {
    started: Instant,
    /// Milliseconds from the start to the last bytes.
    last: Arc<AtomicU64>,
}

impl Pulse {
    /// Counts from now.
    pub fn start() -> Self {
        Self { started: Instant::now(), last: Arc::default() }
    }

    /// How long nothing has been heard.
    pub fn silence(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }

    fn beat(&self) {
        self.last.store(self.started.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// A reader that notes when it receives something.
    pub fn of<R: Read>(&self, inner: R) -> Heeded<R> {
        Heeded { inner, pulse: self.clone() }
    }
}

/// See [`Pulse::of`].
pub struct Heeded<R> {
    inner: R,
    pulse: Pulse,
}

impl<R: Read> Read for Heeded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.pulse.beat();
        Ok(count)
    }
}
