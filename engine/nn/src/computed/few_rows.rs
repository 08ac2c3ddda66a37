//! Products of a few rows with weights. These are bound by memory bandwidth, so each weight is read once, in
//! storage order, and nothing is transposed.

use pulp::Simd;
use rayon::prelude::*;

use crate::precision::rotate;

use super::operands::{Start, Weights};
use super::scratch::{Reserve, Scratch};
use super::simd::{Tiled, run};

/// This path is the faster one for up to this many input rows.
pub(crate) const MOST: usize = 4;
/// Outputs per work item.
const OUTPUTS: usize = 32;
/// Partial sums per output; product `i` goes to sum `i % SUMS`. The number is the same on all CPUs, so that
/// results are too.
const SUMS: usize = 64;
/// Weights widened at a time.
const TILE: usize = 16 * SUMS;

/// `start + x · weightsᵀ`, with `x` `[row, in]` and `out` `[row, out]`.
pub(super) fn multiply(x: &[f32], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [f32]) {
    let outputs = start.outputs();
    let rows = out.len() / outputs;
    let width = inputs.next_multiple_of(SUMS);
    let mut padded = vec![0.0; rows * width];
    let (weights, rotation) = weights.without_rotation();
    for (padded, x) in padded.chunks_mut(width).zip(x.chunks(inputs)) {
        padded[..inputs].copy_from_slice(x);
        if let Some(rotation) = rotation {
            padded[..inputs].chunks_exact_mut(rotation.get()).for_each(rotate);
        }
    }
    let mut products = vec![0.0; out.len()];
    let pieces = products.par_chunks_mut(OUTPUTS * rows).enumerate();
    let reserve = Reserve::new(outputs.div_ceil(OUTPUTS), TILE + rows * SUMS);
    pieces.for_each_init(
        || reserve.lend(),
        |scratch, (index, products)| {
            let first = index * OUTPUTS;
            run(Dots { x: &padded, weights, inputs, first, products, rows, scratch });
        },
    );
    for (output, products) in products.chunks_exact(rows).enumerate() {
        for (row, product) in products.iter().enumerate() {
            let out = &mut out[row * outputs + output];
            *out = product
                + match start {
                    Start::Bias(bias) => bias[output],
                    Start::There(_) => *out,
                };
        }
    }
}

/// Scratch bytes of a product, without its input and its result.
pub(super) fn scratch_bytes(rows: usize, inputs: usize, outputs: usize, threads: usize) -> usize {
    let workers = threads.min(outputs.div_ceil(OUTPUTS)) * (TILE + rows * SUMS);
    (rows * inputs.next_multiple_of(SUMS) + rows * outputs + outputs + workers) * size_of::<f32>()
}

/// A range of outputs, for all rows.
struct Dots<'a> {
    /// Rows padded with zeros to a multiple of [`SUMS`].
    x: &'a [f32],
    weights: Weights<'a>,
    inputs: usize,
    /// Index of the first output.
    first: usize,
    /// `[out, row]`.
    products: &'a mut [f32],
    rows: usize,
    scratch: &'a mut Scratch,
}

impl Tiled for Dots<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let Self { x, weights, inputs, first, products, rows, scratch } = self;
        let width = x.len() / rows;
        let (tile, sums) = scratch.take(TILE + rows * SUMS).split_at_mut(TILE);
        for (output, products) in products.chunks_exact_mut(rows).enumerate() {
            sums.fill(0.0);
            for start in (0..inputs).step_by(TILE) {
                let (count, place) = (TILE.min(inputs - start), (first + output) * inputs + start);
                let whole = count.next_multiple_of(SUMS);
                let tile = match weights {
                    Weights::F32(values) if whole == count => &values[place..place + count],
                    _ => {
                        tile[count..whole].fill(0.0);
                        weights.widen(simd, place, &mut tile[..count]);
                        &tile[..whole]
                    }
                };
                for (sums, x) in sums.chunks_exact_mut(SUMS).zip(x.chunks_exact(width)) {
                    add_products(simd, tile, &x[start..start + whole], sums);
                }
            }
            for (product, sums) in products.iter_mut().zip(sums.chunks_exact_mut(SUMS)) {
                *product = sum(sums);
            }
        }
    }
}

/// Adds each product to its partial sum.
#[inline(always)]
fn add_products<S: Simd>(simd: S, weights: &[f32], x: &[f32], sums: &mut [f32]) {
    match SUMS / S::F32_LANES {
        4 => add_vectors::<S, 4>(simd, weights, x, sums),
        8 => add_vectors::<S, 8>(simd, weights, x, sums),
        16 => add_vectors::<S, 16>(simd, weights, x, sums),
        _ => add_vectors::<S, 1>(simd, weights, x, sums),
    }
}

/// Keeps `N` vectors of partial sums in registers at a time.
#[inline(always)]
fn add_vectors<S: Simd, const N: usize>(simd: S, weights: &[f32], x: &[f32], sums: &mut [f32]) {
    let sums = S::as_mut_simd_f32s(sums).0;
    let runs = sums.len() / N;
    let (weights, x) =
        (S::as_simd_f32s(weights).0.as_chunks::<N>().0, S::as_simd_f32s(x).0.as_chunks::<N>().0);
    let count = weights.len().min(x.len());
    for (run, sums) in sums.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        // Not an iterator: one that is not inlined would spill the sums to memory on each call.
        let (mut held, mut place) = (*sums, run);
        while place < count {
            for vector in 0..N {
                held[vector] = simd.mul_add_e_f32s(weights[place][vector], x[place][vector], held[vector]);
            }
            place += runs;
        }
        *sums = held;
    }
}

/// Adds up all partial sums as a binary tree.
#[inline(always)]
fn sum(sums: &mut [f32]) -> f32 {
    let mut half = SUMS / 2;
    while half > 0 {
        let (low, high) = sums.split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
        half /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use candle_core::Tensor;

    use super::super::{
        check::{assert_close, assert_independent_of_threads, random},
        linear::linear,
    };

    #[test]
    fn few_rows_are_those_of_many() {
        for (inputs, outputs) in [(1, 1), (63, 2), (64, 33), (1000, 70), (1024, 5), (3840, 129), (5000, 3)] {
            let (weight, bias) = (random(&[outputs, inputs], 2), random(&[outputs], 3));
            let many = random(&[16, inputs], 1);
            let want = linear(&many, &weight, Some(&bias)).unwrap();
            for rows in 1..=super::MOST {
                let few = many.narrow(0, 3, rows).unwrap();
                let got = linear(&few, &weight, Some(&bias)).unwrap();
                assert_close(&got, &want.narrow(0, 3, rows).unwrap(), 2e-6);
            }
        }
    }

    #[test]
    fn each_row_is_summed_as_if_it_were_alone() {
        let (x, weight) = (random(&[super::MOST, 777], 1), random(&[50, 777], 2));
        let bits = |x: &Tensor| -> Vec<u32> {
            x.flatten_all().unwrap().to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
        };
        let all = linear(&x, &weight, None).unwrap();
        for row in 0..super::MOST {
            let alone = linear(&x.narrow(0, row, 1).unwrap(), &weight, None).unwrap();
            assert_eq!(bits(&alone), bits(&all.narrow(0, row, 1).unwrap()));
        }
    }

    #[test]
    fn few_rows_are_the_same_on_any_number_of_threads() {
        let (x, weight) = (random(&[3, 1300], 1), random(&[500, 1300], 2));
        assert_independent_of_threads(|| linear(&x, &weight, None).unwrap());
    }
}
