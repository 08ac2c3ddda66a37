//! Samplers: pure functions of a model, noisy latents and noise levels.
//!
//! A model takes latents and their noise level to the direction from picture to noise.

use candle_core::{Result, Tensor};

/// What a step led to.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its number, from 0.
    pub index: usize,
    /// The latents after it.
    pub latents: &'a Tensor,
    /// The direction that was followed.
    pub direction: &'a Tensor,
    /// The noise level of `latents`.
    pub sigma: f32,
}

impl Step<'_> {
    /// What the latents would be without their noise, as the direction has it.
    pub fn denoised(&self) -> Result<Tensor> {
        along(self.latents, self.direction, -self.sigma)
    }
}

/// Euler's method on the probability flow (Karras et al. 2022, arXiv:2206.00364, algorithm 1 without its
/// second-order correction).
///
/// `x` is noise at `sigmas[0]`; `after` is called after each step.
pub fn euler<E: From<candle_core::Error>>(
    mut model: impl FnMut(&Tensor, f32) -> std::result::Result<Tensor, E>,
    mut x: Tensor,
    sigmas: &[f32],
    mut after: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<Tensor, E> {
    for (step, pair) in sigmas.windows(2).enumerate() {
        let direction = model(&x, pair[0])?;
        x = along(&x, &direction, pair[1] - pair[0])?;
        after(Step { index: step, latents: &x, direction: &direction, sigma: pair[1] })?;
    }
    Ok(x)
}

/// Heun's method (Karras et al. 2022, algorithm 1): the mean of the directions at both ends of a step. The
/// last step is Euler's, as there is no direction at noise level 0.
pub fn heun<E: From<candle_core::Error>>(
    mut model: impl FnMut(&Tensor, f32) -> std::result::Result<Tensor, E>,
    mut x: Tensor,
    sigmas: &[f32],
    mut after: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<Tensor, E> {
    for (step, pair) in sigmas.windows(2).enumerate() {
        let first = model(&x, pair[0])?;
        let width = pair[1] - pair[0];
        let end = along(&x, &first, width)?;
        let mut direction = first;
        x = if pair[1] == 0.0 {
            end
        } else {
            let second = model(&end, pair[1])?;
            direction = mean(&direction, &second)?;
            along(&x, &direction, width)?
        };
        after(Step { index: step, latents: &x, direction: &direction, sigma: pair[1] })?;
    }
    Ok(x)
}

fn mean(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    (first + second)? * 0.5
}

fn along(x: &Tensor, direction: &Tensor, width: f32) -> Result<Tensor> {
    x + (direction * f64::from(width))?
}
