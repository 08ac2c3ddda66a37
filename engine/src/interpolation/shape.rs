//! The versions of RIFE 4 as their tensors tell them apart.

use super::open::refused;
use crate::checkpoint::{BlockSpec, CheckpointError, TensorTable};
use std::path::Path;

/// Colours of an image.
pub(super) const COLOURS: usize = 3;
/// Channels of the flow: across and down, to the frame before and to the one after.
pub(super) const FLOW: usize = 4;
/// Channels that a block passes on to the next, in versions that do.
pub(super) const PASSED: usize = 8;
/// Layers in the middle of a block.
pub(super) const LAYERS: usize = 8;
/// Blocks that a network may have.
const BLOCKS: std::ops::RangeInclusive<usize> = 4..=5;
/// The width of the last block of version 4.25.lite, whose blocks look at coarser images.
const LITE: usize = 24;

/// What is looked at of each frame besides its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// Two layers without an activation between, as in 4.7 to 4.9.
    Pair { inner: usize, outputs: usize },
    /// Four layers: `encode.0` to `encode.6`, or `encode.cnn0` to `encode.cnn3`.
    Four { inner: usize, outputs: usize, is_named: bool },
}

/// The middle of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Middle {
    /// Convolutions with activations of learned slopes, and one way around all of them, as in 4.0 and 4.1.
    Prelu,
    /// Convolutions that are each scaled and added to what they saw.
    Residual,
}

/// The shape of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub(super) head: Option<Head>,
    pub(super) middle: Middle,
    /// Channels of each block.
    pub(super) widths: Vec<usize>,
    /// Channels of what a block says: the flow, the mask and what is passed on.
    pub(super) outputs: usize,
}

impl Head {
    fn of(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let first = |name: &str| shape(name).first().copied();
        let last = |name: &str| shape(name).get(1).copied();
        if let (Some(inner), Some(outputs)) = (first("encode.cnn0.weight"), last("encode.cnn3.weight")) {
            return Some(Self::Four { inner, outputs, is_named: true });
        }
        let inner = first("encode.0.weight")?;
        match last("encode.6.weight") {
            Some(outputs) => Some(Self::Four { inner, outputs, is_named: false }),
            None => Some(Self::Pair { inner, outputs: last("encode.1.weight")? }),
        }
    }

    /// Channels of what is seen of a frame.
    fn outputs(self) -> usize {
        match self {
            Self::Pair { outputs, .. } | Self::Four { outputs, .. } => outputs,
        }
    }

    /// The names of its layers. The first halves the size, the last doubles it.
    pub(super) fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Pair { .. } => &["0", "1"],
            Self::Four { is_named: false, .. } => &["0", "2", "4", "6"],
            Self::Four { is_named: true, .. } => &["cnn0", "cnn1", "cnn2", "cnn3"],
        }
    }

    /// Whether an activation follows a layer.
    pub(super) fn is_activated(self) -> bool {
        matches!(self, Self::Four { .. })
    }

    fn blueprint(self) -> BlockSpec {
        let (Self::Pair { inner, outputs } | Self::Four { inner, outputs, .. }) = self;
        let layers = self.layers();
        let last = layers.len() - 1;
        layers.iter().enumerate().fold(BlockSpec::new("encode"), |spec, (number, name)| match number {
            0 => spec.conv(name, inner, COLOURS, 3),
            number if number == last => transposed(spec, name, inner, outputs),
            _ => spec.conv(name, inner, inner, 3),
        })
    }
}

/// A transposed convolution with a kernel of 4 by 4.
fn transposed(spec: BlockSpec, name: &str, inputs: usize, outputs: usize) -> BlockSpec {
    spec.tensor(format!("{name}.weight"), &[inputs, outputs, 4, 4]).tensor(format!("{name}.bias"), &[outputs])
}

