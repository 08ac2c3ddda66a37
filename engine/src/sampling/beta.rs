//! Quantiles of symmetric beta distributions.

/// The quantile at `probability` of the beta distribution with both parameters equal to `shape`.
pub(super) fn inverse_beta(probability: f64, shape: f64) -> f64 {
    if probability <= 0.0 || probability >= 1.0 {
        return probability.clamp(0.0, 1.0);
    }
    if probability > 0.5 {
        return 1.0 - inverse_beta(1.0 - probability, shape);
    }
    // Solved in ln x, because quantiles near 0 are tiny.
    let complete = incomplete(0.5, shape) * 2.0;
    let (mut low, mut high) = (-700.0_f64, 0.5_f64.ln());
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if incomplete(middle.exp(), shape) < probability * complete { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// The incomplete beta function `∫₀ˣ (t (1 − t))^(shape − 1) dt` for `x ≤ ½`, by its power series
/// (Abramowitz and Stegun, 6.6.8 and 15.1.1).
fn incomplete(x: f64, shape: f64) -> f64 {
    let mut factor = 1.0;
    let mut sum = 0.0;
    for term in 0..60 {
        let term = f64::from(term);
        sum += factor / (shape + term);
        factor *= (term + 1.0 - shape) / (term + 1.0) * x;
    }
    x.powf(shape) * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arc_sine_law_has_its_quantiles() {
        for probability in [0.001, 0.1, 0.5, 0.7, 0.9999] {
            let exact = (std::f64::consts::FRAC_PI_2 * probability).sin().powi(2);
            assert!((inverse_beta(probability, 0.5) - exact).abs() < 1e-12, "{probability}");
        }
        assert_eq!((inverse_beta(0.0, 0.6), inverse_beta(1.0, 0.6)), (0.0, 1.0));
    }
}
