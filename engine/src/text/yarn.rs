//! YaRN (Peng et al. 2023, arXiv:2309.00071): rotary embeddings for longer texts than a language model was first trained with.

use std::f64::consts::TAU;

use serde::Deserialize;

/// How rotations are changed, as in `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Yarn {
    /// How many times slower slow rotations become.
    pub factor: f64,
    /// Rotations over the original length from which on they stay as they are.
    pub beta_fast: f64,
    /// Rotations over the original length below which they are slowed down by the whole factor.
    pub beta_slow: f64,
    /// The original length, in tokens.
    pub original_max_position_embeddings: f64,
    /// What multiplies the logarithm of `factor` in what sines and cosines are multiplied by.
    pub mscale: Option<f64>,
    /// The same in what they are divided by.
    pub mscale_all_dim: Option<f64>,
    /// What sines and cosines are multiplied by, if it is not computed.
    pub attention_factor: Option<f64>,
    /// Whether the limits between pairs are whole numbers.
    pub truncate: bool,
}

impl Default for Yarn {
    fn default() -> Self {
        Self {
            factor: 1.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            original_max_position_embeddings: 4096.0,
            mscale: None,
            mscale_all_dim: None,
            attention_factor: None,
            truncate: true,
        }
    }
}

impl Yarn {
    /// That of Ministral 3.
    pub fn ministral3() -> Self {
        Self {
            factor: 16.0,
            original_max_position_embeddings: 16_384.0,
            mscale: Some(1.0),
            mscale_all_dim: Some(1.0),
            ..Self::default()
        }
    }

    /// What sines and cosines are multiplied by.
    pub fn magnitude(&self) -> f32 {
        let of = |scale: f64| if self.factor <= 1.0 { 1.0 } else { 0.1 * scale * self.factor.ln() + 1.0 };
        let computed = match (self.mscale, self.mscale_all_dim) {
            (Some(over), Some(under)) if over != 0.0 && under != 0.0 => of(over) / of(under),
            _ => of(1.0),
        };
        self.attention_factor.unwrap_or(computed) as f32
    }

    /// The frequencies of pairs of values, from the usual ones with this base.
    pub fn slowed(&self, frequencies: &[f32], theta: f64) -> Vec<f32> {
        let width = (2 * frequencies.len()) as f64;
        let limit = |rotations: f64| {
            let length = self.original_max_position_embeddings / (rotations * TAU);
            width * length.ln() / (2.0 * theta.ln())
        };
        let (low, high) = (limit(self.beta_fast), limit(self.beta_slow));
        let (low, high) = if self.truncate { (low.floor(), high.ceil()) } else { (low, high) };
        let (low, high) = (low.max(0.0), high.min(width - 1.0));
        let span = if low == high { 1e-3 } else { high - low };
        let slowed = |(pair, usual): (usize, &f32)| {
            let share = ((pair as f64 - low) / span).clamp(0.0, 1.0) as f32;
            usual / self.factor as f32 * share + usual * (1.0 - share)
        };
        frequencies.iter().enumerate().map(slowed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From transformers' function with Ministral 3's configuration.
    #[test]
    fn frequencies_are_those_of_transformers() {
        let usual: Vec<f32> = (0..64).map(|pair| 1e6_f32.powf(-(2.0 * pair as f32) / 128.0)).collect();
        let slowed = Yarn::ministral3().slowed(&usual, 1e6);
        for (pair, expected) in [
            (0, 1.0),
            (19, 0.016_548_172),
            (20, 0.013_335_215),
            (21, 0.010_153_464),
            (30, 6.907_023e-4),
            (35, 9.042_300_4e-5),
            (36, 4.961_135e-5),
            (37, 2.123_880_2e-5),
            (63, 7.755_861e-8),
        ] {
            assert!((slowed[pair] / expected - 1.0).abs() < 1e-5, "{pair}: {}", slowed[pair]);
        }
        assert_eq!(Yarn::ministral3().magnitude(), 1.0);
        let alone = Yarn { mscale: None, ..Yarn::ministral3() };
        assert!((alone.magnitude() - 1.277_258_9).abs() < 1e-6);
    }
}
