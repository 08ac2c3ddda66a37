//! SPAN, the Swift Parameter-free Attention Network (Wan et al. 2023, arXiv:2311.12770): six blocks whose results weigh
//! themselves.

use std::path::Path;

use super::{
    Upscaler, conv3xc,
    open::{Found, colours, refused},
    pixels::{MEAN, shuffle},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Result as TensorResult, Tensor, add, sigmoid_mul, silu},
    residency::{Blocks, RunError, Weights},
};

/// Blocks.
const BLOCKS: usize = 6;
/// The range of the values of the pictures that it was trained with.
const RANGE: f64 = 255.0;
/// A tensor that is there where colours are left as they are.
const PLAIN: &str = "no_norm";

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Channels.
    width: usize,
    factor: usize,
    /// Whether it gets colours as differences from the mean ones.
    is_normed: bool,
    /// Whether only the convolutions that are made of others are kept.
    is_whole: bool,
}

impl Span {
    pub(super) const ARCHITECTURE: &str = "SPAN";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        let has = |name: &str| tensors.contains_key(name);
        let has_blocks = has("block_1.c1_r.sk.weight") || has("block_1.c1_r.eval_conv.weight");
        has_blocks && has("conv_cat.weight") && has("upsampler.0.weight")
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let is_whole = !tensors.contains_key("conv_1.sk.weight");
        let first = if is_whole { "conv_1.eval_conv.weight" } else { "conv_1.sk.weight" };
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let (&[width, inputs, ..], &[outputs, ..]) = (shape(first), shape("upsampler.0.weight")) else {
            return Err(refused(path, "its first or its last convolution is missing"));
        };
        let factor = colours(path, inputs, outputs)?;
        let network = Self { width, factor, is_normed: !tensors.contains_key(PLAIN), is_whole };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(self) -> Vec<BlockSpec> {
        let Self { width, factor, is_whole, .. } = self;
        let first = conv3xc::described(BlockSpec::stem("conv_1"), "conv_1", width, 3, is_whole);
        let mut specs = vec![first];
        for number in 1..=BLOCKS {
            let spec = BlockSpec::new(format!("block_{number}"));
            let convolutions = ["c1_r", "c2_r", "c3_r"].into_iter();
            specs.push(
                convolutions.fold(spec, |spec, name| conv3xc::described(spec, name, width, width, is_whole)),
            );
        }
        let last = conv3xc::described(BlockSpec::stem("upsampler"), "conv_2", width, width, is_whole);
        let last = last.conv("conv_cat", width, 4 * width, 1);
        specs.push(last.conv("upsampler.0", 3 * factor * factor, width, 3));
        specs
    }
}

/// A block: its result, and that of its first convolution, activated.
fn block(w: &Weights<'_>, x: &Tensor) -> TensorResult<(Tensor, Tensor)> {
    let first = silu(&conv3xc::apply(w, "c1_r", x)?)?;
    let second = silu(&conv3xc::apply(w, "c2_r", &first)?)?;
    let third = conv3xc::apply(w, "c3_r", &second)?;
    drop(second);
    let sum = add(&third, x)?;
    // The sum times a sigmoid that is 0 for 0.
    let weighed = sigmoid_mul(&third, &sum)?;
    Ok((add(&weighed, &sum.affine(-0.5, 0.0)?)?, first))
}

impl Upscaler for Span {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn reach(&self) -> usize {
        3 + 3 * BLOCKS
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let mut x = image.clone();
        if self.is_normed {
            let mean = Tensor::from_vec(MEAN.map(|mean| -mean).to_vec(), (1, 3, 1, 1), &image.device())?;
            x = x.broadcast_add(&mean.to_dtype(x.dtype())?)?.affine(RANGE, 0.0)?;
        }
        // The results of the first convolution, of the first block, and of the first one in the last block.
        let mut kept: Vec<Tensor> = Vec::new();
        blocks.walk(0..BLOCKS + 2, |number, w| {
            x = match number {
                0 => conv3xc::apply(w, "conv_1", &x)?,
                number if number <= BLOCKS => {
                    let (result, first) = block(w, &x)?;
                    if number == BLOCKS {
                        kept.push(first);
                    }
                    result
                }
                _ => {
                    let [features, early, late] = &kept[..] else { return Ok(()) };
                    let whole = conv3xc::apply(w, "conv_2", &x)?;
                    let all = Tensor::cat(&[features, &whole, early, late], 1)?;
                    let joined = w.conv2d("conv_cat", &all, Conv2d::POINTWISE)?;
                    w.conv2d("upsampler.0", &joined, Conv2d::SAME_3X3_IN_TILES)?
                }
            };
            if number < 2 {
                kept.push(x.clone());
            }
            Ok(())
        })?;
        drop(kept);
        Ok(shuffle(&x, self.factor)?)
    }
}
