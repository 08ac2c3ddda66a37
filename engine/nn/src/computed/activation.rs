//! Activation functions.

use std::marker::PhantomData;

use candle_core::{Result, Tensor, bail};
use pulp::Simd;

use super::{
    cpu::by_processor,
    pointwise::{OfVectors, PIECE, Pointwise, Vectors, pointwise},
    simd::exp2,
};
use crate::cuda::{self, Curve as Kernel};

/// `x · sigmoid(x)`.
pub fn silu(x: &Tensor) -> Result<Tensor> {
    if by_processor(x) { pointwise([x], PIECE, Vectors(Gated::<Plain>(PhantomData))) } else { x.silu() }
}

/// `silu(gate) · up`, the middle of a SwiGLU feed-forward.
pub fn silu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    check_gate(gate, up)?;
    if by_processor(gate) {
        pointwise([gate, up], PIECE, Vectors(Gated::<Plain>(PhantomData)))
    } else {
        cuda::or_plain(gate, || cuda::gated(Kernel::Silu, gate, up), || gate.silu()? * up)
    }
}

/// GELU in its tanh approximation (Hendrycks and Gimpel 2016):
/// `x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`.
pub fn gelu_tanh(x: &Tensor) -> Result<Tensor> {
    if by_processor(x) { pointwise([x], PIECE, Vectors(Gated::<Tanh>(PhantomData))) } else { x.gelu() }
}

/// `gelu_tanh(gate) · up`, the middle of T5's feed-forward.
pub fn gelu_tanh_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    check_gate(gate, up)?;
    if by_processor(gate) {
        pointwise([gate, up], PIECE, Vectors(Gated::<Tanh>(PhantomData)))
    } else {
        cuda::or_plain(gate, || cuda::gated(Kernel::GeluTanh, gate, up), || gate.gelu()? * up)
    }
}

/// `x · sigmoid(1.702 · x)`, the activation of OpenAI's CLIP.
pub fn quick_gelu(x: &Tensor) -> Result<Tensor> {
    if by_processor(x) {
        pointwise([x], PIECE, Vectors(Gated::<Quick>(PhantomData)))
    } else {
        x * candle_nn::ops::sigmoid(&(x * 1.702)?)?
    }
}

/// `x · sigmoid(gate)`.
pub fn sigmoid_mul(gate: &Tensor, x: &Tensor) -> Result<Tensor> {
    check_gate(gate, x)?;
    if !by_processor(x) {
        return x * candle_nn::ops::sigmoid(gate)?;
    }
    pointwise([x, gate], PIECE, Sigmoid)
}

pub(super) fn check_gate(gate: &Tensor, up: &Tensor) -> Result<()> {
    if gate.dims() != up.dims() {
        bail!("a gate of shape {:?} does not match values of shape {:?}", gate.dims(), up.dims());
    }
    Ok(())
}

/// The argument of the sigmoid, as a function of `x`.
trait Curve: Send + Sync {
    /// Evaluates the curve on one vector.
    fn of<S: Simd>(simd: S, x: S::f32s) -> S::f32s;
}

struct Plain;
struct Quick;
struct Tanh;

impl Curve for Plain {
    #[inline(always)]
    fn of<S: Simd>(_: S, x: S::f32s) -> S::f32s {
        x
    }
}

impl Curve for Quick {
    #[inline(always)]
    fn of<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
        simd.mul_f32s(x, simd.splat_f32s(1.702))
    }
}

/// `(1 + tanh(y)) / 2` is `sigmoid(2 · y)`.
impl Curve for Tanh {
    #[inline(always)]
    fn of<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
        const TWICE: f32 = std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::SQRT_2;
        let square = simd.mul_f32s(x, x);
        let factor = simd.mul_add_e_f32s(square, simd.splat_f32s(TWICE * 0.044_715), simd.splat_f32s(TWICE));
        simd.mul_f32s(x, factor)
    }
}

/// `x · sigmoid(curve(x))`, and times a factor.
struct Gated<C>(PhantomData<C>);

impl<C: Curve> OfVectors<1> for Gated<C> {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, [x]: [S::f32s; 1]) -> S::f32s {
        gated_of::<S, C>(simd, x)
    }
}

impl<C: Curve> OfVectors<2> for Gated<C> {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, [x, factor]: [S::f32s; 2]) -> S::f32s {
        simd.mul_f32s(gated_of::<S, C>(simd, x), factor)
    }
}

/// `x · sigmoid(gate)`.
struct Sigmoid;

impl Pointwise<2> for Sigmoid {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, _: usize, [x, gate]: [&[f32]; 2], out: &mut [f32]) {
        for ((out, x), gate) in out.iter_mut().zip(x).zip(gate) {
            *out = x / (1.0 + (-gate).exp());
        }
    }
}

