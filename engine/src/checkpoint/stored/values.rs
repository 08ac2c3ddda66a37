//! Buffers that weights are read into.

use half::{bf16, f16};

/// A buffer for weights, in a dtype of the computation or as stored.
#[derive(Debug)]
pub enum Values<'a> {
    /// 32-bit floats.
    F32(&'a mut [f32]),
    /// 16-bit floats.
    F16(&'a mut [f16]),
    /// 16-bit floats with the range of f32.
    Bf16(&'a mut [bf16]),
    /// The bytes of the values, then the scales and the zero points in f32: the input of [`Packed`](crate::precision::Packed).
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

    /// Converts values to the dtype and stores them from index `start` on. Bytes are left unchanged.
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
