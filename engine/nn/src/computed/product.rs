//! Products of many rows with weights, in f32.
//!
//! Weights are packed into panels that stay in the cache, and rows are read as they are. Each entry is summed in pieces of
//! [`DEPTH`] inputs in one fixed order, whatever the number of rows and threads.

use std::{num::NonZeroUsize, ops::Range};

use pulp::{Simd, bytemuck::cast_slice, bytemuck::cast_slice_mut};
use rayon::prelude::*;

use crate::precision::rotate;

use super::{
    columns::{MOST, columns_of},
    operands::{Start, Weights},
    scratch::{Reserve, Scratch},
    simd::{Rows, Tile, Tiled, product_of_rows, rows_of, run, vectors_of, vectors_of_mut},
};

/// Outputs whose panels share the rows in the cache: whole register tiles of every width.
const OUTPUTS: usize = 96;
/// Inputs summed at a time.
pub(super) const DEPTH: usize = 256;
/// Inputs whose weights are packed at a time. Rows of packed weights are short: with fewer, each read would wait for memory.
const PACKED: usize = 4 * DEPTH;
/// Most rows of a work item: with more, the processor would look up the pages of all rows again for each panel.
const ROWS: usize = 512;
/// Rows of a work item with which packing its weights takes little of its time.
const ENOUGH: usize = 256;
/// Multiplications of a product that one thread computes alone: by the time that another one starts, it is done.
pub(super) const SMALL: usize = 1 << 20;
/// Rows that are rotated at a time.
pub(super) const ROTATED: usize = 384;

/// How a product is divided into work items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Outputs of an item.
    pub outputs: usize,
    /// Rows of an item.
    pub rows: usize,
}

impl Cut {
    pub fn new([rows, inputs, outputs]: [usize; 3], threads: usize) -> Self {
        let tile = Tile::detect();
        if rows * inputs * outputs < SMALL {
            return Self { outputs, rows: rows.next_multiple_of(tile.rows) };
        }
        let all = outputs.div_ceil(tile.columns());
        let most = OUTPUTS / tile.columns();
        let panels = if rows > ROWS { most } else { (all / (4 * threads)).clamp(1, most) };
        let wanted = (8 * threads).div_ceil(all.div_ceil(panels)).min(rows.div_ceil(ENOUGH));
        let parts = wanted.max(rows.div_ceil(ROWS));
        let rows = rows.div_ceil(parts).next_multiple_of(tile.rows);
        Self { outputs: panels * tile.columns(), rows }
    }
}

/// Rows that are multiplied together, at first and at the end: not all are rotated at a time.
pub(super) fn rows_together(rows: usize, is_rotated: bool) -> [usize; 2] {
    if is_rotated { [rows.min(ROTATED), (rows - 1) % ROTATED + 1] } else { [rows; 2] }
}

/// Some outputs of some rows of a product.
pub(super) struct Item<'a, T> {
    /// Index of the first output.
    pub first: usize,
    /// Index of the first row.
    pub row: usize,
    /// The initial value of the sums; `None` adds to what `out` holds.
    pub bias: Option<&'a [f32]>,
    /// The outputs of each row.
    pub out: Vec<&'a mut [T]>,
}

/// Computes the work items of a product on all threads: across the outputs, then down the rows. Each takes up to so many
/// scratch values.
pub(super) fn compute_items<T: Send>(
    out: &mut [T],
    start: Start<'_>,
    cut: Cut,
    scratch_values: usize,
    compute: impl Fn(Item<'_, T>, &mut Scratch) + Sync,
) {
    let outputs = start.outputs();
    let across = outputs.div_ceil(cut.outputs);
    let work = work_items(out, outputs, cut);
    let reserve = Reserve::new(work.len(), scratch_values);
    work.into_par_iter().enumerate().for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (first, row) = (index % across * cut.outputs, index / across * cut.rows);
            let bias = match start {
                Start::Bias(bias) => Some(&bias[first..first + out[0].len()]),
                Start::There(_) => None,
            };
            compute(Item { first, row, bias, out }, scratch);
        },
    );
}

