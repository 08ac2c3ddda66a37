//! Places with channels: turned around, and their means. The tensor library does both value by value on one thread.

use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;

use super::cpu::{by_processor, values, zeros};

/// The side of the squares that are turned at a time: the values of a cache line.
const SIDE: usize = 16;
/// Channels that a thread sums at a time.
const SUMMED: usize = 32;

/// `x` `[rows, columns]` as `[columns, rows]`, in row-major order. Its columns may be some of those of a wider tensor.
pub fn turned(x: &Tensor) -> Result<Tensor> {
    let (rows, columns) = x.dims2()?;
    if !(by_processor(x) && x.dtype() == DType::F32 && x.stride()[1] == 1) {
        return x.t()?.contiguous();
    }
    let held = x.storage_and_layout();
    let (from, stride) = (values(&held)?, x.stride()[0]);
    let mut out = zeros(rows * columns);
    out.par_chunks_mut(SIDE * rows.max(1)).enumerate().for_each(|(piece, out)| {
        for begin in (0..rows).step_by(SIDE) {
            let places = begin..(begin + SIDE).min(rows);
            for (channel, out) in out.chunks_exact_mut(rows).enumerate() {
                let column = piece * SIDE + channel;
                for (out, place) in out[places.clone()].iter_mut().zip(places.clone()) {
                    *out = from[place * stride + column];
                }
            }
        }
    });
    Tensor::from_vec(out, (columns, rows), x.device())
}

/// The mean of each channel of `x` `[1, height, width, channels]` over all places, `[1, 1, 1, channels]`.
pub fn means(x: &Tensor) -> Result<Tensor> {
    let (images, height, width, channels) = x.dims4()?;
    if !(by_processor(x) && x.dtype() == DType::F32 && x.is_contiguous() && images == 1 && channels > 0) {
        return x.mean_keepdim((1, 2));
    }
    let places = height * width;
    let held = x.storage_and_layout();
    let from = &values(&held)?[..places * channels];
    let mut sums = vec![0.0_f32; channels];
    sums.par_chunks_mut(SUMMED).enumerate().for_each(|(piece, sums)| {
        for place in from.chunks_exact(channels) {
            for (sum, value) in sums.iter_mut().zip(&place[piece * SUMMED..]) {
                *sum += value;
            }
        }
    });
    Tensor::from_vec(sums, (1, 1, 1, channels), x.device())? * (1.0 / places as f64)
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_independent_of_threads, flat, random};
    use super::*;

    fn bits(x: &Tensor) -> Vec<u32> {
        flat(x).into_iter().map(f32::to_bits).collect()
    }

    #[test]
    fn a_tensor_is_turned_as_by_the_tensor_library() {
        for [rows, columns] in [[1, 1], [16, 16], [5, 70], [70, 5], [33, 40]] {
            let wider = random(&[rows, columns + 9], 1);
            for first in [0, 4, 9] {
                let x = wider.narrow(1, first, columns).unwrap();
                let (got, want) = (turned(&x).unwrap(), x.t().unwrap().contiguous().unwrap());
                assert_eq!((got.dims(), bits(&got)), (want.dims(), bits(&want)), "{rows} {columns} {first}");
            }
        }
        let x = random(&[6, 8], 2);
        for x in [x.to_dtype(DType::BF16).unwrap(), x.t().unwrap()] {
            assert_eq!(bits(&turned(&x).unwrap()), bits(&x.t().unwrap().contiguous().unwrap()));
        }
        assert_independent_of_threads(|| turned(&random(&[50, 70], 3)).unwrap());
    }

    #[test]
    fn means_are_those_of_the_tensor_library() {
        for shape in [[1, 1, 1, 1], [1, 7, 9, 60], [1, 3, 50, 180], [2, 3, 4, 5]] {
            let x = random(&shape, 4);
            for x in [x.clone(), x.to_dtype(DType::BF16).unwrap(), x.transpose(1, 2).unwrap()] {
                let (got, want) = (means(&x).unwrap(), x.mean_keepdim((1, 2)).unwrap());
                assert_eq!((got.dims(), bits(&got)), (want.dims(), bits(&want)), "{shape:?}");
            }
        }
        assert_independent_of_threads(|| means(&random(&[1, 9, 9, 70], 5)).unwrap());
    }
}
