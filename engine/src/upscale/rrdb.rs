//! ESRGAN's network of dense blocks, RRDBNet (Wang et al. 2018, arXiv:1809.00219), also of Real-ESRGAN, which gives
//! networks for small factors groups of pixels as channels.

use std::path::Path;

use super::{
    Upscaler,
    open::{Found, refused},
    pixels::unshuffle,
    rrdb_names::Naming,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Result as TensorResult, Tensor, add, leaky_relu, upsample_nearest_2x},
    residency::{Blocks, RunError, Weights},
};

/// The slope of its activations.
const SLOPE: f32 = 0.2;
/// The share of a residual that is added.
const SHARE: f64 = 0.2;
/// Dense blocks of each of its blocks.
const DENSE: usize = 3;
/// Convolutions of a dense block.
const CONVOLUTIONS: usize = 5;
/// Channels of an image.
const COLOURS: usize = 3;

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rrdb {
    /// Channels.
    width: usize,
    /// Channels that each convolution of a dense block adds.
    growth: usize,
    /// Blocks of three dense blocks.
    blocks: usize,
    /// How often it doubles the size.
    doublings: usize,
    /// Side of the squares of pixels that it gets as channels.
    square: usize,
}

impl Rrdb {
    pub(super) const ARCHITECTURE: &str = "ESRGAN";

    /// Whether a file has one, under old or new names.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        Naming::of(tensors).is_some()
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let Some(naming) = Naming::of(tensors) else {
            return Err(refused(path, "it has no dense blocks"));
        };
        if tensors.keys().any(|name| name.contains(".conv1x1.")) {
            return Err(refused(path, "it is an ESRGAN+, with a shortcut in each dense block"));
        }
        let shape = |name: &str| {
            let tensor = tensors.get(&naming.stored(name));
            tensor.map_or(&[][..], |tensor| tensor.shape())
        };
        let (&[width, inputs, ..], &[growth, ..], &[outputs, ..]) =
            (shape("conv_first.weight"), shape("body.0.rdb1.conv1.weight"), shape("conv_last.weight"))
        else {
            return Err(refused(path, "its first, a dense or its last convolution is missing"));
        };
        let square = match inputs {
            3 => 1,
            12 => 2,
            48 => 4,
            _ => return Err(refused(path, format!("it reads {inputs} channels, and images have 3"))),
        };
        let doublings = naming.doublings();
        if outputs != COLOURS {
            return Err(refused(path, format!("it makes {outputs} channels, and images have 3")));
        }
        if doublings > 3 || square > 1 << doublings {
            return Err(refused(path, format!("its factor is {}/{square}", 1 << doublings)));
        }
        let network = Self { width, growth, blocks: naming.blocks(), doublings, square };
        let specs = network.blueprint();
        Ok(Found {
            specs,
            network: Box::new(network),
            names: Some(Box::new(move |name| naming.stored(name))),
        })
    }

    fn blueprint(self) -> Vec<BlockSpec> {
        let Self { width, growth, blocks, doublings, square } = self;
        let mut specs =
            vec![BlockSpec::stem("conv_first").conv("conv_first", width, COLOURS * square * square, 3)];
        for number in 0..blocks {
            let mut spec = BlockSpec::new(format!("body.{number}"));
            for dense in 1..=DENSE {
                for conv in 1..=CONVOLUTIONS {
                    let outputs = if conv == CONVOLUTIONS { width } else { growth };
                    let name = format!("rdb{dense}.conv{conv}");
                    spec = spec.conv(&name, outputs, width + (conv - 1) * growth, 3);
                }
            }
            specs.push(spec);
        }
        specs.push(BlockSpec::stem("conv_body").conv("conv_body", width, width, 3));
        for number in 1..=doublings {
            let name = up(number);
            specs.push(BlockSpec::stem(&name).conv(&name, width, width, 3));
        }
        let last = BlockSpec::stem("conv_last").conv("conv_hr", width, width, 3);
        specs.push(last.conv("conv_last", COLOURS, width, 3));
        specs
    }
}

/// The convolution after a doubling, counted from 1.
fn up(number: usize) -> String {
    format!("conv_up{number}")
}

/// Five convolutions, each of which sees the results of all before it.
fn dense(w: &Weights<'_>, number: usize, x: &Tensor) -> TensorResult<Tensor> {
    let mut seen = x.clone();
    for conv in 1..CONVOLUTIONS {
        let name = format!("rdb{number}.conv{conv}");
        let more = leaky_relu(&w.conv2d(&name, &seen, Conv2d::SAME_3X3_IN_TILES)?, SLOPE)?;
        seen = Tensor::cat(&[&seen, &more], 1)?;
    }
    let last = w.conv2d(&format!("rdb{number}.conv{CONVOLUTIONS}"), &seen, Conv2d::SAME_3X3_IN_TILES)?;
    drop(seen);
    add(x, &last.affine(SHARE, 0.0)?)
}

impl Upscaler for Rrdb {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        (1 << self.doublings) / self.square
    }

    fn multiple(&self) -> usize {
        self.square
    }

    fn reach(&self) -> usize {
        // The convolutions after doublings reach half as far each time, together no further than two pixels.
        let before = 2 + self.blocks * DENSE * CONVOLUTIONS;
        self.square * (before + 2)
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let (body, first_up) = (self.blocks + 1, self.blocks + 2);
        let last = first_up + self.doublings;
        let mut x = unshuffle(image, self.square)?;
        let mut features = None;
        blocks.walk(0..last + 1, |number, w| {
            x = if number == 0 {
                let first = w.conv2d("conv_first", &x, Conv2d::SAME_3X3_IN_TILES)?;
                features = Some(first.clone());
                first
            } else if number < body {
                let mut inner = x.clone();
                for number in 1..=DENSE {
                    inner = dense(w, number, &inner)?;
                }
                add(&x, &inner.affine(SHARE, 0.0)?)?
            } else if number == body {
                let body = w.conv2d("conv_body", &x, Conv2d::SAME_3X3_IN_TILES)?;
                match features.take() {
                    Some(features) => add(&features, &body)?,
                    None => body,
                }
            } else if number < last {
                let doubled = upsample_nearest_2x(&x)?;
                leaky_relu(&w.conv2d(&up(number - body), &doubled, Conv2d::SAME_3X3_IN_TILES)?, SLOPE)?
            } else {
                let x = leaky_relu(&w.conv2d("conv_hr", &x, Conv2d::SAME_3X3_IN_TILES)?, SLOPE)?;
                w.conv2d("conv_last", &x, Conv2d::SAME_3X3_IN_TILES)?
            };
            Ok(())
        })?;
        Ok(x)
    }
}
