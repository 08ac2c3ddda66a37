//! Device memory, and copies to it.

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

/// A device's memory and the link to it. The copy thread calls [`upload`](Self::upload); a back end brings
/// its own streams and events.
pub trait DeviceMemory: Send + Sync + fmt::Debug {
    /// The device that computes.
    fn device(&self) -> &Device;

    /// Whether the device computes in host memory, so that nothing is copied.
    fn is_unified(&self) -> bool;

    /// Allocates device memory for these sizes.
    fn allocate(&self, sizes: &Sizes) -> Result<Buffer>;

    /// Allocates host memory from which copies to the device are fast.
    fn allocate_host(&self, sizes: &Sizes) -> Result<Buffer>;

    /// Copies the first values of each dtype from the host to the device and returns when they have arrived, with
    /// the time that the link took; waiting for passes that still read the destination does not count. Stops
    /// early and returns `None` when `go_on` returns `false`. The destination knows until when it is read:
    /// [`Buffer::set_read_until`].
    fn upload(
        &self,
        from: &Buffer,
        to: &Buffer,
        sizes: &Sizes,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Duration>>;

    /// Waits until the device has read a buffer for the last time, which the CPU is about to write. For devices that compute in
    /// host memory.
    fn await_readers(&self, _buffer: &Buffer) -> Result<()> {
        Ok(())
    }

    /// The moment when the device has finished everything queued so far.
    fn moment(&self) -> Result<Moment> {
        Ok(Moment::now())
    }

    /// The device's own memory counters, if it has any.
    fn pool(&self) -> Option<Arc<dyn DevicePool>> {
        None
    }

    /// How many times longer computations take than on this machine; 1 unless a slower device is simulated.
    fn slowdown(&self) -> f64 {
        1.0
    }
}

/// Bytes copied between checks whether to continue.
pub(super) const PIECE: usize = 4 << 20;

/// The CPU: weights are used where they were read to.
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

    fn upload(
        &self,
        from: &Buffer,
        to: &Buffer,
        sizes: &Sizes,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Duration>> {
        let started = Instant::now();
        Ok(to.copy_from(from, sizes, PIECE, |_| go_on())?.then(|| started.elapsed()))
    }
}

/// A simulated GPU. Its memory is host memory under a budget that the
/// [`MemoryAccount`](crate::hardware::MemoryAccount) enforces, and its copies take as long as over the real
/// link.
#[derive(Debug)]
pub struct SimulatedCard {
    bytes_per_second: f64,
    latency: Duration,
    slowdown: f64,
    /// Admits one transfer at a time.
    link: Mutex<()>,
}

/// How far a transfer may run ahead of the simulated link before it sleeps. Waiting after each piece would
/// keep a core busy.
const HEAD_START: Duration = Duration::from_millis(5);

impl SimulatedCard {
    /// A GPU behind a link with this many bytes per second, and `latency` seconds per transfer.
    pub fn new(bytes_per_second: f64, latency: f64) -> Self {
        let latency = Duration::try_from_secs_f64(latency).unwrap_or_default();
        Self { bytes_per_second: bytes_per_second.max(1.0), latency, slowdown: 1.0, link: Mutex::new(()) }
    }

    /// The same GPU with computations `factor` times slower than on this machine.
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

    fn upload(
        &self,
        from: &Buffer,
        to: &Buffer,
        sizes: &Sizes,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Duration>> {
        let _link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let mut due = started + self.latency;
        let finished = to.copy_from(from, sizes, PIECE, |bytes| {
            due += Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
            while due.saturating_duration_since(Instant::now()) > HEAD_START && go_on() {
                thread::sleep(HEAD_START);
            }
            go_on()
        })?;
        Ok(finished.then(|| {
            wait_until(due);
            started.elapsed()
        }))
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
        let of_link = card.upload(&from, &to, &sizes, &|| true).unwrap().unwrap();
        // 10 MB at 1 GB/s plus 1 ms. It takes longer on a busy machine.
        assert!(of_link >= Duration::from_millis(11) && of_link <= started.elapsed());
    }

    #[test]
    fn an_upload_can_be_stopped() {
        let card = SimulatedCard::new(1e6, 0.0);
        let sizes = [3_000_000, 0, 0, 0];
        let (from, to) = (card.allocate_host(&sizes).unwrap(), card.allocate(&sizes).unwrap());
        let stopped = card.upload(&from, &to, &[1_000, 0, 0, 0], &|| false).unwrap();
        assert_eq!(stopped, None);
    }
}
