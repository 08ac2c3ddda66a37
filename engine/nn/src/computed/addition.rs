//! Sums of two tensors, for residual connections.

use candle_core::{DType, Result, Tensor, bail};
use pulp::Simd;

use super::{
    cpu::by_processor,
    pointwise::{PIECE, Pointwise, pointwise},
};

/// `x + y`; both have the same shape. In 16 bits each sum is computed in f32 and rounded once.
pub fn add(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.dims() != y.dims() {
        bail!("values of shape {:?} cannot be added to {:?}", y.dims(), x.dims());
    }
    let are_alike = x.dtype() == y.dtype() && x.is_contiguous() && y.is_contiguous();
    if !(by_processor(x) && are_alike && matches!(x.dtype(), DType::F32 | DType::F16 | DType::BF16)) {
        return x + y;
    }
    pointwise([x, y], PIECE, Sum)
}

struct Sum;

impl Pointwise<2> for Sum {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, _: usize, [x, y]: [&[f32]; 2], out: &mut [f32]) {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = x + y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, random};
    use super::*;

    #[test]
    fn sums_are_those_of_candle() {
        for shape in [vec![1], vec![3, 70_000], vec![2, 5, 7]] {
            let (x, y) = (random(&shape, 1), random(&shape, 2));
            assert_close(&add(&x, &y).unwrap(), &(&x + &y).unwrap(), 0.0);
        }
        let (x, y) = (random(&[40, 30], 1), random(&[30, 40], 2));
        let turned = y.t().unwrap();
        assert_close(&add(&x, &turned).unwrap(), &(&x + &turned).unwrap(), 0.0);
        for dtype in [DType::BF16, DType::F16] {
            for shape in [vec![1], vec![3, 70_000], vec![2, 5, 7]] {
                let [x, y] = [3, 4].map(|seed| random(&shape, seed).to_dtype(dtype).unwrap());
                let sum = add(&x, &y).unwrap();
                assert_eq!(sum.dtype(), dtype);
                assert_close(&sum, &(&x + &y).unwrap(), 0.0);
                let later =
                    [&x, &y].map(|x| x.flatten_all().unwrap().narrow(0, x.elem_count() - 1, 1).unwrap());
                assert_close(&add(&later[0], &later[1]).unwrap(), &(&later[0] + &later[1]).unwrap(), 0.0);
            }
            let (x, turned) = (x.to_dtype(dtype).unwrap(), turned.to_dtype(dtype).unwrap());
            assert_close(&add(&x, &turned).unwrap(), &(&x + &turned).unwrap(), 0.0);
        }
        assert!(add(&x, &random(&[3], 1)).is_err());
    }
}
