//! Real-ESRGAN's compact network, SRVGGNetCompact (Wang et al. 2021, arXiv:2107.10833): convolutions at the size of the
//! image, whose last one has the channels of all new pixels.

use std::path::Path;

use super::{
    Upscaler,
    open::{Found, colours, refused},
    pixels::{add_repeated, shuffle},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Tensor, prelu},
    residency::{Blocks, RunError},
};

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Srvgg {
    /// Channels.
    width: usize,
    /// Convolutions, with the first and the last.
    convolutions: usize,
    factor: usize,
}

impl Srvgg {
    pub(super) const ARCHITECTURE: &str = "Real-ESRGAN Compact";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        let rank = |name: &str| tensors.get(name).map(|tensor| tensor.shape().len());
        rank("body.0.weight") == Some(4)
            && (rank("body.1.weight") == Some(1) || rank("body.2.weight") == Some(4))
            && tensors.keys().all(|name| name.starts_with("body."))
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let numbers = tensors.keys().filter_map(|name| name.split('.').nth(1)?.parse::<usize>().ok());
        let last = numbers.max().unwrap_or(0);
        let shape = |number: usize| {
            let tensor = tensors.get(&format!("body.{number}.weight"));
            tensor.map_or(&[][..], |tensor| tensor.shape())
        };
        let (&[width, inputs, ..], &[outputs, ..]) = (shape(0), shape(last)) else {
            return Err(refused(path, "its first or its last convolution is missing"));
        };
        if tensors.get("body.1.weight").is_none_or(|tensor| tensor.shape() != [width]) {
            return Err(refused(
                path,
                "its activation has no slopes, so that it is not known which one it is",
            ));
        }
        let factor = colours(path, inputs, outputs)?;
        let network = Self { width, convolutions: last / 2 + 1, factor };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(self) -> Vec<BlockSpec> {
        let Self { width, convolutions, factor } = self;
        let block = |number: usize| {
            let spec = BlockSpec::stem(format!("body.{}", 2 * number));
            let conv = format!("body.{}", 2 * number);
            let inputs = if number == 0 { 3 } else { width };
            match number + 1 == convolutions {
                true => spec.conv(&conv, 3 * factor * factor, inputs, 3),
                false => spec.conv(&conv, width, inputs, 3).scale(&format!("body.{}", 2 * number + 1), width),
            }
        };
        (0..convolutions).map(block).collect()
    }
}

impl Upscaler for Srvgg {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn reach(&self) -> usize {
        self.convolutions
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let mut x = image.clone();
        blocks.walk(0..self.convolutions, |number, w| {
            x = w.conv2d(&format!("body.{}", 2 * number), &x, Conv2d::SAME_3X3_IN_TILES)?;
            if number + 1 < self.convolutions {
                x = prelu(&x, &w.get(&format!("body.{}.weight", 2 * number + 1))?)?;
            }
            Ok(())
        })?;
        Ok(shuffle(&add_repeated(&x, image, self.factor)?, self.factor)?)
    }
}
