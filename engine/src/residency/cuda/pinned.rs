//! The host's memory that a card reads by itself.

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

/// Less is not worth it, and may share a page with other memory, which can be pinned but once.
const SMALLEST: usize = 1 << 20;

/// How much may be pinned, and how much is.
#[derive(Debug)]
pub struct PinnedBudget {
    most: u64,
    pinned: AtomicU64,
}

impl PinnedBudget {
    /// At most so many bytes.
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

/// Memory that stays where it is, and whose pages the driver knows, as long as this lives.
#[derive(Debug)]
struct Pin {
    /// Keeps the memory.
    _part: Tensor,
    address: usize,
    bytes: u64,
    context: Arc<CudaContext>,
    budget: Arc<PinnedBudget>,
}

impl Drop for Pin {
    fn drop(&mut self) {
        let answer = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the memory was registered when this was made and is alive until after this.
            unsafe { sys::cuMemHostUnregister(self.address as *mut c_void) }.result()
        });
        if let Err(error) = answer {
            tracing::warn!(%error, "pinned memory could not be released");
        }
        self.budget.give_back(self.bytes);
    }
}

/// Pins the memory of a buffer on the host as far as the budget goes. What cannot be pinned is copied through buffers
/// that are.
pub fn pin(buffer: &Buffer, context: &Arc<CudaContext>, budget: &Arc<PinnedBudget>) -> Result<Pins> {
    context.bind_to_thread().w()?;
    let mut pins: Pins = Vec::new();
    for part in buffer.parts() {
        let (address, bytes) = memory(part)?;
        if bytes < SMALLEST || !budget.take(bytes as u64) {
            continue;
        }
        // SAFETY: the range is the tensor's own memory, which is not moved and lives as long as the pin, which has a
        // clone of the tensor and unregisters before that goes.
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

/// Where the values of a flat tensor on the processor are, and their bytes.
fn memory(part: &Tensor) -> Result<(usize, usize)> {
    fn of<T>(values: &[T]) -> (usize, usize) {
        (values.as_ptr() as usize, size_of_val(values))
    }
    let (storage, _) = part.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("memory of a card cannot be pinned") };
    Ok(match storage {
        CpuStorage::F32(values) => of(values),
        CpuStorage::F16(values) => of(values),
        CpuStorage::BF16(values) => of(values),
        CpuStorage::U8(values) => of(values),
        _ => bail!("weights are floats of 16 or 32 bits, or bytes"),
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
