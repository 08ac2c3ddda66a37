//! Rows of the input are written as numbers once for all outputs, weights as panels of numbers that stay in the cache.

use std::{num::NonZeroUsize, ops::Range};

use pulp::{
    Simd,
    bytemuck::{cast_slice, cast_slice_mut},
};
use rayon::prelude::*;

use super::{
    super::{
        columns::{MOST, columns_of},
        operands::{Start, Weights},
        product::{Item, compute_items},
        scratch::{Reserve, Scratch},
        simd::{Tiled, run},
        sums::{Kept, Sums},
    },
    can_multiply,
    cut::{DEPTH, GROUP, QUANTIZED, WholeCut, groups_of},
    numbers::Numbers,
    tile::{Panel, Row},
};
use crate::precision::rotate;

/// `out = start + x · weightsᵀ` by such numbers, with x `[row, in]`, weights `[out, in]`, and as many inputs as fill whole lanes.
/// Panics on processors that do not multiply like this.
pub fn multiply<N: Numbers, T: Kept>(
    kind: N,
    x: Weights<'_>,
    weights: Weights<'_>,
    start: Start<'_>,
    inputs: usize,
    out: &mut [T],
) {
    assert!(can_multiply(N::WIDTH));
    let outputs = start.outputs();
    let (weights, rotation) = weights.without_rotation();
    let stride = N::WIDTH.row(inputs);
    let cut = WholeCut::new(N::WIDTH, [out.len() / outputs, inputs, outputs], rayon::current_num_threads());
    let mut scratch = Scratch::default();
    for (part, out) in out.chunks_mut(cut.together * outputs).enumerate() {
        let (above, rows) = (part * cut.together, out.len() / outputs);
        let numbers = scratch.take(rows * stride);
        let reserve = Reserve::new(rows.div_ceil(QUANTIZED), inputs);
        numbers.par_chunks_mut(QUANTIZED * stride).enumerate().for_each_init(
            || reserve.lend(),
            |scratch, (part, numbers)| {
                for (row, numbers) in numbers.chunks_exact_mut(stride).enumerate() {
                    let place = (above + part * QUANTIZED + row) * inputs;
                    run(Write { kind, x, place, rotation, wide: scratch.take(inputs), numbers });
                }
            },
        );
        drop(reserve);
        let numbers: &[f32] = numbers;
        let item = N::WIDTH.item_values([cut.items.rows.min(rows), inputs, cut.items.outputs.min(outputs)]);
        compute_items(out, start, cut.items, item, |Item { first, row, bias, out }, scratch| {
            let x = &numbers[row * stride..][..out.len() * stride];
            run(Block { kind, x, weights, bias, inputs, first, out, scratch });
        });
    }
}

/// Writes a row of the input as numbers.
struct Write<'a, N> {
    kind: N,
    x: Weights<'a>,
    /// Where it begins.
    place: usize,
    rotation: Option<NonZeroUsize>,
    /// Room for it in f32.
    wide: &'a mut [f32],
    /// Where [`row`] finds it.
    numbers: &'a mut [f32],
}

impl<N: Numbers> Tiled for Write<'_, N> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        self.x.widen(simd, self.place, self.wide);
        if let Some(rotation) = self.rotation {
            self.wide.chunks_exact_mut(rotation.get()).for_each(rotate);
        }
        let (lanes, beside) = self.numbers.split_at_mut(self.wide.len() / N::WIDTH.numbers());
        let (units, starts) = beside.split_at_mut(groups_of(self.wide.len()));
        self.kind.write(simd, self.wide, cast_slice_mut(lanes), units, cast_slice_mut(starts));
    }
}

/// A row of the input as numbers.
#[inline(always)]
fn row<N: Numbers>(numbers: &[f32], inputs: usize) -> Row<'_> {
    let (lanes, beside) = numbers.split_at(inputs / N::WIDTH.numbers());
    let (units, starts) = beside.split_at(groups_of(inputs));
    Row { lanes: cast_slice(lanes), units, starts: cast_slice(starts) }
}

/// Some outputs of some rows.
struct Block<'a, N, T> {
    kind: N,
    /// All rows as numbers.
    x: &'a [f32],
    weights: Weights<'a>,
    /// The initial value of the sums; `None` adds to what is there.
    bias: Option<&'a [f32]>,
    inputs: usize,
    /// Index of the first output.
    first: usize,
    /// The outputs of each row.
    out: Vec<&'a mut [T]>,
    scratch: &'a mut Scratch,
}