/// The parts of rows that each work item computes.
fn work_items<T>(out: &mut [T], outputs: usize, cut: Cut) -> Vec<Vec<&mut [T]>> {
    let rows = out.len() / outputs;
    let (across, down) = (outputs.div_ceil(cut.outputs), rows.div_ceil(cut.rows));
    let mut work: Vec<Vec<&mut [T]>> = Vec::with_capacity(across * down);
    work.resize_with(across * down, || Vec::with_capacity(cut.rows.min(rows)));
    for (row, out) in out.chunks_mut(outputs).enumerate() {
        let work = &mut work[row / cut.rows * across..][..across];
        for (work, part) in work.iter_mut().zip(out.chunks_mut(cut.outputs)) {
            work.push(part);
        }
    }
    work
}

/// Work items that a product is divided into.
pub(crate) fn pieces([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    let cut = Cut::new([rows, inputs, outputs], threads);
    outputs.div_ceil(cut.outputs) * rows.div_ceil(cut.rows)
}

/// How often each weight is packed.
pub(crate) fn times_packed([rows, inputs, outputs]: [usize; 3], threads: usize) -> usize {
    rows.div_ceil(Cut::new([rows, inputs, outputs], threads).rows)
}

/// `out = start + x · weightsᵀ`, with `x` `[row, in]`, `weights` `[out, in]` and at least one row.
pub(super) fn multiply(x: &[f32], weights: Weights, start: Start, inputs: usize, out: &mut [f32]) {
    let (weights, rotation) = weights.without_rotation();
    let rows = out.len() / start.outputs();
    let x = &x[..rows * inputs];
    let Some(rotation) = rotation else { return multiply_rows(x, weights, start, inputs, out) };
    let mut rotated = Vec::new();
    for (x, out) in x.chunks(ROTATED * inputs).zip(out.chunks_mut(ROTATED * start.outputs())) {
        rotated.clear();
        rotated.extend_from_slice(x);
        rotated.par_chunks_mut(inputs).for_each(|row| run(Rotate { row, rotation }));
        multiply_rows(&rotated, weights, start, inputs, out);
    }
}

fn multiply_rows(x: &[f32], weights: Weights, start: Start, inputs: usize, out: &mut [f32]) {
    let outputs = start.outputs();
    let rows = out.len() / outputs;
    let cut = Cut::new([rows, inputs, outputs], rayon::current_num_threads());
    let item = item_values(inputs, cut.outputs.min(outputs));
    compute_items(out, start, cut, item, |Item { first, row, bias, out }, scratch| {
        let x = &x[row * inputs..][..out.len() * inputs];
        run(Block { x, weights, bias, inputs, first, out, scratch });
    });
}

/// Scratch bytes of a product, without its input and its result.
pub(super) fn scratch_bytes(
    rows: usize,
    inputs: usize,
    outputs: usize,
    threads: usize,
    is_rotated: bool,
) -> usize {
    let of_rows = |rows: usize| {
        let cut = Cut::new([rows, inputs, outputs], threads);
        let items = outputs.div_ceil(cut.outputs) * rows.div_ceil(cut.rows);
        let item = item_values(inputs, cut.outputs.min(outputs));
        threads.min(items) * item * size_of::<f32>() + items * cut.rows.min(rows) * size_of::<&mut [f32]>()
    };
    let [first, last] = rows_together(rows, is_rotated);
    let rotated = if is_rotated { first * inputs } else { 0 };
    of_rows(first).max(of_rows(last)) + (rotated + outputs) * size_of::<f32>()
}

/// Scratch values of a work item: the panels of a piece, and some of its weights in f32.
fn item_values(inputs: usize, outputs: usize) -> usize {
    let lanes = Tile::detect().lanes;
    PACKED.min(inputs) * (outputs.next_multiple_of(lanes) + lanes)
}

/// Rotates a row.
struct Rotate<'a> {
    row: &'a mut [f32],
    rotation: NonZeroUsize,
}

impl Tiled for Rotate<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        self.row.chunks_exact_mut(self.rotation.get()).for_each(rotate);
    }
}

/// Some outputs of some rows.
struct Block<'a> {
    /// `[row, in]`.
    x: &'a [f32],
    weights: Weights<'a>,
    /// The initial value of the sums; `None` adds to what `out` holds.
    bias: Option<&'a [f32]>,
    inputs: usize,
    /// Index of the first output.
    first: usize,
    /// The outputs of each row.
    out: Vec<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

