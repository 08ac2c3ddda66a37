//! Moments in the work of a device.

use std::{
    thread,
    time::{Duration, Instant},
};

use candle_core::Result;

/// Sleeping is only exact to about this much; the rest is waited for awake.
const SLEEP_ERROR: Duration = Duration::from_micros(100);

/// A point in the work of a device, recorded when the work was queued.
///
/// The processor works at once. A card works asynchronously: its moment comes when everything that was queued before is
/// done.
#[derive(Debug)]
pub enum Moment {
    /// On the machine's clock; it may lie ahead.
    At(Instant),
    /// On the clock of a card.
    #[cfg(feature = "cuda")]
    OfCard(super::cuda::event::CardEvent),
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self::At(Instant::now())
    }

    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        match self {
            Self::At(instant) => Instant::now() >= *instant,
            #[cfg(feature = "cuda")]
            Self::OfCard(event) => event.has_come(),
        }
    }

    /// The time from `earlier` to it. Waits until it has come.
    ///
    /// # Errors
    /// When the card failed before it could come.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        match (self, earlier) {
            (Self::At(later), Self::At(earlier)) => {
                wait_until(*later);
                Ok(later.saturating_duration_since(*earlier))
            }
            #[cfg(feature = "cuda")]
            (Self::OfCard(later), Self::OfCard(earlier)) => later.since(earlier),
            #[cfg(feature = "cuda")]
            _ => candle_core::bail!("moments of two devices"),
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
