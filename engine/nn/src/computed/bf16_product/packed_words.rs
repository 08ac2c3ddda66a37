//! Products by whole numbers. Rows of the input are written as numbers once for all outputs, weights as panels of numbers that
//! stay in the cache.

use std::ops::Range;

use half::bf16;
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
    },
    Kept, Method,
    sums::Sums,
    words::{OF_INPUTS, OF_WEIGHTS, PAIRS, Panel, Quantize, Row, multiply as multiply_tile},
    words_cut::{DEPTH, GROUP, QUANTIZED, WordsCut, groups_of, item_values},
    x86::{Rotate, Widen},
};

/// `out = start + x · weightsᵀ`, with x `[row, in]`, weights `[out, in]` and an even number of inputs. Panics on processors
/// that do not multiply like this.
pub fn multiply<T: Kept>(x: &[bf16], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [T]) {
    assert_eq!(Method::detect(), Some(Method::Words));
    let outputs = start.outputs();
    let (weights, rotation) = weights.without_rotation();
    let (pairs, groups) = (inputs / 2, groups_of(inputs));
    let cut = WordsCut::new([out.len() / outputs, inputs, outputs], rayon::current_num_threads());
    let mut scratch = Scratch::default();
    for (x, out) in x.chunks(cut.together * inputs).zip(out.chunks_mut(cut.together * outputs)) {
        let rows = out.len() / outputs;
        let (words, units) = scratch.take(rows * (pairs + groups)).split_at_mut(rows * pairs);
        let quantized = words.par_chunks_mut(QUANTIZED * pairs).zip(units.par_chunks_mut(QUANTIZED * groups));
        let reserve = Reserve::new(rows.div_ceil(QUANTIZED), inputs);
        quantized.zip(x.par_chunks(QUANTIZED * inputs)).for_each_init(
            || reserve.lend(),
            |scratch, ((words, units), x)| {
                let rows = words.chunks_exact_mut(pairs).zip(units.chunks_exact_mut(groups));
                for ((words, units), x) in rows.zip(x.chunks_exact(inputs)) {
                    let wide = scratch.take(inputs);
                    match rotation {
                        Some(rotation) => run(Rotate { x, rotation, out: wide }),
                        None => run(Widen { weights: Weights::Bf16(x), place: 0, out: wide }),
                    }
                    let words = cast_slice_mut(words);
                    run(Quantize::<OF_INPUTS> { values: wide, words, units });
                }
            },
        );
        drop(reserve);
        let (words, units): (&[u32], &[f32]) = (cast_slice(words), units);
        let item = item_values([cut.items.rows.min(rows), inputs, cut.items.outputs.min(outputs)]);
        compute_items(out, start, cut.items, item, |Item { first, row, bias, out }, scratch| {
            let x = Row {
                words: &words[row * pairs..][..out.len() * pairs],
                units: &units[row * groups..][..out.len() * groups],
            };
            run(Block { x, weights, bias, inputs, first, out, scratch });
        });
    }
}

/// Some outputs of some rows.
struct Block<'a, T> {
    /// All rows.
    x: Row<'a>,
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

