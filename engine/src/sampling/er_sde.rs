//! The solver for extended reverse-time SDEs.

use std::result::Result as StdResult;

use candle_core::Tensor;

use super::{mixing::blend, walk::Walk};

/// Number of points in the sums that approximate the integrals.
const POINTS: u32 = 200;

/// The noise scale function that the paper recommends: `x · (e^(x^0.3) + 10)`.
fn scaler(x: f64) -> f64 {
    x * (x.powf(0.3).exp() + 10.0)
}

/// ER-SDE-Solver-3 (Cui et al. 2023, arXiv:2309.06169, algorithm 3; the first two steps are algorithms 1 and
/// 2). It steps in `l = σ / α`. A step to level 0 ends at the predicted image.
pub fn er_sde<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    let mixing = walk.mixing();
    let level = |sigma: f32| (-mixing.lambda(sigma.into())).exp();
    let levels: Vec<f64> = walk.sigmas.iter().map(|&sigma| level(sigma)).collect();
    let mut last: Option<Tensor> = None;
    let mut last_slope: Option<Tensor> = None;
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        if to == 0.0 {
            x = denoised.clone();
            walk.stepped(index, &x, &denoised, to)?;
            continue;
        }
        let (start, end) = (levels[index], levels[index + 1]);
        let [share_before, share] = [f64::from(from) / start, f64::from(to) / end];
        let kept = scaler(end) / scaler(start);
        let mut moved = blend(&[(share / share_before * kept, &x), (share * (1.0 - kept), &denoised)])?;
        if let Some(last) = &last {
            let width = end - start;
            let grain = -width / f64::from(POINTS);
            let places = || (0..POINTS).map(|point| end + f64::from(point) * grain);
            let sum: f64 = places().map(|place| grain / scaler(place)).sum();
            let run = start - levels[index - 1];
            let slope = blend(&[(1.0 / run, &denoised), (-1.0 / run, last)])?;
            moved = blend(&[(1.0, &moved), (share * (width + sum * scaler(end)), &slope)])?;
            if let Some(last_slope) = &last_slope {
                let sum: f64 = places().map(|place| (place - start) * grain / scaler(place)).sum();
                let run = (start - levels[index - 2]) / 2.0;
                let bend = blend(&[(1.0 / run, &slope), (-1.0 / run, last_slope)])?;
                let factor = share * (width.powi(2) / 2.0 + sum * scaler(end));
                moved = blend(&[(1.0, &moved), (factor, &bend)])?;
            }
            last_slope = Some(slope);
        }
        let variance = end.powi(2) - (start * kept).powi(2);
        x = walk.renoised(moved, share * variance.max(0.0).sqrt())?;
        walk.stepped(index, &x, &denoised, to)?;
        last = Some(denoised);
    }
    Ok(x)
}
