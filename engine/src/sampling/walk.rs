//! What samplers walk with: a model, noise levels, noise, and somebody who hears of every step.
//!
//! A model takes latents `x` and their noise level `σ` to the direction from picture to noise, so that the
//! picture it believes in is `x − σ · direction`, for flow matching (where the direction is the velocity) and
//! for models that predict noise alike. Coefficients are computed in f64.

use std::result::Result as StdResult;

use candle_core::{Result, Tensor};

use super::Training;

/// How latents at the noise level `σ` are mixed of a picture and of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixing {
    /// `(1 − σ) · picture + σ · noise`, with levels from 1: flow matching.
    Flow,
    /// `picture + σ · noise`: models that predict noise or v, with their latents divided by `√ᾱ`.
    Exploding,
}

impl Mixing {
    /// The highest flow level whose signal-to-noise ratio is told apart from none; diffusers has the same.
    const HIGHEST: f64 = 1.0 - 1e-6;

    /// The picture's share, `α`.
    pub fn share(self, sigma: f64) -> f64 {
        match self {
            Self::Flow => 1.0 - sigma,
            Self::Exploding => 1.0,
        }
    }

    /// Half the logarithm of the signal-to-noise ratio, `λ = ln(α / σ)`.
    pub fn lambda(self, sigma: f64) -> f64 {
        let sigma = if self == Self::Flow { sigma.min(Self::HIGHEST) } else { sigma };
        (self.share(sigma) / sigma).ln()
    }

    /// The noise level of a `λ`.
    pub fn sigma(self, lambda: f64) -> f64 {
        match self {
            Self::Flow => 1.0 / (1.0 + lambda.exp()),
            Self::Exploding => (-lambda).exp(),
        }
    }
}

/// What a step followed.
#[derive(Debug, Clone, Copy)]
pub enum Prediction<'a> {
    /// The direction from picture to noise.
    Direction(&'a Tensor),
    /// The picture itself.
    Denoised(&'a Tensor),
}

/// What a step led to.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its number, from 0.
    pub index: usize,
    /// The latents after it.
    pub latents: &'a Tensor,
    /// What was followed.
    pub prediction: Prediction<'a>,
    /// The noise level of `latents`.
    pub sigma: f32,
}

impl Step<'_> {
    /// What the latents would be without their noise, as the prediction has it.
    pub fn denoised(&self) -> Result<Tensor> {
        match self.prediction {
            Prediction::Direction(direction) => along(self.latents, direction, -self.sigma),
            Prediction::Denoised(denoised) => Ok(denoised.clone()),
        }
    }
}

/// What a sampler is given beside the latents that it starts from, which are noise at `sigmas[0]`.
pub struct Walk<'a, E> {
    /// Noise levels, one more than steps, falling; the last may be 0.
    pub sigmas: &'a [f32],
    /// What the levels mean.
    pub training: &'a Training,
    /// Predicts the direction at a level.
    pub model: &'a mut dyn FnMut(&Tensor, f32) -> StdResult<Tensor, E>,
    /// New noise in the shape of latents; asked at most once a step, by stochastic samplers alone.
    pub noise: &'a mut dyn FnMut(&Tensor) -> Result<Tensor>,
    /// Called after each step.
    pub after: &'a mut dyn FnMut(Step<'_>) -> StdResult<(), E>,
}

impl<E> Walk<'_, E> {
    pub(super) fn mixing(&self) -> Mixing {
        self.training.mixing()
    }
}

impl<'a, E: From<candle_core::Error>> Walk<'a, E> {
    /// Each step's number and the levels that it leads from and to.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, f32, f32)> + use<'a, E> {
        self.sigmas.windows(2).enumerate().map(|(index, pair)| (index, pair[0], pair[1]))
    }

    pub(super) fn direction(&mut self, x: &Tensor, sigma: f32) -> StdResult<Tensor, E> {
        (self.model)(x, sigma)
    }

    pub(super) fn denoised(&mut self, x: &Tensor, sigma: f32) -> StdResult<Tensor, E> {
        let direction = (self.model)(x, sigma)?;
        Ok(along(x, &direction, -sigma)?)
    }

    /// `x` with new noise of this amount, none at 0.
    pub(super) fn renoised(&mut self, x: Tensor, amount: f64) -> Result<Tensor> {
        if amount > 0.0 { blend(&[(1.0, &x), (amount, &(self.noise)(&x)?)]) } else { Ok(x) }
    }

    pub(super) fn followed(
        &mut self,
        index: usize,
        latents: &Tensor,
        direction: &Tensor,
        sigma: f32,
    ) -> StdResult<(), E> {
        (self.after)(Step { index, latents, prediction: Prediction::Direction(direction), sigma })
    }

    pub(super) fn stepped(
        &mut self,
        index: usize,
        latents: &Tensor,
        denoised: &Tensor,
        sigma: f32,
    ) -> StdResult<(), E> {
        (self.after)(Step { index, latents, prediction: Prediction::Denoised(denoised), sigma })
    }
}

/// `x` moved along a direction.
pub(super) fn along(x: &Tensor, direction: &Tensor, width: f32) -> Result<Tensor> {
    x + (direction * f64::from(width))?
}

/// The sum of tensors, each times its factor. Factors of 0 leave a tensor out.
pub(super) fn blend(terms: &[(f64, &Tensor)]) -> Result<Tensor> {
    let mut sum: Option<Tensor> = None;
    for &(factor, tensor) in terms.iter().filter(|(factor, _)| *factor != 0.0) {
        let term = (tensor * factor)?;
        sum = Some(match sum {
            Some(sum) => (sum + term)?,
            None => term,
        });
    }
    match (sum, terms.first()) {
        (Some(sum), _) => Ok(sum),
        (None, Some((_, tensor))) => tensor.zeros_like(),
        (None, None) => Err(candle_core::Error::Msg("a sum of no tensors has no shape".to_owned())),
    }
}

/// `x` moved on the straight line to the picture, from one noise level to another: Euler's method.
pub(super) fn toward(x: &Tensor, denoised: &Tensor, from: f64, to: f64) -> Result<Tensor> {
    blend(&[(to / from, x), (1.0 - to / from, denoised)])
}
