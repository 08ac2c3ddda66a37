//! Adaptive scales, shifts and gates (Peebles and Xie 2023).

use candle_core::{Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{by_processor, contiguous, rounded, values, zeros};
use crate::nn::cuda;

/// Rows per work item.
const ROWS: usize = 8;

/// `x · (1 + scale)`: `x` is `[batch, tokens, width]`, `scale` is `[batch, 1, width]` or `[1, 1, width]`.
pub fn modulate(x: &Tensor, scale: &Tensor) -> Result<Tensor> {
    let (tokens, width) = rows(x, scale)?;
    if !by_processor(x) {
        return cuda::or_plain(x, || cuda::modulate(x, scale, None), || plain_modulate(x, scale));
    }
    let (wide, scales) = (contiguous(x)?, contiguous(scale)?);
    let (held, scales) = (wide.storage_and_layout(), scales.storage_and_layout());
    let (input, scales) = (values(&held)?, &values(&scales)?[..scale.elem_count()]);
    let mut out = zeros(x.elem_count());
    out.par_chunks_mut(width).zip(input.par_chunks(width)).enumerate().with_min_len(ROWS).for_each(
        |(row, (out, x))| {
            let scale = of_batch(scales, row / tokens, width);
            for ((out, x), scale) in out.iter_mut().zip(x).zip(scale) {
                *out = x * (1.0 + scale);
            }
        },
    );
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

/// `x · (1 + scale) + shift`: `x` is `[batch, tokens, width]`, `scale` and `shift` are `[batch, 1, width]` or
/// `[1, 1, width]`.
pub fn scale_and_shift(x: &Tensor, scale: &Tensor, shift: &Tensor) -> Result<Tensor> {
    let (tokens, width) = rows(x, scale)?;
    if scale.dims() != shift.dims() {
        bail!("a shift of shape {:?} does not match a scale of shape {:?}", shift.dims(), scale.dims());
    }
    if !by_processor(x) {
        let plain = || plain_modulate(x, scale)?.broadcast_add(&shift.to_dtype(x.dtype())?);
        return cuda::or_plain(x, || cuda::modulate(x, scale, Some(shift)), plain);
    }
    let (wide, scales, shifts) = (contiguous(x)?, contiguous(scale)?, contiguous(shift)?);
    let held = (wide.storage_and_layout(), scales.storage_and_layout(), shifts.storage_and_layout());
    let input = values(&held.0)?;
    let (scales, shifts) = (&values(&held.1)?[..scale.elem_count()], &values(&held.2)?[..shift.elem_count()]);
    let mut out = zeros(x.elem_count());
    out.par_chunks_mut(width).zip(input.par_chunks(width)).enumerate().with_min_len(ROWS).for_each(
        |(row, (out, x))| {
            let batch = row / tokens;
            let (scale, shift) = (of_batch(scales, batch, width), of_batch(shifts, batch, width));
            for (((out, x), scale), shift) in out.iter_mut().zip(x).zip(scale).zip(shift) {
                *out = x * (1.0 + scale) + shift;
            }
        },
    );
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

/// `x + gate · y`: `x` and `y` are `[batch, tokens, width]`, `gate` is `[batch, 1, width]` or `[1, 1, width]`.
pub fn gated_add(x: &Tensor, gate: &Tensor, y: &Tensor) -> Result<Tensor> {
    let (tokens, width) = rows(x, gate)?;
    if x.dims() != y.dims() {
        bail!("values of shape {:?} cannot be added to {:?}", y.dims(), x.dims());
    }
    if !by_processor(x) {
        return cuda::or_plain(x, || cuda::gated_add(x, gate, y), || plain_gated_add(x, gate, y));
    }
    let (wide, gates, more) = (contiguous(x)?, contiguous(gate)?, contiguous(y)?);
    let held = (wide.storage_and_layout(), gates.storage_and_layout(), more.storage_and_layout());
    let (input, gates, added) = (values(&held.0)?, &values(&held.1)?[..gate.elem_count()], values(&held.2)?);
    let mut out = zeros(x.elem_count());
    let pieces = out.par_chunks_mut(width).zip(input.par_chunks(width)).zip(added.par_chunks(width));
    pieces.enumerate().with_min_len(ROWS).for_each(|(row, ((out, x), y))| {
        let gate = of_batch(gates, row / tokens, width);
        for (((out, x), y), gate) in out.iter_mut().zip(x).zip(y).zip(gate) {
            *out = x + gate * y;
        }
    });
    drop(held);
    drop((wide, more));
    rounded(out, x.dims(), x.dtype())
}

fn plain_modulate(x: &Tensor, scale: &Tensor) -> Result<Tensor> {
    x.broadcast_mul(&(scale.to_dtype(x.dtype())? + 1.0)?)
}

fn plain_gated_add(x: &Tensor, gate: &Tensor, y: &Tensor) -> Result<Tensor> {
    x + y.broadcast_mul(&gate.to_dtype(y.dtype())?)?
}

/// Tokens and width of `x`, after checking that `factor` fits.
fn rows(x: &Tensor, factor: &Tensor) -> Result<(usize, usize)> {
    let (batch, tokens, width) = x.dims3()?;
    let (factor_batch, factor_tokens, factor_width) = factor.dims3()?;
    if (factor_tokens, factor_width) != (1, width) || (factor_batch != 1 && factor_batch != batch) {
        bail!("factors of shape {:?} do not fit values of shape {:?}", factor.dims(), x.dims());
    }
    Ok((tokens.max(1), width.max(1)))
}

/// The factors of one batch item; a single row of factors applies to all items.
fn of_batch(factors: &[f32], item: usize, width: usize) -> &[f32] {
    &factors[item * width % factors.len()..][..width]
}

#[cfg(test)]
mod tests {
    use candle_core::DType;

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn modulation_is_the_plain_composition() {
        for (batch, factor_batch, tokens, width) in [(1, 1, 1, 1), (2, 2, 5, 7), (3, 1, 33, 130)] {
            let (x, y) = (random(&[batch, tokens, width], 1), random(&[batch, tokens, width], 2));
            let factor = random(&[factor_batch, 1, width], 3);
            assert_close(&modulate(&x, &factor).unwrap(), &plain_modulate(&x, &factor).unwrap(), 1e-6);
            let want = plain_gated_add(&x, &factor, &y).unwrap();
            assert_close(&gated_add(&x, &factor, &y).unwrap(), &want, 1e-6);
            let shift = random(&[factor_batch, 1, width], 4);
            let want = plain_modulate(&x, &factor).unwrap().broadcast_add(&shift).unwrap();
            assert_close(&scale_and_shift(&x, &factor, &shift).unwrap(), &want, 1e-6);
        }
    }

    #[test]
    fn modulation_takes_views_and_half_width_floats() {
        let x = random(&[2, 9, 24], 1).transpose(1, 2).unwrap();
        let factor = random(&[2, 1, 18], 2).narrow(2, 9, 9).unwrap();
        assert_close(&modulate(&x, &factor).unwrap(), &plain_modulate(&x, &factor).unwrap(), 1e-6);
        let (x, factor) = (x.to_dtype(DType::BF16).unwrap(), factor.to_dtype(DType::BF16).unwrap());
        assert_close(&modulate(&x, &factor).unwrap(), &plain_modulate(&x, &factor).unwrap(), 1e-2);
    }

    #[test]
    fn modulation_refuses_factors_that_do_not_fit() {
        let x = random(&[2, 4, 6], 1);
        assert!(modulate(&x, &random(&[3, 1, 6], 2)).is_err());
        assert!(modulate(&x, &random(&[2, 4, 6], 2)).is_err());
        assert!(scale_and_shift(&x, &random(&[2, 1, 6], 2), &random(&[1, 1, 6], 2)).is_err());
        assert!(gated_add(&x, &random(&[2, 1, 6], 2), &random(&[2, 1, 6], 2)).is_err());
    }

    #[test]
    fn modulation_is_the_same_on_any_number_of_threads() {
        let (x, y, gate) = (random(&[2, 70, 40], 1), random(&[2, 70, 40], 2), random(&[2, 1, 40], 3));
        assert_independent_of_threads(|| gated_add(&x, &gate, &y).unwrap());
    }
}
