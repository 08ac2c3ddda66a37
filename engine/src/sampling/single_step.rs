//! Samplers without memory of earlier steps: deterministic ones, and the consistency sampler.

use std::result::Result as StdResult;

use candle_core::{Result, Tensor};

use super::{
    mixing::{along, blend},
    walk::Walk,
};

/// Euler's method on the probability flow (Karras et al. 2022, arXiv:2206.00364, algorithm 1 without its
/// second-order correction).
pub fn euler<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let direction = walk.direction(&x, from)?;
        x = along(&x, &direction, to - from)?;
        walk.followed(index, &x, &direction, to)?;
    }
    Ok(x)
}

/// Heun's method (Karras et al. 2022, algorithm 1): follows the mean of the directions at both ends of a
/// step. The last step is Euler's, because there is no direction at noise level 0.
pub fn heun<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let first = walk.direction(&x, from)?;
        let width = to - from;
        let end = along(&x, &first, width)?;
        let mut direction = first;
        x = if to == 0.0 {
            end
        } else {
            let second = walk.direction(&end, to)?;
            direction = mean(&direction, &second)?;
            along(&x, &direction, width)?
        };
        walk.followed(index, &x, &direction, to)?;
    }
    Ok(x)
}

/// DPM-Solver-2 on the probability flow (Karras et al. 2022, appendix, after Lu et al. 2022,
/// arXiv:2206.00927, algorithm 1): follows the direction at the geometric mean of a step's levels. The last
/// step is Euler's.
pub fn dpm2<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let mut direction = walk.direction(&x, from)?;
        if to > 0.0 {
            let between = between_dpm2(from, to);
            direction = walk.direction(&along(&x, &direction, between - from)?, between)?;
        }
        x = along(&x, &direction, to - from)?;
        walk.followed(index, &x, &direction, to)?;
    }
    Ok(x)
}

/// The noise level within a step at which [`dpm2`] calls the model.
pub fn between_dpm2(from: f32, to: f32) -> f32 {
    (f64::from(from) * f64::from(to)).sqrt() as f32
}

/// Deterministic DDIM (Song et al. 2020, arXiv:2010.02502, equation 12 with σ = 0): mixes the predicted image
/// and the predicted noise at the next level.
pub fn ddim<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let [from, level] = [from, to].map(f64::from);
        let noise = blend(&[(1.0 / from, &x), (-walk.mixing().share(from) / from, &denoised)])?;
        x = blend(&[(walk.mixing().share(level), &denoised), (level, &noise)])?;
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// Multistep sampling of a consistency model (Song et al. 2023, arXiv:2303.01469, algorithm 1; Luo et al.
/// 2023, arXiv:2310.04378): mixes the predicted image with new noise at the next level.
pub fn lcm<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let level = f64::from(to);
        x = walk.renoised(blend(&[(walk.mixing().share(level), &denoised)])?, level)?;
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

fn mean(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    (first + second)? * 0.5
}
