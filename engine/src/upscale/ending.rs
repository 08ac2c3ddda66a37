//! How networks of transformer blocks make new pixels: of channels, in steps or at once.

use std::path::Path;

use super::{
    open::{COLOURS, LARGEST_FACTOR, refused},
    pixels::shuffle,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError},
    nn::{Conv2d, Result as TensorResult, Tensor, leaky_relu},
    residency::Weights,
};

/// The slope below zero of the activation before new pixels are made.
pub(super) const SLOPE: f32 = 0.01;

/// How new pixels are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// In steps, over so many channels.
    Steps { channels: usize },
    /// By one convolution.
    AtOnce,
}

impl Ending {
    /// How a network makes new pixels, and the factor, from the shapes of its tensors.
    pub fn found<'a>(
        path: &Path,
        shape: &impl Fn(&str) -> &'a [usize],
    ) -> Result<(Self, usize), CheckpointError> {
        let unknown = || refused(path, "how it makes new pixels is not known");
        if shape("conv_last.weight").is_empty() {
            let &[outputs, ..] = shape("upsample.0.weight") else { return Err(unknown()) };
            let factor = (outputs / COLOURS).isqrt();
            return if factor > 0 && COLOURS * factor * factor == outputs {
                Ok((Self::AtOnce, offered(path, factor)?))
            } else {
                Err(unknown())
            };
        }
        let &[channels, ..] = shape("conv_before_upsample.0.weight") else { return Err(unknown()) };
        let outputs = |number: usize| shape(&format!("upsample.{}.weight", 2 * number)).first().copied();
        let count = (0..).take_while(|number| outputs(*number).is_some()).count();
        let factor = match (count, outputs(0)) {
            (1, Some(first)) if first == 9 * channels => 3,
            (count, _) if (0..count).all(|number| outputs(number) == Some(4 * channels)) => {
                2_usize.saturating_pow(count as u32)
            }
            _ => return Err(unknown()),
        };
        Ok((Self::Steps { channels }, offered(path, factor)?))
    }

    /// Adds its tensors to those of a block, for a network of so many channels.
    pub fn described(self, spec: BlockSpec, width: usize, factor: usize) -> BlockSpec {
        match self {
            Self::AtOnce => spec.conv("upsample.0", COLOURS * factor * factor, width, 3),
            Self::Steps { channels } => {
                let spec = spec.conv("conv_before_upsample.0", channels, width, 3);
                let each = steps(factor).into_iter().enumerate();
                each.fold(spec, |spec, (number, side)| {
                    spec.conv(&format!("upsample.{}", 2 * number), side * side * channels, channels, 3)
                })
                .conv("conv_last", COLOURS, channels, 3)
            }
        }
    }

    /// The image `[1, 3, factor · height, factor · width]` of values `[1, channels, height, width]`.
    pub fn enlarged(self, w: &Weights<'_>, mut x: Tensor, factor: usize) -> TensorResult<Tensor> {
        if self == Self::AtOnce {
            x = w.conv2d("upsample.0", &x, Conv2d::SAME_3X3_IN_TILES)?;
            return shuffle(&x, factor);
        }
        x = leaky_relu(&w.conv2d("conv_before_upsample.0", &x, Conv2d::SAME_3X3_IN_TILES)?, SLOPE)?;
        for (number, side) in steps(factor).into_iter().enumerate() {
            x = w.conv2d(&format!("upsample.{}", 2 * number), &x, Conv2d::SAME_3X3_IN_TILES)?;
            x = shuffle(&x, side)?;
        }
        w.conv2d("conv_last", &x, Conv2d::SAME_3X3_IN_TILES)
    }
}

/// The factor of a network, if images are enlarged by it.
pub(super) fn offered(path: &Path, factor: usize) -> Result<usize, CheckpointError> {
    if factor > LARGEST_FACTOR {
        return Err(refused(path, format!("its factor is {factor}")));
    }
    Ok(factor)
}

/// The factors of the steps in which an image is enlarged.
fn steps(factor: usize) -> Vec<usize> {
    match factor {
        3 => vec![3],
        factor => vec![2; factor.ilog2() as usize],
    }
}
