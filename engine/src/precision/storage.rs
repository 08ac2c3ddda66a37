//! What the matrices of a component can be stored as, whatever their file has.

use serde::{Deserialize, Serialize};

use super::{Encoding, Format};

/// How the matrices of a component are held. What is no matrix, and what [`checkpoint`](crate::checkpoint) says is
/// kept, stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// As in the file.
    #[default]
    Stored,
    /// 8-bit floats with 3 bits of mantissa and a scale for each tensor, as ComfyUI has them.
    Fp8,
    /// 8-bit floats with 2 bits of mantissa and a scale for each tensor.
    Fp8E5m2,
    /// 8-bit integers with a scale for each row.
    Int8,
    /// GGUF: 8 bits with a scale for each 32 values.
    Q8_0,
    /// 4-bit normal floats (Dettmers et al. 2023, arXiv:2305.14314) with a scale for each 64 values.
    Nf4,
    /// GGUF: 4 bits with scales and minima for each 32 values; 8 bits where rows are no multiple of 256.
    Q4K,
}

/// Values to a scale of four-bit floats.
pub const NF4_GROUP: usize = 64;

impl Storage {
    /// Every one, in the order in which they are offered.
    pub const ALL: &[Self] =
        &[Self::Stored, Self::Fp8, Self::Fp8E5m2, Self::Int8, Self::Q8_0, Self::Nf4, Self::Q4K];

    /// Whether it is the file's.
    pub fn is_stored(&self) -> bool {
        *self == Self::Stored
    }

    /// Those that make weights smaller.
    pub fn smaller() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|storage| !storage.is_stored())
    }

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Fp8 => "fp8",
            Self::Fp8E5m2 => "fp8_e5m2",
            Self::Int8 => "int8",
            Self::Q8_0 => "q8_0",
            Self::Nf4 => "nf4",
            Self::Q4K => "q4_k",
        }
    }

    /// The name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::Stored => "as stored",
            Self::Fp8 => "FP8",
            Self::Fp8E5m2 => "FP8 (e5m2)",
            Self::Int8 => "INT8",
            Self::Q8_0 => "Q8_0",
            Self::Nf4 => "NF4",
            Self::Q4K => "Q4_K",
        }
    }

    /// Bits of a value, scales left out; none where that is the file's.
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::Stored => None,
            Self::Fp8 | Self::Fp8E5m2 | Self::Int8 | Self::Q8_0 => Some(8),
            Self::Nf4 | Self::Q4K => Some(4),
        }
    }

    /// How a matrix `[rows, columns]` is stored; none if it cannot be.
    pub fn encoding(self, rows: usize, columns: usize) -> Option<Encoding> {
        match self {
            Self::Fp8 => Some(Encoding::scaled(Format::F8E4m3, rows * columns)),
            Self::Fp8E5m2 => Some(Encoding::scaled(Format::F8E5m2, rows * columns)),
            Self::Int8 => Some(Encoding::scaled(Format::I8, columns)),
            Self::Nf4 if columns.is_multiple_of(NF4_GROUP) => Some(Encoding::scaled(Format::Nf4, NF4_GROUP)),
            Self::Q4K if columns.is_multiple_of(256) => Some(Format::Q4K.into()),
            Self::Q8_0 | Self::Q4K if columns.is_multiple_of(32) => Some(Format::Q8_0.into()),
            Self::Stored | Self::Nf4 | Self::Q8_0 | Self::Q4K => None,
        }
    }
}
