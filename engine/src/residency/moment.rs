//! Moments in the work of a device.

use std::time::{Duration, Instant};

use candle_core::Result;

/// A moment in the work of a device, taken down when the device was told of it.
///
/// The processor does what it is told at once. A card does it later: a moment of its comes when everything is done that
/// it was told before.
#[derive(Debug)]
pub enum Moment {
    /// On the machine's clock; it may lie ahead.
    At(Instant),
    /// On the clock of a card.
    #[cfg(feature = "cuda")]
    OfCard(super::cuda::CardEvent),
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

    /// What has passed from `earlier` to it. Waits until it has come.
    ///
    /// # Errors
    /// When the card failed before it could come.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        match (self, earlier) {
            (Self::At(later), Self::At(earlier)) => {
                super::device::wait_until(*later);
                Ok(later.saturating_duration_since(*earlier))
            }
            #[cfg(feature = "cuda")]
            (Self::OfCard(later), Self::OfCard(earlier)) => later.since(earlier),
            #[cfg(feature = "cuda")]
            _ => candle_core::bail!("moments of two devices"),
        }
    }
}
