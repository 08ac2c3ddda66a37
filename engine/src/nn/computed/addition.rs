//! Sums of two tensors, for residual connections.

use candle_core::{DType, Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{by_processor, values, zeros};

/// Values per work item.
const PIECE: usize = 1 << 14;

/// `x + y`; both have the same shape.
pub fn add(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.dims() != y.dims() {
        bail!("values of shape {:?} cannot be added to {:?}", y.dims(), x.dims());
    }
    let plain = |tensor: &Tensor| tensor.dtype() == DType::F32 && tensor.is_contiguous();
    if !(by_processor(x) && plain(x) && plain(y)) {
        return x + y;
    }
    let (x_held, y_held) = (x.storage_and_layout(), y.storage_and_layout());
    let (left, right) = (values(&x_held)?, values(&y_held)?);
    let mut out = zeros(x.elem_count());
    let pieces = out.par_chunks_mut(PIECE).zip(left.par_chunks(PIECE)).zip(right.par_chunks(PIECE));
    pieces.for_each(|((out, left), right)| {
        for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
            *out = left + right;
        }
    });
    Tensor::from_vec(out, x.dims(), x.device())
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
        let (x, y) = (x.to_dtype(DType::BF16).unwrap(), turned.to_dtype(DType::BF16).unwrap());
        assert_close(&add(&x, &y).unwrap(), &(&x + &y).unwrap(), 0.0);
        assert!(add(&x, &random(&[3], 1)).is_err());
    }
}
