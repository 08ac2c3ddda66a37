//! Integers with a scale and a zero point per group, as torchao stores them.

use std::ops::Range;

use super::{CheckpointError, StoredTensor, rotated::read_halves};
use crate::{
    checkpoint::stored::Repack,
    precision::{self, Encoding, Format},
};

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
    /// Reads numbers that are in tiles, two a byte, in the order of rows.
    fn read_tiles(&self, padded: usize, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        let band = padded / TILE.1 * TILE_BYTES;
        let mut bytes = vec![0; band];
        let mut held = None;
        for (out, index) in out.iter_mut().zip((2 * first..).step_by(2)) {
            let (row, column) = (index / self.columns, index % self.columns);
            if held != Some(row / TILE.0) {
                self.codes.read_raw_at(row / TILE.0 * band, &mut bytes)?;
                held = Some(row / TILE.0);
            }
            let [first, second] = [column, column + 1].map(|column| {
                let (byte, is_upper) = place(row % TILE.0, column);
                if is_upper { bytes[byte] >> 4 } else { bytes[byte] & 15 }
            });
            // From 8 above the number to its two's complement.
            *out = (first << 4 | second) ^ 0x88;
        }
        Ok(())
    }

    /// Values that share a scale. Groups do not end in the middle of an encoding's.
    fn own_group(&self) -> usize {
        if self.zeros.is_one() { self.rows * self.columns } else { divisor(self.columns, self.group) }
    }
}

/// The greatest common divisor.
fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}

impl Zeros {
    /// Whether all values share a scale.
    fn is_one(&self) -> bool {
        matches!(self, Self::Subtracted { scales, .. } if scales.elements() == 1)
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

impl Repack for Affine {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn encoding(&self) -> Encoding {
        let format = match self.integers {
            Integers::Bytes => Format::I8,
            Integers::Halves | Integers::Tiles { .. } => Format::I4,
        };
        let zeros = match self.zeros {
            Zeros::Subtracted { .. } => precision::Zeros::Subtracted,
            Zeros::Added { .. } | Zeros::InTurns { .. } => precision::Zeros::Added,
        };
        Encoding::scaled(format, self.own_group()).with_zeros(zeros)
    }

    fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        match self.integers {
            Integers::Bytes => self.codes.read_raw_at(first, out),
            Integers::Halves => read_halves(&self.codes, first, out),
            Integers::Tiles { padded } => self.read_tiles(padded, first, out),
        }
    }

    fn tail(&self, groups: Range<usize>) -> Result<Vec<f32>, CheckpointError> {
        let own = self.own_group();
        let per_row = (self.columns / own).max(1);
        let rows = groups.start / per_row..groups.end.div_ceil(per_row);
        let (scales, zeros) = self.of_rows(rows.clone())?;
        let stored = self.columns.div_ceil(self.group);
        let place = |index: usize| match self.zeros.is_one() {
            true => 0,
            false => (index / per_row - rows.start) * stored + index % per_row * own / self.group,
        };
        Ok(groups
            .clone()
            .map(|index| scales[place(index)])
            .chain(groups.map(|index| zeros[place(index)]))
            .collect())
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Affine {
    /// Scales and zero points of some rows, row by row.
    fn of_rows(&self, rows: Range<usize>) -> Result<(Vec<f32>, Vec<f32>), CheckpointError> {
        let groups = self.columns.div_ceil(self.group);
        let (mut scales, mut zeros) = (Vec::new(), Vec::new());
        let mut all = (vec![0.0; rows.len() * groups], vec![0.0; rows.len() * groups]);
        let mut keep = |group: usize, scales: &[f32], zeros: &[f32]| {
            for (row, (scale, zero)) in scales.iter().zip(zeros).enumerate() {
                (all.0[row * groups + group], all.1[row * groups + group]) = (*scale, *zero);
            }
        };
        match &self.zeros {
            Zeros::Subtracted { scales: table, zeros: points } => {
                let range = if self.zeros.is_one() { 0..1 } else { rows.start * groups..rows.end * groups };
                table.floats(range.clone(), &mut scales)?;
                points.floats(range, &mut zeros)?;
                return Ok((scales, zeros));
            }
            Zeros::Added { scales: table, zeros: points } => {
                for group in 0..groups {
                    let range = group * self.rows + rows.start..group * self.rows + rows.end;
                    table.floats(range.clone(), &mut scales)?;
                    points.floats(range, &mut zeros)?;
                    keep(group, &scales, &zeros);
                }
            }
            Zeros::InTurns { both, rows: stored } => {
                let mut turns = Vec::new();
                for group in 0..groups {
                    let first = group * stored;
                    both.floats(2 * (first + rows.start)..2 * (first + rows.end), &mut turns)?;
                    (scales, zeros) = turns.as_chunks().0.iter().map(|&[scale, zero]| (scale, zero)).unzip();
                    keep(group, &scales, &zeros);
                }
            }
        }
        Ok(all)
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