impl<T: Kept> Tiled for Block<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let (rows, outputs, pairs) = (self.out.len(), self.out[0].len(), self.inputs / 2);
        let (lanes, columns) = (S::F32_LANES, V * S::F32_LANES);
        let padded = outputs.next_multiple_of(lanes);
        let (most, groups) = (DEPTH.min(pairs), groups_of(2 * DEPTH.min(pairs)));
        let scratch = self.scratch.take(item_values([rows, self.inputs, outputs]));
        let (panels, rest) = scratch.split_at_mut(padded * most);
        let (units, rest) = rest.split_at_mut(padded * groups);
        let (held, rest) = rest.split_at_mut(MOST * most);
        let (wide, sums) = rest.split_at_mut(2 * most);
        let (panels, held): (&mut [u32], &mut [u32]) = (cast_slice_mut(panels), cast_slice_mut(held));
        let mut tile = [0.0; 8 * 3 * 16];
        for piece in (0..pairs).step_by(most) {
            let piece = piece..pairs.min(piece + most);
            let (depth, groups) = (piece.len(), groups_of(2 * piece.len()));
            let panels = &mut panels[..padded * depth];
            let units = &mut units[..padded * groups];
            let parts = panels.chunks_mut(columns * depth).zip(units.chunks_mut(columns * groups));
            for (index, (panel, units)) in parts.enumerate() {
                let first = index * columns;
                let outputs = self.first + first..self.first + outputs.min(first + columns);
                pack(simd, self.weights, outputs, pairs, piece.clone(), panel, units, held, wide);
            }
            for (strip, out) in self.out.chunks_mut(R).enumerate() {
                let x: [Row<'_>; R] = std::array::from_fn(|row| {
                    let row = strip * R + row.min(out.len() - 1);
                    Row {
                        words: &self.x.words[row * pairs..][piece.clone()],
                        units: &self.x.units[row * groups_of(self.inputs) + piece.start / PAIRS..][..groups],
                    }
                });
                let sums = &mut sums[if depth < pairs { strip * R * padded } else { 0 }..];
                let parts = panels.chunks(columns * depth).zip(units.chunks(columns * groups));
                for (index, (words, units)) in parts.enumerate() {
                    let width = words.len() / depth;
                    // SAFETY: the processor has such numbers, as was asserted, for the vectors that `run` chose.
                    unsafe { multiply_tile(&x, Panel { words, units, width }, &mut tile) };
                    let mut sums = Sums {
                        out: &mut *out,
                        sums: &mut *sums,
                        stride: padded,
                        first: index * columns,
                        is_first: piece.start == 0,
                        bias: (piece.end == pairs).then_some(self.bias),
                    };
                    for (row, products) in tile.chunks_exact(width).take(sums.out.len()).enumerate() {
                        if lanes == 16 {
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

/// Writes a range of pairs of some outputs to a panel, `[pair, output]`, and its units, `[group, output]`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "four of them are parts of the scratch memory")]
fn pack<S: Simd>(
    simd: S,
    weights: Weights<'_>,
    outputs: Range<usize>,
    all: usize,
    pairs: Range<usize>,
    panel: &mut [u32],
    units: &mut [f32],
    held: &mut [u32],
    wide: &mut [f32],
) {
    let (depth, groups, lanes) = (pairs.len(), groups_of(2 * pairs.len()), S::F32_LANES);
    let width = panel.len() / depth;
    for (part, first) in outputs.clone().step_by(lanes).enumerate() {
        let count = lanes.min(outputs.end - first);
        for (row, held) in held.chunks_exact_mut(depth).take(count).enumerate() {
            let wide = &mut wide[..2 * depth];
            weights.widen(simd, 2 * ((first + row) * all + pairs.start), wide);
            let mut of_row = [0.0; 2 * DEPTH / GROUP];
            let words = cast_slice_mut(held);
            let quantize = Quantize::<OF_WEIGHTS> { values: wide, words, units: &mut of_row };
            quantize.run::<S, 1, 1>(simd);
            for (units, unit) in units.chunks_exact_mut(width).zip(&of_row[..groups]) {
                units[part * lanes + row] = *unit;
            }
        }
        let rows = std::array::from_fn(|row| &held[row.min(count - 1) * depth..][..depth]);
        columns_of(&rows, &mut panel[part * lanes..], width);
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Tensor};

    use super::{
        super::super::check::{flat, random},
        *,
    };

    fn values_of(tensor: &Tensor) -> Vec<bf16> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn has_words() -> bool {
        Method::detect() == Some(Method::Words)
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
            multiply(&x, Weights::Bf16(&weights), Start::Bias(&bias), inputs, &mut sums);
            assert_eq!(sums, want, "{rows}, {inputs}, {outputs}");
            let mut rounded = vec![bf16::ZERO; rows * outputs];
            multiply(&x, Weights::Bf16(&weights), Start::Bias(&bias), inputs, &mut rounded);
            assert!(rounded.iter().zip(&want).all(|(rounded, want)| *rounded == bf16::from_f32(*want)));
            multiply(&x, Weights::Bf16(&weights), Start::There(outputs), inputs, &mut sums);
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
            multiply(
                &values_of(&x),
                Weights::Bf16(&values_of(&weight)),
                Start::Bias(&bias),
                inputs,
                &mut sums,
            );
            let error: f64 = sums.iter().zip(&want).map(|(sum, want)| (f64::from(*sum) - want).powi(2)).sum();
            let all: f64 = want.iter().map(|want| want * want).sum();
            // Rounding to bf16 makes one of 0.0017.
            assert!((error / all).sqrt() < 0.001, "{rows}, {inputs}, {outputs}: {}", (error / all).sqrt());
        }
    }
}
