//! NVIDIA GPUs.
//!
//! Computation is queued on one stream, copies on another. A copy waits on the GPU for the [moment](Moment) until which its
//! destination is read, and a block is queued after its weights have arrived. cudarc could order the streams, with two events
//! for each tensor; a step of a small model would then wait for the CPU that makes, records and waits for them.

pub(super) mod event;
mod fault;
mod pinned;
mod pool;
#[cfg(test)]
mod tests;
mod upload;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use candle_core::{Device, Result, backend::BackendDevice as _, cuda::WrapErr as _};
use cudarc::driver::{CudaContext, CudaStream, result, sys};

use super::{
    buffer::{Buffer, Sizes},
    device::DeviceMemory,
    moment::Moment,
};
use crate::hardware::DevicePool;
use event::CardEvent;
pub use fault::fault;
use pinned::PinnedBudget;
use pool::Pool;
use upload::Staging;

/// The memory of an NVIDIA GPU.
pub struct CudaMemory {
    device: Device,
    context: Arc<CudaContext>,
    compute: Arc<CudaStream>,
    copy: Arc<CudaStream>,
    pool: Arc<Pool>,
    pinned: Arc<PinnedBudget>,
    /// Staging buffers for pageable memory, allocated on first use. The lock admits one transfer at a time.
    staging: Mutex<Option<Staging>>,
}

impl std::fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUDA device {}", self.context.ordinal())
    }
}

/// The properties and the current memory of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardState {
    /// Its name.
    pub name: String,
    /// Whether it computes in bf16, which takes compute capability 8.0.
    pub has_bf16: bool,
    /// Bytes of VRAM.
    pub total: u64,
    /// Free bytes of VRAM.
    pub free: u64,
    /// Bytes this process has reserved from the driver, in use or not.
    pub reserved: u64,
}

/// The share of host memory that may be pinned. Windows limits pinning to one half, and slows down before
/// that.
const PINNED_SHARE: f64 = if cfg!(windows) { 0.4 } else { 0.8 };

/// The number in CUDA's order of the GPU that NVML calls `uuid`. CUDA puts the fastest GPU first and leaves out those that
/// `CUDA_VISIBLE_DEVICES` hides; NVML counts by the PCI bus.
///
/// # Errors
/// Fails if the driver does not respond.
pub fn ordinal_of(uuid: &str) -> Result<Option<u32>> {
    result::init().w()?;
    for ordinal in 0..result::device::get_count().w()? {
        let device = result::device::get(ordinal).w()?;
        if uuid_text(&result::device::get_uuid(device).w()?.bytes) == uuid {
            return Ok(u32::try_from(ordinal).ok());
        }
    }
    Ok(None)
}

/// A GPU's identifier as NVML writes it: `GPU-` and groups of 8, 4, 4, 4 and 12 hexadecimal digits.
fn uuid_text(bytes: &[std::ffi::c_char; 16]) -> String {
    let mut text = "GPU".to_owned();
    for (index, byte) in bytes.iter().enumerate() {
        if [0, 4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{:02x}", *byte as u8));
    }
    text
}

impl CudaMemory {
    /// The GPU with this number in CUDA's order, opened once per process.
    ///
    /// # Errors
    /// Fails if there is no such GPU or the driver does not respond.
    pub fn of_card(number: u32) -> Result<Arc<Self>> {
        type Cards = Mutex<HashMap<u32, Arc<CudaMemory>>>;
        static CARDS: OnceLock<Cards> = OnceLock::new();
        let mut cards = CARDS.get_or_init(Cards::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = cards.get(&number) {
            return Ok(Arc::clone(card));
        }
        let card = Arc::new(Self::open(number as usize)?);
        cards.insert(number, Arc::clone(&card));
        Ok(card)
    }

    fn open(ordinal: usize) -> Result<Self> {
        let device = Device::new_cuda_with_stream(ordinal)?;
        let card = device.as_cuda_device()?;
        let compute = card.cuda_stream();
        let context = Arc::clone(compute.context());
        // SAFETY: everything is allocated, filled with zeros, read and freed on the one stream that computes. Only `upload`
        // writes on another: it first waits for the last reader of its destination, at least for its allocation, and never
        // returns while a copy is under way.
        unsafe { context.disable_event_tracking() };
        let copy = context.new_stream().w()?;
        let pool = Arc::new(Pool::of(&context)?);
        let ram = crate::hardware::total_memory().unwrap_or(0);
        let pinned = Arc::new(PinnedBudget::new((ram as f64 * PINNED_SHARE) as u64));
        Ok(Self { device, context, compute, copy, pool, pinned, staging: Mutex::default() })
    }

    /// The properties and the current memory of the GPU.
    ///
    /// # Errors
    /// Fails if the driver does not respond.
    pub fn state(&self) -> Result<CardState> {
        let (free, total) = self.context.mem_get_info().w()?;
        Ok(CardState {
            name: self.context.name().w()?,
            has_bf16: self.context.compute_capability().w()?.0 >= 8,
            total: total as u64,
            free: free as u64,
            reserved: self.pool.reserved(),
        })
    }

    /// Waits for all queued work.
    ///
    /// # Errors
    /// Fails if any of that work failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device.as_cuda_device()?.synchronize()
    }
}

impl DeviceMemory for CudaMemory {
    fn device(&self) -> &Device {
        &self.device
    }

    fn is_unified(&self) -> bool {
        false
    }

    fn allocate(&self, sizes: &Sizes) -> Result<Buffer> {
        let mut buffer = Buffer::new(sizes, &self.device)?;
        buffer.set_read_until(Some(Arc::new(self.moment()?)));
        Ok(buffer)
    }

    fn allocate_host(&self, sizes: &Sizes) -> Result<Buffer> {
        let buffer = Buffer::new(sizes, &Device::Cpu)?;
        let pins = pinned::pin(&buffer, &self.context, &self.pinned)?;
        Ok(buffer.with_pins(pins))
    }

    fn upload(
        &self,
        from: &Buffer,
        to: &Buffer,
        sizes: &Sizes,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Duration>> {
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Moment::OfCard(last)) = to.read_until() {
            last.hold(&self.copy)?;
        } else {
            self.copy.join(&self.compute).w()?;
        }
        let copied = upload::upload(&self.copy, &mut staging, [from, to], sizes, go_on);
        if copied.is_err() {
            // Memory that is still written must not be freed. What failed is told already.
            let _ = self.copy.synchronize();
        }
        copied
    }

    fn moment(&self) -> Result<Moment> {
        let event = self.context.new_event(Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC)).w()?;
        event.record(&self.compute).w()?;
        Ok(Moment::OfCard(CardEvent::new(event)))
    }

    fn pool(&self) -> Option<Arc<dyn DevicePool>> {
        Some(Arc::clone(&self.pool) as Arc<dyn DevicePool>)
    }
}
