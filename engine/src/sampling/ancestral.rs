//! Ancestral samplers: each step goes below its target level and comes back up with new noise.

use std::result::Result as StdResult;

use candle_core::{Result, Tensor};

use super::{
    mixing::{Mixing, blend, toward},
    walk::Walk,
};

/// How a step is split.
struct Descent {
    /// The level reached without noise.
    down: f64,
    /// Factor of the latents at that level.
    keep: f64,
    /// Amount of noise added.
    noise: f64,
}

/// The split that gives the latents at level `to` the right variance. For exploding levels this is ancestral
/// sampling (Ho et al. 2020, arXiv:2006.11239, as in k-diffusion). For flow models the lower level is
/// `to² / from`, and the latents are scaled to restore the image's share.
fn descent(mixing: Mixing, from: f64, to: f64) -> Descent {
    match mixing {
        Mixing::Flow => Descent::through(mixing, to * to / from, to),
        Mixing::Exploding => {
            let noise = (to.powi(2) * (from.powi(2) - to.powi(2)) / from.powi(2)).sqrt().min(to);
            Descent { down: (to.powi(2) - noise.powi(2)).sqrt(), keep: 1.0, noise }
        }
    }
}

impl Descent {
    /// Goes down to level `down`, then up to level `to`.
    fn through(mixing: Mixing, down: f64, to: f64) -> Self {
        let keep = mixing.share(to) / mixing.share(down);
        Self { down, keep, noise: (to.powi(2) - (down * keep).powi(2)).max(0.0).sqrt() }
    }

    fn ascend<E: From<candle_core::Error>>(&self, walk: &mut Walk<'_, E>, x: &Tensor) -> Result<Tensor> {
        walk.renoised(blend(&[(self.keep, x)])?, self.noise)
    }
}

/// Ancestral sampling with Euler steps (k-diffusion's `sample_euler_ancestral`, including its variant for
/// flow models).
pub fn euler_ancestral<E: From<candle_core::Error>>(
    mut walk: Walk<'_, E>,
    mut x: Tensor,
) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let descent = descent(walk.mixing(), from.into(), to.into());
        let below = toward(&x, &denoised, from.into(), descent.down)?;
        x = if walk.training.renoises(to) {
            descent.ascend(&mut walk, &below)?
        } else {
            // As in diffusers, the noise is drawn all the same.
            (walk.noise)(&below)?;
            below
        };
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// The fraction of each [`tcd`] step, in time, that is undone with noise; the authors' default.
const TCD_GAMMA: f64 = 0.3;

/// Strategic stochastic sampling of a trajectory consistency model (Zheng et al. 2024, arXiv:2402.19159,
/// algorithm 4): each step goes below the next level, to `1 − γ` of its time, and comes back up with new
/// noise.
pub fn tcd<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let down = walk.training.earlier(to, 1.0 - TCD_GAMMA);
        let descent = Descent::through(walk.mixing(), down.into(), to.into());
        let below = toward(&x, &denoised, from.into(), descent.down)?;
        x = descent.ascend(&mut walk, &below)?;
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// Ancestral sampling with DPM-Solver++(2S) steps (Lu et al. 2022, arXiv:2211.01095, algorithm 1): the image
/// is predicted a second time at the midpoint, in the logarithm of the signal-to-noise ratio.
pub fn dpmpp_2s_ancestral<E: From<candle_core::Error>>(
    mut walk: Walk<'_, E>,
    mut x: Tensor,
) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let mut denoised = walk.denoised(&x, from)?;
        let descent = descent(walk.mixing(), from.into(), to.into());
        if to > 0.0 {
            let between = between_2s(walk.mixing(), from, to);
            let half_way = toward(&x, &denoised, from.into(), between.into())?;
            denoised = walk.denoised(&half_way, between)?;
        }
        let below = toward(&x, &denoised, from.into(), descent.down)?;
        x = descent.ascend(&mut walk, &below)?;
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// The noise level within a step at which [`dpmpp_2s_ancestral`] calls the model.
pub fn between_2s(mixing: Mixing, from: f32, to: f32) -> f32 {
    let down = descent(mixing, from.into(), to.into()).down;
    mixing.sigma(f64::midpoint(mixing.lambda(from.into()), mixing.lambda(down))) as f32
}
