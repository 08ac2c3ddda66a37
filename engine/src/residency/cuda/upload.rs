//! Copies from host memory to a GPU.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use candle_core::{
    CpuStorage, CudaStorage, InplaceOp1, Layout, Result, Storage, bail, cuda::WrapErr as _,
    cuda_backend::CudaStorageSlice,
};
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DeviceRepr, PinnedHostSlice, sys};

use super::event::elapsed;
use crate::residency::buffer::{Buffer, Sizes};

/// Bytes between checks whether to continue.
const PIECE: usize = 32 << 20;

/// Two pinned buffers for copies from pageable memory: one is filled while the GPU reads the other.
pub struct Staging {
    buffers: [PinnedHostSlice<u8>; 2],
    /// Recorded after the last read of each buffer.
    read: [CudaEvent; 2],
    next: usize,
}

impl Staging {
    fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        let context = stream.context();
        let buffer = || {
            // SAFETY: any byte value is valid, and each byte is written before it is read.
            unsafe { context.alloc_pinned_with_flags::<u8>(PIECE, 0) }.w()
        };
        Ok(Self { buffers: [buffer()?, buffer()?], read: [event(stream)?, event(stream)?], next: 0 })
    }
}

fn event(stream: &Arc<CudaStream>) -> Result<CudaEvent> {
    stream.context().new_event(Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC)).w()
}

/// Copies the first values of each dtype and returns when they have arrived, with the time from when the stream had done
/// what was queued on it before, or returns `None` when `go_on` returns `false`.
pub fn upload(
    stream: &Arc<CudaStream>,
    staging: &mut Option<Staging>,
    [from, to]: [&Buffer; 2],
    sizes: &Sizes,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Duration>> {
    let is_pinned = from.is_pinned();
    if !is_pinned && staging.is_none() {
        *staging = Some(Staging::new(stream)?);
    }
    let staging = Mutex::new(staging.as_mut().filter(|_| !is_pinned));
    let begun = event(stream)?;
    begun.record(stream).w()?;
    let mut under_way: Option<CudaEvent> = None;
    let mut finished = true;
    'parts: for (to, from, size) in to.pairs(from, sizes) {
        let (held, layout) = from.storage_and_layout();
        let Storage::Cpu(source) = &*held else { bail!("cannot copy from a GPU") };
        let step = (PIECE / from.dtype().size_in_bytes()).max(1);
        for start in (0..size).step_by(step) {
            let count = step.min(size - start);
            let first = layout.start_offset() + start;
            to.inplace_op1(&Piece { source, first, start, count, stream, staging: &staging })?;
            // Waits for the previous piece, not this one, so that the GPU is never idle.
            let sent = event(stream)?;
            sent.record(stream).w()?;
            if let Some(before) = under_way.replace(sent) {
                before.synchronize().w()?;
            }
            if !go_on() {
                finished = false;
                break 'parts;
            }
        }
    }
    // Memory that the GPU still reads must not be freed.
    let Some(last) = under_way else { return Ok(finished.then_some(Duration::ZERO)) };
    last.synchronize().w()?;
    let taken = elapsed(&begun, &last)?;
    Ok(finished.then_some(taken))
}

/// Values for a flat tensor on a GPU.
struct Piece<'a, 's> {
    source: &'a CpuStorage,
    /// Index of the first value in the source.
    first: usize,
    /// Index of the first value in the tensor.
    start: usize,
    count: usize,
    stream: &'a Arc<CudaStream>,
    /// The staging buffers, for memory that is not pinned.
    staging: &'a Mutex<Option<&'s mut Staging>>,
}

impl Piece<'_, '_> {
    fn copy<T: DeviceRepr>(&self, from: &[T], to: &mut CudaSlice<T>, offset: usize) -> Result<()> {
        let from = &from[self.first..self.first + self.count];
        let first = offset + self.start;
        let mut to = to.slice_mut(first..first + self.count);
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(staging) = &mut *staging else { return self.stream.memcpy_htod(from, &mut to).w() };
        let turn = staging.next;
        staging.next = 1 - turn;
        staging.read[turn].synchronize().w()?;
        let bytes = size_of_val(from);
        let through = staging.buffers[turn].as_mut_slice().w()?;
        // SAFETY: `T` is a float or a byte, so its values may be viewed as bytes, and the source is long
        // enough.
        through[..bytes]
            .copy_from_slice(unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<u8>(), bytes) });
        // SAFETY: the view has the same size in bytes, and bytes need no alignment.
        let Some(mut to) = (unsafe { to.transmute_mut::<u8>(bytes) }) else { bail!("a piece does not fit") };
        self.stream.memcpy_htod(&through[..bytes], &mut to).w()?;
        staging.read[turn].record(self.stream).w()
    }
}

impl InplaceOp1 for Piece<'_, '_> {
    fn name(&self) -> &'static str {
        "upload weights"
    }

    fn cpu_fwd(&self, _: &mut CpuStorage, _: &Layout) -> Result<()> {
        bail!("weights can only be uploaded to a GPU")
    }

    fn cuda_fwd(&self, storage: &mut CudaStorage, layout: &Layout) -> Result<()> {
        let offset = layout.start_offset();
        match (self.source, &mut storage.slice) {
            (CpuStorage::F32(from), CudaStorageSlice::F32(to)) => self.copy(from, to, offset),
            (CpuStorage::F16(from), CudaStorageSlice::F16(to)) => self.copy(from, to, offset),
            (CpuStorage::BF16(from), CudaStorageSlice::BF16(to)) => self.copy(from, to, offset),
            (CpuStorage::U8(from), CudaStorageSlice::U8(to)) => self.copy(from, to, offset),
            _ => bail!("weights must be 16-bit or 32-bit floats, or bytes"),
        }
    }
}
