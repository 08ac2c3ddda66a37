//! Compares tensors with those computed by diffusers.

use anyhow::{Result, bail};
use candle_core::{DType, Tensor};

use crate::original_names::Tensors;

/// Tolerance for one module in f32.
pub const MODULE: f64 = 2e-5;
/// Tolerance for an autoencoder in f32.
pub const AUTOENCODER: f64 = 1e-4;
/// Tolerance for a whole run in f32.
pub const WHOLE_RUN: f64 = 1e-4;

/// The largest difference of two tensors, relative to the largest value of the expected one.
///
/// # Errors
/// Fails with name, position and values if the shapes differ, a value is not finite, or the difference
/// exceeds `tolerance`.
pub fn distance(name: &str, expected: &Tensor, actual: &Tensor, tolerance: f64) -> Result<f64> {
    if expected.dims() != actual.dims() {
        bail!("{name} has the shape {:?} where the reference has {:?}", actual.dims(), expected.dims());
    }
    let flat = |tensor: &Tensor| tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1::<f64>();
    let (wanted, found) = (flat(expected)?, flat(actual)?);
    let scale = wanted.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    let mut farthest = (0.0, 0);
    for (index, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        let difference = (wanted - found).abs() / scale;
        if !difference.is_finite() {
            bail!("{name} is {found} at {:?}, the reference {wanted}", place(index, expected.dims()));
        }
        if difference > farthest.0 {
            farthest = (difference, index);
        }
    }
    let (distance, index) = farthest;
    if distance > tolerance {
        bail!(
            "{name} is {} at {:?} where the reference is {}: {distance:.2e} of the largest value {scale:.4}, \
             {tolerance:.0e} is allowed",
            found[index],
            place(index, expected.dims()),
            wanted[index],
        );
    }
    Ok(distance)
}

/// [`distance`] of the tensor `name` in two sets.
pub fn compare(name: &str, expected: &Tensors, actual: &Tensors, tolerance: f64) -> Result<f64> {
    let Some(found) = actual.get(name) else {
        bail!("{name} is missing; there are {}", actual.keys().cloned().collect::<Vec<_>>().join(", "));
    };
    distance(name, &expected[name], found, tolerance)
}

/// The coordinates of element `index`.
fn place(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut coordinates: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&side| {
            let coordinate = index % side;
            index /= side;
            coordinate
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// The ids in a tensor of any integer dtype and shape.
pub fn ids(tensor: &Tensor) -> Result<Vec<i64>> {
    Ok(tensor.to_dtype(DType::I64)?.flatten_all()?.to_vec1()?)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::from_slice(values, (2, values.len() / 2), &Device::Cpu).unwrap()
    }

    #[test]
    fn the_distance_is_relative_to_the_largest_value() {
        let (a, b) = (tensor(&[1.0, -4.0, 0.0, 2.0]), tensor(&[1.0, -4.0, 0.5, 2.0]));
        assert_eq!(distance("a", &a, &b, 0.2).unwrap(), 0.125);
        let message = distance("a", &a, &b, 0.1).unwrap_err().to_string();
        assert!(message.contains("0.5 at [1, 0]"), "{message}");
    }

    #[test]
    fn what_is_not_a_number_is_never_close() {
        let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[1.0, f32::NAN]));
        assert!(distance("a", &a, &b, f64::INFINITY).is_err());
        assert!(distance("a", &b, &a, f64::INFINITY).is_err());
    }

    #[test]
    fn other_shapes_are_never_close() {
        let a = tensor(&[1.0, 2.0]);
        assert!(distance("a", &a, &a.flatten_all().unwrap(), 1.0).is_err());
    }
}
