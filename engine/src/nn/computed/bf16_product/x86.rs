//! What the products of both instructions have in common: rows are packed into panels, weights are brought to the cache, and
//! sums are turned into rows.

use std::{arch::x86_64::*, num::NonZeroUsize, sync::OnceLock};

use half::bf16;
use pulp::{
    Simd,
    bytemuck::{cast_slice, cast_slice_mut},
};
use rayon::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

use super::{
    super::{
        columns::{MOST, columns_of},
        operands::{Start, Weights},
        simd::{Scratch, Tiled, run},
    },
    Cut, GAP, Instruction, Kept, LANES, STRIP, item_values, pairs, pairs_of, tiles,
};
use crate::{instructions::arch, precision::rotate};

/// The fastest instruction of this processor.
pub fn detect() -> Option<Instruction> {
    static DETECTED: OnceLock<Option<Instruction>> = OnceLock::new();
    *DETECTED.get_or_init(|| {
        // Rows are packed with the vectors of AVX-512.
        let has_pairs = matches!(arch(), pulp::x86::Arch::V4(_)) && is_x86_feature_detected!("avx512bf16");
        has_pairs.then(|| if tiles::are_available() { Instruction::Tiles } else { Instruction::Pairs })
    })
}

/// An instruction, ready in this thread.
pub struct Unit(Option<tiles::Config>);

impl Unit {
    /// Panics on processors without the instruction.
    pub fn of(instruction: Instruction) -> Self {
        let usable = detect();
        assert!(usable == Some(instruction) || usable.is_some() && instruction == Instruction::Pairs);
        Self((instruction == Instruction::Tiles).then(tiles::Config::load))
    }

    /// Adds the products of [`STRIP`] rows of weights, with [`GAP`] values behind each, and a panel `[pair][column]` to sums in
    /// rows of `width`.
    pub fn add(&self, weights: &[u32], panel: &[u32], sums: &mut [f32], width: usize) {
        match &self.0 {
            Some(config) => config.add(weights, panel, sums, width),
            // SAFETY: the processor has the instruction, as was asserted.
            None => unsafe { pairs::add(weights, panel, sums, width) },
        }
    }
}

/// `out = start + x · weightsᵀ`, with `x` `[row, in]`, `weights` `[out, in]` and an even number of inputs. Panics on processors
/// without this instruction.
pub fn multiply<T: Kept>(
    instruction: Instruction,
    x: &[bf16],
    weights: Weights<'_>,
    start: Start<'_>,
    inputs: usize,
    out: &mut [T],
) {
    let (outputs, columns, depth) = (start.outputs(), instruction.columns(), pairs_of(inputs));
    let (weights, rotation) = weights.without_rotation();
    let cut = Cut::new(instruction, [out.len() / outputs, inputs, outputs], rayon::current_num_threads());
    let across = outputs.div_ceil(cut.outputs);
    let mut panels = Scratch::default();
    for (x, out) in x.chunks(cut.together * inputs).zip(out.chunks_mut(cut.together * outputs)) {
        let rows = x.len() / inputs;
        let panels: &mut [u32] = cast_slice_mut(panels.take(rows.next_multiple_of(LANES) * depth));
        panels.par_chunks_mut(columns * depth).zip(x.par_chunks(columns * inputs)).for_each(|(panel, x)| {
            pack(x, inputs, rotation, panel);
        });
        let mut work: Vec<Vec<&mut [T]>> = Vec::with_capacity(across * rows.div_ceil(cut.rows));
        work.resize_with(across * rows.div_ceil(cut.rows), || Vec::with_capacity(cut.rows.min(rows)));
        for (row, out) in out.chunks_mut(outputs).enumerate() {
            let work = &mut work[row / cut.rows * across..][..across];
            for (work, part) in work.iter_mut().zip(out.chunks_mut(cut.outputs)) {
                work.push(part);
            }
        }
        let panels = &*panels;
        work.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, (index, out)| {
            let (first, row) = (index % across * cut.outputs, index / across * cut.rows);
            let bias = match start {
                Start::Bias(bias) => Some(&bias[first..first + out[0].len()]),
                Start::There(_) => None,
            };
            let width = out.len().next_multiple_of(LANES);
            let panels = &panels[row * depth..][..width * depth];
            let block = Block { instruction, panels, weights, first, bias, inputs, width };
            let unit = Unit::of(instruction);
            // SAFETY: the processor has AVX-512 with bf16, or the line above had panicked.
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
                // SAFETY: `detect` found AVX-512 with bf16, or nothing would be multiplied.
                unsafe { pair_up(&rotated, &mut joint) };
            }
            None => join(x, &mut joint),
        }
        for (column, both) in panel.chunks_exact_mut(width).zip(&joint[..pairs]) {
            column[row] = *both;
        }
    }
}

/// Writes values as pairs.
pub fn join(values: &[bf16], pairs: &mut [u32]) {
    for (pair, [first, second]) in pairs.iter_mut().zip(values.as_chunks().0) {
        *pair = u32::from(first.to_bits()) | u32::from(second.to_bits()) << 16;
    }
}

/// Rounds whole vectors of pairs to bf16.
#[target_feature(enable = "avx512f,avx512bf16")]
fn pair_up(values: &[f32], pairs: &mut [u32]) {
    let halves = values.as_chunks::<LANES>().0.as_chunks::<2>().0;
    for (pairs, [low, high]) in pairs.as_chunks_mut::<LANES>().0.iter_mut().zip(halves) {
        // SAFETY: all are sixteen floats, or as many pairs.
        *pairs = unsafe {
            let [low, high] = [*low, *high].map(|half| std::mem::transmute::<[f32; LANES], __m512>(half));
            std::mem::transmute::<__m512bh, [u32; LANES]>(_mm512_cvtne2ps_pbh(high, low))
        };
    }
}

/// Rotates a row of the input in f32.
struct Rotate<'a> {
    x: &'a [bf16],
    rotation: NonZeroUsize,
    out: &'a mut [f32],
}

impl Tiled for Rotate<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        for (out, x) in self.out.iter_mut().zip(self.x) {
            *out = x.wide();
        }
        self.out.chunks_exact_mut(self.rotation.get()).for_each(rotate);
    }
}

/// Widens the weights of a part of an output.
struct Widen<'a> {
    weights: Weights<'a>,
    place: usize,
    out: &'a mut [f32],
}

impl Tiled for Widen<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        self.weights.widen(simd, self.place, self.out);
    }
}

/// Some outputs of some rows.
struct Block<'a> {
    instruction: Instruction,
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
    let (padded, most) = (height.next_multiple_of(STRIP), block.instruction.depth());
    let scratch = scratch.take(item_values(block.instruction, [width, block.inputs, height]));
    let (sums, rest) = scratch.split_at_mut(padded * width);
    let (held, wide) = rest.split_at_mut(padded * (most.min(pairs) + GAP));
    let held: &mut [u32] = cast_slice_mut(held);
    sums.fill(0.0);
    for piece in (0..pairs).step_by(most) {
        let depth = most.min(pairs - piece);
        block.fetch(height, piece, depth, held, wide);
        let columns = block.instruction.columns();
        for strip in (0..padded).step_by(STRIP) {
            let weights = &held[strip * (depth + GAP)..][..STRIP * (depth + GAP)];
            for first in (0..width).step_by(columns) {
                let across = columns.min(width - first);
                let panel = &block.panels[first * pairs + piece * across..][..depth * across];
                let sums = &mut sums[strip * width + first..];
                unit.add(weights, panel, sums, width);
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
