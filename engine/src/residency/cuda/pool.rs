//! The counters of a GPU's memory pool.

use std::{ffi::c_void, ptr::from_mut, sync::Arc};

use candle_core::{Result, cuda::WrapErr as _};
use cudarc::driver::{CudaContext, result, sys};

use crate::hardware::DevicePool;

/// The CUDA memory pool that cudarc allocates from. It keeps freed memory until [`DevicePool::give_back`], so
/// NVML reports more than is in use; the pool's own counters are exact.
#[derive(Debug)]
pub struct Pool {
    pool: sys::CUmemoryPool,
    /// Keeps the context alive, and with it the pool.
    context: Arc<CudaContext>,
}

// SAFETY: the handle is only passed to the driver, whose pool functions may be called from any thread.
unsafe impl Send for Pool {}
// SAFETY: as above; there is no mutable state on this side.
unsafe impl Sync for Pool {}

impl Pool {
    /// The default pool of a GPU.
    pub fn of(context: &Arc<CudaContext>) -> Result<Self> {
        context.bind_to_thread().w()?;
        // SAFETY: the device belongs to an existing context.
        let pool = unsafe { result::device::get_mem_pool(context.cu_device()) }.w()?;
        // Otherwise the driver takes freed memory back whenever something waits for the GPU, and every step
        // of a streamed run waits for copies.
        let mut kept = u64::MAX;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is valid, and this attribute is 64 bits wide.
        unsafe { result::mem_pool::set_attribute(pool, threshold, from_mut(&mut kept).cast::<c_void>()) }
            .w()?;
        Ok(Self { pool, context: Arc::clone(context) })
    }

    /// Bytes reserved from the driver.
    pub fn reserved(&self) -> u64 {
        self.read(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    }

    /// Total and free bytes of the GPU.
    fn total_and_free(&self) -> Option<[u64; 2]> {
        match self.context.mem_get_info() {
            Ok((free, total)) => Some([total as u64, free as u64]),
            Err(error) => {
                tracing::warn!(%error, "the GPU's free memory cannot be read");
                None
            }
        }
    }

    fn read(&self, counter: sys::CUmemPool_attribute) -> u64 {
        let mut value = 0_u64;
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the pool lives as long as its context, and these counters are 64 bits wide.
            unsafe {
                result::mem_pool::get_attribute(self.pool, counter, from_mut(&mut value).cast::<c_void>())
            }
        });
        match answer {
            Ok(()) => value,
            Err(error) => {
                tracing::warn!(%error, "the GPU memory in use cannot be read");
                0
            }
        }
    }
}

/// The part of the `reserved` bytes that cannot be in VRAM when `uses` bytes of VRAM are in use by all
/// processes.
///
/// When VRAM is full, NVIDIA's Windows driver (since version 536) falls back to host memory instead of
/// failing, and everything becomes many times slower.
fn spilled(reserved: u64, uses: u64) -> u64 {
    reserved.saturating_sub(uses)
}

impl DevicePool for Pool {
    fn used(&self) -> u64 {
        self.read(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    }

    fn take_most(&self) -> u64 {
        let counter = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
        let most = self.read(counter);
        let mut fresh = 0_u64;
        // SAFETY: as in `read`. Zero is the only value this counter can be set to; it restarts from there.
        let answer = unsafe {
            result::mem_pool::set_attribute(self.pool, counter, from_mut(&mut fresh).cast::<c_void>())
        };
        if let Err(error) = answer {
            tracing::warn!(%error, "the GPU's memory peak cannot be reset");
        }
        most
    }

    fn others(&self) -> u64 {
        self.total_and_free().map_or(0, |[total, free]| (total - free).saturating_sub(self.reserved()))
    }

    fn available(&self) -> u64 {
        self.total_and_free().map_or(0, |[_, free]| free + self.reserved())
    }

    fn spilled(&self) -> u64 {
        self.total_and_free().map_or(0, |[total, free]| spilled(self.reserved(), total - free))
    }

    fn settle(&self) {
        if let Err(error) = self.context.synchronize() {
            tracing::warn!(%error, "waiting for the GPU failed");
        }
    }

    fn give_back(&self) {
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the pool lives as long as its context; memory in use is not affected.
            unsafe { result::mem_pool::trim_to(self.pool, 0) }
        });
        if let Err(error) = answer {
            tracing::warn!(%error, "unused memory could not be returned to the driver");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_card_does_not_have_is_elsewhere() {
        assert_eq!(spilled(6 << 30, 7 << 30), 0);
        assert_eq!(spilled(10 << 30, 8 << 30), 2 << 30);
    }
}
