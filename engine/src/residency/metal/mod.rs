//! The GPUs of Apple's chips, through Metal. All of this was compiled and never run.
//!
//! The GPU and the CPU have one memory. Weights are read from disk to where the GPU computes with them: there is no link, and no
//! copy in the host's memory.
//!
//! Computation is queued, and a [moment](DeviceMemory::moment) waits for it, because the tensor library tells no other point in
//! its queue. So the GPU idles while the first functions of a block are queued; blocks are still read while it computes.

mod fault;
mod pool;

use std::{
    ops::Range,
    slice,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use candle_core::{
    DType, Device, MetalDevice, MetalError, MetalStorage, Result, Storage, Tensor,
    backend::BackendStorage as _, bail, op::BackpropOp,
};
use candle_metal_kernels::{RESOURCE_OPTIONS, metal};
use objc2_metal::MTLDevice as _;

use super::{
    buffer::{Buffer, Sizes},
    device::{DeviceMemory, PIECE},
    moment::Moment,
};
use crate::{checkpoint::Values, hardware::DevicePool};
pub use fault::fault;
use pool::Pool;

/// The memory that the GPU and the CPU share.
#[derive(Debug)]
pub struct MetalMemory {
    device: Device,
    metal: MetalDevice,
    pool: Arc<Pool>,
}

impl MetalMemory {
    /// The machine's GPU, opened once per process.
    ///
    /// # Errors
    /// Fails if there is none, or one with memory of its own.
    pub fn of_machine() -> Result<Arc<Self>> {
        static OPENED: Mutex<Option<Arc<MetalMemory>>> = Mutex::new(None);
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = &*opened {
            return Ok(Arc::clone(memory));
        }
        Ok(Arc::clone(opened.insert(Arc::new(Self::open()?))))
    }

    fn open() -> Result<Self> {
        // The tensor library panics where there is none.
        match metal::Device::all().first() {
            None => bail!("there is no GPU that Metal can use"),
            Some(gpu) if !gpu.as_ref().hasUnifiedMemory() => {
                bail!("the GPU has memory of its own; only those of Apple's chips are supported")
            }
            Some(_) => {}
        }
        let device = Device::new_metal(0)?;
        let metal = device.as_metal_device()?.clone();
        let pool = Arc::new(Pool::of(&metal));
        Ok(Self { device, metal, pool })
    }

    /// The GPU's name, such as `Apple M2 Pro`.
    pub fn name(&self) -> String {
        self.metal.metal_device().as_ref().name().to_string()
    }

    /// Bytes that the system recommends the GPU to use at most: its working-set limit.
    pub fn limit(&self) -> u64 {
        self.pool.limit()
    }

    /// A flat tensor of zeros. It is not from the tensor library's pool, which rounds sizes up to powers of two.
    fn flat(&self, values: usize, dtype: DType) -> Result<Tensor> {
        let bytes = values * dtype.size_in_bytes();
        let buffer =
            self.metal.metal_device().new_buffer(bytes, RESOURCE_OPTIONS).map_err(MetalError::from)?;
        let storage = MetalStorage::new(Arc::new(buffer), self.metal.clone(), values, dtype);
        Ok(Tensor::from_storage(Storage::Metal(storage), values, BackpropOp::none(), false))
    }
}

impl DeviceMemory for MetalMemory {
    fn device(&self) -> &Device {
        &self.device
    }

    fn is_unified(&self) -> bool {
        true
    }

    fn allocate(&self, sizes: &Sizes) -> Result<Buffer> {
        let mut buffer = Buffer::of(sizes, |values, dtype| self.flat(values, dtype))?;
        // Nothing that is queued reads it.
        buffer.set_read_until(Some(Arc::new(Moment::now())));
        Ok(buffer)
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
        self.await_readers(to)?;
        let started = Instant::now();
        Ok(to.copy_from(from, sizes, PIECE, |_| go_on())?.then(|| started.elapsed()))
    }

    fn await_readers(&self, buffer: &Buffer) -> Result<()> {
        match buffer.read_until() {
            // It has come: it was waited for when it was made.
            Some(_) => Ok(()),
            None => self.metal.flush_and_wait_current(),
        }
    }

    fn moment(&self) -> Result<Moment> {
        self.device.synchronize()?;
        Ok(Moment::now())
    }

    fn pool(&self) -> Option<Arc<dyn DevicePool>> {
        Some(Arc::clone(&self.pool) as Arc<dyn DevicePool>)
    }
}

/// Values of the storage of a [`MetalMemory`]'s buffer, for the CPU to write.
pub(super) fn values(storage: &mut MetalStorage, range: Range<usize>) -> Result<Values<'_>> {
    let dtype = storage.dtype();
    if range.start > range.end || range.end * dtype.size_in_bytes() > storage.buffer().length() {
        bail!("{range:?} is not in the buffer");
    }
    let count = range.len();
    // SAFETY: the memory is shared with the CPU, aligned to pages, zeroed when it was allocated and as long as was checked
    // above. It lives as long as `storage`, which is borrowed mutably. Nothing that is queued on the GPU uses it:
    // `await_readers` comes before a buffer that was in use is written again, and any bit pattern is a valid value.
    unsafe {
        let first = storage.buffer().contents().add(range.start * dtype.size_in_bytes());
        Ok(match dtype {
            DType::F32 => Values::F32(slice::from_raw_parts_mut(first.cast(), count)),
            DType::F16 => Values::F16(slice::from_raw_parts_mut(first.cast(), count)),
            DType::BF16 => Values::Bf16(slice::from_raw_parts_mut(first.cast(), count)),
            DType::U8 => Values::Stored(slice::from_raw_parts_mut(first, count)),
            _ => bail!("weights must be 16-bit or 32-bit floats, or bytes"),
        })
    }
}
