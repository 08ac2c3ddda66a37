//! Activation functions.

use candle_core::{Result, Tensor, bail};
use pulp::Simd;
use rayon::prelude::*;

use super::cpu::{contiguous, values, zeros};
use super::simd::{Tiled, exp2, run};

/// Values to a piece of work.
const PIECE: usize = 1 << 14;

/// `x · sigmoid(x)`.
pub fn silu(x: &Tensor) -> Result<Tensor> {
    if x.device().is_cpu() { fused(x, None) } else { x.silu() }
}

/// `silu(gate) · up`, the middle of a SwiGLU feed-forward.
pub fn silu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    if gate.dims() != up.dims() {
        bail!("a gate of shape {:?} for values of shape {:?}", gate.dims(), up.dims());
    }
    if gate.device().is_cpu() { fused(gate, Some(up)) } else { gate.silu()? * up }
}

fn fused(x: &Tensor, factor: Option<&Tensor>) -> Result<Tensor> {
    let mut out = zeros(x.elem_count());
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let pieces = out.par_chunks_mut(PIECE).zip(values(&held)?.par_chunks(PIECE));
    match factor {
        Some(factor) => {
            let wide = contiguous(factor)?;
            let held = wide.storage_and_layout();
            pieces
                .zip(values(&held)?.par_chunks(PIECE))
                .for_each(|((out, x), factor)| run(Silu { x, factor: Some(factor), out }));
        }
        None => pieces.for_each(|(out, x)| run(Silu { x, factor: None, out })),
    }
    Tensor::from_vec(out, x.dims(), x.device())?.to_dtype(x.dtype())
}

struct Silu<'a> {
    x: &'a [f32],
    factor: Option<&'a [f32]>,
    out: &'a mut [f32],
}

impl Tiled for Silu<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let length = self.out.len();
        let (out, out_rest) = S::as_mut_simd_f32s(self.out);
        let (x, x_rest) = S::as_simd_f32s(&self.x[..length]);
        let x_rest = simd.partial_load_f32s(x_rest);
        match self.factor {
            Some(factor) => {
                let (factor, factor_rest) = S::as_simd_f32s(&factor[..length]);
                for ((out, x), factor) in out.iter_mut().zip(x).zip(factor) {
                    *out = simd.mul_f32s(silu_of(simd, *x), *factor);
                }
                let rest = simd.mul_f32s(silu_of(simd, x_rest), simd.partial_load_f32s(factor_rest));
                simd.partial_store_f32s(out_rest, rest);
            }
            None => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = silu_of(simd, *x);
                }
                simd.partial_store_f32s(out_rest, silu_of(simd, x_rest));
            }
        }
    }
}

/// `x / (1 + exp(-x))` of a vector.
#[inline(always)]
pub(super) fn silu_of<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    // Beyond this the exponential would overflow; the quotient is nil there.
    let limit = simd.splat_f32s(126.0);
    let exponent = simd.mul_f32s(x, simd.splat_f32s(-std::f32::consts::LOG2_E));
    let exponent = simd.select_f32s(simd.less_than_f32s(limit, exponent), limit, exponent);
    simd.div_f32s(x, simd.add_f32s(simd.splat_f32s(1.0), exp2(simd, exponent)))
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

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
    fn silu_is_the_same_on_any_number_of_threads() {
        let x = random(&[3, 12345], 5);
        assert_independent_of_threads(|| silu(&x).unwrap());
    }
}
