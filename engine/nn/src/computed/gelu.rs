//! Exact GELU: `x / 2 · (1 + erf(x / √2))` (Hendrycks and Gimpel 2016).

use candle_core::{D, Result, Tensor, bail};
use pulp::Simd;

use super::{
    activation::check_gate,
    cpu::{by_processor, values_as, zeros},
    held::{AsHeld, Held, as_held},
    pointwise::{OfVectors, PIECE, Vectors, by_rows, pointwise},
    simd::exp2,
};
use crate::cuda::{self, Curve};

/// `x / 2 · (1 + erf(x / √2))`.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    if !by_processor(x) {
        return x.gelu_erf();
    }
    pointwise([x], PIECE, Vectors(Gelu))
}

/// `gelu(gate) · up`.
pub fn gelu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    check_gate(gate, up)?;
    if !by_processor(gate) {
        return cuda::or_plain(gate, || cuda::gated(Curve::Gelu, gate, up), || gate.gelu_erf()? * up);
    }
    pointwise([gate, up], PIECE, Vectors(Gelu))
}

/// `value · gelu(gate)` of `x` `[…, 2 · width]`, whose first half is the value and whose second half is the
/// gate (Shazeer 2020, arXiv:2002.05202).
pub fn geglu(x: &Tensor) -> Result<Tensor> {
    let both = x.dim(D::Minus1)?;
    if both == 0 || !both.is_multiple_of(2) {
        bail!("values of shape {:?} cannot be split into two halves", x.dims());
    }
    let width = both / 2;
    if !by_processor(x) {
        let (value, gate) = (x.narrow(D::Minus1, 0, width)?, x.narrow(D::Minus1, width, width)?);
        let work = || cuda::gated(Curve::Gelu, &gate, &value);
        return cuda::or_plain(x, work, || &value * gate.contiguous()?.gelu_erf()?);
    }
    as_held(x.dtype(), Halves { x, width })
}

/// Values with their gates, in rows of both.
struct Halves<'a> {
    x: &'a Tensor,
    width: usize,
}

impl AsHeld for Halves<'_> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let Self { x, width } = self;
        let input = x.to_dtype(T::DTYPE)?.contiguous()?;
        let held = input.storage_and_layout();
        let mut out: Vec<T> = zeros(x.elem_count() / 2);
        if !out.is_empty() {
            let values = values_as::<T>(&held)?;
            by_rows([(&values[width..], 2 * width), (values, 2 * width)], width, &Vectors(Gelu), &mut out);
        }
        let mut shape = x.dims().to_vec();
        shape[x.rank() - 1] = width;
        Tensor::from_vec(out, shape, x.device())
    }
}

/// GELU, and times a factor.
struct Gelu;

impl OfVectors<1> for Gelu {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, [x]: [S::f32s; 1]) -> S::f32s {
        gelu_of(simd, x)
    }
}

impl OfVectors<2> for Gelu {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, [x, factor]: [S::f32s; 2]) -> S::f32s {
        simd.mul_f32s(gelu_of(simd, x), factor)
    }
}

/// Coefficients, highest power first, of the polynomial in `1 / (1 + P · x)` that gives `1 − erf(x)` for
/// `x ≥ 0` when multiplied by `exp(-x²)`: Abramowitz and Stegun 1964, 7.1.26. The error is below 1.5e-7.
const TAIL: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
const P: f32 = 0.327_591_1;

/// `max(x, 0) − |x| · (1 − erf(|x| / √2)) / 2` for one vector.
#[inline(always)]
fn gelu_of<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let size = simd.abs_f32s(x);
    let slope = simd.splat_f32s(P * std::f32::consts::FRAC_1_SQRT_2);
    let t = simd.div_f32s(one, simd.mul_add_e_f32s(size, slope, one));
    let mut tail = simd.splat_f32s(TAIL[0]);
    for coefficient in &TAIL[1..] {
        tail = simd.mul_add_e_f32s(tail, t, simd.splat_f32s(*coefficient));
    }
    let half = simd.mul_f32s(simd.splat_f32s(0.5), t);
    let exponent = simd.mul_f32s(simd.mul_f32s(x, x), simd.splat_f32s(-0.5 * std::f32::consts::LOG2_E));
    let tail = simd.mul_f32s(simd.mul_f32s(tail, half), exp2(simd, exponent));
    simd.sub_f32s(simd.max_f32s(x, zero), simd.mul_f32s(size, tail))
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn a_gate_is_gelu_of_it_times_the_values() {
        for shape in [vec![9], vec![3, 40, 333]] {
            let (gate, up) = ((random(&shape, 1) * 4.0).unwrap(), random(&shape, 2));
            let want = (gelu(&gate).unwrap() * &up).unwrap();
            assert_close(&gelu_mul(&gate, &up).unwrap(), &want, 0.0);
            let both = Tensor::cat(&[&up, &gate], D::Minus1).unwrap();
            assert_close(&geglu(&both).unwrap(), &want, 0.0);
            assert!(gelu_mul(&gate, &up.narrow(0, 0, 1).unwrap()).is_err());
        }
    }

    #[test]
    fn gelu_is_that_of_candle() {
        for shape in [vec![2], vec![7, 5], vec![3, 40, 333]] {
            let x = (random(&shape, 1) * 12.0).unwrap();
            assert_close(&gelu(&x).unwrap(), &x.gelu_erf().unwrap(), 5e-7);
        }
        let x = random(&[3, 4, 50], 2).transpose(0, 2).unwrap();
        assert_close(&gelu(&x).unwrap(), &x.gelu_erf().unwrap(), 5e-7);
        let ends = Tensor::new(&[-1e18f32, -200.0, -0.0, 0.0, 200.0, 1e18], &Device::Cpu).unwrap();
        let ends: Vec<f32> = gelu(&ends).unwrap().to_vec1().unwrap();
        assert!(
            ends[0].abs() < 1e-6 && ends[1].abs() < 1e-30 && ends[2..] == [0.0, 0.0, 200.0, 1e18],
            "{ends:?}"
        );
    }

    #[test]
    fn geglu_is_the_plain_composition() {
        for shape in [vec![1, 2], vec![5, 14], vec![2, 9, 130], vec![3, 70, 256]] {
            let x = (random(&shape, 3) * 4.0).unwrap();
            let width = shape[shape.len() - 1] / 2;
            let halves = [0, width].map(|start| x.narrow(D::Minus1, start, width).unwrap());
            let want = (&halves[0] * halves[1].contiguous().unwrap().gelu_erf().unwrap()).unwrap();
            assert_close(&geglu(&x).unwrap(), &want, 5e-7);
            let narrow = |x: &Tensor| x.to_dtype(DType::BF16).unwrap();
            assert_close(&geglu(&narrow(&x)).unwrap(), &narrow(&want), 2e-2);
        }
        assert!(geglu(&random(&[2, 7], 4)).is_err());
        let x = random(&[60, 1234], 5);
        assert_independent_of_threads(|| geglu(&x).unwrap());
    }
}
