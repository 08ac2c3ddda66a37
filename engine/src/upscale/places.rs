//! Values by place, `[1, height, width, channels]`, and by channel.

use crate::nn::{Computes, DType, Result, Tensor, Untraced, computed, turned, untraced};

/// `x` `[1, height, width, channels]` as `[1, channels, height, width]`.
pub(super) fn channels_first(x: &Tensor) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    turned(&x.reshape((height * width, channels))?)?.reshape((1, channels, height, width))
}

/// `x` `[1, channels, height, width]` as `[1, height, width, channels]`.
pub(super) fn channels_last(x: &Tensor) -> Result<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    turned(&x.reshape((channels, height * width))?)?.reshape((1, height, width, channels))
}

/// The mean of each channel of `x` `[1, height, width, channels]` over all places, `[1, 1, 1, channels]`. Sums are in f32: those
/// of 16 bits stop growing.
pub(super) fn mean(x: &Tensor) -> Result<Tensor> {
    let (_, _, _, channels) = x.dims4()?;
    let wide = x.to_dtype(DType::F32)?;
    let takes =
        |computes: Computes| Untraced { values: channels, operations: computes.moving(x.elem_count()) };
    let means = untraced([&wide], &[1, 1, 1, channels], takes, |[x]| computed::means(x))?;
    means.to_dtype(x.dtype())
}
