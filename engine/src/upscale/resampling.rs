//! DySample (Liu et al. 2023, arXiv:2308.15085): new pixels are looked up at places that the network chooses.

use super::{open::COLOURS, pixels::shuffle};
use crate::{
    checkpoint::BlockSpec,
    nn::{Conv2d, DType, Result, Tensor, sigmoid_mul, warp},
    residency::Weights,
};

/// How far a place may be from where it is at first, at most, as a part of the values that say so.
const FARTHEST: f64 = 0.5;

/// Groups of channels, each with places of its own.
fn groups(factor: usize) -> usize {
    if factor.is_multiple_of(2) { 4 } else { COLOURS }
}

/// The tensors, at `name`.
pub(super) fn described(spec: BlockSpec, name: &str, factor: usize) -> BlockSpec {
    let (inputs, places) = (COLOURS * factor * factor, 2 * groups(factor) * factor * factor);
    let spec = spec
        .conv(&format!("{name}.offset"), places, inputs, 1)
        .tensor(format!("{name}.scope.weight"), &[places, inputs, 1, 1]);
    if factor > 1 { spec.conv(&format!("{name}.end_conv"), COLOURS, inputs, 1) } else { spec }
}

/// The image `[1, 3, factor · height, factor · width]` of values `[1, 3 · factor², height, width]`.
pub(super) fn resampled(w: &Weights<'_>, name: &str, x: &Tensor, factor: usize) -> Result<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    let (groups, pixels) = (groups(factor), factor * factor);
    let raw = w.conv2d(&format!("{name}.offset"), x, Conv2d::POINTWISE)?;
    let scope = w.conv2d(&format!("{name}.scope"), x, Conv2d::POINTWISE)?;
    let chosen = sigmoid_mul(&scope, &raw)?.affine(FARTHEST, 0.0)?.to_dtype(DType::F32)?;
    drop((raw, scope));
    // Two values for each group and new pixel: across, then down.
    let chosen = chosen.reshape((2, groups, pixels, height, width))?;
    let own = channels / groups;
    let mut made = Vec::new();
    for group in 0..groups {
        let seen = x.narrow(1, group * own, own)?.contiguous()?;
        for pixel in 0..pixels {
            let start = |place: usize| (place as f32 + (1.0 - factor as f32) / 2.0) / factor as f32;
            let start =
                Tensor::from_vec(vec![start(pixel % factor), start(pixel / factor)], (2, 1, 1), &x.device())?;
            let flow = chosen.narrow(1, group, 1)?.narrow(2, pixel, 1)?.contiguous()?;
            let flow = flow.reshape((2, height, width))?.broadcast_add(&start)?;
            made.push(warp(&seen, &flow.unsqueeze(0)?)?);
        }
    }
    drop(chosen);
    // From groups of pixels of channels to channels of pixels.
    let made = Tensor::cat(&made, 1)?.reshape((1, groups, pixels, own, height * width))?;
    let made = made.permute([0, 1, 3, 2, 4])?.contiguous()?;
    let image = shuffle(&made.reshape((1, channels * pixels, height, width))?, factor)?;
    if factor > 1 { w.conv2d(&format!("{name}.end_conv"), &image, Conv2d::POINTWISE) } else { Ok(image) }
}
