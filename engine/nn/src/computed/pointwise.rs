//! Functions of the values of some tensors at the same place.

use candle_core::{Result, Tensor};
use pulp::Simd;
use rayon::prelude::*;

use super::{
    cpu::{values_as, zeros},
    held::{AsHeld, BLOCK, Held, as_held},
    simd::{Tiled, run},
};

/// Values per work item.
pub(super) const PIECE: usize = 1 << 14;

/// A function of `N` values.
pub(super) trait Pointwise<const N: usize>: Sync {
    /// Writes the results of successive values of a row. `place` is the index of the first among all values. It must be inlined.
    fn compute<S: Simd>(&self, simd: S, place: usize, values: [&[f32]; N], out: &mut [f32]);
}

/// `function` of tensors of the same shape, in rows of so many values.
pub(super) fn pointwise<const N: usize>(
    inputs: [&Tensor; N],
    row: usize,
    function: impl Pointwise<N>,
) -> Result<Tensor> {
    as_held(inputs[0].dtype(), Whole { inputs, row, function })
}

struct Whole<'a, F, const N: usize> {
    inputs: [&'a Tensor; N],
    row: usize,
    function: F,
}

impl<F: Pointwise<N>, const N: usize> AsHeld for Whole<'_, F, N> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let inputs = self.inputs.iter().map(|input| input.to_dtype(T::DTYPE)?.contiguous());
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let held: Vec<_> = inputs.iter().map(Tensor::storage_and_layout).collect();
        let values = held.iter().map(values_as::<T>).collect::<Result<Vec<_>>>()?;
        let mut out: Vec<T> = zeros(inputs[0].elem_count());
        by_rows(std::array::from_fn(|number| (values[number], self.row)), self.row, &self.function, &mut out);
        Tensor::from_vec(out, inputs[0].dims(), inputs[0].device())
    }
}

/// `function` of rows of so many values. Those of an input begin as far apart as its number says.
pub(super) fn by_rows<T: Held, const N: usize>(
    inputs: [(&[T], usize); N],
    row: usize,
    function: &impl Pointwise<N>,
    out: &mut [T],
) {
    let together = (PIECE / row.max(1)).max(1);
    out.par_chunks_mut((together * row).max(1)).enumerate().for_each(|(index, out)| {
        run(Piece { inputs, first: index * together, row, function, out });
    });
}

/// Some rows.
struct Piece<'a, T, F, const N: usize> {
    inputs: [(&'a [T], usize); N],
    /// Index of the first row.
    first: usize,
    row: usize,
    function: &'a F,
    out: &'a mut [T],
}

impl<T: Held, F: Pointwise<N>, const N: usize> Tiled for Piece<'_, T, F, N> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let (mut of_inputs, mut of_out) = ([[0.0; BLOCK]; N], [0.0; BLOCK]);
        for (row, out) in (self.first..).zip(self.out.chunks_mut(self.row)) {
            for (start, out) in (0..).step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
                let mut values = [&[][..]; N];
                for ((values, (input, stride)), wide) in
                    values.iter_mut().zip(self.inputs).zip(&mut of_inputs)
                {
                    *values = T::widened(&input[row * stride + start..][..out.len()], wide);
                }
                let results = T::target(out, &mut of_out);
                self.function.compute(simd, row * self.row + start, values, results);
                T::finish(out, &of_out);
            }
        }
    }
}

/// A function of vectors of `N` values.
pub(super) trait OfVectors<const N: usize>: Sync {
    /// Its results. It must be inlined.
    fn of<S: Simd>(&self, simd: S, values: [S::f32s; N]) -> S::f32s;
}

/// Computes a function of vectors for all values. There are no closures in it, which would not be compiled for a processor's
/// vectors.
pub(super) struct Vectors<F>(pub F);

impl<F: OfVectors<N>, const N: usize> Pointwise<N> for Vectors<F> {
    #[inline(always)]
    fn compute<S: Simd>(&self, simd: S, _: usize, values: [&[f32]; N], out: &mut [f32]) {
        let (mut whole, mut rests) = ([&[][..]; N], [simd.splat_f32s(0.0); N]);
        for ((whole, rest), values) in whole.iter_mut().zip(&mut rests).zip(values) {
            let (vectors, last) = S::as_simd_f32s(&values[..out.len()]);
            (*whole, *rest) = (vectors, simd.partial_load_f32s(last));
        }
        let (out, rest) = S::as_mut_simd_f32s(out);
        for (index, out) in out.iter_mut().enumerate() {
            let mut values = [simd.splat_f32s(0.0); N];
            for (value, whole) in values.iter_mut().zip(&whole) {
                *value = whole[index];
            }
            *out = self.0.of(simd, values);
        }
        simd.partial_store_f32s(rest, self.0.of(simd, rests));
    }
}
