//! Access to the values of tensors on the CPU.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use candle_core::{DType, Layout, Result, Storage, Tensor, bail};
use rayon::prelude::*;

static PLAIN: AtomicBool = AtomicBool::new(false);

/// Switches the CPU to the compositions of tensor library functions that GPUs use, or back. This lets
/// machines without a GPU exercise the GPU code path. It is slower and takes more memory than predicted.
pub fn compute_as_on_cards(on: bool) {
    PLAIN.store(on, Ordering::Relaxed);
}

/// Whether the fused CPU functions apply to `x`.
pub(super) fn by_processor(x: &Tensor) -> bool {
    x.device().is_cpu() && !PLAIN.load(Ordering::Relaxed)
}

/// The values of an f32 tensor whose storage is locked as `held`, from its first value to the end of the
/// storage.
pub(super) fn values<'a>(
    (storage, layout): &'a (impl Deref<Target = Storage>, &Layout),
) -> Result<&'a [f32]> {
    match &**storage {
        Storage::Cpu(storage) => Ok(&storage.as_slice::<f32>()?[layout.start_offset()..]),
        _ => bail!("the tensor is not on the CPU"),
    }
}

/// `x` as contiguous f32, without a copy if it is that already.
pub(super) fn contiguous(x: &Tensor) -> Result<Tensor> {
    x.to_dtype(DType::F32)?.contiguous()
}

/// A vector of `count` zeros, written by all threads: the first touch of memory from the operating system is
/// slow.
pub(super) fn zeros(count: usize) -> Vec<f32> {
    const PIECE: usize = 1 << 16;
    let mut values = Vec::new();
    values.par_extend(rayon::iter::repeat_n(0.0, count).with_min_len(PIECE));
    values
}
