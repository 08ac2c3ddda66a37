//! Functions that read and write values as tensors hold them, and compute in f32.

use candle_core::{DType, Result, Tensor, WithDType};
use half::{bf16, f16, slice::HalfFloatSliceExt};

use super::sums::Kept;

/// Values that functions widen and round at a time.
pub(super) const BLOCK: usize = 1024;

/// A function of values of any type that is [`Held`].
pub(super) trait AsHeld {
    /// Its result for inputs of this type. Others are converted.
    fn of<T: Held>(self) -> Result<Tensor>;
}

/// The result of `function` for inputs of this type. In types that are not [`Held`] it computes in f32 as a whole.
pub(super) fn as_held(dtype: DType, function: impl AsHeld) -> Result<Tensor> {
    match dtype {
        DType::F32 => function.of::<f32>(),
        DType::F16 => function.of::<f16>(),
        DType::BF16 => function.of::<bf16>(),
        _ => function.of::<f32>()?.to_dtype(dtype),
    }
}

/// Values as a tensor holds them, of which a function computes in f32 piece by piece.
pub(super) trait Held: WithDType + Default {
    /// Writes them in f32 to `wide`, which has room for as many.
    fn widen(values: &[Self], wide: &mut [f32]);
    /// Them in f32: themselves, or widened to `wide`.
    #[inline(always)]
    fn widened<'a>(values: &'a [Self], wide: &'a mut [f32]) -> &'a [f32] {
        Self::widen(values, wide);
        &wide[..values.len()]
    }
    /// Where results in f32 are written before [`Self::finish`]: to `out` itself, or to `wide`, which has room for as many values.
    #[inline(always)]
    fn target<'a>(out: &'a mut [Self], wide: &'a mut [f32]) -> &'a mut [f32] {
        &mut wide[..out.len()]
    }
    /// Rounds what was written to `wide`.
    fn finish(out: &mut [Self], wide: &[f32]);
}

impl Held for f32 {
    #[inline(always)]
    fn widen(values: &[Self], wide: &mut [f32]) {
        wide[..values.len()].copy_from_slice(values);
    }

    #[inline(always)]
    fn widened<'a>(values: &'a [Self], _: &'a mut [f32]) -> &'a [f32] {
        values
    }

    #[inline(always)]
    fn target<'a>(out: &'a mut [Self], _: &'a mut [f32]) -> &'a mut [f32] {
        out
    }

    #[inline(always)]
    fn finish(_: &mut [Self], _: &[f32]) {}
}

impl Held for bf16 {
    #[inline(always)]
    fn widen(values: &[Self], wide: &mut [f32]) {
        for (wide, value) in wide[..values.len()].iter_mut().zip(values) {
            *wide = value.wide();
        }
    }

    #[inline(always)]
    fn finish(out: &mut [Self], wide: &[f32]) {
        for (out, wide) in out.iter_mut().zip(wide) {
            *out = Kept::rounded(*wide);
        }
    }
}

impl Held for f16 {
    #[inline(always)]
    fn widen(values: &[Self], wide: &mut [f32]) {
        values.convert_to_f32_slice(&mut wide[..values.len()]);
    }

    #[inline(always)]
    fn finish(out: &mut [Self], wide: &[f32]) {
        out.convert_from_f32_slice(&wide[..out.len()]);
    }
}