/// `x / (1 + exp(-x))` for one vector.
#[inline(always)]
pub(super) fn silu_of<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    gated_of::<S, Plain>(simd, x)
}

/// `x / (1 + exp(-curve(x)))` for one vector.
#[inline(always)]
fn gated_of<S: Simd, C: Curve>(simd: S, x: S::f32s) -> S::f32s {
    // Larger exponents would overflow; the quotient is already zero there.
    let limit = simd.splat_f32s(126.0);
    let exponent = simd.mul_f32s(C::of(simd, x), simd.splat_f32s(-std::f32::consts::LOG2_E));
    let exponent = simd.select_f32s(simd.less_than_f32s(limit, exponent), limit, exponent);
    simd.div_f32s(x, simd.add_f32s(simd.splat_f32s(1.0), exp2(simd, exponent)))
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn a_gate_is_a_sigmoid() {
        let (gate, x) = ((random(&[3, 40, 333], 1) * 90.0).unwrap(), random(&[3, 40, 333], 2));
        let want = (&x * candle_nn::ops::sigmoid(&gate).unwrap()).unwrap();
        assert_close(&sigmoid_mul(&gate, &x).unwrap(), &want, 5e-7);
        assert!(sigmoid_mul(&gate, &random(&[3, 40, 1], 2)).is_err());
    }

    #[test]
    fn silu_is_that_of_candle() {
        for shape in [vec![1], vec![7, 5], vec![3, 40, 333]] {
            let x = (random(&shape, 1) * 20.0).unwrap();
            assert_close(&silu(&x).unwrap(), &x.silu().unwrap(), 5e-7);
        }
        let x = random(&[3, 4, 50], 2).transpose(0, 2).unwrap();
        assert_close(&silu(&x).unwrap(), &x.silu().unwrap(), 5e-7);
    }

    #[test]
    fn silu_holds_at_the_limits() {
        let x = [f32::NEG_INFINITY, -1e30, -200.0, -87.5, -0.0, 87.5, 200.0, 1e30, f32::INFINITY, f32::NAN];
        let y: Vec<f32> = silu(&Tensor::new(&x, &Device::Cpu).unwrap()).unwrap().to_vec1().unwrap();
        assert!(y[2].abs() < 1e-30 && y[3].abs() < 1e-30, "{y:?}");
        assert_eq!(y[4..9], [-0.0, 87.5, 200.0, 1e30, f32::INFINITY]);
        assert!(y[9].is_nan());
    }

    #[test]
    fn silu_mul_is_the_product() {
        let (gate, up) = (random(&[5, 1234], 3), random(&[5, 1234], 4));
        let want = (gate.silu().unwrap() * &up).unwrap();
        assert_close(&silu_mul(&gate, &up).unwrap(), &want, 5e-7);
        let (gate, up) = (gate.to_dtype(DType::BF16).unwrap(), up.to_dtype(DType::BF16).unwrap());
        assert_close(&silu_mul(&gate, &up).unwrap(), &want.to_dtype(DType::BF16).unwrap(), 1e-2);
        assert!(silu_mul(&gate, &up.narrow(0, 0, 1).unwrap()).is_err());
    }

    #[test]
    fn gelus_are_what_their_formulas_say() {
        let x = (random(&[3, 40, 333], 6) * 12.0).unwrap();
        assert_close(&gelu_tanh(&x).unwrap(), &x.gelu().unwrap(), 5e-7);
        let quick = (&x * candle_nn::ops::sigmoid(&(&x * 1.702).unwrap()).unwrap()).unwrap();
        assert_close(&quick_gelu(&x).unwrap(), &quick, 5e-7);
        let up = random(&[3, 40, 333], 7);
        let want = (x.gelu().unwrap() * &up).unwrap();
        assert_close(&gelu_tanh_mul(&x, &up).unwrap(), &want, 5e-7);
        assert!(gelu_tanh_mul(&x, &up.narrow(0, 0, 1).unwrap()).is_err());
        let ends = Tensor::new(&[-1e30f32, -200.0, 200.0, 1e30], &Device::Cpu).unwrap();
        let ends: Vec<f32> = gelu_tanh(&ends).unwrap().to_vec1().unwrap();
        assert!(ends[0].abs() < 1e-6 && ends[1].abs() < 1e-30 && ends[2..] == [200.0, 1e30], "{ends:?}");
    }

    #[test]
    fn silu_is_the_same_on_any_number_of_threads() {
        let x = random(&[3, 12345], 5);
        assert_independent_of_threads(|| silu(&x).unwrap());
    }
}