impl<N: Numbers, T: Kept> Tiled for Block<'_, N, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let (rows, outputs, lanes) = (self.out.len(), self.out[0].len(), self.inputs / N::WIDTH.numbers());
        let (across, columns) = (S::F32_LANES, V * S::F32_LANES);
        let (padded, stride) = (outputs.next_multiple_of(across), N::WIDTH.row(self.inputs));
        let most = DEPTH.min(lanes);
        let floats = most * N::WIDTH.numbers();
        let scratch = self.scratch.take(N::WIDTH.item_values([rows, self.inputs, outputs]));
        let (panels, rest) = scratch.split_at_mut(padded * most);
        let (units, rest) = rest.split_at_mut(padded * groups_of(floats));
        let (held, rest) = rest.split_at_mut(MOST * most);
        let (wide, sums) = rest.split_at_mut(floats);
        let (panels, held): (&mut [u32], &mut [u32]) = (cast_slice_mut(panels), cast_slice_mut(held));
        let mut tile = [0.0; 8 * 3 * 16];
        for piece in (0..lanes).step_by(most) {
            let piece = piece..lanes.min(piece + most);
            let depth = piece.len();
            let first_group = piece.start * N::WIDTH.numbers() / GROUP;
            let groups = first_group..first_group + groups_of(depth * N::WIDTH.numbers());
            let panels = &mut panels[..padded * depth];
            let units = &mut units[..padded * groups.len()];
            let parts = panels.chunks_mut(columns * depth).zip(units.chunks_mut(columns * groups.len()));
            for (index, (panel, units)) in parts.enumerate() {
                let first = index * columns;
                let outputs = self.first + first..self.first + outputs.min(first + columns);
                let from = Matrix { weights: self.weights, lanes };
                from.pack(simd, self.kind, outputs, piece.clone(), (panel, units), (held, wide));
            }
            for (strip, out) in self.out.chunks_mut(R).enumerate() {
                let x: [Row<'_>; R] = std::array::from_fn(|index| {
                    let place = (strip * R + index.min(out.len() - 1)) * stride;
                    let row = row::<N>(&self.x[place..][..stride], self.inputs);
                    Row {
                        lanes: &row.lanes[piece.clone()],
                        units: &row.units[groups.clone()],
                        starts: row.starts.get(groups.clone()).unwrap_or_default(),
                    }
                });
                let sums = &mut sums[if depth < lanes { strip * R * padded } else { 0 }..];
                let parts = panels.chunks(columns * depth).zip(units.chunks(columns * groups.len()));
                for (index, (lanes_of, units)) in parts.enumerate() {
                    let width = lanes_of.len() / depth;
                    let panel = Panel { lanes: lanes_of, units, width };
                    // SAFETY: the processor has such numbers, as was asserted, for the vectors that `run` chose.
                    unsafe { self.kind.multiply(&x, panel, &mut tile) };
                    let mut sums = Sums {
                        out: &mut *out,
                        sums: &mut *sums,
                        stride: padded,
                        first: index * columns,
                        is_first: piece.start == 0,
                        bias: (piece.end == lanes).then_some(self.bias),
                    };
                    for (row, products) in tile.chunks_exact(width).take(sums.out.len()).enumerate() {
                        if across == 16 {
                            for (vector, products) in products.as_chunks::<16>().0.iter().enumerate() {
                                sums.take(row, 16 * vector, *products);
                            }
                        } else {
                            for (vector, products) in products.as_chunks::<8>().0.iter().enumerate() {
                                sums.take(row, 8 * vector, *products);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Weights, and the lanes of an output of theirs.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    weights: Weights<'a>,
    lanes: usize,
}

impl Matrix<'_> {
    /// Writes a range of lanes of some outputs to a panel, `[lane, output]`, and its units, `[group, output]`. There is room for
    /// the lanes of [`MOST`] outputs and for one in f32.
    #[inline(always)]
    fn pack<S: Simd, N: Numbers>(
        self,
        simd: S,
        kind: N,
        outputs: Range<usize>,
        lanes: Range<usize>,
        (panel, units): (&mut [u32], &mut [f32]),
        (held, wide): (&mut [u32], &mut [f32]),
    ) {
        let (depth, numbers, across) = (lanes.len(), N::WIDTH.numbers(), S::F32_LANES);
        let (groups, width) = (groups_of(numbers * depth), panel.len() / depth);
        for (part, first) in outputs.clone().step_by(across).enumerate() {
            let count = across.min(outputs.end - first);
            for (row, held) in held.chunks_exact_mut(depth).take(count).enumerate() {
                let mut of_row = [0.0; 4 * DEPTH / GROUP];
                let start = numbers * ((first + row) * self.lanes + lanes.start);
                kind.take(
                    simd,
                    self.weights,
                    start,
                    &mut wide[..numbers * depth],
                    held,
                    &mut of_row[..groups],
                );
                for (units, unit) in units.chunks_exact_mut(width).zip(&of_row[..groups]) {
                    units[part * across + row] = *unit;
                }
            }
            let rows = std::array::from_fn(|row| &held[row.min(count - 1) * depth..][..depth]);
            columns_of(&rows, &mut panel[part * across..], width);
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Tensor};
    use half::bf16;

    use super::{
        super::{
            super::check::{flat, random},
            Width,
            words::Words,
        },
        *,
    };

    fn values_of(tensor: &Tensor) -> Vec<bf16> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn has_words() -> bool {
        can_multiply(Width::Words)
    }

    fn multiply<T: Kept>(x: &[bf16], weights: &[bf16], start: Start<'_>, inputs: usize, out: &mut [T]) {
        super::multiply(Words, Weights::Bf16(x), Weights::Bf16(weights), start, inputs, out);
    }

    const SHAPES: [[usize; 3]; 12] = [
        [5, 2, 1],
        [16, 18, 3],
        [17, 32, 40],
        [48, 256, 64],
        [77, 258, 65],
        [400, 40, 9],
        [385, 600, 130],
        [33, 1026, 71],
        [900, 130, 300],
        // In several pieces of the inputs, and of the rows.
        [9, 2050, 40],
        [70, 4130, 100],
        [1100, 4096, 33],
    ];

    #[test]
    fn products_of_small_whole_numbers_are_exact() {
        if !has_words() {
            return;
        }
        for [rows, inputs, outputs] in SHAPES {
            let whole = |shape: &[usize], seed| -> Vec<bf16> {
                flat(&random(shape, seed))
                    .iter()
                    .map(|value| bf16::from_f32((value * 15.0).round()))
                    .collect()
            };
            let (x, weights) = (whole(&[rows, inputs], 1), whole(&[outputs, inputs], 2));
            let bias: Vec<f32> = (0..outputs).map(|output| output as f32 - 7.0).collect();
            let wide =
                |values: &[bf16]| -> Vec<i32> { values.iter().map(|value| value.to_f32() as i32).collect() };
            let (wide_x, wide_weights) = (wide(&x), wide(&weights));
            let want: Vec<f32> = wide_x
                .chunks_exact(inputs)
                .flat_map(|x| {
                    wide_weights
                        .chunks_exact(inputs)
                        .zip(&bias)
                        .map(move |(weights, bias)| (x, weights, bias))
                })
                .map(|(x, weights, bias)| {
                    x.iter().zip(weights).map(|(x, weight)| x * weight).sum::<i32>() as f32 + bias
                })
                .collect();
            let mut sums = vec![0.0; rows * outputs];
            multiply(&x, &weights, Start::Bias(&bias), inputs, &mut sums);
            assert_eq!(sums, want, "{rows}, {inputs}, {outputs}");
            let mut rounded = vec![bf16::ZERO; rows * outputs];
            multiply(&x, &weights, Start::Bias(&bias), inputs, &mut rounded);
            assert!(rounded.iter().zip(&want).all(|(rounded, want)| *rounded == bf16::from_f32(*want)));
            multiply(&x, &weights, Start::There(outputs), inputs, &mut sums);
            let twice = sums.iter().zip(&want).zip(bias.iter().cycle());
            assert!(twice.map(|((sum, want), bias)| sum - (2.0 * want - bias)).all(|error| error == 0.0));
        }
    }

    #[test]
    fn numbers_lose_less_than_bf16() {
        if !has_words() {
            return;
        }
        for [rows, inputs, outputs] in SHAPES {
            let narrow = |shape: &[usize], seed| {
                // Most values are small, as in models, and some large.
                (random(shape, seed).powf(5.0).unwrap() * 20.0).unwrap().to_dtype(DType::BF16).unwrap()
            };
            let (x, weight) = (narrow(&[rows, inputs], 1), narrow(&[outputs, inputs], 2));
            let wide = |x: &Tensor| x.to_dtype(DType::F64).unwrap();
            let want = wide(&x).matmul(&wide(&weight).t().unwrap()).unwrap();
            let want: Vec<f64> = want.flatten_all().unwrap().to_vec1().unwrap();
            let mut sums = vec![0.0; rows * outputs];
            let bias = vec![0.0; outputs];
            multiply(&values_of(&x), &values_of(&weight), Start::Bias(&bias), inputs, &mut sums);
            let error: f64 = sums.iter().zip(&want).map(|(sum, want)| (f64::from(*sum) - want).powi(2)).sum();
            let all: f64 = want.iter().map(|want| want * want).sum();
            // Rounding to bf16 makes one of 0.0017.
            assert!((error / all).sqrt() < 0.001, "{rows}, {inputs}, {outputs}: {}", (error / all).sqrt());
        }
    }
}
