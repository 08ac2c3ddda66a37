//! The counters of the pool that tensors on a card come from.

use std::{ffi::c_void, ptr::from_mut, sync::Arc};

use candle_core::{Result, cuda::WrapErr as _};
use cudarc::driver::{CudaContext, result, sys};

use crate::hardware::DevicePool;

/// The pool of a card that cudarc allocates from. It keeps what is freed, so that what NVML counts for the process is
/// more than what is in use; its own counters know.
#[derive(Debug)]
pub struct Pool {
    pool: sys::CUmemoryPool,
    /// The pool is gone when its context is.
    context: Arc<CudaContext>,
}

// SAFETY: the handle is only passed to the driver, whose functions for pools may be called from any thread.
unsafe impl Send for Pool {}
// SAFETY: as above; no state is changed on this side.
unsafe impl Sync for Pool {}

impl Pool {
    /// That of a card.
    pub fn of(context: &Arc<CudaContext>) -> Result<Self> {
        context.bind_to_thread().w()?;
        // SAFETY: the device comes from a context that exists.
        let pool = unsafe { result::device::get_mem_pool(context.cu_device()) }.w()?;
        Ok(Self { pool, context: Arc::clone(context) })
    }

    /// Bytes that it has from the driver.
    pub fn reserved(&self) -> u64 {
        self.read(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    }

    /// Bytes that the card has, and those that nobody has taken.
    fn total_and_free(&self) -> Option<[u64; 2]> {
        match self.context.mem_get_info() {
            Ok((free, total)) => Some([total as u64, free as u64]),
            Err(error) => {
                tracing::warn!(%error, "the free memory of the card cannot be read");
                None
            }
        }
    }

    fn read(&self, counter: sys::CUmemPool_attribute) -> u64 {
        let mut value = 0_u64;
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the pool lives as long as its context, and these counters are of 64 bits.
            unsafe {
                result::mem_pool::get_attribute(self.pool, counter, from_mut(&mut value).cast::<c_void>())
            }
        });
        match answer {
            Ok(()) => value,
            Err(error) => {
                tracing::warn!(%error, "the memory in use on the card cannot be read");
                0
            }
        }
    }
}

/// Bytes of the `reserved` ones that cannot be among those of the card that somebody `uses`.
///
/// Since version 536, NVIDIA's driver for Windows takes the host's memory where a card's is used up, instead of
/// refusing; everything goes on, many times slower.
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
        // SAFETY: as in `read`; zero is the one value that this counter can be set to, and it begins anew from there.
        let answer = unsafe {
            result::mem_pool::set_attribute(self.pool, counter, from_mut(&mut fresh).cast::<c_void>())
        };
        if let Err(error) = answer {
            tracing::warn!(%error, "the memory peak of the card cannot be reset");
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
            tracing::warn!(%error, "waiting for the card failed");
        }
    }

    fn give_back(&self) {
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the pool lives as long as its context; what is in use stays.
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
