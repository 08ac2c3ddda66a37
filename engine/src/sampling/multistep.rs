//! Linear multistep samplers, which follow a combination of the last predictions. All of them solve the
//! probability flow `dx/dσ = direction`, which is the same for flow matching and for models that predict
//! noise.

use std::{collections::VecDeque, result::Result as StdResult};

use candle_core::Tensor;

use super::{
    mixing::{along, blend},
    walk::Walk,
};

/// Number of predictions used.
const ORDER: usize = 4;

/// The Adams-Bashforth method for uneven steps (k-diffusion's `sample_lms`, order 4).
pub fn lms<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    let mut past = VecDeque::new();
    for (index, from, to) in walk.steps() {
        let direction = walk.direction(&x, from)?;
        let denoised = along(&x, &direction, -from)?;
        remember(&mut past, direction);
        let nodes: Vec<f64> = (0..past.len()).map(|back| walk.sigmas[index - back].into()).collect();
        let weights = adams_bashforth(&nodes, to.into());
        x = follow(&x, &past, &weights)?;
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// IPNDM (Zhang and Chen 2022, arXiv:2204.13902, appendix; Liu et al. 2022, arXiv:2202.09778):
/// Adams-Bashforth weights for even steps, from Euler in the first step up to order 4. A step to level 0 ends
/// at the predicted image.
pub fn ipndm<E: From<candle_core::Error>>(mut walk: Walk<'_, E>, mut x: Tensor) -> StdResult<Tensor, E> {
    const WEIGHTS: [&[f64]; ORDER] = [
        &[1.0],
        &[3.0 / 2.0, -1.0 / 2.0],
        &[23.0 / 12.0, -16.0 / 12.0, 5.0 / 12.0],
        &[55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0],
    ];
    let mut past = VecDeque::new();
    for (index, from, to) in walk.steps() {
        let direction = walk.direction(&x, from)?;
        let denoised = along(&x, &direction, -from)?;
        remember(&mut past, direction);
        x = if to == 0.0 {
            denoised.clone()
        } else {
            let width = f64::from(to) - f64::from(from);
            let weights: Vec<f64> = WEIGHTS[past.len() - 1].iter().map(|weight| weight * width).collect();
            follow(&x, &past, &weights)?
        };
        walk.stepped(index, &x, &denoised, to)?;
    }
    Ok(x)
}

/// The multistep form of the refined exponential solver (Zhang et al. 2023, arXiv:2308.02157, algorithm 1
/// with the second point taken from the previous step), in `−ln σ`. A step to level 0 ends at the predicted
/// image.
pub fn res_multistep<E: From<candle_core::Error>>(
    mut walk: Walk<'_, E>,
    mut x: Tensor,
) -> StdResult<Tensor, E> {
    let mut past: Option<(Tensor, f64)> = None;
    for (index, from, to) in walk.steps() {
        let denoised = walk.denoised(&x, from)?;
        let mut h = 0.0;
        x = if to == 0.0 {
            denoised.clone()
        } else {
            h = (f64::from(from) / f64::from(to)).ln();
            let phi_1 = -(-h).exp_m1() / h;
            let phi_2 = (1.0 - phi_1) / h;
            let scaled = ((-h).exp(), &x);
            match &past {
                Some((earlier, width)) => {
                    let of_earlier = -phi_2 * h / width;
                    blend(&[scaled, (h * (phi_1 - of_earlier), &denoised), (h * of_earlier, earlier)])?
                }
                None => blend(&[scaled, (h * phi_1, &denoised)])?,
            }
        };
        walk.stepped(index, &x, &denoised, to)?;
        past = Some((denoised, h));
    }
    Ok(x)
}

/// Pushes to the front: newest first.
fn remember(past: &mut VecDeque<Tensor>, direction: Tensor) {
    past.push_front(direction);
    past.truncate(ORDER);
}

fn follow(x: &Tensor, past: &VecDeque<Tensor>, weights: &[f64]) -> candle_core::Result<Tensor> {
    let mut terms = vec![(1.0, x)];
    terms.extend(weights.iter().copied().zip(past));
    blend(&terms)
}

/// The integrals from `nodes[0]` to `end` of the Lagrange polynomials of at most four nodes. Two-point Gauss
/// quadrature is exact for them.
fn adams_bashforth(nodes: &[f64], end: f64) -> Vec<f64> {
    let middle = f64::midpoint(nodes[0], end);
    let half = (end - nodes[0]) / 2.0;
    let points = [-1.0, 1.0].map(|side| middle + side * half / 3.0_f64.sqrt());
    let polynomial = |which: usize, at: f64| -> f64 {
        let others = nodes.iter().enumerate().filter(|(other, _)| *other != which);
        others.map(|(_, node)| (at - node) / (nodes[which] - node)).product()
    };
    (0..nodes.len()).map(|which| half * points.iter().map(|&at| polynomial(which, at)).sum::<f64>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_nodes_have_the_weights_of_the_textbook() {
        let weights = adams_bashforth(&[3.0, 2.0, 1.0, 0.0], 4.0);
        for (weight, numerator) in weights.iter().zip([55.0, -59.0, 37.0, -9.0]) {
            assert!((weight - numerator / 24.0).abs() < 1e-12);
        }
    }
}
