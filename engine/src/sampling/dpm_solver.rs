//! The solvers DPM-Solver++ (Lu et al. 2022, arXiv:2211.01095): multistep ones, and one with two predictions in each step. They
//! predict the image and step in `λ`, half the logarithm of the signal-to-noise ratio. A step to level 0 ends at the predicted
//! image.

use std::result::Result as StdResult;

use candle_core::{Result, Tensor};

use super::{
    mixing::{Mixing, blend},
    walk::Walk,
};

/// A prediction, and the width in `λ` of the step after it.
struct Past {
    denoised: Tensor,
    width: f64,
}

fn width(mixing: Mixing, from: f32, to: f32) -> f64 {
    mixing.lambda(to.into()) - mixing.lambda(from.into())
}

/// DPM-Solver++(2M) (Lu et al. 2022, algorithm 2).
pub fn dpmpp_2m<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    let mut past: Option<Past> = None;
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let mut h = 0.0;
        x = if to == 0.0 {
            denoised.clone()
        } else {
            h = width(walk.mixing(), from, to);
            let share = -walk.mixing().share(to.into()) * (-h).exp_m1();
            let scaled = (f64::from(to) / f64::from(from), &x);
            match &past {
                Some(past) => {
                    let slope = h / (2.0 * past.width);
                    blend(&[scaled, (share * (1.0 + slope), &denoised), (-share * slope, &past.denoised)])?
                }
                None => blend(&[scaled, (share, &denoised)])?,
            }
        };
        walk.stepped(index, &x, &denoised, to)?;
        past = Some(Past { denoised, width: h });
    }
    Ok(x)
}

/// SDE-DPM-Solver++ with a second prediction halfway through each step, in `λ` (k-diffusion's `sample_dpmpp_sde`). As there, the
/// noise at both places is of one Brownian path in the noise level.
pub fn dpmpp_sde<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    for (index, from, to) in walk.steps() {
        let mut denoised = walk.denoised(&x, from)?;
        x = if to == 0.0 {
            denoised.clone()
        } else {
            let between = between_sde(walk.mixing(), from, to);
            let first = (walk.noise)(&x)?;
            let half_way = single_sde(walk.mixing(), &x, &denoised, &first, [from, between])?;
            drop(denoised);
            denoised = walk.denoised(&half_way, between)?;
            let second = (walk.noise)(&x)?;
            let [before, after] =
                [from - between, between - to].map(|part| f64::from(part / (from - to)).sqrt());
            let noise = blend(&[(before, &first), (after, &second)])?;
            single_sde(walk.mixing(), &x, &denoised, &noise, [from, to])?
        };
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// The noise level within a step at which [`dpmpp_sde`] calls the model.
pub fn between_sde(mixing: Mixing, from: f32, to: f32) -> f32 {
    mixing.sigma(f64::midpoint(mixing.lambda(from.into()), mixing.lambda(to.into()))) as f32
}

/// A step of the diffusion SDE along one prediction, with this noise.
fn single_sde(
    mixing: Mixing,
    x: &Tensor,
    denoised: &Tensor,
    noise: &Tensor,
    [from, to]: [f32; 2],
) -> Result<Tensor> {
    let h = width(mixing, from, to);
    let [from, to] = [from, to].map(f64::from);
    let gone = -(-2.0 * h).exp_m1();
    blend(&[(to / from * (-h).exp(), x), (mixing.share(to) * gone, denoised), (to * gone.sqrt(), noise)])
}

/// SDE-DPM-Solver++(2M) (Lu et al. 2022, algorithm 2 applied to the diffusion SDE, appendix), midpoint form.
/// As in the paper, the noise of each step is drawn independently.
pub fn dpmpp_2m_sde<E: From<candle_core::Error>>(
    mut walk: Walk<'_, E>,
    mut x: Tensor,
) -> StdResult<Tensor, E> {
    let mut past: Option<Past> = None;
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let mut h = 0.0;
        x = if to == 0.0 {
            denoised.clone()
        } else {
            h = width(walk.mixing(), from, to);
            let share = -walk.mixing().share(to.into()) * (-2.0 * h).exp_m1();
            let scaled = (f64::from(to) / f64::from(from) * (-h).exp(), &x);
            let moved = match &past {
                Some(past) => {
                    let slope = h / (2.0 * past.width);
                    blend(&[scaled, (share * (1.0 + slope), &denoised), (-share * slope, &past.denoised)])?
                }
                None => blend(&[scaled, (share, &denoised)])?,
            };
            walk.renoised(moved, f64::from(to) * (-(-2.0 * h).exp_m1()).sqrt())?
        };
        walk.stepped(index, &x, &denoised, to)?;
        past = Some(Past { denoised, width: h });
    }
    Ok(x)
}

/// SDE-DPM-Solver++(3M): the same with differences of the last three predictions (k-diffusion's
/// `sample_dpmpp_3m_sde`; for the functions φ see Lu et al. 2022, appendix).
pub fn dpmpp_3m_sde<E: From<candle_core::Error>>(
    mut walk: Walk<'_, E>,
    mut x: Tensor,
) -> StdResult<Tensor, E> {
    let (mut last, mut before): (Option<Past>, Option<Past>) = (None, None);
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let mut h = 0.0;
        x = if to == 0.0 {
            denoised.clone()
        } else {
            h = width(walk.mixing(), from, to);
            let twice = 2.0 * h;
            let share = walk.mixing().share(to.into());
            let phi_2 = (-twice).exp_m1() / twice + 1.0;
            let phi_3 = phi_2 / twice - 0.5;
            let mut moved = blend(&[
                (f64::from(to) / f64::from(from) * (-h).exp(), &x),
                (-share * (-twice).exp_m1(), &denoised),
            ])?;
            if let Some(last) = &last {
                let ratio = last.width / h;
                let slope = blend(&[(1.0 / ratio, &denoised), (-1.0 / ratio, &last.denoised)])?;
                moved = match &before {
                    Some(before) => {
                        let older = before.width / h;
                        let earlier =
                            blend(&[(1.0 / older, &last.denoised), (-1.0 / older, &before.denoised)])?;
                        let bend = blend(&[(1.0, &slope), (-1.0, &earlier)])?;
                        let both = ratio + older;
                        let of_bend = phi_2 * ratio / both - phi_3 / both;
                        blend(&[(1.0, &moved), (share * phi_2, &slope), (share * of_bend, &bend)])?
                    }
                    None => blend(&[(1.0, &moved), (share * phi_2, &slope)])?,
                };
            }
            walk.renoised(moved, f64::from(to) * (-(-twice).exp_m1()).sqrt())?
        };
        walk.stepped(index, &x, &denoised, to)?;
        before = last.replace(Past { denoised, width: h });
    }
    Ok(x)
}
