//! Transposed convolutions as plain ones.

use super::{Conv2d, Result, Tensor, conv2d};

/// For each pixel of a square along an axis, the places of the kernel of 4 that the three places of a kernel of 3 have.
const PLACES: [[Option<usize>; 3]; 2] = [[Some(3), Some(1), None], [None, Some(2), Some(0)]];

/// A transposed convolution with a kernel of 4 by 4, stride 2 and padding 1 as four convolutions with kernels of 3 by 3, one
/// for each pixel of a square, row by row. Each has zeros where the kernel does not reach. `kernel` is `[in, out, 4, 4]` and
/// `bias` `[out]`; the results are `[4 · out, in, 3, 3]` and `[4 · out]`.
pub fn doubling_kernels(kernel: &Tensor, bias: &Tensor) -> Result<(Tensor, Tensor)> {
    let kernel = kernel.transpose(0, 1)?;
    let taps = |x: &Tensor, dim: usize, taps: [Option<usize>; 3]| -> Result<Tensor> {
        let zeros = x.narrow(dim, 0, 1)?.contiguous()?.zeros_like()?;
        let tap = |tap: Option<usize>| match tap {
            Some(tap) => x.narrow(dim, tap, 1)?.contiguous(),
            None => Ok(zeros.clone()),
        };
        Tensor::cat(&taps.map(tap).into_iter().collect::<Result<Vec<_>>>()?, dim)?.contiguous()
    };
    let mut kernels = Vec::new();
    for rows in PLACES {
        for columns in PLACES {
            kernels.push(taps(&taps(&kernel, 2, rows)?, 3, columns)?);
        }
    }
    Ok((Tensor::cat(&kernels, 0)?, Tensor::cat(&[bias, bias, bias, bias], 0)?))
}

/// The transposed convolution of `x` `[batch, in, height, width]`: `[batch, out, 2 · height, 2 · width]`.
pub fn doubled(x: &Tensor, kernel: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let (batch, _, height, width) = x.dims4()?;
    let outputs = bias.dim(0)?;
    let (kernels, bias) = doubling_kernels(kernel, bias)?;
    let pixels = conv2d(x, &kernels, Some(&bias), Conv2d::SAME_3X3)?;
    let pixels = pixels.reshape(vec![batch, 2, 2, outputs, height, width])?.permute([0, 3, 4, 1, 5, 2])?;
    pixels.reshape((batch, outputs, 2 * height, 2 * width))
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor as Values};

    use super::*;

    #[test]
    fn it_is_the_transposed_convolution() {
        let values = |shape: &[usize], seed: f32| -> Values {
            let count = shape.iter().product::<usize>();
            let value = |index: usize| ((index as f32 + seed) * 1.7).sin();
            Values::from_vec((0..count).map(value).collect::<Vec<_>>(), shape, &Device::Cpu).unwrap()
        };
        let (x, kernel, bias) = (values(&[2, 3, 4, 5], 0.0), values(&[3, 6, 4, 4], 9.0), values(&[6], 5.0));
        let want = x.conv_transpose2d(&kernel, 1, 0, 2, 1).unwrap();
        let want = want.broadcast_add(&bias.reshape((1, 6, 1, 1)).unwrap()).unwrap();
        let found = doubled(&x.into(), &kernel.into(), &bias.into()).unwrap().into_computed().unwrap();
        assert_eq!(found.dims(), [2, 6, 8, 10]);
        let far = (found - want).unwrap().abs().unwrap().flatten_all().unwrap().max(0).unwrap();
        assert!(far.to_scalar::<f32>().unwrap() < 1e-5);
    }
}
