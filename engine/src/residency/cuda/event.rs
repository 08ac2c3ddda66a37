//! Events in the streams of a GPU.

use std::time::Duration;

use candle_core::{Result, cuda::WrapErr as _};
use cudarc::driver::{CudaEvent, CudaStream};

/// A point in the work queued on a GPU.
#[derive(Debug)]
pub struct CardEvent(CudaEvent);

impl CardEvent {
    /// Wraps an event recorded in a stream.
    pub(super) fn new(event: CudaEvent) -> Self {
        Self(event)
    }

    /// Makes what is queued on a stream from now on wait for it.
    pub(super) fn hold(&self, stream: &CudaStream) -> Result<()> {
        stream.wait(&self.0).w()
    }

    /// Whether all work before it is done. Always true on a GPU that failed.
    pub fn has_come(&self) -> bool {
        self.0.try_is_complete().unwrap_or(true)
    }

    /// The time between two events; waits for both.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        elapsed(&earlier.0, &self.0)
    }
}

/// The time between two events; waits for both.
pub(super) fn elapsed(first: &CudaEvent, last: &CudaEvent) -> Result<Duration> {
    let milliseconds = first.elapsed_ms(last).w()?;
    Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
}
