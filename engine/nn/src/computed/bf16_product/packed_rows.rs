//! Products by tiles of AMX. Rows are packed into panels, weights are brought to the cache, and sums are turned into rows.

use std::num::NonZeroUsize;

use half::bf16;
use pulp::bytemuck::{cast_slice, cast_slice_mut};
use rayon::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

use super::{
    super::{
        columns::{MOST, columns_of},
        operands::{Start, Weights},
        product::{Cut, Item, compute_items},
        scratch::Scratch,
        simd::run,
        sums::Kept,
    },
    GAP, Instruction, LANES, STRIP,
    cut::{COLUMNS, TILE_DEPTH, TileCut, tiles_item_values},
    pairs_of,
    x86::{Rotate, Unit, Widen, join, pair_up},
};

/// `out = start + x · weightsᵀ`, with `x` `[row, in]`, `weights` `[out, in]` and an even number of inputs. Panics on processors
/// without this instruction.
pub fn multiply<T: Kept>(x: &[bf16], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [T]) {
    assert_eq!(Instruction::detect(), Some(Instruction::Tiles));
    let (outputs, depth) = (start.outputs(), pairs_of(inputs));
    let (weights, rotation) = weights.without_rotation();
    let cut = TileCut::new([out.len() / outputs, inputs, outputs], rayon::current_num_threads());
    let mut panels = Scratch::default();
    for (x, out) in x.chunks(cut.together * inputs).zip(out.chunks_mut(cut.together * outputs)) {
        let rows = x.len() / inputs;
        let panels: &mut [u32] = cast_slice_mut(panels.take(rows.next_multiple_of(LANES) * depth));
        panels.par_chunks_mut(COLUMNS * depth).zip(x.par_chunks(COLUMNS * inputs)).for_each(|(panel, x)| {
            pack(x, inputs, rotation, panel);
        });
        let panels = &*panels;
        let width = rows.next_multiple_of(LANES).min(cut.rows);
        let item = tiles_item_values([width, inputs, cut.outputs.min(outputs)]);
        let items = Cut { outputs: cut.outputs, rows: cut.rows };
        compute_items(out, start, items, item, |Item { first, row, bias, out }, scratch| {
            let width = out.len().next_multiple_of(LANES);
            let panels = &panels[row * depth..][..width * depth];
            let block = Block { panels, weights, first, bias, inputs, width };
            let unit = Unit::of(Instruction::Tiles);
            // SAFETY: the processor has AVX-512 with bf16, or the first line had panicked.
            unsafe { compute(block, unit, out, scratch) }
        });
    }
}

/// Packs some rows into a panel, `[pair][row]`.
fn pack(x: &[bf16], inputs: usize, rotation: Option<NonZeroUsize>, panel: &mut [u32]) {
    let (rows, pairs) = (x.len() / inputs, inputs / 2);
    let width = rows.next_multiple_of(LANES);
    panel[pairs * width..].fill(0);
    if let (None, Ok(joint)) = (rotation, <[u32]>::ref_from_bytes(x.as_bytes())) {
        for first in (0..rows).step_by(LANES) {
            let row = |row: usize| &joint[(first + row).min(rows - 1) * pairs..][..pairs];
            let rows: [&[u32]; MOST] = std::array::from_fn(row);
            columns_of(&rows, &mut panel[first..], width);
        }
        return;
    }
    let (mut rotated, mut joint) = (vec![0.0; inputs.next_multiple_of(2 * LANES)], vec![0; pairs_of(inputs)]);
    for (row, x) in x.chunks_exact(inputs).enumerate() {
        match rotation {
            Some(rotation) => {
                run(Rotate { x, rotation, out: &mut rotated[..inputs] });
                // SAFETY: the processor has AVX-512 with bf16, or `multiply` had panicked.
                unsafe { pair_up(&rotated, &mut joint) };
            }
            None => join(x, &mut joint),
        }
        for (column, both) in panel.chunks_exact_mut(width).zip(&joint[..pairs]) {
            column[row] = *both;
        }
    }
}

/// Some outputs of some rows.
struct Block<'a> {
    /// Pairs of the rows, `[panel][pair][row]`.
    panels: &'a [u32],
    weights: Weights<'a>,
    /// Index of the first output.
    first: usize,
    /// The initial value of the sums; `None` adds to what `out` holds.
    bias: Option<&'a [f32]>,
    inputs: usize,
    /// Rows, up to whole vectors.
    width: usize,
}

impl Block<'_> {
    /// Brings some pairs of each output to the cache, with zeros behind the last pair of a row.
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn fetch(&self, height: usize, piece: usize, depth: usize, held: &mut [u32], wide: &mut [f32]) {
        let pairs = depth.min(self.inputs / 2 - piece);
        let wide = &mut wide[..2 * depth];
        wide[2 * pairs..].fill(0.0);
        for (output, held) in held.chunks_exact_mut(depth + GAP).take(height).enumerate() {
            let place = (self.first + output) * self.inputs + 2 * piece;
            if let Weights::Bf16(weights) = self.weights {
                join(&weights[place..][..2 * pairs], held);
                held[pairs..].fill(0);
            } else {
                run(Widen { weights: self.weights, place, out: &mut wide[..2 * pairs] });
                pair_up(wide, held);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bf16")]
fn compute<T: Kept>(block: Block<'_>, unit: Unit, mut out: Vec<&mut [T]>, scratch: &mut Scratch) {
    let (width, height, pairs) = (block.width, out[0].len(), pairs_of(block.inputs));
    let (padded, most) = (height.next_multiple_of(STRIP), TILE_DEPTH);
    let scratch = scratch.take(tiles_item_values([width, block.inputs, height]));
    let (sums, rest) = scratch.split_at_mut(padded * width);
    let (held, wide) = rest.split_at_mut(padded * (most.min(pairs) + GAP));
    let held: &mut [u32] = cast_slice_mut(held);
    sums.fill(0.0);
    for piece in (0..pairs).step_by(most) {
        let depth = most.min(pairs - piece);
        block.fetch(height, piece, depth, held, wide);
        for strip in (0..padded).step_by(STRIP) {
            let stride = depth + GAP;
            let weights = &held[strip * stride..][..STRIP * stride];
            for first in (0..width).step_by(COLUMNS) {
                let across = COLUMNS.min(width - first);
                let panel = &block.panels[first * pairs + piece * across..][..depth * across];
                let sums = &mut sums[strip * width + first..];
                unit.add(weights, stride, panel, sums, width);
            }
        }
    }
    drop(unit);
    let mut turned = [0; LANES * LANES];
    for first in (0..height).step_by(LANES) {
        let count = LANES.min(height - first);
        for (strip, out) in out.chunks_mut(LANES).enumerate() {
            let row = |row: usize| -> &[u32] {
                cast_slice(&sums[(first + row) * width + strip * LANES..][..LANES])
            };
            columns_of(&std::array::from_fn(row), &mut turned, LANES);
            for (out, sums) in out.iter_mut().zip(turned.as_chunks::<LANES>().0) {
                let out = &mut out[first..][..count];
                match block.bias {
                    Some(bias) => {
                        for ((out, sum), bias) in out.iter_mut().zip(sums).zip(&bias[first..]) {
                            *out = T::rounded(f32::from_bits(*sum) + bias);
                        }
                    }
                    None => {
                        for (out, sum) in out.iter_mut().zip(sums) {
                            *out = T::rounded(f32::from_bits(*sum) + out.wide());
                        }
                    }
                }
            }
        }
    }
}
