//! Pinned host memory, which a GPU reads directly.

use std::{
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use candle_core::{CpuStorage, Result, Storage, Tensor, bail, cuda::WrapErr as _};
use cudarc::driver::{CudaContext, sys};

use crate::residency::buffer::{Buffer, Pins};

/// Smaller allocations are not worth pinning, and may share a page with others; a page can be pinned only
/// once.
const SMALLEST: usize = 1 << 20;

/// The limit on pinned bytes, and how many are pinned.
#[derive(Debug)]
pub struct PinnedBudget {
    most: u64,
    pinned: AtomicU64,
}

impl PinnedBudget {
    /// A budget of `most` bytes.
    pub fn new(most: u64) -> Self {
        Self { most, pinned: AtomicU64::new(0) }
    }

    fn take(&self, bytes: u64) -> bool {
        let taken = self.pinned.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.most;
        if !taken {
            self.pinned.fetch_sub(bytes, Ordering::Relaxed);
        }
        taken
    }

    fn give_back(&self, bytes: u64) {
        self.pinned.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Memory that does not move, registered with the driver for the lifetime of this value.
#[derive(Debug)]
struct Pin {
    /// Keeps the memory alive.
    _part: Tensor,
    address: usize,
    bytes: u64,
    context: Arc<CudaContext>,
    budget: Arc<PinnedBudget>,
}

impl Drop for Pin {
    fn drop(&mut self) {
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the memory was registered on construction and outlives this value.
            unsafe { sys::cuMemHostUnregister(self.address as *mut c_void) }.result()
        });
        if let Err(error) = answer {
            tracing::warn!(%error, "pinned memory could not be released");
        }
        self.budget.give_back(self.bytes);
    }
}

/// Pins the host memory of a buffer as far as the budget allows. What is not pinned is copied through pinned
/// staging buffers.
pub fn pin(buffer: &Buffer, context: &Arc<CudaContext>, budget: &Arc<PinnedBudget>) -> Result<Pins> {
    context.bind_to_thread().w()?;
    let mut pins: Pins = Vec::new();
    for part in buffer.parts() {
        let (address, bytes) = memory(part)?;
        if bytes < SMALLEST || !budget.take(bytes as u64) {
            continue;
        }
        // SAFETY: the range is the tensor's own memory, which does not move. The pin holds a clone of the
        // tensor and unregisters the memory before dropping it.
        let answer = unsafe { sys::cuMemHostRegister_v2(address as *mut c_void, bytes, 0) }.result();
        match answer {
            Ok(()) => pins.push(Arc::new(Pin {
                _part: part.clone(),
                address,
                bytes: bytes as u64,
                context: Arc::clone(context),
                budget: Arc::clone(budget),
            })),
            Err(error) => {
                tracing::debug!(%error, bytes, "memory could not be pinned");
                budget.give_back(bytes as u64);
            }
        }
    }
    Ok(pins)
}

/// Address and byte length of a flat tensor's memory on the CPU.
fn memory(part: &Tensor) -> Result<(usize, usize)> {
    fn of<T>(values: &[T]) -> (usize, usize) {
        (values.as_ptr() as usize, size_of_val(values))
    }
    let (storage, _) = part.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("GPU memory cannot be pinned") };
    Ok(match storage {
        CpuStorage::F32(values) => of(values),
        CpuStorage::F16(values) => of(values),
        CpuStorage::BF16(values) => of(values),
        CpuStorage::U8(values) => of(values),
        _ => bail!("weights must be 16-bit or 32-bit floats, or bytes"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_pinned_than_may_be() {
        let budget = PinnedBudget::new(100);
        assert!(budget.take(60) && !budget.take(41) && budget.take(40));
        budget.give_back(60);
        assert!(budget.take(60) && !budget.take(1));
    }
}
