//! Products by pairs of AVX-512. Weights are packed into panels that stay in the cache, and rows are read as they are, as in
//! f32: nothing of a row is copied, unless it is rotated, and sums are in the order of its outputs.

use std::{
    arch::x86_64::{__m512, _mm512_storeu_ps},
    num::NonZeroUsize,
    ops::Range,
};

use half::bf16;
use pulp::bytemuck::cast_slice_mut;
use rayon::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

use super::{
    super::{
        columns::{MOST, columns_of},
        operands::{Start, Weights},
        product::{Cut, Item, ROTATED, compute_items},
        scratch::{Reserve, Scratch},
        simd::run,
        sums::{Kept, Sums},
    },
    Instruction, LANES,
    cut::{DEPTH, pairs_item_values},
    pairs::{ROWS, product},
    x86::{Rotate, Widen, join, joint, pair_up},
};

/// Vectors of outputs of a register tile.
const VECTORS: usize = Instruction::Pairs.columns() / LANES;

/// `out = start + x · weightsᵀ`, with x `[row, in]`, weights `[out, in]` and an even number of inputs. Panics on processors
/// without this instruction.
pub fn multiply<T: Kept>(x: &[bf16], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [T]) {
    assert!(Instruction::detect().is_some());
    let outputs = start.outputs();
    let (weights, rotation) = weights.without_rotation();
    let x = &x[..out.len() / outputs * inputs];
    let Some(rotation) = rotation else { return multiply_rows(x, weights, start, inputs, out) };
    let mut rotated = Vec::new();
    for (x, out) in x.chunks(ROTATED * inputs).zip(out.chunks_mut(ROTATED * outputs)) {
        rotated.clear();
        rotated.extend_from_slice(x);
        let reserve = Reserve::new(rotated.len() / inputs, inputs);
        rotated.par_chunks_mut(inputs).for_each_init(
            || reserve.lend(),
            |scratch, row| {
                rotate_row(row, rotation, scratch);
            },
        );
        multiply_rows(&rotated, weights, start, inputs, out);
    }
}

/// Rotates a row in f32 and rounds it.
fn rotate_row(row: &mut [bf16], rotation: NonZeroUsize, scratch: &mut Scratch) {
    let rotated = scratch.take(row.len());
    run(Rotate { x: row, rotation, out: rotated });
    for (value, rotated) in row.iter_mut().zip(rotated) {
        *value = bf16::rounded(*rotated);
    }
}

fn multiply_rows<T: Kept>(x: &[bf16], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [T]) {
    let outputs = start.outputs();
    let rows = out.len() / outputs;
    let cut = Cut::new([rows, inputs / 2, outputs], rayon::current_num_threads());
    let joined = match weights {
        Weights::Bf16(values) => <[u32]>::ref_from_bytes(values[..outputs * inputs].as_bytes()).ok(),
        _ => None,
    };
    let item = pairs_item_values([cut.rows.min(rows), inputs / 2, cut.outputs.min(outputs)]);
    compute_items(out, start, cut, item, |Item { first, row, bias, out }, scratch| {
        let x = x[row * inputs..][..out.len() * inputs].as_chunks().0;
        let block = Block { x, weights, joined, bias, pairs: inputs / 2, first };
        // SAFETY: the processor has AVX-512 with bf16, or `multiply` had panicked.
        unsafe { block.compute(out, scratch) }
    });
}

/// Some outputs of some rows.
struct Block<'a> {
    /// `[row, pair]`.
    x: &'a [[bf16; 2]],
    weights: Weights<'a>,
    /// The weights as pairs, where they are in bf16 and lie at a place for it.
    joined: Option<&'a [u32]>,
    /// The initial value of the sums; `None` adds to what is there.
    bias: Option<&'a [f32]>,
    /// Pairs of a row.
    pairs: usize,
    /// Index of the first output.
    first: usize,
}

