//! Latents in a larger size.

use candle_core::{Result, Tensor};

/// Latents `[…, height, width]`, contiguous, in another height and width: bilinear as PyTorch's `interpolate` with a size and
/// without `align_corners`, which is what A1111's web UI calls “Latent”.
pub fn enlarged(latents: &Tensor, [height, width]: [usize; 2]) -> Result<Tensor> {
    let dims = latents.dims().to_vec();
    let (outer, own) = dims.split_at(dims.len().saturating_sub(2));
    if own == [height, width] {
        return Ok(latents.clone());
    }
    let planes = latents.reshape((1, (), own[0], own[1]))?;
    planes.upsample_bilinear2d(height, width, false)?.reshape([outer, &[height, width]].concat())
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn of(values: &[f32], dims: &[usize], size: [usize; 2]) -> Vec<f32> {
        let latents = Tensor::from_slice(values, dims, &Device::Cpu).unwrap();
        let enlarged = enlarged(&latents, size).unwrap();
        assert_eq!(enlarged.dims()[dims.len() - 2..], size);
        enlarged.flatten_all().unwrap().to_vec1().unwrap()
    }

    /// The values are PyTorch's.
    #[test]
    fn latents_are_enlarged_as_by_pytorch() {
        let values = [0.3, -1.25, 2.0, 0.7, 0.1, -0.4, 1.5, -2.2, 0.9, 0.0, -0.6, 1.1];
        let want = [
            0.3, -0.32, -1.25, 0.7, 2.0, 0.5, 0.07, -0.575, 0.25, 0.8, 0.7, 0.46, 0.1, -0.2, -0.4, 1.5, 0.02,
            -2.2, -0.34, 0.9, 0.75, -0.11, -1.4, 0.04, 1.0, 0.0, -0.24, -0.6, 0.42, 1.1,
        ];
        for (got, want) in of(&values, &[1, 2, 2, 3], [3, 5]).iter().zip(&want) {
            assert!((got - want).abs() < 1e-6, "{got} is not {want}");
        }
        assert_eq!(of(&values, &[2, 2, 3], [2, 3]), values);
    }
}
