//! What Metal says about the memory in use.

use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::MetalDevice;

use crate::hardware::DevicePool;

/// The counter of a GPU's memory in use. It has no peak, so the highest value that was read stands for it: read after a block is
/// queued, it counts all that the block allocated, because the tensor library frees nothing before it waits for the GPU.
#[derive(Debug)]
pub struct Pool {
    device: MetalDevice,
    most: AtomicU64,
}

impl Pool {
    /// The counter of a GPU.
    pub fn of(device: &MetalDevice) -> Self {
        Self { device: device.clone(), most: AtomicU64::new(0) }
    }

    /// Bytes that the system recommends to use at most.
    pub fn limit(&self) -> u64 {
        self.device.metal_device().recommended_max_working_set_size() as u64
    }

    /// Waits for the GPU, after which the tensor library frees what nothing uses.
    fn sweep(&self) {
        if let Err(error) = self.device.flush_and_wait_current() {
            tracing::warn!(%error, "waiting for the GPU failed");
        }
    }
}

impl DevicePool for Pool {
    fn used(&self) -> u64 {
        let used = self.device.metal_device().current_allocated_size() as u64;
        self.most.fetch_max(used, Ordering::Relaxed);
        used
    }

    fn take_most(&self) -> u64 {
        let used = self.used();
        self.most.swap(used, Ordering::Relaxed)
    }

    fn others(&self) -> u64 {
        // Metal counts the memory of this process only.
        0
    }

    fn available(&self) -> u64 {
        self.limit()
    }

    fn spilled(&self) -> u64 {
        // There is no other memory to go to.
        0
    }

    fn settle(&self) {
        self.sweep();
    }

    fn give_back(&self) {
        self.sweep();
    }
}
