//! Access to the values of tensors on the CPU.

use std::ops::Deref;

use candle_core::{DType, Layout, Result, Storage, Tensor, bail};

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