impl Shape {
    /// The shape of the network in a file whose tensors have the names of RIFE's first code.
    pub(super) fn of(path: &Path, tensors: &TensorTable) -> Result<Self, CheckpointError> {
        let shape = |name: String| tensors.get(&name).map_or(&[][..], |tensor| tensor.shape());
        let width = |number: usize| shape(format!("block{number}.conv0.1.0.weight")).first().copied();
        let widths: Vec<usize> = (0..).map_while(width).collect();
        if !BLOCKS.contains(&widths.len()) {
            return Err(refused(path, format!("it has {} blocks, and RIFE 4 has 4 or 5", widths.len())));
        }
        let has = |name: &str| tensors.contains_key(name);
        let (middle, last, share) = if has("block0.convblock.0.beta") {
            (Middle::Residual, "block0.lastconv.0.weight", 4)
        } else if has("block0.convblock.0.1.weight") {
            (Middle::Prelu, "block0.lastconv.weight", 1)
        } else {
            return Err(refused(path, "its version is none of 4.0, 4.1 and 4.5 to 4.26"));
        };
        let outputs = shape(last.to_owned()).get(1).copied().unwrap_or(0) / share;
        let found = Self { head: Head::of(tensors), middle, widths, outputs };
        for number in 0..2 {
            let reads = shape(format!("block{number}.conv0.0.0.weight")).get(1).copied().unwrap_or(0);
            if reads != found.reads(number) {
                let reason = format!("its version is not known: block {number} reads {reads} channels");
                return Err(refused(path, reason));
            }
        }
        Ok(found)
    }

    /// Channels of what the head sees of both frames.
    fn seen(&self) -> usize {
        2 * self.head.map_or(0, Head::outputs)
    }

    /// Channels that a block passes on.
    pub(super) fn passed(&self) -> usize {
        if self.outputs >= FLOW + 1 + PASSED { PASSED } else { 0 }
    }

    /// Channels that a block reads: both frames, what the head sees of them, the time, and, after the first block, the mask,
    /// what is passed on, and the flow.
    fn reads(&self, number: usize) -> usize {
        let first = 2 * COLOURS + self.seen() + 1;
        if number == 0 { first } else { first + 1 + self.passed() + FLOW }
    }

    /// How many times smaller than the frames what each block looks at is.
    pub(super) fn scales(&self) -> &'static [usize] {
        match self.widths[..] {
            [_, _, _, _, LITE] => &[32, 16, 8, 4, 1],
            [_, _, _, _, _] => &[16, 8, 4, 2, 1],
            _ => &[8, 4, 2, 1],
        }
    }

    /// What height and width must be multiples of: each block halves what it looks at twice. The first versions look at half of
    /// that where much moves.
    pub(super) fn multiple(&self) -> usize {
        let coarsest = 4 * self.scales()[0];
        if self.middle == Middle::Prelu { 2 * coarsest } else { coarsest }
    }

    /// The version or the versions of this shape.
    pub(super) fn version(&self) -> &'static str {
        match (self.middle, self.head, &self.widths[..]) {
            (Middle::Prelu, ..) => "RIFE 4.0",
            (_, None, _) => "RIFE 4.6",
            (_, Some(Head::Pair { .. }), _) => "RIFE 4.7",
            (_, _, [_, _, _, _, LITE]) => "RIFE 4.25 lite",
            (_, _, [_, _, _, _, _]) => "RIFE 4.26",
            _ if self.passed() > 0 => "RIFE 4.22",
            _ => "RIFE 4.15",
        }
    }

    pub(super) fn blueprint(&self) -> Vec<BlockSpec> {
        let block = |(number, &width): (usize, &usize)| {
            let half = width / 2;
            let spec =
                BlockSpec::new(format!("block{number}")).conv("conv0.0.0", half, self.reads(number), 3);
            match self.middle {
                Middle::Prelu => {
                    let spec = spec.scale("conv0.0.1", half).conv("conv0.1.0", width, half, 3);
                    let spec = (0..LAYERS).fold(spec.scale("conv0.1.1", width), |spec, layer| {
                        let spec = spec.conv(&format!("convblock.{layer}.0"), width, width, 3);
                        spec.scale(&format!("convblock.{layer}.1"), width)
                    });
                    transposed(spec, "lastconv", width, self.outputs)
                }
                Middle::Residual => {
                    let spec = (0..LAYERS).fold(spec.conv("conv0.1.0", width, half, 3), |spec, layer| {
                        let spec = spec.conv(&format!("convblock.{layer}.conv"), width, width, 3);
                        spec.tensor(format!("convblock.{layer}.beta"), &[1, width, 1, 1])
                    });
                    transposed(spec, "lastconv.0", width, 4 * self.outputs)
                }
            }
        };
        self.head.map(Head::blueprint).into_iter().chain(self.widths.iter().enumerate().map(block)).collect()
    }
}
