//! Noise between two noises.

use candle_core::{Tensor, bail};

/// Two noises that point almost the same way are mixed in a straight line.
const PARALLEL: f64 = 0.9995;

/// Noise of unit variance on the way from one noise to another, `[batch, …, height, width]`: spherical interpolation, as in
/// A1111's web UI. Like there, the angle is that of each column of the latents.
pub fn slerp(strength: f32, from: &Tensor, to: &Tensor) -> candle_core::Result<Tensor> {
    let dims = from.dims();
    let (&[.., height, width], Some(&batch)) = (dims, dims.first()) else {
        bail!("noise without rows and columns")
    };
    let [one, other] = [from, to].map(|noise| noise.flatten_all()?.to_vec1::<f32>());
    let (one, other) = (one?, other?);
    let each = one.len() / batch.max(1);
    let mut mixed = Vec::with_capacity(one.len());
    for (one, other) in one.chunks(each.max(1)).zip(other.chunks(each.max(1))) {
        mixed.extend(image(f64::from(strength), one, other, [height, width]));
    }
    Tensor::from_vec(mixed, dims, from.device())
}

fn image(strength: f64, one: &[f32], other: &[f32], [height, width]: [usize; 2]) -> Vec<f32> {
    let plane = height * width;
    // For each column of each channel, the cosine of the angle.
    let cosines = one.chunks(plane).zip(other.chunks(plane)).flat_map(|(one, other)| {
        (0..width).map(|column| {
            let along = |noise: &[f32]| -> Vec<f64> {
                noise.iter().skip(column).step_by(width).map(|value| f64::from(*value)).collect()
            };
            let (one, other) = (along(one), along(other));
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt().max(f64::MIN_POSITIVE)
        })
    });
    let cosines: Vec<f64> = cosines.collect();
    let mean = cosines.iter().sum::<f64>() / cosines.len().max(1) as f64;
    let shares = |place: usize| {
        let angle = cosines[place / plane * width + place % width].clamp(-1.0, 1.0).acos();
        let sine = angle.sin();
        match mean > PARALLEL || sine < 1e-6 {
            true => [1.0 - strength, strength],
            false => [((1.0 - strength) * angle).sin() / sine, (strength * angle).sin() / sine],
        }
    };
    let values = one.iter().zip(other).enumerate().map(|(place, (one, other))| {
        let [kept, added] = shares(place);
        (kept * f64::from(*one) + added * f64::from(*other)) as f32
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;
    use crate::sampling::randn;

    fn noise(seed: u64) -> Tensor {
        let values = randn(seed, 2 * 4 * 16 * 16);
        Tensor::from_vec(values, (2, 4, 16, 16), &Device::Cpu).unwrap()
    }

    fn values(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn the_ends_are_the_noises_themselves_and_the_middle_has_unit_variance() {
        let (one, other) = (noise(1), noise(2));
        assert_eq!(values(&slerp(0.0, &one, &other).unwrap()), values(&one));
        assert_eq!(values(&slerp(1.0, &one, &other).unwrap()), values(&other));
        let middle = values(&slerp(0.5, &one, &other).unwrap());
        let variance = middle.iter().map(|value| value * value).sum::<f32>() / middle.len() as f32;
        assert!((0.9..1.1).contains(&variance), "{variance}, and a straight line has 0.5");
        assert_eq!(values(&slerp(0.3, &one, &one).unwrap()), values(&one));
    }

    #[test]
    fn it_is_that_of_the_web_ui() {
        // slerp(0.25, [[[1, 0], [2, 1]]], [[[2, 1], [0, 2]]]) of modules/rng.py.
        let tensor = |values: [f32; 4]| Tensor::from_slice(&values, (1, 1, 2, 2), &Device::Cpu).unwrap();
        let mixed = slerp(0.25, &tensor([1.0, 0.0, 2.0, 1.0]), &tensor([2.0, 1.0, 0.0, 2.0])).unwrap();
        let expected: [f32; 4] = [1.436_347_6, 0.258_606_88, 1.650_61, 1.279_198_4];
        for (value, expected) in values(&mixed).into_iter().zip(expected) {
            assert!((value - expected).abs() < 1e-6, "{value} {expected}");
        }
    }

    #[test]
    fn one_row_of_latents_is_mixed_in_a_straight_line() {
        let tensor = |values: [f32; 2]| Tensor::from_slice(&values, (1, 1, 1, 2), &Device::Cpu).unwrap();
        let mixed = slerp(0.25, &tensor([1.0, -1.0]), &tensor([2.0, 3.0])).unwrap();
        assert_eq!(values(&mixed), [1.25, 0.0]);
    }
}
