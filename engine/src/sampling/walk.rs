//! The inputs of samplers: a model, noise levels, noise, and a callback after every step.
//!
//! A model maps latents `x` and their noise level `σ` to the direction from image to noise, so that the
//! predicted image is `x − σ · direction`, both for flow matching (where the direction is the velocity) and
//! for models that predict noise. Coefficients are computed in f64.

use std::result::Result as StdResult;

use candle_core::{Result, Tensor};

use super::{
    Training,
    mixing::{Mixing, along, blend},
};

/// The prediction that a step followed.
#[derive(Debug, Clone, Copy)]
pub enum Prediction<'a> {
    /// The direction from image to noise.
    Direction(&'a Tensor),
    /// The image itself.
    Denoised(&'a Tensor),
}

/// The result of a step.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its index, from 0.
    pub index: usize,
    /// The latents after it.
    pub latents: &'a Tensor,
    /// The prediction it followed.
    pub prediction: Prediction<'a>,
    /// The noise level of `latents`.
    pub sigma: f32,
}

impl Step<'_> {
    /// The latents without their noise, according to the prediction.
    pub fn denoised(&self) -> Result<Tensor> {
        match self.prediction {
            Prediction::Direction(direction) => along(self.latents, direction, -self.sigma),
            Prediction::Denoised(denoised) => Ok(denoised.clone()),
        }
    }
}

/// The inputs of a sampler, besides the initial latents, which are noise at `sigmas[0]`.
pub struct Walk<'a, E> {
    /// Noise levels, one more than steps, descending; the last may be 0.
    pub sigmas: &'a [f32],
    /// The meaning of the levels.
    pub training: &'a Training,
    /// Predicts the direction at a level.
    pub model: &'a mut dyn FnMut(&Tensor, f32) -> StdResult<Tensor, E>,
    /// Draws new noise in the shape of latents. Only stochastic samplers call it, once or twice per step.
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
    /// Each step's index, and the levels it goes from and to.
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

    /// `x` plus this amount of new noise; draws none for 0.
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
