//! The operands of a matrix product.

use std::num::NonZeroUsize;

use candle_core::{CpuStorage, Result, bail};
use half::{bf16, f16, slice::HalfFloatSliceExt as _};
use pulp::Simd;

use crate::precision::{Encoding, Integers, Packed};

/// The value a product is added to.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// The same bias for every row.
    Bias(&'a [f32]),
    /// The existing contents of the output, in rows of this length.
    There(usize),
}

impl Start<'_> {
    /// The length of an output row.
    pub(super) fn outputs(self) -> usize {
        match self {
            Self::Bias(bias) => bias.len(),
            Self::There(outputs) => outputs,
        }
    }
}

/// Weights in their stored format.
#[derive(Clone, Copy)]
pub(super) enum Weights<'a> {
    F32(&'a [f32]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    Packed(Packed<'a>),
}

impl<'a> Weights<'a> {
    pub(super) fn new(
        storage: &'a CpuStorage,
        start: usize,
        [outputs, inputs]: [usize; 2],
        encoding: Option<Encoding>,
    ) -> Result<Self> {
        match storage {
            CpuStorage::U8(bytes) => match encoding {
                Some(encoding) if inputs.is_multiple_of(encoding.unit()) => {
                    match Packed::new(encoding, outputs * inputs, &bytes[start..]) {
                        Some(packed) => Ok(Self::Packed(packed)),
                        None => bail!("{outputs}×{inputs} weights have too few bytes"),
                    }
                }
                _ => bail!("rows of {inputs} weights are not a whole number of blocks"),
            },
            CpuStorage::F32(values) => Ok(Self::F32(&values[start..])),
            CpuStorage::F16(values) => Ok(Self::F16(&values[start..])),
            CpuStorage::BF16(values) => Ok(Self::Bf16(&values[start..])),
            _ => bail!("the weights of a linear layer must be 16-bit or 32-bit floats, or packed"),
        }
    }

    /// The weights without their rotation, and the rotation to apply to the rows of the input instead, of which there are
    /// fewer values: it is symmetric.
    pub(super) fn without_rotation(self) -> (Self, Option<NonZeroUsize>) {
        match self {
            Self::Packed(packed) => {
                let (packed, rotation) = packed.without_rotation();
                (Self::Packed(packed), rotation)
            }
            floats => (floats, None),
        }
    }

    /// The weights as integers of 8 bits, if they are held so.
    #[inline(always)]
    pub(super) fn integers(self) -> Option<Integers<'a>> {
        match self {
            Self::Packed(packed) => packed.integers(),
            _ => None,
        }
    }

    /// Copies the values from `start` on.
    #[inline(always)]
    pub(super) fn widen<S: Simd>(self, simd: S, start: usize, out: &mut [f32]) {
        let range = start..start + out.len();
        match self {
            Self::Packed(packed) => packed.widen_with(simd, start, out),
            Self::F32(values) => out.copy_from_slice(&values[range]),
            Self::F16(values) => values[range].convert_to_f32_slice(out),
            Self::Bf16(values) => {
                for (out, value) in out.iter_mut().zip(&values[range]) {
                    *out = f32::from_bits(u32::from(value.to_bits()) << 16);
                }
            }
        }
    }
}
