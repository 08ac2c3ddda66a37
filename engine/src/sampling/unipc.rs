//! The predictor-corrector UniPC.

use std::result::Result as StdResult;

use candle_core::Tensor;

use super::{mixing::blend, walk::Walk};

/// UniPC-2 with `B(h) = eʰ − 1` (Zhao et al. 2023, arXiv:2302.04867, algorithms 1 and 2, predicting the
/// image). Each prediction first corrects the step that led to it, at no extra call. The first and the last
/// step are of order 1.
pub fn unipc<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    let lambdas: Vec<f64> = walk.sigmas.iter().map(|&sigma| walk.mixing().lambda(sigma.into())).collect();
    let steps = walk.sigmas.len().saturating_sub(1);
    // Predictions so far, newest last, and the latents at the start of the last step.
    let mut past: Vec<Tensor> = Vec::new();
    let mut start = x.clone();
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        if let Some(earlier) = past.last() {
            let step = Width::new(&walk, &lambdas, index - 1);
            let h = -step.h;
            let first = (step.factor / h - 1.0) / step.factor;
            let second = 2.0 * ((step.factor / h - 1.0) / h - 0.5) / step.factor;
            let (older, weights) = match past.len() {
                2 => {
                    let ratio = (lambdas[index - 2] - lambdas[index - 1]) / step.h;
                    let of_older = (second - first) / (ratio - 1.0);
                    (of_older / ratio, [of_older, first - of_older])
                }
                _ => (0.0, [0.0, 0.5]),
            };
            let oldest = past.first().unwrap_or(earlier);
            x = blend(&[
                (step.scale, &start),
                (-step.share * step.factor * (1.0 - older - weights[1]), earlier),
                (-step.share * step.factor * older, oldest),
                (-step.share * step.factor * weights[1], &denoised),
            ])?;
        }
        start = x;
        past.push(denoised.clone());
        if past.len() > 2 {
            past.remove(0);
        }
        x = if to == 0.0 {
            denoised.clone()
        } else {
            let step = Width::new(&walk, &lambdas, index);
            let share = -step.share * step.factor;
            // The last of all steps is of order 1 even if it does not end at level 0.
            let slope = if past.len() == 2 && index + 1 < steps {
                step.h / (2.0 * (lambdas[index - 1] - lambdas[index]))
            } else {
                0.0
            };
            blend(&[(step.scale, &start), (share * (1.0 - slope), &denoised), (share * slope, &past[0])])?
        };
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// The coefficients of a step.
struct Width {
    /// Width in `λ`.
    h: f64,
    /// `e⁻ʰ − 1`.
    factor: f64,
    /// Factor of the latents.
    scale: f64,
    /// The image's share at the end.
    share: f64,
}

impl Width {
    fn new<E>(walk: &Walk<'_, E>, lambdas: &[f64], index: usize) -> Self {
        let [from, to] = [walk.sigmas[index], walk.sigmas[index + 1]].map(f64::from);
        let h = lambdas[index + 1] - lambdas[index];
        Self { h, factor: (-h).exp_m1(), scale: to / from, share: walk.mixing().share(to) }
    }
}
