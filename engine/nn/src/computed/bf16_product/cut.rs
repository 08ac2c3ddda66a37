//! How products are divided into work items, and the memory that they take for it.

use super::{
    super::{
        columns::MOST,
        product::{Cut, rows_together},
        whole_product::Width,
    },
    GAP, Instruction, LANES, Method, STRIP, pairs_of,
};

/// Pairs that are summed at a time by pairs of AVX-512: panels of that depth fit in the second-level cache.
pub const DEPTH: usize = 1024;

/// Columns of a panel of tiles: rows of the input.
pub const COLUMNS: usize = Instruction::Tiles.columns();
/// Most rows of a work item with tiles.
const TILE_ROWS: usize = 384;
/// Most outputs of a work item with tiles: the faster the products, the more must share what comes from memory.
const TILE_OUTPUTS: usize = 256;
/// Pairs whose weights are in the cache for tiles.
pub const TILE_DEPTH: usize = 512;
/// Pairs of the rows that are packed together for tiles.
const PACKED: usize = 1 << 20;

/// How a product by tiles is divided into work items.
#[derive(Debug, Clone, Copy)]
pub struct TileCut {
    /// Outputs of an item.
    pub outputs: usize,
    /// Rows of an item.
    pub rows: usize,
    /// Rows that are packed together.
    pub together: usize,
}

impl TileCut {
    pub fn new([rows, inputs, outputs]: [usize; 3], threads: usize) -> Self {
        let most = (PACKED / pairs_of(inputs)).max(TILE_ROWS);
        let together = rows.div_ceil(rows.div_ceil(most)).next_multiple_of(COLUMNS);
        let down = together.div_ceil(TILE_ROWS);
        let across = (4 * threads).div_ceil(down);
        let outputs = outputs.div_ceil(across).next_multiple_of(STRIP).min(TILE_OUTPUTS);
        Self { outputs, rows: together.div_ceil(down).next_multiple_of(COLUMNS), together }
    }
}

/// Work items that a product is divided into.
pub fn pieces([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    let (across, down) = match Method::detect() {
        Some(Method::Words) => return Width::Words.pieces([rows, inputs, outputs], threads),
        Some(Method::By(Instruction::Tiles)) => {
            let cut = TileCut::new([rows, inputs, outputs], threads);
            (cut.outputs, cut.rows)
        }
        _ => {
            let cut = Cut::new([rows, inputs / 2, outputs], threads);
            (cut.outputs, cut.rows)
        }
    };
    outputs.div_ceil(across) * rows.div_ceil(down)
}

/// Scratch bytes of a product, without its input and its result.
pub fn scratch_bytes(rows: usize, inputs: usize, outputs: usize, threads: usize, is_rotated: bool) -> usize {
    match Method::detect() {
        Some(Method::Words) => Width::Words.scratch_bytes([rows, inputs, outputs], threads),
        Some(Method::By(Instruction::Tiles)) => tiles_scratch_bytes([rows, inputs, outputs], threads),
        _ => pairs_scratch_bytes([rows, inputs, outputs], threads, is_rotated),
    }
}

fn tiles_scratch_bytes([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    let cut = TileCut::new([rows, inputs, outputs], threads);
    let together = rows.min(cut.together).next_multiple_of(LANES);
    let (across, down) = (outputs.div_ceil(cut.outputs), together.div_ceil(cut.rows));
    let worker = tiles_item_values([together.min(cut.rows), inputs, cut.outputs.min(outputs)]);
    let workers = threads.min(across * down) * worker;
    let lists = across * down * cut.rows.min(rows) * size_of::<&mut [f32]>();
    (together * pairs_of(inputs) + outputs + workers) * size_of::<f32>() + lists
}

/// Scratch values of a work item: the sums, the weights of a piece, and those of some outputs in f32.
pub fn tiles_item_values([width, inputs, outputs]: [usize; 3]) -> usize {
    let outputs = outputs.next_multiple_of(STRIP);
    let depth = TILE_DEPTH.min(pairs_of(inputs));
    outputs * width + outputs * (depth + GAP) + 2 * depth
}

fn pairs_scratch_bytes([rows, inputs, outputs]: [usize; 3], threads: usize, is_rotated: bool) -> usize {
    let pairs = inputs / 2;
    let of_rows = |rows: usize| {
        let cut = Cut::new([rows, pairs, outputs], threads);
        let items = outputs.div_ceil(cut.outputs) * rows.div_ceil(cut.rows);
        let item = pairs_item_values([cut.rows.min(rows), pairs, cut.outputs.min(outputs)]);
        threads.min(items) * item * size_of::<f32>() + items * cut.rows.min(rows) * size_of::<&mut [f32]>()
    };
    let [first, last] = rows_together(rows, is_rotated);
    // Rotated rows are as many values, but half as wide.
    let rotated = if is_rotated { (first + 2 * threads) * pairs } else { 0 };
    of_rows(first).max(of_rows(last)) + (rotated + outputs) * size_of::<f32>()
}

/// Scratch values of a work item: the panels of a piece, the weights of some outputs as pairs and those of one in f32, and the
/// sums, where not all inputs are summed at once.
pub fn pairs_item_values([rows, pairs, outputs]: [usize; 3]) -> usize {
    let (outputs, depth) = (outputs.next_multiple_of(LANES), DEPTH.min(pairs));
    let sums = if depth < pairs { rows * outputs } else { 0 };
    outputs * depth + (MOST + 2) * depth.next_multiple_of(LANES) + sums
}
