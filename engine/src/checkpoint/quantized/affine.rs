//! Integers with a scale and a zero point per group, as torchao stores them. They are decoded while they are
//! read.

use std::ops::Range;

use super::{CheckpointError, StoredTensor};
use crate::checkpoint::stored::Decode;

/// Rows and columns that a tile of [`Integers::Tiles`] holds, and its bytes.
const TILE: (usize, usize) = (8, 128);
const TILE_BYTES: usize = TILE.0 * TILE.1 / 2;

/// A matrix of integers. Each run of `group` values of a row has a scale and a zero point.
#[derive(Debug)]
pub struct Affine {
    pub integers: Integers,
    pub codes: StoredTensor,
    pub zeros: Zeros,
    pub rows: usize,
    pub columns: usize,
    pub group: usize,
    pub name: String,
}

/// How the integers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integers {
    /// A byte each.
    Bytes,
    /// Signed 4-bit numbers, the first of two in the lower half of a byte.
    Halves,
    /// Unsigned 4-bit numbers that stand for those 8 lower, in tiles of 8 rows and 128 columns, of as many
    /// columns as are `padded`. A tile is what the 32 lanes of a tensor core's multiplication read: four
    /// 32-bit words each, for 32 columns (`_convert_weight_to_int4pack` in PyTorch's `int4mm.cu`).
    Tiles {
        /// Columns, a multiple of those of a tile.
        padded: usize,
    },
}

/// Where scales and zero points are, and what zero points mean.
#[derive(Debug)]
pub enum Zeros {
    /// Each a tensor with rows like the matrix; the zero point is subtracted from the integer. A matrix may be
    /// a single group for each row, or for all.
    Subtracted { scales: StoredTensor, zeros: StoredTensor },
    /// Each a tensor whose rows are the groups; the zero point is added to the scaled integer.
    Added { scales: StoredTensor, zeros: StoredTensor },
    /// Both in turns in one tensor whose rows are the groups, for this many rows of the matrix; the zero point
    /// is added to the scaled integer.
    InTurns { both: StoredTensor, rows: usize },
}

impl Affine {
    fn integers(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError> {
        let first = rows.start * self.columns;
        match self.integers {
            Integers::Bytes => {
                let mut bytes = vec![0; out.len()];
                self.codes.read_raw_at(first, &mut bytes)?;
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = f32::from(byte.cast_signed()));
            }
            Integers::Halves => {
                let mut bytes = vec![0; out.len() / 2];
                self.codes.read_raw_at(first / 2, &mut bytes)?;
                let signed = |code: u8| f32::from(code) - if code < 8 { 0.0 } else { 16.0 };
                for (pair, byte) in out.as_chunks_mut().0.iter_mut().zip(bytes) {
                    *pair = [signed(byte & 15), signed(byte >> 4)];
                }
            }
            Integers::Tiles { padded } => {
                let band = padded / TILE.1 * TILE_BYTES;
                let mut bytes = vec![0; band];
                let mut held = None;
                for (row, out) in rows.zip(out.chunks_mut(self.columns)) {
                    if held != Some(row / TILE.0) {
                        self.codes.read_raw_at(row / TILE.0 * band, &mut bytes)?;
                        held = Some(row / TILE.0);
                    }
                    for (column, out) in out.iter_mut().enumerate() {
                        let (byte, is_upper) = place(row % TILE.0, column);
                        let byte = bytes[byte];
                        *out = f32::from(if is_upper { byte >> 4 } else { byte & 15 }) - 8.0;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The byte of a band of tiles that has the number of a row and column, and whether it is the upper half.
fn place(row: usize, column: usize) -> (usize, bool) {
    let (tile, within) = (column / TILE.1, column % TILE.1);
    let (word, within) = (within / 32, within % 32);
    let pair = within % 16 / 2;
    let lane = row * 4 + pair % 4;
    let nibble = within / 16 * 2 + pair / 4 + within % 2 * 4;
    (tile * TILE_BYTES + (lane * 4 + word) * 4 + nibble / 2, nibble % 2 == 1)
}

impl Decode for Affine {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError> {
        self.integers(rows.clone(), out)?;
        let (mut scales, mut zeros) = (Vec::new(), Vec::new());
        let groups = self.columns.div_ceil(self.group);
        match &self.zeros {
            Zeros::Subtracted { scales: table, zeros: points } => {
                let count = table.elements() as usize;
                let range = if count == 1 { 0..1 } else { rows.start * groups..rows.end * groups };
                table.floats(range.clone(), &mut scales)?;
                points.floats(range, &mut zeros)?;
                for (index, values) in out.chunks_mut(self.columns).enumerate() {
                    for (group, values) in values.chunks_mut(self.group).enumerate() {
                        let own = if count == 1 { 0 } else { index * groups + group };
                        values.iter_mut().for_each(|value| *value = (*value - zeros[own]) * scales[own]);
                    }
                }
            }
            Zeros::Added { scales: table, zeros: points } => {
                for group in 0..groups {
                    let range = group * self.rows + rows.start..group * self.rows + rows.end;
                    table.floats(range.clone(), &mut scales)?;
                    points.floats(range, &mut zeros)?;
                    self.add(group, scales.iter().copied().zip(zeros.iter().copied()), out);
                }
            }
            Zeros::InTurns { both, rows: all } => {
                for group in 0..groups {
                    let first = group * all;
                    both.floats(2 * (first + rows.start)..2 * (first + rows.end), &mut scales)?;
                    self.add(group, scales.as_chunks().0.iter().map(|&[scale, zero]| (scale, zero)), out);
                }
            }
        }
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Affine {
    /// Scales a group of each row and adds its zero point.
    fn add(&self, group: usize, each: impl Iterator<Item = (f32, f32)>, out: &mut [f32]) {
        let columns = group * self.group..self.columns.min((group + 1) * self.group);
        for (row, (scale, zero)) in out.chunks_mut(self.columns).zip(each) {
            row[columns.clone()].iter_mut().for_each(|value| *value = *value * scale + zero);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_a_tile_has_its_own_place() {
        let places: std::collections::BTreeSet<_> =
            (0..TILE.0).flat_map(|row| (0..2 * TILE.1).map(move |column| place(row, column))).collect();
        assert_eq!(places.len(), 2 * TILE.0 * TILE.1);
        assert_eq!(places.last(), Some(&(2 * TILE_BYTES - 1, true)));
    }
}
