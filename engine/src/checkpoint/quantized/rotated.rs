//! Weights that were rotated before they were quantized (ConvRot), or that expect scaled inputs. Both are undone
//! in the weight, so that the network computes with plain inputs: a rotation when the integers are dequantized,
//! the scales of inputs while the weight is read.

use std::ops::Range;

use super::{CheckpointError, StoredTensor};
use crate::{
    checkpoint::stored::Repack,
    precision::{Encoding, Format},
};

/// Integers of rotated rows, and one scale for all or one per row.
#[derive(Debug)]
pub struct Rotated {
    pub codes: Codes,
    /// A scale per row, or a single one.
    pub scales: StoredTensor,
    pub rows: usize,
    pub columns: usize,
    /// Values that are rotated together.
    pub rotation: usize,
    pub name: String,
}

/// How the integers are stored.
#[derive(Debug)]
pub enum Codes {
    /// A byte each.
    Bytes(StoredTensor),
    /// Signed 4-bit numbers, the first of two in the lower half of a byte.
    Halves(StoredTensor),
    /// 4-bit indices in the same order. They are held as the 8-bit integers that they stand for.
    Indices(Box<Indices>),
}

/// Indices into a table. Entries are multiplied by the scale of their group within the row, and rounded to
/// integers of magnitudes up to 127.
#[derive(Debug)]
pub struct Indices {
    pub codes: StoredTensor,
    /// A scale per group.
    pub relative: StoredTensor,
    pub table: [f32; 16],
    /// Values per group.
    pub group: usize,
}

/// Reads bytes of two 4-bit numbers each, and puts the first number into the upper half.
pub fn read_halves(codes: &StoredTensor, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
    codes.read_raw_at(first, out)?;
    out.iter_mut().for_each(|byte| *byte = byte.rotate_left(4));
    Ok(())
}

impl Indices {
    /// The integers from `first` on, a byte each.
    fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        let range = first..first + out.len();
        let mut codes = vec![0; range.end.div_ceil(2) - first / 2];
        self.codes.read_raw_at(first / 2, &mut codes)?;
        let groups = first / self.group..range.end.div_ceil(self.group);
        let mut scales = Vec::new();
        self.relative.floats(groups.clone(), &mut scales)?;
        for (out, index) in out.iter_mut().zip(range) {
            let byte = codes[index / 2 - first / 2];
            let code = if index.is_multiple_of(2) { byte & 15 } else { byte >> 4 };
            let value = self.table[usize::from(code)] * scales[index / self.group - groups.start];
            *out = (value.round_ties_even().clamp(-127.0, 127.0) as i8).cast_unsigned();
        }
        Ok(())
    }
}

impl Repack for Rotated {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn encoding(&self) -> Encoding {
        let format = match self.codes {
            Codes::Bytes(_) | Codes::Indices(_) => Format::I8,
            Codes::Halves(_) => Format::I4,
        };
        let group = if self.scales.elements() == 1 { self.rows * self.columns } else { self.columns };
        Encoding::scaled(format, group).rotated(self.rotation)
    }

    fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        match &self.codes {
            Codes::Bytes(codes) => codes.read_raw_at(first, out),
            Codes::Halves(codes) => read_halves(codes, first, out),
            Codes::Indices(indices) => indices.read(first, out),
        }
    }

    /// With the length of the rotation. The square root of a power of four is a power of two: this rounds
    /// nothing.
    fn tail(&self, groups: Range<usize>) -> Result<Vec<f32>, CheckpointError> {
        let mut scales = Vec::new();
        self.scales.floats(groups, &mut scales)?;
        let length = (self.rotation as f32).sqrt().recip();
        scales.iter_mut().for_each(|scale| *scale *= length);
        Ok(scales)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// A matrix whose inputs are multiplied by a number each before the product (the smoothing of AWQ). The columns
/// are multiplied instead, and held as floats.
#[derive(Debug)]
pub struct Smoothed {
    pub weight: StoredTensor,
    pub factors: Vec<f32>,
    pub name: String,
}

impl Repack for Smoothed {
    fn shape(&self) -> (usize, usize) {
        (self.weight.shape().first().copied().unwrap_or(0), self.factors.len())
    }

    fn encoding(&self) -> Encoding {
        Format::F32.into()
    }

    fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        const SIZE: usize = size_of::<f32>();
        let columns = self.factors.len();
        let range = first / SIZE..(first + out.len()).div_ceil(SIZE);
        let mut values = Vec::new();
        self.weight.floats(range.clone(), &mut values)?;
        let bytes = values.iter().zip(range).flat_map(|(value, index)| {
            let product = value * self.factors[index % columns];
            product.to_le_bytes()
        });
        out.iter_mut().zip(bytes.skip(first % SIZE)).for_each(|(out, byte)| *out = byte);
        Ok(())
    }

    fn tail(&self, _: Range<usize>) -> Result<Vec<f32>, CheckpointError> {
        Ok(Vec::new())
    }

    fn name(&self) -> &str {
        &self.name
    }
}
