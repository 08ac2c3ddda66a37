//! How products by whole numbers are divided into work items, and the memory that they take for it.

use super::super::{columns::MOST, product::Cut, simd::Tile};

/// Inputs that share an exponent.
pub const GROUP: usize = 128;
/// Pairs that are summed at a time: panels of that depth fit in the second-level cache.
pub const DEPTH: usize = 1024;
/// Rows that a thread writes as numbers at a time.
pub const QUANTIZED: usize = 8;
/// Pairs of the rows that are written as numbers together.
const HELD: usize = 1 << 21;
/// The fewest such rows. Weights are packed again for the next ones.
const LEAST: usize = 512;

/// How a product is divided.
#[derive(Debug, Clone, Copy)]
pub struct WordsCut {
    /// Rows that are written as numbers together.
    pub together: usize,
    /// Outputs and rows of a work item.
    pub items: Cut,
}

impl WordsCut {
    pub fn new([rows, inputs, outputs]: [usize; 3], threads: usize) -> Self {
        let most = (2 * HELD / inputs).max(LEAST);
        let together = rows.div_ceil(rows.div_ceil(most)).next_multiple_of(Tile::detect().rows);
        let items = Cut::new([together.min(rows), inputs / 2, outputs], threads);
        Self { together, items }
    }
}

/// Groups of a row.
pub fn groups_of(inputs: usize) -> usize {
    inputs.div_ceil(GROUP)
}

/// Work items that the rows that are written together are divided into.
pub fn pieces([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    let WordsCut { together, items } = WordsCut::new([rows, inputs, outputs], threads);
    outputs.div_ceil(items.outputs) * rows.min(together).div_ceil(items.rows)
}

/// Scratch bytes of a product, without its input and its result.
pub fn scratch_bytes([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    let WordsCut { together, items } = WordsCut::new([rows, inputs, outputs], threads);
    let together = rows.min(together);
    let count = outputs.div_ceil(items.outputs) * together.div_ceil(items.rows);
    let item = item_values([items.rows.min(together), inputs, items.outputs.min(outputs)]);
    let lists = count * items.rows.min(together) * size_of::<&mut [f32]>();
    let multiplying = threads.min(count) * item * size_of::<f32>() + lists;
    let quantizing = threads.min(together.div_ceil(QUANTIZED)) * inputs * size_of::<f32>();
    let held = together * (inputs / 2 + groups_of(inputs)) + outputs;
    held * size_of::<f32>() + multiplying.max(quantizing)
}

/// Scratch values of a work item: the panels of a piece and their units, the weights of some outputs as pairs and those of one in
/// f32, and the sums, where not all inputs are summed at once.
pub fn item_values([rows, inputs, outputs]: [usize; 3]) -> usize {
    let (outputs, pairs) = (outputs.next_multiple_of(Tile::detect().lanes), inputs / 2);
    let depth = DEPTH.min(pairs);
    let sums = if depth < pairs { rows * outputs } else { 0 };
    outputs * (depth + groups_of(2 * depth)) + (MOST + 2) * depth + sums
}
