//! Storage formats and their sizes.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// How one value, or one block of values, is stored. Always little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Format {
    /// 64-bit floats.
    F64,
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// 16-bit floats with the range of f32.
    Bf16,
    /// 8-bit floats with 3 mantissa bits and no infinities (Micikevicius et al. 2022, arXiv:2209.05433).
    F8E4m3,
    /// 8-bit floats with 2 mantissa bits.
    F8E5m2,
    /// 8-bit integers with a separate scale.
    I8,
    /// Signed 4-bit integers with a separate scale. The first of two is in the upper half of a byte.
    I4,
    /// 4-bit codes of the NormalFloat values of Dettmers et al. 2023 (arXiv:2305.14314), with a separate
    /// scale. As in bitsandbytes, the first of two codes is in the upper half of a byte.
    Nf4,
    /// 4-bit codes of the FP4 values of bitsandbytes, with a separate scale, in the same order.
    Fp4,
    /// 4-bit floats with 2 exponent bits and 1 mantissa bit (OCP Microscaling Formats 1.0), with a separate
    /// scale: the values of NVFP4. The first of two codes is in the upper half of a byte.
    E2m1,
    /// GGUF: 32 signed 4-bit values with a scale.
    Q4_0,
    /// GGUF: 32 4-bit values with a scale and a minimum.
    Q4_1,
    /// GGUF: 32 signed 5-bit values with a scale.
    Q5_0,
    /// GGUF: 32 5-bit values with a scale and a minimum.
    Q5_1,
    /// GGUF: 32 8-bit values with a scale.
    Q8_0,
    /// GGUF: 256 2-bit values with 16 scales and minima.
    Q2K,
    /// GGUF: 256 3-bit values with 16 scales.
    Q3K,
    /// GGUF: 256 4-bit values with 8 scales and minima.
    Q4K,
    /// GGUF: 256 5-bit values with 8 scales and minima.
    Q5K,
    /// GGUF: 256 6-bit values with 16 scales.
    Q6K,
    /// GGUF: 32 4-bit codes of a non-uniform table, with a scale.
    Iq4Nl,
    /// GGUF: 256 4-bit codes of a non-uniform table, with 8 scales.
    Iq4Xs,
    /// MXFP4 (OCP Microscaling Formats 1.0) in GGUF's order: 32 4-bit floats as in [`E2m1`](Self::E2m1) with a power of two.
    Mxfp4,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 24] = [
        Self::F64,
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::F8E4m3,
        Self::F8E5m2,
        Self::I8,
        Self::I4,
        Self::Nf4,
        Self::Fp4,
        Self::E2m1,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q2K,
        Self::Q3K,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
        Self::Iq4Nl,
        Self::Iq4Xs,
        Self::Mxfp4,
    ];

    /// Values and bytes per block, the smallest unit that can be stored.
    pub const fn block(self) -> (usize, usize) {
        match self {
            Self::F64 => (1, 8),
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::F8E4m3 | Self::F8E5m2 | Self::I8 => (1, 1),
            Self::I4 | Self::Nf4 | Self::Fp4 | Self::E2m1 => (2, 1),
            Self::Q4_0 | Self::Iq4Nl => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q2K => (256, 84),
            Self::Q3K => (256, 110),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
            Self::Iq4Xs => (256, 136),
            Self::Mxfp4 => (32, 17),
        }
    }

    /// The name, spelled as in files of this format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "F64",
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::F8E4m3 => "F8_E4M3",
            Self::F8E5m2 => "F8_E5M2",
            Self::I8 => "I8",
            Self::I4 => "I4",
            Self::Nf4 => "NF4",
            Self::Fp4 => "FP4",
            Self::E2m1 => "E2M1",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q2K => "Q2_K",
            Self::Q3K => "Q3_K",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
            Self::Iq4Nl => "IQ4_NL",
            Self::Iq4Xs => "IQ4_XS",
            Self::Mxfp4 => "MXFP4",
        }
    }

    /// Bytes of this many values, without separate scales. The last block counts in full.
    pub const fn bytes(self, values: usize) -> usize {
        let (block, bytes) = self.block();
        values.div_ceil(block).saturating_mul(bytes)
    }

    /// Weights per second that one thread quantizes while it reads them, excluding the read: measured on an
    /// AMD EPYC (`cargo bench --workspace --bench kernels encoding`). 8-bit floats take an extra pass first
    /// to find their one scale. Weights changed by adapters are stored in wide formats.
    pub const fn encoded_per_second(self) -> f64 {
        match self {
            Self::F8E4m3 | Self::F8E5m2 => 7e8,
            Self::Nf4 => 4e8,
            Self::I8 => 1e9,
            Self::Q8_0 => 3e8,
            Self::Q4K => 3.5e8,
            _ => 2e8,
        }
    }

    /// Whether each value is a float of 16 bits or more.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::F64 | Self::F32 | Self::F16 | Self::Bf16)
    }
}

