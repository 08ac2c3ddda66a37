//! Room for weights that are read.

use half::{bf16, f16};

/// Room for weights: in one of the dtypes that they are computed in, or as they are stored.
#[derive(Debug)]
pub enum Values<'a> {
    /// 32 bits.
    F32(&'a mut [f32]),
    /// 16 bits.
    F16(&'a mut [f16]),
    /// 16 bits with the range of f32.
    Bf16(&'a mut [bf16]),
    /// The bytes of the values, then the scales in f32: what [`Packed`](crate::precision::Packed) reads.
    Stored(&'a mut [u8]),
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::F32(out) => out.len(),
            Self::F16(out) => out.len(),
            Self::Bf16(out) => out.len(),
            Self::Stored(out) => out.len(),
        }
    }

    /// Converts values to the dtype, from place `start` on. Bytes stay as they are.
    pub(super) fn store(&mut self, start: usize, values: &[f32]) {
        match self {
            Self::F32(out) => out[start..start + values.len()].copy_from_slice(values),
            Self::F16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = f16::from_f32(*value));
            }
            Self::Bf16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = bf16::from_f32(*value));
            }
            Self::Stored(_) => {}
        }
    }
}
