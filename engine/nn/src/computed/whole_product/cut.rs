//! How products of whole numbers are divided into work items, and the memory that they take for it.

use std::num::NonZeroUsize;

use super::super::{columns::MOST, product::Cut, simd::Tile};
use crate::precision::{Encoding, Format};

/// Inputs that share a scale.
pub const GROUP: usize = 128;
/// Lanes that are summed at a time: panels of that depth fit in the second-level cache.
pub const DEPTH: usize = 1024;
/// Rows that a thread writes as numbers at a time.
pub const QUANTIZED: usize = 8;
/// Lanes of the rows that are written as numbers together.
const HELD: usize = 1 << 21;
/// The fewest such rows. Weights are packed again for the next ones.
const LEAST: usize = 512;

/// What numbers are written as. A lane of 32 bits has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 16 bits.
    Words,
    /// 8 bits.
    Bytes,
}

impl Width {
    /// Numbers of a lane.
    pub const fn numbers(self) -> usize {
        match self {
            Self::Words => 2,
            Self::Bytes => 4,
        }
    }

    /// 32-bit values that belong to a group of a row beside its numbers: the scale, and for bytes what the sum starts with.
    const fn beside(self) -> usize {
        match self {
            Self::Words => 1,
            Self::Bytes => 2,
        }
    }

    /// 32-bit values that a row of the input is written as.
    pub const fn row(self, inputs: usize) -> usize {
        inputs / self.numbers() + self.beside() * groups_of(inputs)
    }

    /// Scratch values of a work item: the panels of a piece and their scales, the weights of some outputs as numbers and those
    /// of one in f32, and the sums, where not all inputs are summed at once.
    pub fn item_values(self, [rows, inputs, outputs]: [usize; 3]) -> usize {
        let (outputs, lanes) = (outputs.next_multiple_of(Tile::detect().lanes), inputs / self.numbers());
        let depth = DEPTH.min(lanes);
        let sums = if depth < lanes { rows * outputs } else { 0 };
        let wide = self.numbers() * depth;
        outputs * (depth + groups_of(wide)) + MOST * depth + wide + sums
    }

    /// Work items that the rows that are written together are divided into.
    pub fn pieces(self, [rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
        let WholeCut { together, items } = WholeCut::new(self, [rows, inputs, outputs], threads);
        outputs.div_ceil(items.outputs) * rows.min(together).div_ceil(items.rows)
    }

    /// Scratch bytes of a product, without its input and its result.
    pub fn scratch_bytes(self, [rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
        let WholeCut { together, items } = WholeCut::new(self, [rows, inputs, outputs], threads);
        let together = rows.min(together);
        let count = outputs.div_ceil(items.outputs) * together.div_ceil(items.rows);
        let item = self.item_values([items.rows.min(together), inputs, items.outputs.min(outputs)]);
        let lists = count * items.rows.min(together) * size_of::<&mut [f32]>();
        let multiplying = threads.min(count) * item * size_of::<f32>() + lists;
        let quantizing = threads.min(together.div_ceil(QUANTIZED)) * inputs * size_of::<f32>();
        (together * self.row(inputs) + outputs) * size_of::<f32>() + multiplying.max(quantizing)
    }
}

/// How a product is divided.
#[derive(Debug, Clone, Copy)]
pub struct WholeCut {
    /// Rows that are written as numbers together.
    pub together: usize,
    /// Outputs and rows of a work item.
    pub items: Cut,
}

impl WholeCut {
    pub fn new(width: Width, [rows, inputs, outputs]: [usize; 3], threads: usize) -> Self {
        let lanes = inputs / width.numbers();
        let most = (HELD / lanes).max(LEAST);
        let together = rows.div_ceil(rows.div_ceil(most)).next_multiple_of(Tile::detect().rows);
        Self { together, items: Cut::new([together.min(rows), lanes, outputs], threads) }
    }
}

/// Groups of a row.
pub const fn groups_of(inputs: usize) -> usize {
    inputs.div_ceil(GROUP)
}

/// Whether weights are integers of 8 bits, of which those of each group have the same scale, and rows fill whole lanes.
pub fn are_bytes(encoding: Encoding, inputs: usize) -> bool {
    let Encoding { format, group, zeros, .. } = encoding;
    let shares_scales = |group: NonZeroUsize| {
        let parts = group.get().is_multiple_of(GROUP) && inputs.is_multiple_of(GROUP);
        group.get().is_multiple_of(inputs) || parts
    };
    let are_integers = format == Format::I8 && zeros.is_none() && group.is_none_or(shares_scales);
    are_integers && inputs.is_multiple_of(Width::Bytes.numbers())
}
