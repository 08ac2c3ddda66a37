//! Moments in a device's work.

use std::{
    thread,
    time::{Duration, Instant},
};

use candle_core::Result;

/// The accuracy of sleeping; the last bit is waited for in a busy loop.
const SLEEP_ERROR: Duration = Duration::from_micros(100);

/// A point in a device's work, recorded when the work was queued.
///
/// The CPU works synchronously. A GPU works asynchronously: its moment comes when everything queued before is
/// done.
#[derive(Debug)]
pub enum Moment {
    /// On the machine's clock; it may lie in the future.
    At(Instant),
    /// On a GPU's clock.
    #[cfg(feature = "cuda")]
    OfCard(super::cuda::event::CardEvent),
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self::At(Instant::now())
    }

    /// Whether it has passed.
    pub fn has_come(&self) -> bool {
        match self {
            Self::At(instant) => Instant::now() >= *instant,
            #[cfg(feature = "cuda")]
            Self::OfCard(event) => event.has_come(),
        }
    }

    /// The time since `earlier`. Waits for this moment.
    ///
    /// # Errors
    /// Fails if the GPU failed before this moment.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        match (self, earlier) {
            (Self::At(later), Self::At(earlier)) => {
                wait_until(*later);
                Ok(later.saturating_duration_since(*earlier))
            }
            #[cfg(feature = "cuda")]
            (Self::OfCard(later), Self::OfCard(earlier)) => later.since(earlier),
            #[cfg(feature = "cuda")]
            _ => candle_core::bail!("the moments belong to different devices"),
        }
    }
}

/// Returns at this instant, not earlier and hardly later.
pub fn wait_until(moment: Instant) {
    let left = moment.saturating_duration_since(Instant::now());
    if left > SLEEP_ERROR {
        thread::sleep(left - SLEEP_ERROR);
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}