impl Tiled for Block<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let columns = V * S::F32_LANES;
        let outputs = self.out[0].len();
        let padded = outputs.next_multiple_of(S::F32_LANES);
        let most = PACKED.min(self.inputs);
        let scratch = self.scratch.take((padded + S::F32_LANES) * most);
        let (panels, wide) = scratch.split_at_mut(padded * most);
        for piece in (0..self.inputs).step_by(PACKED) {
            let length = PACKED.min(self.inputs - piece);
            let panels = &mut panels[..padded * length];
            for (index, panel) in panels.chunks_mut(columns * length).enumerate() {
                let first = self.first + index * columns;
                let outputs = first..(self.first + outputs).min(first + columns);
                pack(simd, self.weights, outputs, self.inputs, piece..piece + length, panel, wide);
            }
            for start in (0..length).step_by(DEPTH) {
                let depth = DEPTH.min(length - start);
                let bias = self.bias.filter(|_| piece + start == 0);
                for (strip, out) in self.out.chunks_mut(R).enumerate() {
                    let x = &self.x[strip * R * self.inputs + piece + start..];
                    let x = &x[..(out.len() - 1) * self.inputs + depth];
                    let x = rows_of::<R>(x, self.inputs, depth);
                    for (index, panel) in panels.chunks(columns * length).enumerate() {
                        let width = panel.len() / length;
                        let panel = (&panel[start * width..][..depth * width], width / S::F32_LANES);
                        let first = index * columns;
                        let outputs = first..outputs.min(first + width);
                        let bias = bias.map(|bias| &bias[outputs.clone()]);
                        product_of_rows::<S, R, V>(simd, x, panel, Sums { out, outputs, bias });
                    }
                }
            }
        }
    }
}

/// Packs a range of inputs of some outputs into a panel, `[in, out]`. `wide` is for weights that are not f32.
#[inline(always)]
fn pack<S: Simd>(
    simd: S,
    weights: Weights,
    outputs: Range<usize>,
    all: usize,
    inputs: Range<usize>,
    panel: &mut [f32],
    wide: &mut [f32],
) {
    let (length, lanes) = (inputs.len(), S::F32_LANES);
    let width = panel.len() / length;
    let panel: &mut [u32] = cast_slice_mut(panel);
    for (part, first) in outputs.clone().step_by(lanes).enumerate() {
        let last = lanes.min(outputs.end - first) - 1;
        let rows: [&[f32]; MOST] = if let Weights::F32(values) = weights {
            std::array::from_fn(|row| &values[(first + row.min(last)) * all + inputs.start..][..length])
        } else {
            for (row, wide) in wide.chunks_exact_mut(length).take(last + 1).enumerate() {
                weights.widen(simd, (first + row) * all + inputs.start, wide);
            }
            std::array::from_fn(|row| &wide[row.min(last) * length..][..length])
        };
        columns_of(&rows.map(cast_slice), &mut panel[part * lanes..], width);
    }
}

/// A range of outputs of some rows; products are added to them.
struct Sums<'a, 'b> {
    out: &'a mut [&'b mut [f32]],
    outputs: Range<usize>,
    /// What the first products are added to, instead of what is there.
    bias: Option<&'a [f32]>,
}

impl<S: Simd> Rows<S> for Sums<'_, '_> {
    #[inline(always)]
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]) {
        let Some(out) = self.out.get_mut(row) else { return };
        let out = &mut out[self.outputs.clone()];
        if out.len() == V * S::F32_LANES {
            let out = vectors_of_mut::<S>(out, V);
            match self.bias {
                Some(bias) => {
                    let bias = vectors_of::<S>(bias, V);
                    for ((out, bias), value) in out.iter_mut().zip(bias).zip(values) {
                        *out = simd.add_f32s(*bias, *value);
                    }
                }
                None => {
                    for (out, value) in out.iter_mut().zip(values) {
                        *out = simd.add_f32s(*out, *value);
                    }
                }
            }
            return;
        }
        for (index, value) in values.iter().enumerate() {
            let first = (index * S::F32_LANES).min(out.len());
            let part = first..(first + S::F32_LANES).min(out.len());
            let before = self.bias.map_or(&out[part.clone()], |bias| &bias[part.clone()]);
            let sum = simd.add_f32s(simd.partial_load_f32s(before), *value);
            simd.partial_store_f32s(&mut out[part], sum);
        }
    }
}
