//! What a matrix product is made of.

use candle_core::{CpuStorage, Result, bail};
use half::{bf16, f16};
use pulp::Simd;

use crate::precision::{Encoding, Packed};

/// What a product is added to.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// The same for each row.
    Bias(&'a [f32]),
    /// What is there already, in rows of this length.
    There(usize),
}

impl Start<'_> {
    /// The length of a row of the result.
    pub(super) fn outputs(self) -> usize {
        match self {
            Self::Bias(bias) => bias.len(),
            Self::There(outputs) => outputs,
        }
    }
}

/// Weights as they are stored.
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
                Some(encoding) if inputs.is_multiple_of(encoding.format.block().0) => {
                    match Packed::new(encoding, outputs * inputs, &bytes[start..]) {
                        Some(packed) => Ok(Self::Packed(packed)),
                        None => bail!("{outputs}×{inputs} weights have too few bytes"),
                    }
                }
                _ => bail!("rows of {inputs} weights are no whole blocks"),
            },
            CpuStorage::F32(values) => Ok(Self::F32(&values[start..])),
            CpuStorage::F16(values) => Ok(Self::F16(&values[start..])),
            CpuStorage::BF16(values) => Ok(Self::Bf16(&values[start..])),
            _ => bail!("weights of a linear layer have to be floats of 16 or 32 bits, or packed"),
        }
    }

    /// Copies the values from `start` on.
    #[inline(always)]
    pub(super) fn widen<S: Simd>(self, simd: S, start: usize, out: &mut [f32]) {
        let range = start..start + out.len();
        match self {
            Self::Packed(packed) => packed.widen_with(simd, start, out),
            Self::F32(values) => out.copy_from_slice(&values[range]),
            Self::F16(values) => {
                out.iter_mut().zip(&values[range]).for_each(|(out, value)| *out = value.to_f32());
            }
            Self::Bf16(values) => {
                for (out, value) in out.iter_mut().zip(&values[range]) {
                    *out = f32::from_bits(u32::from(value.to_bits()) << 16);
                }
            }
        }
    }
}
