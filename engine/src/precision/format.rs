//! The formats and what they take.

use serde::{Deserialize, Serialize};

/// How one value, or one block of values, is stored. Little-endian everywhere.
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
    /// 8-bit floats with 3 bits of mantissa and no infinities (Micikevicius et al. 2022, arXiv:2209.05433).
    F8E4m3,
    /// 8-bit floats with 2 bits of mantissa.
    F8E5m2,
    /// 8-bit integers, to be multiplied by a scale.
    I8,
    /// Codes of 4 bits into the normal floats of Dettmers et al. 2023 (arXiv:2305.14314), to be multiplied by a
    /// scale. The first of two is in the upper half of a byte, as in bitsandbytes.
    Nf4,
    /// GGUF: 32 values of 4 bits around zero with a scale.
    Q4_0,
    /// GGUF: 32 values of 4 bits with a scale and a minimum.
    Q4_1,
    /// GGUF: 32 values of 5 bits around zero with a scale.
    Q5_0,
    /// GGUF: 32 values of 5 bits with a scale and a minimum.
    Q5_1,
    /// GGUF: 32 values of 8 bits with a scale.
    Q8_0,
    /// GGUF: 256 values of 2 bits with 16 scales and minima.
    Q2K,
    /// GGUF: 256 values of 3 bits with 16 scales.
    Q3K,
    /// GGUF: 256 values of 4 bits with 8 scales and minima.
    Q4K,
    /// GGUF: 256 values of 5 bits with 8 scales and minima.
    Q5K,
    /// GGUF: 256 values of 6 bits with 16 scales.
    Q6K,
    /// GGUF: 32 codes of 4 bits into an uneven table, with a scale.
    Iq4Nl,
    /// GGUF: 256 codes of 4 bits into an uneven table, with 8 scales.
    Iq4Xs,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 20] = [
        Self::F64,
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::F8E4m3,
        Self::F8E5m2,
        Self::I8,
        Self::Nf4,
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
    ];

    /// Values and bytes of the smallest piece that can be stored.
    pub const fn block(self) -> (usize, usize) {
        match self {
            Self::F64 => (1, 8),
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::F8E4m3 | Self::F8E5m2 | Self::I8 => (1, 1),
            Self::Nf4 => (2, 1),
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
        }
    }

    /// Its name, in the spelling of the files that have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "F64",
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::F8E4m3 => "F8_E4M3",
            Self::F8E5m2 => "F8_E5M2",
            Self::I8 => "I8",
            Self::Nf4 => "NF4",
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
        }
    }

    /// Bytes of this many values, without scales that stand apart. The last block is rounded up.
    pub const fn bytes(self, values: usize) -> usize {
        let (block, bytes) = self.block();
        values.div_ceil(block).saturating_mul(bytes)
    }

    /// Weights that one thread encodes in a second while it reads them, the reading itself left out: measured on an
    /// AMD EPYC (`cargo bench --workspace --bench kernels encoding`). 8-bit floats are looked through once before that
    /// for their one scale. Weights that adapters change go to wide formats.
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

    /// Whether a value is a float of its own, of 16 bits or more.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::F64 | Self::F32 | Self::F16 | Self::Bf16)
    }
}

/// How the values of a tensor are stored: their format, and how many values in a row share a scale that stands
/// apart. The bytes of a tensor are its values, then its scales in f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Encoding {
    /// Of the values.
    pub format: Format,
    /// Values to a scale; none where there are no scales apart.
    pub group: Option<std::num::NonZeroUsize>,
}

impl From<Format> for Encoding {
    fn from(format: Format) -> Self {
        Self { format, group: None }
    }
}

impl Encoding {
    /// With a scale for each `group` values.
    pub fn scaled(format: Format, group: usize) -> Self {
        Self { format, group: std::num::NonZeroUsize::new(group) }
    }

    /// Number of scales of this many values.
    pub fn scales(self, values: usize) -> usize {
        self.group.map_or(0, |group| values.div_ceil(group.get()))
    }

    /// Bytes of this many values with their scales.
    pub fn bytes(self, values: usize) -> usize {
        self.format.bytes(values).saturating_add(self.scales(values).saturating_mul(size_of::<f32>()))
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
    }
}
