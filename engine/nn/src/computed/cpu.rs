//! Access to the values of tensors on the CPU.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use candle_core::{CpuStorage, DType, Device, Layout, Result, Shape, Storage, Tensor, WithDType, bail};
use half::{bf16, f16};
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
pub(super) fn values<'a>(held: &'a (impl Deref<Target = Storage>, &Layout)) -> Result<&'a [f32]> {
    values_as(held)
}

/// The same of a tensor with this dtype.
pub(super) fn values_as<'a, T: WithDType>(
    (storage, layout): &'a (impl Deref<Target = Storage>, &Layout),
) -> Result<&'a [T]> {
    match &**storage {
        Storage::Cpu(storage) => Ok(&storage.as_slice::<T>()?[layout.start_offset()..]),
        _ => bail!("the tensor is not on the CPU"),
    }
}

/// Values that a thread widens or rounds at a time.
const PIECE: usize = 1 << 14;

/// `x` as contiguous f32, without a copy if it is that already.
pub(super) fn contiguous(x: &Tensor) -> Result<Tensor> {
    if !(x.device().is_cpu() && x.is_contiguous()) {
        return x.to_dtype(DType::F32)?.contiguous();
    }
    let (storage, layout) = x.storage_and_layout();
    let range = layout.start_offset()..layout.start_offset() + x.elem_count();
    let mut wide = Vec::new();
    match &*storage {
        Storage::Cpu(CpuStorage::BF16(values)) => {
            wide.par_extend(values[range].par_iter().with_min_len(PIECE).map(|value| value.to_f32()));
        }
        Storage::Cpu(CpuStorage::F16(values)) => {
            wide.par_extend(values[range].par_iter().with_min_len(PIECE).map(|value| value.to_f32()));
        }
        _ => return x.to_dtype(DType::F32),
    }
    Tensor::from_vec(wide, x.dims(), x.device())
}

/// Values on the CPU as a tensor of this dtype. What they were computed from should be gone by now.
pub(super) fn rounded(values: Vec<f32>, shape: impl Into<Shape>, dtype: DType) -> Result<Tensor> {
    let (shape, rounded) = (shape.into(), values.par_iter().with_min_len(PIECE));
    match dtype {
        DType::BF16 => {
            let mut narrow = Vec::new();
            narrow.par_extend(rounded.map(|value| bf16::from_f32(*value)));
            Tensor::from_vec(narrow, shape, &Device::Cpu)
        }
        DType::F16 => {
            let mut narrow = Vec::new();
            narrow.par_extend(rounded.map(|value| f16::from_f32(*value)));
            Tensor::from_vec(narrow, shape, &Device::Cpu)
        }
        _ => Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype),
    }
}

/// A vector of `count` zeros, written by all threads: the first touch of memory from the operating system is
/// slow.
pub(super) fn zeros<T: Copy + Default + Send>(count: usize) -> Vec<T> {
    const PIECE: usize = 1 << 16;
    let mut values = Vec::new();
    values.par_extend(rayon::iter::repeat_n(T::default(), count).with_min_len(PIECE));
    values
}
