//! Rectifiers that let a part of negative values through.

use candle_core::{DType, Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{by_processor, contiguous, rounded, values, zeros};

/// Values per work item.
const PIECE: usize = 1 << 14;

/// Negative values times `slope`, the others unchanged.
pub fn leaky_relu(x: &Tensor, slope: f32) -> Result<Tensor> {
    if !by_processor(x) {
        let below = (x.minimum(0f32)? * f64::from(slope))?;
        return x.relu()? + below;
    }
    fused(x, x.elem_count().max(1), &[slope])
}

/// The same with a slope for each channel of `x` `[batch, channels, …]`.
pub fn prelu(x: &Tensor, slopes: &Tensor) -> Result<Tensor> {
    let channels = x.dim(1)?;
    if slopes.elem_count() != channels {
        bail!("{channels} channels got slopes of shape {:?}", slopes.dims());
    }
    if !by_processor(x) {
        let mut shape = vec![1; x.rank()];
        shape[1] = channels;
        let below = x.minimum(0f32)?.broadcast_mul(&slopes.reshape(shape)?)?;
        return x.relu()? + below;
    }
    let plane: usize = x.dims()[2..].iter().product();
    fused(x, plane.max(1), &slopes.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
}

/// Planes of this many values, with one slope after the other.
fn fused(x: &Tensor, plane: usize, slopes: &[f32]) -> Result<Tensor> {
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let mut out = zeros(x.elem_count());
    let planes = out.par_chunks_mut(plane).zip(values(&held)?.par_chunks(plane)).enumerate();
    planes.for_each(|(number, (out, x))| {
        let slope = slopes[number % slopes.len()];
        out.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).for_each(|(out, x)| {
            for (out, x) in out.iter_mut().zip(x) {
                *out = if *x > 0.0 { *x } else { *x * slope };
            }
        });
    });
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn negative_values_are_scaled_by_channel() {
        let x = (random(&[2, 3, 41, 333], 1) - 0.5).unwrap();
        let slopes = Tensor::new(&[0.25f32, -0.5, 0.0], &Device::Cpu).unwrap();
        let below = x.minimum(0f32).unwrap();
        let spread = slopes.reshape((1, 3, 1, 1)).unwrap();
        let want = (x.relu().unwrap() + below.broadcast_mul(&spread).unwrap()).unwrap();
        assert_close(&prelu(&x, &slopes).unwrap(), &want, 1e-7);
        let want = (x.relu().unwrap() + (below * 0.2).unwrap()).unwrap();
        assert_close(&leaky_relu(&x, 0.2).unwrap(), &want, 1e-7);
        assert!(prelu(&x, &Tensor::new(&[1f32], &Device::Cpu).unwrap()).is_err());
        assert_independent_of_threads(|| prelu(&x, &slopes).unwrap());
    }
}
