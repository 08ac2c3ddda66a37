//! Devices as the runtime sees them: where weights are computed with, and how they get there.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use candle_core::{Device, Result};

use super::{
    buffer::{Buffer, Sizes},
    moment::{Moment, wait_until},
};
use crate::hardware::DevicePool;

/// A device's memory and the way to it. The copy thread calls [`upload`](Self::upload); a back end brings its own
/// streams and events behind it.
pub trait DeviceMemory: Send + Sync + fmt::Debug {
    /// What the tensors are computed on.
    fn device(&self) -> &Device;

    /// Whether the device computes in the host's memory, so that there is nothing to copy.
    fn is_unified(&self) -> bool;

    /// Allocates memory for values of each dtype.
    fn allocate(&self, sizes: &Sizes) -> Result<Buffer>;

    /// Allocates memory on the host from which copies to the device are fast.
    fn allocate_host(&self, sizes: &Sizes) -> Result<Buffer>;

    /// Copies the first values of each dtype from the host to the device and returns when they are there. Stops
    /// early and returns `false` when `go_on` does.
    fn upload(&self, from: &Buffer, to: &Buffer, sizes: &Sizes, go_on: &dyn Fn() -> bool) -> Result<bool>;

    /// The moment at which the device has done everything that was queued so far.
    fn moment(&self) -> Result<Moment> {
        Ok(Moment::now())
    }

    /// The device's own count of its memory, if it has one.
    fn pool(&self) -> Option<Arc<dyn DevicePool>> {
        None
    }

    /// How many times as long computations take as on this machine; 1 unless a slower device is simulated.
    fn slowdown(&self) -> f64 {
        1.0
    }
}

/// Bytes that are copied between two checks whether to go on.
const PIECE: usize = 4 << 20;

/// The processor: weights are used where they were read to.
#[derive(Debug)]
pub struct CpuMemory;

impl DeviceMemory for CpuMemory {
    fn device(&self) -> &Device {
        &Device::Cpu
    }

    fn is_unified(&self) -> bool {
        true
    }

    fn allocate(&self, sizes: &Sizes) -> Result<Buffer> {
        Buffer::new(sizes, &Device::Cpu)
    }

    fn allocate_host(&self, sizes: &Sizes) -> Result<Buffer> {
        Buffer::new(sizes, &Device::Cpu)
    }

    fn upload(&self, from: &Buffer, to: &Buffer, sizes: &Sizes, go_on: &dyn Fn() -> bool) -> Result<bool> {
        to.copy_from(from, sizes, PIECE, |_| go_on())
    }
}

/// A card that is not there: its memory is the machine's, under a budget that the
/// [`MemoryAccount`](crate::hardware::MemoryAccount) enforces, and its link takes as long as the real one.
#[derive(Debug)]
pub struct SimulatedCard {
    bytes_per_second: f64,
    latency: Duration,
    slowdown: f64,
    /// One transfer at a time.
    link: Mutex<()>,
}

/// How far a transfer may run ahead of its simulated link before it sleeps: waiting after each piece would keep a core
/// busy.
const HEAD_START: Duration = Duration::from_millis(5);

impl SimulatedCard {
    /// A card behind a link of this many bytes a second, each transfer taking `latency` seconds more.
    pub fn new(bytes_per_second: f64, latency: f64) -> Self {
        let latency = Duration::try_from_secs_f64(latency).unwrap_or_default();
        Self { bytes_per_second: bytes_per_second.max(1.0), latency, slowdown: 1.0, link: Mutex::new(()) }
    }

    /// The same card, on which computations take `factor` times as long as here.
    pub fn with_slowdown(mut self, factor: f64) -> Self {
        self.slowdown = factor.max(1.0);
        self
    }
}

impl DeviceMemory for SimulatedCard {
    fn device(&self) -> &Device {
        &Device::Cpu
    }

    fn is_unified(&self) -> bool {
        false
    }

    fn allocate(&self, sizes: &Sizes) -> Result<Buffer> {
        Buffer::new(sizes, &Device::Cpu)
    }

    fn allocate_host(&self, sizes: &Sizes) -> Result<Buffer> {
        Buffer::new(sizes, &Device::Cpu)
    }

    fn upload(&self, from: &Buffer, to: &Buffer, sizes: &Sizes, go_on: &dyn Fn() -> bool) -> Result<bool> {
        let _link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let mut due = started + self.latency;
        let finished = to.copy_from(from, sizes, PIECE, |bytes| {
            due += Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
            if due.saturating_duration_since(Instant::now()) > HEAD_START {
                thread::sleep(HEAD_START);
            }
            go_on()
        })?;
        if finished {
            wait_until(due);
        }
        Ok(finished)
    }

    fn slowdown(&self) -> f64 {
        self.slowdown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_link_takes_as_long_as_it_should() {
        let card = SimulatedCard::new(1e9, 1e-3);
        let sizes = [2_500_000, 0, 0, 0];
        let (from, to) = (card.allocate_host(&sizes).unwrap(), card.allocate(&sizes).unwrap());
        let started = Instant::now();
        assert!(card.upload(&from, &to, &sizes, &|| true).unwrap());
        // 10 MB at 1 GB/s and a millisecond. How much longer it takes depends on who else computes.
        assert!(started.elapsed() >= Duration::from_millis(11));
    }

    #[test]
    fn an_upload_can_be_stopped() {
        let card = SimulatedCard::new(1e6, 0.0);
        let sizes = [3_000_000, 0, 0, 0];
        let (from, to) = (card.allocate_host(&sizes).unwrap(), card.allocate(&sizes).unwrap());
        let stopped = card.upload(&from, &to, &[1_000, 0, 0, 0], &|| false).unwrap();
        assert!(!stopped);
    }
}
