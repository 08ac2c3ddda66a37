//! Adaptive scales, shifts and gates (Peebles and Xie 2023).

use candle_core::{DType, Result, Tensor, bail};
use pulp::Simd;

use super::{
    cpu::by_processor,
    pointwise::{Pointwise, pointwise},
};
use crate::cuda;

/// `x · (1 + scale)`: `x` is `[batch, tokens, width]`, `scale` is `[batch, 1, width]` or `[1, 1, width]`.
pub fn modulate(x: &Tensor, scale: &Tensor) -> Result<Tensor> {
    let (tokens, width) = rows(x, scale)?;
    if !by_processor(x) {
        return cuda::or_plain(x, || cuda::modulate(x, scale, None), || plain_modulate(x, scale));
    }
    pointwise([x], width, Modulation { scales: Factors::new(scale, tokens)?, shifts: None })
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
    let [scales, shift] = [scale, shift].map(|factors| Factors::new(factors, tokens));
    pointwise([x], width, Modulation { scales: scales?, shifts: Some(shift?) })
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
    pointwise([x, y], width, Gates(Factors::new(gate, tokens)?))
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

/// Factors of the values of a token, for each item of a batch or for all of them.
struct Factors {
    values: Vec<f32>,
    width: usize,
    /// Tokens of an item.
    tokens: usize,
}

impl Factors {
    fn new(factors: &Tensor, tokens: usize) -> Result<Self> {
        let values = factors.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
        Ok(Self { values, width: factors.dim(2)?.max(1), tokens })
    }

    /// Those of values of one token, from a place on.
    #[inline(always)]
    fn at(&self, place: usize, count: usize) -> &[f32] {
        let item = place / self.width / self.tokens;
        &self.values[item * self.width % self.values.len() + place % self.width..][..count]
    }
}

/// `x · (1 + scale) + shift`.
struct Modulation {
    scales: Factors,
    shifts: Option<Factors>,
}

impl Pointwise<1> for Modulation {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, place: usize, [x]: [&[f32]; 1], out: &mut [f32]) {
        let scaled = out.iter_mut().zip(x).zip(self.scales.at(place, x.len()));
        match &self.shifts {
            Some(shifts) => {
                for (((out, x), scale), shift) in scaled.zip(shifts.at(place, x.len())) {
                    *out = x * (1.0 + scale) + shift;
                }
            }
            None => {
                for ((out, x), scale) in scaled {
                    *out = x * (1.0 + scale);
                }
            }
        }
    }
}

/// `x + gate · y`.
struct Gates(Factors);

impl Pointwise<2> for Gates {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, place: usize, [x, y]: [&[f32]; 2], out: &mut [f32]) {
        for (((out, x), y), gate) in out.iter_mut().zip(x).zip(y).zip(self.0.at(place, x.len())) {
            *out = x + gate * y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn modulation_is_the_plain_composition() {
        for (batch, factor_batch, tokens, width) in
            [(1, 1, 1, 1), (2, 2, 5, 7), (3, 1, 33, 130), (2, 2, 3, 2500)]
        {
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
