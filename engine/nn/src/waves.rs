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
///
/// Exponents, frequencies and angles are rounded to f32, as in diffusers. The last bit of a frequency counts: at an angle of
/// 10,000 it moves the wave by 0.001. The exponential is therefore computed in f64 and rounded once, so that frequencies do not
/// depend on the system's f32 exponential, whose last bit may be wrong.
pub fn waves(numbers: &[f32], waves: Waves, device: &Device) -> Result<Tensor> {
    let half = waves.width / 2;
    let frequency = |index: usize| {
        let exponent = -10_000_f32.ln() * index as f32 / waves.spaced as f32;
        f64::from(exponent).exp() as f32
    };
    let frequencies: Vec<f32> = (0..half).map(frequency).collect();
    let angle = |number: f32, index: usize| number * frequencies[index];
    let row = |number: f32| {
        let cosines = (0..half).map(|index| angle(number, index).cos());
        let sines = (0..half).map(|index| angle(number, index).sin());
        let mut row: Vec<f32> =
            if waves.cosines_first { cosines.chain(sines).collect() } else { sines.chain(cosines).collect() };
        row.resize(waves.width, 0.0);
        row
    };
    let values: Vec<f32> = numbers.iter().flat_map(|&number| row(number)).collect();
    Tensor::from_vec(values, (numbers.len(), waves.width), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two frequencies of 128 where an exponential that is wrong by 0.52 units in the last place, such as that of PyTorch,
    /// rounds to the other side.
    #[test]
    fn frequencies_are_rounded_correctly() {
        let form = Waves { width: 256, spaced: 128.0, cosines_first: true };
        let row = waves(&[30_000.0, 1.0], form, &Device::processor()).unwrap();
        let values: Vec<Vec<f32>> = row.computed().unwrap().to_vec2().unwrap();
        for (index, bits) in [(12, 1_054_337_178), (106, 973_033_388)] {
            let frequency = f32::from_bits(bits);
            for (number, values) in [30_000.0, 1.0].iter().zip(&values) {
                let angle = f64::from(number * frequency);
                let wave = [values[index], values[128 + index]];
                let near = |own: f32, exact: f64| (f64::from(own) - exact).abs() < 1e-7;
                assert!(near(wave[0], angle.cos()) && near(wave[1], angle.sin()), "{index} of {number}");
            }
        }
        let other = 30_000.0 * f64::from(f32::from_bits(1_054_337_179));
        assert!((f64::from(values[0][12]) - other.cos()).abs() > 2e-4);
    }
}
