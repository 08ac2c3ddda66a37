//! Two-dimensional convolution.

use candle_core::{DType, Result, Tensor};

/// How a convolution walks over its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv2d {
    /// Step in both directions, 1 or 2.
    pub stride: usize,
    /// Zeros before the first and after the last pixel, in both directions.
    pub padding: [usize; 2],
}

impl Conv2d {
    /// 3×3 with one row and column of zeros around: the size stays.
    pub const SAME_3X3: Self = Self { stride: 1, padding: [1, 1] };
    /// 1×1: a linear layer over the channels.
    pub const POINTWISE: Self = Self { stride: 1, padding: [0, 0] };
    /// 3×3 that halves the size and looks one pixel past the end, as autoencoders do.
    pub const DOWNSAMPLE_3X3: Self = Self { stride: 2, padding: [0, 1] };
}

/// Convolves `x` `[batch, in, height, width]` with `weight` `[out, in, rows, columns]` and adds `bias`
/// `[out]`.
pub fn conv2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let (wide, narrow) = (x.to_dtype(DType::F32)?, x.dtype());
    let [before, after] = conv.padding;
    let padded = wide.pad_with_zeros(2, before, after)?.pad_with_zeros(3, before, after)?;
    let product = padded.conv2d(&weight.to_dtype(DType::F32)?, 0, conv.stride, 1, 1)?;
    match bias {
        Some(bias) => {
            product.broadcast_add(&bias.to_dtype(DType::F32)?.reshape((1, bias.elem_count(), 1, 1))?)?
        }
        None => product,
    }
    .to_dtype(narrow)
}

/// Doubles height and width of `x` `[batch, channels, height, width]`, each pixel repeated.
pub fn upsample_nearest_2x(x: &Tensor) -> Result<Tensor> {
    let (_, _, height, width) = x.dims4()?;
    x.upsample_nearest2d(height * 2, width * 2)
}
