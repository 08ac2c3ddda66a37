//! What DAT, SwinIR and HAT have around their blocks: convolutions before the first and after the last one, and one or three
//! after each group of blocks. A shortcut leads around each group, and one around all of them.

use std::path::Path;

use super::{
    open::{COLOURS, refused},
    pixels::{MEAN, unshuffle},
    places::{channels_first, channels_last},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Error, Result as TensorResult, Tensor, add, leaky_relu},
    residency::{Blocks, RunError, Weights},
};

/// Added to the variance in layer norms.
pub(super) const EPS: f64 = 1e-5;
/// The slope below zero of the activations between the convolutions after a group.
const SLOPE: f32 = 0.2;

/// The first convolution.
pub(super) const FIRST: &str = "conv_first";
/// The first convolution of networks that may get squares of pixels as channels.
pub(super) const FIRST_OF_SQUARES: &str = "conv_first.1";

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shell {
    /// Channels.
    pub width: usize,
    /// The name of the first convolution.
    first: &'static str,
    /// Side of the squares of pixels that it gets as channels.
    pub square: usize,
    /// The name of the norm before the first group, if there is one.
    pub norm: Option<&'static str>,
    /// Whether three convolutions are after each group.
    pub after_three: bool,
    /// The range of the values of the pictures that it was trained with.
    pub range: u32,
}

impl Shell {
    /// The shape for pictures in 0…1, from the shapes of tensors.
    pub fn found(
        path: &Path,
        tensors: &TensorTable,
        [first, norm]: [&'static str; 2],
    ) -> Result<Self, CheckpointError> {
        let kernel = tensors.get(&format!("{first}.weight")).map_or(&[][..], |tensor| tensor.shape());
        let &[width, inputs, ..] = kernel else {
            return Err(refused(path, "its first convolution is missing"));
        };
        let square = (inputs / COLOURS).isqrt();
        let fits = square > 0 && COLOURS * square * square == inputs;
        if !fits || square > 1 && first != FIRST_OF_SQUARES {
            return Err(refused(path, format!("it reads {inputs} channels, and images have {COLOURS}")));
        }
        Ok(Self {
            width,
            first,
            square,
            norm: tensors.contains_key(&format!("{norm}.weight")).then_some(norm),
            after_three: !tensors.contains_key("conv_after_body.weight"),
            range: 1,
        })
    }

    /// The tensors: those of the blocks of each group, and what `ending` adds to the last ones.
    pub fn described(
        &self,
        groups: impl IntoIterator<Item = Vec<BlockSpec>>,
        ending: impl FnOnce(BlockSpec) -> BlockSpec,
    ) -> Vec<BlockSpec> {
        let Self { width, square, .. } = *self;
        let first = BlockSpec::stem(FIRST).conv(self.first, width, COLOURS * square * square, 3);
        let mut specs = vec![match self.norm {
            Some(norm) => first.norm(norm, width),
            None => first,
        }];
        for (number, blocks) in groups.into_iter().enumerate() {
            specs.extend(blocks);
            specs.push(self.convolutions(BlockSpec::new(format!("layers.{number}")), "conv"));
        }
        let last = BlockSpec::stem("conv_last").norm("norm", width);
        specs.push(ending(self.convolutions(last, "conv_after_body")));
        specs
    }

    fn convolutions(&self, spec: BlockSpec, name: &str) -> BlockSpec {
        let width = self.width;
        match self.after_three {
            false => spec.conv(name, width, width, 3),
            true => spec
                .conv(&format!("{name}.0"), width / 4, width, 3)
                .conv(&format!("{name}.2"), width / 4, width / 4, 1)
                .conv(&format!("{name}.4"), width, width / 4, 3),
        }
    }

    /// The convolutions after a group, of `x` `[1, height, width, channels]`.
    fn convolved(&self, w: &Weights<'_>, name: &str, mut x: Tensor) -> TensorResult<Tensor> {
        x = channels_first(&x)?;
        if !self.after_three {
            return w.conv2d(name, &x, Conv2d::SAME_3X3_IN_TILES);
        }
        x = leaky_relu(&w.conv2d(&format!("{name}.0"), &x, Conv2d::SAME_3X3_IN_TILES)?, SLOPE)?;
        x = leaky_relu(&w.conv2d(&format!("{name}.2"), &x, Conv2d::POINTWISE)?, SLOPE)?;
        w.conv2d(&format!("{name}.4"), &x, Conv2d::SAME_3X3_IN_TILES)
    }

    /// Enlarges an image `[1, 3, height, width]` in 0…1. `groups` has what distinguishes the blocks of each group. `pass` is a
    /// block of values `[1, height, width, channels]`; `end` makes the new pixels of values `[1, channels, height, width]` and
    /// of the image that the network is given.
    pub fn upscale<Place: Copy>(
        &self,
        blocks: Blocks<'_>,
        image: &Tensor,
        groups: &[Vec<Place>],
        pass: impl Fn(&Weights<'_>, Tensor, Place) -> TensorResult<Tensor>,
        end: impl Fn(&Weights<'_>, Tensor, &Tensor) -> TensorResult<Tensor>,
    ) -> Result<Tensor, RunError> {
        let mean = Tensor::from_vec(MEAN.to_vec(), (1, 3, 1, 1), &image.device())?.to_dtype(image.dtype())?;
        let range = f64::from(self.range);
        let mut centred = image.broadcast_add(&mean.neg()?)?;
        if self.range > 1 {
            centred = centred.affine(range, 0.0)?;
        }
        // What each block of weights is: a block of a group, or what is after it.
        let parts: Vec<Option<Place>> =
            groups.iter().flat_map(|places| places.iter().copied().map(Some).chain([None])).collect();
        let (mut first, mut x) = (centred.clone(), centred.clone());
        let (mut before, mut made) = (None, None);
        blocks.walk(0..parts.len() + 2, |number, w| {
            if number == 0 {
                first =
                    w.conv2d(self.first, &unshuffle(&centred, self.square)?, Conv2d::SAME_3X3_IN_TILES)?;
                x = channels_last(&first)?;
                if let Some(norm) = self.norm {
                    x = w.layer_norm(norm, &x, EPS)?;
                }
                before = Some(x.clone());
                return Ok(());
            }
            // Nothing keeps the values while they are passed.
            let taken = std::mem::replace(&mut x, first.clone());
            match parts.get(number - 1) {
                Some(Some(place)) => x = pass(w, taken, *place)?,
                Some(None) => {
                    let after = channels_last(&self.convolved(w, "conv", taken)?)?;
                    x = match before.take() {
                        Some(before) => add(&before, &after)?,
                        None => after,
                    };
                    before = Some(x.clone());
                }
                None => {
                    drop(before.take());
                    let normed = w.layer_norm("norm", &taken, EPS)?;
                    drop(taken);
                    let body = add(&self.convolved(w, "conv_after_body", normed)?, &first)?;
                    for kept in [&mut first, &mut x] {
                        *kept = centred.clone();
                    }
                    made = Some(end(w, body, &centred)?);
                }
            }
            Ok(())
        })?;
        let mut made = made.ok_or_else(|| Error::msg("a walk had no blocks"))?;
        if self.range > 1 {
            made = made.affine(1.0 / range, 0.0)?;
        }
        Ok(made.broadcast_add(&mean)?)
    }
}
