//! Rectifiers that let a part of negative values through.

use candle_core::{DType, Result, Tensor, bail};
use pulp::Simd;

use super::{
    cpu::by_processor,
    pointwise::{PIECE, Pointwise, pointwise},
};

/// Negative values times `slope`, the others unchanged.
pub fn leaky_relu(x: &Tensor, slope: f32) -> Result<Tensor> {
    if !by_processor(x) {
        let below = (x.minimum(0f32)? * f64::from(slope))?;
        return x.relu()? + below;
    }
    pointwise([x], PIECE, Leaky { plane: x.elem_count().max(1), slopes: &[slope] })
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
    let plane = x.dims()[2..].iter().product::<usize>().max(1);
    let slopes: Vec<f32> = slopes.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
    pointwise([x], plane, Leaky { plane, slopes: &slopes })
}

/// Planes of `plane` values with one slope after the other.
struct Leaky<'a> {
    plane: usize,
    slopes: &'a [f32],
}

impl Pointwise<1> for Leaky<'_> {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, place: usize, [x]: [&[f32]; 1], out: &mut [f32]) {
        let slope = self.slopes[place / self.plane % self.slopes.len()];
        for (out, x) in out.iter_mut().zip(x) {
            *out = if *x > 0.0 { *x } else { *x * slope };
        }
    }
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
