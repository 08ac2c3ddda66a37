//! How latents mix an image with noise, and linear combinations of tensors.

use candle_core::{Result, Tensor};

/// How latents at noise level `σ` mix an image with noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixing {
    /// `(1 − σ) · image + σ · noise`, with levels up to 1: flow matching.
    Flow,
    /// `image + σ · noise`: models that predict noise or v, with their latents divided by `√ᾱ`.
    Exploding,
}

impl Mixing {
    /// The highest flow level whose signal-to-noise ratio is distinguished from zero; as in diffusers.
    const HIGHEST: f64 = 1.0 - 1e-6;

    /// The image's share, `α`.
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

/// `x + width · direction`.
pub(super) fn along(x: &Tensor, direction: &Tensor, width: f32) -> Result<Tensor> {
    x + (direction * f64::from(width))?
}

/// A linear combination of tensors. Tensors with factor 0 are skipped.
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

/// Moves `x` on the straight line towards the image, from one noise level to another: Euler's method.
pub(super) fn toward(x: &Tensor, denoised: &Tensor, from: f64, to: f64) -> Result<Tensor> {
    blend(&[(to / from, x), (1.0 - to / from, denoised)])
}
