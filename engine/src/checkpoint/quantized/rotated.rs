//! Weights that were rotated before they were quantized (ConvRot), or that expect scaled inputs. Both are
//! undone in the weight, so that the network computes with plain inputs.

use std::ops::Range;

use super::{CheckpointError, StoredTensor};
use crate::checkpoint::stored::Decode;

/// Integers of rotated rows, and one scale for all or one per row. A row is rotated in groups by the Kronecker
/// power of a 4×4 Hadamard matrix without a column of ones; it is symmetric and its own inverse (ConvRot,
/// arXiv:2512.03673, as in comfy-kitchen).
#[derive(Debug)]
pub struct Rotated {
    pub codes: Codes,
    /// A scale per row, or a single one.
    pub scales: StoredTensor,
    pub rows: usize,
    pub columns: usize,
    /// Values that are rotated together, a power of four.
    pub group: usize,
    pub name: String,
}

/// How the integers are stored.
#[derive(Debug)]
pub enum Codes {
    /// A byte each.
    Bytes(StoredTensor),
    /// Signed 4-bit numbers, the first of two in the lower half of a byte.
    Halves(StoredTensor),
    /// 4-bit indices in the same order.
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

impl Codes {
    /// The integers of a range of values.
    fn read(&self, range: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError> {
        let halves = |codes: &StoredTensor, value: &dyn Fn(u8) -> f32, out: &mut [f32]| {
            let mut bytes = vec![0; range.len() / 2];
            codes.read_raw_at(range.start / 2, &mut bytes)?;
            for (pair, byte) in out.as_chunks_mut().0.iter_mut().zip(bytes) {
                *pair = [value(byte & 15), value(byte >> 4)];
            }
            Ok(())
        };
        match self {
            Self::Bytes(codes) => {
                let mut bytes = vec![0; range.len()];
                codes.read_raw_at(range.start, &mut bytes)?;
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = f32::from(byte.cast_signed()));
                Ok(())
            }
            Self::Halves(codes) => {
                halves(codes, &|code| f32::from(code) - if code < 8 { 0.0 } else { 16.0 }, out)
            }
            Self::Indices(indices) => {
                let Indices { codes, relative, table, group } = &**indices;
                halves(codes, &|code| table[usize::from(code)], out)?;
                let mut scales = Vec::new();
                relative.floats(range.start / group..range.end / group, &mut scales)?;
                for (values, scale) in out.chunks_mut(*group).zip(scales) {
                    values.iter_mut().for_each(|value| {
                        *value = (*value * scale).round_ties_even().clamp(-127.0, 127.0);
                    });
                }
                Ok(())
            }
        }
    }
}

impl Decode for Rotated {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Rotates the integers, whose sums are exact, and rounds once, by the scale.
    fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError> {
        self.codes.read(rows.start * self.columns..rows.end * self.columns, out)?;
        let mut scales = Vec::new();
        let is_one = self.scales.elements() == 1;
        self.scales.floats(if is_one { 0..1 } else { rows }, &mut scales)?;
        // The square root of a power of four is a power of two: this rounds nothing.
        let length = (self.group as f32).sqrt().recip();
        for (row, values) in out.chunks_mut(self.columns).enumerate() {
            values.chunks_mut(self.group).for_each(rotate);
            let scale = scales.get(if is_one { 0 } else { row }).copied().unwrap_or_default() * length;
            values.iter_mut().for_each(|value| *value *= scale);
        }
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Multiplies by the matrix, without dividing by its length: a step for each power of four.
fn rotate(values: &mut [f32]) {
    let mut step = 1;
    while step < values.len() {
        for run in values.chunks_mut(4 * step) {
            for index in 0..step {
                let [a, b, c, d] = [0, 1, 2, 3].map(|part| run[index + part * step]);
                let turned = [a + b + c - d, a + b - c + d, a - b + c + d, b + c + d - a];
                turned.into_iter().enumerate().for_each(|(part, value)| run[index + part * step] = value);
            }
        }
        step *= 4;
    }
}

/// A matrix whose inputs are multiplied by a number each before the product (the smoothing of AWQ). The columns
/// are multiplied instead.
#[derive(Debug)]
pub struct Smoothed {
    pub weight: StoredTensor,
    pub factors: Vec<f32>,
    pub name: String,
}

impl Decode for Smoothed {
    fn shape(&self) -> (usize, usize) {
        (self.weight.shape().first().copied().unwrap_or(0), self.factors.len())
    }

    fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError> {
        let columns = self.factors.len();
        let mut values = Vec::new();
        self.weight.floats(rows.start * columns..rows.end * columns, &mut values)?;
        for (index, (out, value)) in out.iter_mut().zip(values).enumerate() {
            *out = value * self.factors[index % columns];
        }
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_its_own_inverse() {
        for group in [4, 16, 64, 256] {
            let values: Vec<f32> = (0..group).map(|index| ((index * 37 + 11) % 255) as f32 - 127.0).collect();
            let mut turned = values.clone();
            rotate(&mut turned);
            assert_ne!(turned, values);
            rotate(&mut turned);
            turned.iter_mut().for_each(|value| *value /= group as f32);
            assert_eq!(turned, values);
        }
    }

    #[test]
    fn four_values_are_multiplied_by_the_matrix() {
        let mut values = [1.0, 10.0, 100.0, 1000.0];
        rotate(&mut values);
        assert_eq!(values, [-889.0, 911.0, 1091.0, 1109.0]);
    }
}
