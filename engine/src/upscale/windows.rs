//! Attention within windows of an image, which may be shifted (Liu et al. 2021, arXiv:2103.14030).

use crate::nn::{Result, Tensor, attention_with_pair_bias};

/// Added to the score of two places that are only neighbours because a shift goes around the edge of the image.
const APART: f32 = -100.0;

/// How an image is cut into windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    /// Rows and columns of a window.
    pub sides: [usize; 2],
    /// Rows and columns by which they are shifted.
    pub shift: [usize; 2],
    /// Height and width are filled up with zeros to multiples of this.
    pub fills: usize,
    pub heads: usize,
}

/// Attention of queries over keys and values, each `[1, height, width, channels]`, within windows. `bias` `[heads, places,
/// places]` is added to the scores.
pub(super) fn attended(windows: &Windows, qkv: [Tensor; 3], bias: &Tensor) -> Result<Tensor> {
    let Windows { sides: [rows, columns], shift, fills, heads } = *windows;
    let (_, height, width, channels) = qkv[0].dims4()?;
    let (high, wide) = (height.next_multiple_of(fills), width.next_multiple_of(fills));
    let prepared = |x: Tensor| -> Result<Tensor> {
        let x = x.pad_with_zeros(1, 0, high - height)?.pad_with_zeros(2, 0, wide - width)?;
        rolled(&rolled(&x, 1, shift[0])?, 2, shift[1])
    };
    let [q, k, v] = qkv;
    let all = [prepared(q)?, prepared(k)?, prepared(v)?];
    let (places, head, across) = (rows * columns, channels / heads, wide / columns);
    let mut made = Vec::new();
    for strip in 0..high / rows {
        let is_last = strip + 1 == high / rows;
        let mut parts = Vec::new();
        // The last column of windows may have places from both edges of the image.
        for (first, count) in [(0, across - 1), (across - 1, 1)] {
            if count == 0 {
                continue;
            }
            let cut = |x: &Tensor| -> Result<Tensor> {
                let strip = x.narrow(1, strip * rows, rows)?.narrow(2, first * columns, count * columns)?;
                let cut = strip.contiguous()?.reshape((rows, count, columns, heads * head))?;
                cut.permute([1, 0, 2, 3])?.contiguous()?.reshape((count, places, heads, head))
            };
            let meets = [is_last && shift[0] > 0, first + count == across && shift[1] > 0];
            let bias = match apart([rows, columns], shift, meets) {
                Some(apart) => {
                    let apart = Tensor::from_vec(apart, (1, places, places), &bias.device())?;
                    bias.broadcast_add(&apart.to_dtype(bias.dtype())?)?
                }
                None => bias.clone(),
            };
            let seen = attention_with_pair_bias(&cut(&all[0])?, &cut(&all[1])?, &cut(&all[2])?, &bias)?;
            let seen = seen.reshape((count, rows, columns, channels))?.permute([1, 0, 2, 3])?.contiguous()?;
            parts.push(seen.reshape((1, rows, count * columns, channels))?);
        }
        made.push(Tensor::cat(&parts, 2)?);
    }
    drop(all);
    let made = Tensor::cat(&made, 1)?;
    let made = rolled(&rolled(&made, 1, high - shift[0])?, 2, wide - shift[1])?;
    made.narrow(1, 0, height)?.narrow(2, 0, width)?.contiguous()
}

/// What is first along a dimension, put behind the rest.
fn rolled(x: &Tensor, dim: usize, first: usize) -> Result<Tensor> {
    let length = x.dim(dim)?;
    if first.is_multiple_of(length) {
        return Ok(x.clone());
    }
    let parts = [x.narrow(dim, first, length - first)?.contiguous()?, x.narrow(dim, 0, first)?.contiguous()?];
    Tensor::cat(&parts, dim)
}

/// What is added to the scores of pairs of places in a window in which rows, or columns, from both edges of the image meet.
fn apart([rows, columns]: [usize; 2], shift: [usize; 2], meets: [bool; 2]) -> Option<Vec<f32>> {
    if meets == [false; 2] {
        return None;
    }
    let side = |place: usize, length: usize, shift: usize, meets: bool| meets && place >= length - shift;
    let of_place = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        [side(row, rows, shift[0], meets[0]), side(column, columns, shift[1], meets[1])]
    };
    let places = rows * columns;
    let pairs = (0..places).flat_map(|one| (0..places).map(move |other| (one, other)));
    Some(pairs.map(|(one, other)| if of_place(one) == of_place(other) { 0.0 } else { APART }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{DType, Device};

    #[test]
    fn places_that_a_shift_has_brought_together_do_not_see_each_other() {
        let scores = apart([2, 2], [1, 1], [true, false]).unwrap();
        assert_eq!(scores[..4], [0.0, 0.0, APART, APART]);
        let scores = apart([2, 2], [1, 1], [true, true]).unwrap();
        assert_eq!(scores[..4], [0.0, APART, APART, APART]);
        assert_eq!(apart([2, 2], [0, 0], [false, false]), None);
    }

    #[test]
    fn rolling_all_the_way_is_nothing() {
        let x = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0], (1, 3), &Device::processor()).unwrap();
        let values = |x: Tensor| x.into_computed().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(values(rolled(&x, 1, 1).unwrap()), [2.0, 3.0, 1.0]);
        assert_eq!(values(rolled(&rolled(&x, 1, 1).unwrap(), 1, 2).unwrap()), [1.0, 2.0, 3.0]);
        assert_eq!(x.to_dtype(DType::F32).unwrap().dims(), rolled(&x, 1, 3).unwrap().dims());
    }
}
