//! Access to the values of tensors on the CPU.

use std::ops::Deref;

use candle_core::{DType, Layout, Result, Storage, Tensor, bail};
use rayon::prelude::*;

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
