//! Places in the work of a card.

use std::time::Duration;

use candle_core::{Result, cuda::WrapErr as _};
use cudarc::driver::CudaEvent;

/// A place in what a card was told to compute.
#[derive(Debug)]
pub struct CardEvent(CudaEvent);

impl CardEvent {
    /// That of an event which was recorded in a stream.
    pub(super) fn new(event: CudaEvent) -> Self {
        Self(event)
    }

    /// Whether everything before it is done. A card that failed is done with everything.
    pub fn has_come(&self) -> bool {
        self.0.try_is_complete().unwrap_or(true)
    }

    /// What has passed between two of them; waits for both.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        let milliseconds = earlier.0.elapsed_ms(&self.0).w()?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}