impl Block<'_> {
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn compute<T: Kept>(&self, mut out: Vec<&mut [T]>, scratch: &mut Scratch) {
        let (rows, outputs) = (out.len(), out[0].len());
        let padded = outputs.next_multiple_of(LANES);
        let most = DEPTH.min(self.pairs);
        let scratch = scratch.take(pairs_item_values([rows, self.pairs, outputs]));
        let (panels, rest) = scratch.split_at_mut(padded * most);
        let (held, rest) = rest.split_at_mut(MOST * most.next_multiple_of(LANES));
        let (wide, sums) = rest.split_at_mut(2 * most.next_multiple_of(LANES));
        let (panels, held): (&mut [u32], &mut [u32]) = (cast_slice_mut(panels), cast_slice_mut(held));
        for piece in (0..self.pairs).step_by(most) {
            let piece = piece..self.pairs.min(piece + most);
            let depth = piece.len();
            let panels = &mut panels[..padded * depth];
            for (index, panel) in panels.chunks_mut(VECTORS * LANES * depth).enumerate() {
                self.pack(index * VECTORS * LANES, outputs, piece.clone(), panel, held, wide);
            }
            for (strip, out) in out.chunks_mut(ROWS).enumerate() {
                let row = |row: usize| {
                    let row = strip * ROWS + row.min(out.len() - 1);
                    &self.x[row * self.pairs..][piece.clone()]
                };
                let x: [&[[bf16; 2]]; ROWS] = std::array::from_fn(row);
                let sums = &mut sums[if depth < self.pairs { strip * ROWS * padded } else { 0 }..];
                for (index, panel) in panels.chunks(VECTORS * LANES * depth).enumerate() {
                    let first = index * VECTORS * LANES;
                    let sums = Sums {
                        out: &mut *out,
                        sums: &mut *sums,
                        stride: padded,
                        first,
                        is_first: piece.start == 0,
                        bias: (piece.end == self.pairs).then_some(self.bias),
                    };
                    let panel = panel.as_chunks::<LANES>().0;
                    match panel.len() / depth {
                        1 => add(sums, &product::<_, 1>(x, panel.as_chunks().0, joint)),
                        2 => add(sums, &product::<_, 2>(x, panel.as_chunks().0, joint)),
                        _ => add(sums, &product::<_, VECTORS>(x, panel.as_chunks().0, joint)),
                    }
                }
            }
        }
    }

    /// Packs a range of pairs of some outputs into a panel, `[pair, out]`.
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn pack(
        &self,
        first: usize,
        outputs: usize,
        pairs: Range<usize>,
        panel: &mut [u32],
        held: &mut [u32],
        wide: &mut [f32],
    ) {
        let depth = pairs.len();
        let (width, stride) = (panel.len() / depth, depth.next_multiple_of(LANES));
        for part in (0..width).step_by(LANES) {
            let last = LANES.min(outputs - first - part) - 1;
            let place = |row: usize| (self.first + first + part + row.min(last)) * self.pairs + pairs.start;
            let rows: [&[u32]; MOST] = if let Some(joined) = self.joined {
                std::array::from_fn(|row| &joined[place(row)..][..depth])
            } else {
                for (row, held) in held.chunks_exact_mut(stride).take(last + 1).enumerate() {
                    let place = 2 * place(row);
                    if let Weights::Bf16(values) = self.weights {
                        join(&values[place..][..2 * depth], held);
                    } else {
                        run(Widen { weights: self.weights, place, out: &mut wide[..2 * depth] });
                        pair_up(&wide[..2 * stride], held);
                    }
                }
                std::array::from_fn(|row| &held[row.min(last) * stride..][..depth])
            };
            columns_of(&rows, &mut panel[part..], width);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn add<T: Kept, const V: usize>(mut sums: Sums<'_, '_, T>, tile: &[[__m512; V]; ROWS]) {
    for (row, vectors) in tile.iter().enumerate().take(sums.out.len()) {
        for (vector, sum) in vectors.iter().enumerate() {
            let mut products = [0.0; LANES];
            // SAFETY: they are sixteen floats.
            unsafe { _mm512_storeu_ps(products.as_mut_ptr(), *sum) };
            sums.take(row, vector * LANES, products);
        }
    }
}
