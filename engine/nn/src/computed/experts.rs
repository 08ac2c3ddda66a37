//! Sums of the outputs of experts.

use candle_core::{Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{by_processor, contiguous, rounded, values, zeros};

/// Rows per work item.
const ROWS: usize = 8;

/// `sum` `[tokens, width]` plus the rows of `x` `[rows, width]`, each with its weight, in the places `rows`, which differ.
pub fn add_rows(sum: &Tensor, x: &Tensor, rows: &[u32], weights: &[f32]) -> Result<Tensor> {
    let ((tokens, width), (count, own)) = (sum.dims2()?, x.dims2()?);
    if own != width || count != rows.len() || count != weights.len() {
        bail!("{} rows of shape {:?} cannot be added to {:?}", rows.len(), x.dims(), sum.dims());
    }
    if !by_processor(sum) {
        let weights = Tensor::new(weights, x.device())?.to_dtype(x.dtype())?.reshape((count, 1))?;
        return sum.index_add(&Tensor::new(rows, x.device())?, &x.broadcast_mul(&weights)?, 0);
    }
    let mut added = vec![None; tokens];
    for (from, row) in rows.iter().enumerate() {
        match added.get_mut(*row as usize) {
            Some(place) => *place = Some(from),
            None => bail!("there is no row {row} among {tokens}"),
        }
    }
    let (wide, added_rows) = (contiguous(sum)?, contiguous(x)?);
    let held = (wide.storage_and_layout(), added_rows.storage_and_layout());
    let (before, more) = (values(&held.0)?, values(&held.1)?);
    let mut out = zeros(sum.elem_count());
    let pieces = out.par_chunks_mut(width).zip(before.par_chunks(width)).zip(&added);
    pieces.with_min_len(ROWS).for_each(|((out, before), from)| match from {
        Some(from) => {
            let weight = weights[*from];
            for ((out, before), more) in out.iter_mut().zip(before).zip(&more[from * width..]) {
                *out = before + weight * more;
            }
        }
        None => out.copy_from_slice(before),
    });
    drop(held);
    drop((wide, added_rows));
    rounded(out, sum.dims(), sum.dtype())
}

#[cfg(test)]
mod tests {
    use candle_core::DType;

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    fn plain(sum: &Tensor, x: &Tensor, rows: &[u32], weights: &[f32]) -> Tensor {
        let weights = Tensor::new(weights, x.device()).unwrap().to_dtype(x.dtype()).unwrap();
        let weighted = x.broadcast_mul(&weights.reshape((rows.len(), 1)).unwrap()).unwrap();
        sum.index_add(&Tensor::new(rows, x.device()).unwrap(), &weighted, 0).unwrap()
    }

    #[test]
    fn rows_are_added_as_candle_adds_them() {
        let (sum, x) = (random(&[50, 33], 1), random(&[33, 20], 2).t().unwrap());
        let rows: Vec<u32> = (0..20).map(|row| (row * 7 + 3) % 50).collect();
        let weights: Vec<f32> = (0..20).map(|row| row as f32 / 9.0).collect();
        let got = add_rows(&sum, &x, &rows, &weights).unwrap();
        assert_close(&got, &plain(&sum, &x.contiguous().unwrap(), &rows, &weights), 1e-6);
        let half = |x: &Tensor| x.to_dtype(DType::BF16).unwrap().contiguous().unwrap();
        let got = add_rows(&half(&sum), &half(&x), &rows, &weights).unwrap();
        assert_close(&got, &plain(&half(&sum), &half(&x), &rows, &weights), 2e-2);
        assert_independent_of_threads(|| add_rows(&sum, &x, &rows, &weights).unwrap());
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let (sum, x) = (random(&[4, 6], 1), random(&[2, 6], 2));
        assert!(add_rows(&sum, &x, &[0, 4], &[1.0, 1.0]).is_err());
        assert!(add_rows(&sum, &x, &[0], &[1.0]).is_err());
        assert!(add_rows(&sum, &random(&[2, 5], 2), &[0, 1], &[1.0, 1.0]).is_err());
    }
}