/// How the values of a tensor are stored: their format, how many consecutive values share a separate scale, and
/// what else integers need. A tensor's bytes are its values, then its scales, then its zero points, both in f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Encoding {
    /// Format of the values.
    pub format: Format,
    /// Values per scale; `None` without separate scales.
    pub group: Option<NonZeroUsize>,
    /// What the zero points of groups mean; `None` without zero points. Only integers have them.
    #[serde(default)]
    pub zeros: Option<Zeros>,
    /// Consecutive integers that are rotated together before they are scaled: multiplied by the Kronecker power
    /// of a 4×4 Hadamard matrix without a column of ones (ConvRot, arXiv:2512.03673, as in comfy-kitchen), of
    /// entries 1 and -1. It is a power of four, at most [`LARGEST_ROTATION`].
    #[serde(default)]
    pub rotation: Option<NonZeroUsize>,
    /// Whether the CPU rounds the inputs of a product with it to 8 bits, too, if it multiplies such numbers and the values are
    /// integers of 8 bits.
    #[serde(default)]
    pub rounds_inputs: bool,
}

/// What a zero point means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Zeros {
    /// It is subtracted from the integer, before the product with the scale.
    Subtracted,
    /// It is added to the product of integer and scale.
    Added,
}

/// The most values that an encoding rotates together: as many as the largest blocks have.
pub const LARGEST_ROTATION: usize = 256;

impl From<Format> for Encoding {
    fn from(format: Format) -> Self {
        Self { format, group: None, zeros: None, rotation: None, rounds_inputs: false }
    }
}

impl Encoding {
    /// With one scale per `group` values.
    pub fn scaled(format: Format, group: usize) -> Self {
        Self { group: NonZeroUsize::new(group), ..format.into() }
    }

    /// The same with zero points.
    pub fn with_zeros(self, zeros: Zeros) -> Self {
        Self { zeros: Some(zeros), ..self }
    }

    /// The same, with inputs of products rounded to 8 bits where they can be.
    pub fn rounding_inputs(self) -> Self {
        Self { rounds_inputs: true, ..self }
    }

    /// The same with this many integers rotated together.
    pub fn rotated(self, rotation: usize) -> Self {
        Self { rotation: NonZeroUsize::new(rotation), ..self }
    }

    /// The smallest number of consecutive values that can be dequantized alone.
    pub fn unit(self) -> usize {
        self.format.block().0.max(self.rotation.map_or(1, NonZeroUsize::get))
    }

    /// Whether integers take more than a scale.
    pub(super) fn is_affine(self) -> bool {
        self.zeros.is_some() || self.rotation.is_some()
    }

    /// Whether its parts go together: only scaled integers have zero points and rotations.
    pub(super) fn is_sound(self) -> bool {
        let is_rotation = |rotation: NonZeroUsize| {
            let rotation = rotation.get();
            rotation <= LARGEST_ROTATION && rotation.is_power_of_two() && rotation.ilog2().is_multiple_of(2)
        };
        let rotates = self.rotation.is_none_or(|rotation| {
            is_rotation(rotation)
                && rotation.get() > 1
                && self.group.is_some_and(|group| group.get().is_multiple_of(rotation.get()))
        });
        !self.is_affine()
            || (matches!(self.format, Format::I8 | Format::I4) && self.group.is_some() && rotates)
    }

    /// Number of scales for this many values.
    pub fn scales(self, values: usize) -> usize {
        self.group.map_or(0, |group| values.div_ceil(group.get()))
    }

    /// Number of scales and zero points for this many values.
    pub fn tail(self, values: usize) -> usize {
        self.scales(values).saturating_mul(if self.zeros.is_some() { 2 } else { 1 })
    }

    /// Bytes of this many values, their scales and zero points.
    pub fn bytes(self, values: usize) -> usize {
        self.format.bytes(values).saturating_add(self.tail(values).saturating_mul(size_of::<f32>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_as_many_bytes_as_it_should() {
        assert_eq!(Format::Q4K.bytes(512), 288);
        assert_eq!(Format::Nf4.bytes(7), 4);
        assert_eq!(Encoding::scaled(Format::Nf4, 64).bytes(128), 64 + 8);
        assert_eq!(Encoding::scaled(Format::F8E4m3, 1000).bytes(1000), 1004);
        assert_eq!(Encoding::from(Format::Bf16).bytes(5), 10);
        assert_eq!(Encoding::scaled(Format::I4, 64).with_zeros(Zeros::Added).bytes(128), 64 + 16);
    }

    #[test]
    fn only_scaled_integers_are_rotated() {
        let int8 = Encoding::scaled(Format::I8, 512);
        for sound in [int8, int8.rotated(256), int8.rotated(4).with_zeros(Zeros::Added), Format::Q8_0.into()]
        {
            assert!(sound.is_sound(), "{sound:?}");
        }
        let group = Encoding::scaled(Format::I4, 32);
        for other in [int8.rotated(1024), int8.rotated(8), int8.rotated(1), group.rotated(64)] {
            assert!(!other.is_sound(), "{other:?}");
        }
        for format in [Format::Nf4, Format::Q8_0, Format::F16] {
            assert!(!Encoding::scaled(format, 64).with_zeros(Zeros::Added).is_sound());
        }
        assert!(!Encoding::from(Format::I8).with_zeros(Zeros::Added).is_sound());
    }
}
