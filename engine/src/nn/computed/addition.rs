//! Sums of two tensors, for residual connections.

use candle_core::{DType, Result, Tensor, WithDType, bail};
use half::{bf16, f16, slice::HalfFloatSliceExt};
use rayon::prelude::*;

use super::cpu::{by_processor, values, values_as, zeros};

/// Values per work item.
const PIECE: usize = 1 << 14;

/// Values that a thread widens at a time.
const WIDENED: usize = 256;

/// `x + y`; both have the same shape. In 16 bits each sum is computed in f32 and rounded once.
pub fn add(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.dims() != y.dims() {
        bail!("values of shape {:?} cannot be added to {:?}", y.dims(), x.dims());
    }
    if !(by_processor(x) && x.dtype() == y.dtype() && x.is_contiguous() && y.is_contiguous()) {
        return x + y;
    }
    match x.dtype() {
        DType::F32 => wide(x, y),
        DType::F16 => narrow::<f16>(x, y),
        DType::BF16 => narrow::<bf16>(x, y),
        _ => x + y,
    }
}

fn wide(x: &Tensor, y: &Tensor) -> Result<Tensor> {
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

fn narrow<T: WithDType>(x: &Tensor, y: &Tensor) -> Result<Tensor>
where
    [T]: HalfFloatSliceExt,
{
    let (x_held, y_held) = (x.storage_and_layout(), y.storage_and_layout());
    let (left, right) = (values_as::<T>(&x_held)?, values_as::<T>(&y_held)?);
    let mut out = vec![T::zero(); x.elem_count()];
    let pieces = out.par_chunks_mut(PIECE).zip(left.par_chunks(PIECE)).zip(right.par_chunks(PIECE));
    pieces.for_each(|((out, left), right)| {
        let (mut sums, mut terms) = ([0.0; WIDENED], [0.0; WIDENED]);
        for ((out, left), right) in
            out.chunks_mut(WIDENED).zip(left.chunks(WIDENED)).zip(right.chunks(WIDENED))
        {
            let (sums, terms) = (&mut sums[..out.len()], &mut terms[..out.len()]);
            left[..out.len()].convert_to_f32_slice(sums);
            right[..out.len()].convert_to_f32_slice(terms);
            for (sum, term) in sums.iter_mut().zip(&*terms) {
                *sum += term;
            }
            out.convert_from_f32_slice(sums);
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
