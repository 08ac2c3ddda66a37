//! Sinusoidal embeddings (Vaswani et al. 2017, arXiv:1706.03762, section 3.5).

use super::{Device, Result, Tensor};

/// The form of a sinusoidal embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waves {
    /// Number of values.
    pub width: usize,
    /// Spacing of the frequencies: number `i` is `10000^(−i / spaced)`.
    pub spaced: f64,
    /// Whether cosines come before sines.
    pub cosines_first: bool,
}

/// Sinusoidal embeddings of numbers, f32 `[numbers, width]`.
pub fn waves(numbers: &[f32], waves: Waves, device: &Device) -> Result<Tensor> {
    let half = waves.width / 2;
    let angle =
        |number: f32, index: usize| number * (-10_000_f32.ln() * index as f32 / waves.spaced as f32).exp();
    let row = |number: f32| {
        let cosines = (0..half).map(move |index| angle(number, index).cos());
        let sines = (0..half).map(move |index| angle(number, index).sin());
        let mut row: Vec<f32> =
            if waves.cosines_first { cosines.chain(sines).collect() } else { sines.chain(cosines).collect() };
        row.resize(waves.width, 0.0);
        row
    };
    let values: Vec<f32> = numbers.iter().flat_map(|&number| row(number)).collect();
    Tensor::from_vec(values, (numbers.len(), waves.width), device)
}
