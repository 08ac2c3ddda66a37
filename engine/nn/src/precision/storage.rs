//! The formats that a component's matrices can be converted to, whatever the file has.

use serde::{Deserialize, Serialize};

use super::{Encoding, Format};

/// How the matrices of a component are held, and in FP8 also kernels of convolutions. Other tensors, and those that
/// the engine excludes, are held as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// As in the file.
    #[default]
    Stored,
    /// 8-bit floats with 3 mantissa bits and one scale per tensor, as in ComfyUI.
    Fp8,
    /// 8-bit floats with 2 mantissa bits and one scale per tensor.
    Fp8E5m2,
    /// 8-bit integers with one scale per row.
    Int8,
    /// The same weights. A CPU that multiplies numbers of 8 bits also rounds the inputs of their products to 8 bits, with one
    /// scale per 128 values.
    W8a8,
    /// GGUF: 8 bits with one scale per 32 values.
    Q8_0,
    /// NF4 (Dettmers et al. 2023, arXiv:2305.14314) with one scale per 64 values.
    Nf4,
    /// GGUF: 4 bits with a scale and a minimum per 32 values; 8 bits if the row length is not a multiple of
    /// 256.
    Q4K,
}

/// Values per scale of NF4.
pub const NF4_GROUP: usize = 64;

impl Storage {
    /// All of them, in display order.
    pub const ALL: &[Self] =
        &[Self::Stored, Self::Fp8, Self::Fp8E5m2, Self::Int8, Self::W8a8, Self::Q8_0, Self::Nf4, Self::Q4K];

    /// Whether weights are held as in the file.
    pub fn is_stored(&self) -> bool {
        *self == Self::Stored
    }

    /// All storages that make weights smaller.
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
            Self::W8a8 => "w8a8",
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
            Self::W8a8 => "W8A8",
            Self::Q8_0 => "Q8_0",
            Self::Nf4 => "NF4",
            Self::Q4K => "Q4_K",
        }
    }

    /// Bits per value without scales; `None` if held as in the file.
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::Stored => None,
            Self::Fp8 | Self::Fp8E5m2 | Self::Int8 | Self::W8a8 | Self::Q8_0 => Some(8),
            Self::Nf4 | Self::Q4K => Some(4),
        }
    }

    /// Whether kernels of convolutions can be held this way: where no scales go along rows.
    pub fn holds_kernels(self) -> bool {
        matches!(self, Self::Fp8 | Self::Fp8E5m2)
    }

    /// The encoding of a matrix `[rows, columns]`; `None` if it cannot be stored this way.
    pub fn encoding(self, rows: usize, columns: usize) -> Option<Encoding> {
        match self {
            Self::Fp8 => Some(Encoding::scaled(Format::F8E4m3, rows * columns)),
            Self::Fp8E5m2 => Some(Encoding::scaled(Format::F8E5m2, rows * columns)),
            Self::Int8 => Some(Encoding::scaled(Format::I8, columns)),
            Self::W8a8 => Some(Encoding::scaled(Format::I8, columns).rounding_inputs()),
            Self::Nf4 if columns.is_multiple_of(NF4_GROUP) => Some(Encoding::scaled(Format::Nf4, NF4_GROUP)),
            Self::Q4K if columns.is_multiple_of(256) => Some(Format::Q4K.into()),
            Self::Q8_0 | Self::Q4K if columns.is_multiple_of(32) => Some(Format::Q8_0.into()),
            Self::Stored | Self::Nf4 | Self::Q8_0 | Self::Q4K => None,
        }
    }
}
