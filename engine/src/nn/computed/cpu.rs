//! Access to the values of tensors on the CPU.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use candle_core::{DType, Layout, Result, Storage, Tensor, bail};
use rayon::prelude::*;

static PLAIN: AtomicBool = AtomicBool::new(false);

/// From now on, or no longer, computes on the processor with compositions of the tensor library's functions, as on a
/// card: to try out what cards do where there is none. It is slower and takes more memory than predicted.
pub fn compute_as_on_cards(on: bool) {
    PLAIN.store(on, Ordering::Relaxed);
}

/// Whether this room's functions for the processor take `x`.
pub(super) fn by_processor(x: &Tensor) -> bool {
    x.device().is_cpu() && !PLAIN.load(Ordering::Relaxed)
}

/// The values of an f32 tensor whose storage is `held` for reading, from its first to the end of the
/// storage.
pub(super) fn values<'a>(
    (storage, layout): &'a (impl Deref<Target = Storage>, &Layout),
) -> Result<&'a [f32]> {
    match &**storage {
        Storage::Cpu(storage) => Ok(&storage.as_slice::<f32>()?[layout.start_offset()..]),
        _ => bail!("the tensor is not on the CPU"),
    }
}

/// `x` as contiguous f32, itself where it is so already.
pub(super) fn contiguous(x: &Tensor) -> Result<Tensor> {
    x.to_dtype(DType::F32)?.contiguous()
}

/// As many zeros, written by all threads: memory that comes from the operating system is slow to touch first.
pub(super) fn zeros(count: usize) -> Vec<f32> {
    const PIECE: usize = 1 << 16;
    let mut values = Vec::new();
    values.par_extend(rayon::iter::repeat_n(0.0, count).with_min_len(PIECE));
    values
}
