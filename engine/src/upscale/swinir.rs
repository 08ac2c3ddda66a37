//! SwinIR (Liang et al. 2021, arXiv:2108.10257): groups of blocks of a Swin transformer, which attend within windows of places.

use std::path::Path;

use super::{
    Upscaler,
    ending::{self, Ending},
    open::{COLOURS, Found, LARGEST_FACTOR, refused},
    shell::{FIRST, FIRST_OF_SQUARES},
    swin::{ATTENTION, Sees, Swin},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Result as TensorResult, Tensor, add, leaky_relu, upsample_nearest_2x},
    residency::{Blocks, RunError, Weights},
};

/// The side of the windows of networks that take out the traces of JPEG, and of no others. They were trained with values in
/// 0…255, which files do not say.
const SIDE_OF_JPEG: usize = 7;
/// The slope below zero of the activations of doubled images.
const SLOPE: f32 = 0.2;
/// How far the convolutions that make new pixels see at most.
const REACH_OF_ENDING: usize = 4;

/// The shape of a SwinIR (Liang et al. 2021).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwinIr {
    /// Its blocks, and what is around them.
    swin: Swin,
    making: Making,
    factor: usize,
}

/// How new pixels are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Making {
    /// Of channels.
    OfChannels(Ending),
    /// By doubling the size so many times, with a convolution of so many channels after each.
    Doubled { times: usize, channels: usize },
    /// There are none: what is made is added to the image.
    Added,
}

impl SwinIr {
    pub(super) const ARCHITECTURE: &str = "SwinIR";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        let block = "layers.0.residual_group.blocks.0";
        let has = |name: &str| tensors.contains_key(name);
        let own = [
            "norm1.weight",
            "attn.qkv.weight",
            "attn.relative_position_bias_table",
            "attn.relative_position_index",
            "mlp.fc1.weight",
        ];
        (has("conv_first.weight") || has("conv_first.1.weight"))
            && own.iter().all(|name| has(&format!("{block}.{name}")))
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let has = |name: &str| tensors.contains_key(name);
        let first = if has("conv_first.1.weight") { FIRST_OF_SQUARES } else { FIRST };
        let mut swin = Swin::found(path, tensors, first)?;
        if swin.side == SIDE_OF_JPEG {
            swin.shell.range = 255;
        }
        let (making, whole) = if let &[channels, ..] = shape("conv_up1.weight") {
            let is_there = |number: &usize| has(&format!("conv_up{number}.weight"));
            let times = (1..=LARGEST_FACTOR).take_while(is_there).count();
            (Making::Doubled { times, channels }, ending::offered(path, 1 << times)?)
        } else if has("conv_before_upsample.0.weight") || has("upsample.0.weight") {
            let (ending, factor) = Ending::found(path, &shape)?;
            (Making::OfChannels(ending), factor)
        } else {
            (Making::Added, 1)
        };
        let square = swin.shell.square;
        if !whole.is_multiple_of(square) {
            return Err(refused(path, format!("its factor is {whole}/{square}")));
        }
        let network = Self { swin, making, factor: whole / square };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(&self) -> Vec<BlockSpec> {
        let width = self.swin.shell.width;
        let groups = self.swin.groups.iter().enumerate().map(|(group, &[blocks, heads])| {
            let block = |block: usize| {
                let spec = BlockSpec::new(format!("layers.{group}.residual_group.blocks.{block}"));
                self.swin.described(spec, ATTENTION, heads, Sees::of_block(block))
            };
            (0..blocks).map(block).collect::<Vec<_>>()
        });
        let ending = |spec: BlockSpec| match self.making {
            Making::OfChannels(ending) => ending.described(spec, width, self.whole_factor()),
            Making::Doubled { times, channels } => {
                let spec = spec.conv("conv_before_upsample.0", channels, width, 3);
                let spec = (1..=times)
                    .fold(spec, |spec, number| spec.conv(&format!("conv_up{number}"), channels, channels, 3));
                spec.conv("conv_hr", channels, channels, 3).conv("conv_last", COLOURS, channels, 3)
            }
            Making::Added => spec.conv("conv_last", COLOURS, width, 3),
        };
        self.swin.shell.described(groups, ending)
    }

    /// New pixels for each place of the network, in each direction.
    fn whole_factor(&self) -> usize {
        self.factor * self.swin.shell.square
    }

    /// The image of values `[1, channels, height, width]`; `image` is what the network is given.
    fn enlarged(&self, w: &Weights<'_>, mut x: Tensor, image: &Tensor) -> TensorResult<Tensor> {
        let times = match self.making {
            Making::OfChannels(ending) => return ending.enlarged(w, x, self.whole_factor()),
            Making::Added => return add(image, &w.conv2d("conv_last", &x, Conv2d::SAME_3X3_IN_TILES)?),
            Making::Doubled { times, .. } => times,
        };
        x = w.conv2d("conv_before_upsample.0", &x, Conv2d::SAME_3X3_IN_TILES)?;
        x = leaky_relu(&x, ending::SLOPE)?;
        for number in 1..=times {
            x = upsample_nearest_2x(&x)?;
            x = w.conv2d(&format!("conv_up{number}"), &x, Conv2d::SAME_3X3_IN_TILES)?;
            x = leaky_relu(&x, SLOPE)?;
        }
        x = w.conv2d("conv_hr", &x, Conv2d::SAME_3X3_IN_TILES)?;
        x = leaky_relu(&x, SLOPE)?;
        w.conv2d("conv_last", &x, Conv2d::SAME_3X3_IN_TILES)
    }
}

impl Upscaler for SwinIr {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn multiple(&self) -> usize {
        self.swin.side * self.swin.shell.square
    }

    fn reach(&self) -> usize {
        let Swin { shell, groups, side, .. } = &self.swin;
        let blocks: usize = groups.iter().map(|[blocks, _]| blocks).sum();
        let after_each = if shell.after_three { 2 } else { 1 };
        let convolutions = 1 + (groups.len() + 1) * after_each + REACH_OF_ENDING;
        shell.square * (convolutions + blocks * (side - 1))
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let of_group = |&[blocks, heads]: &[usize; 2]| {
            (0..blocks).map(|block| (heads, Sees::of_block(block))).collect::<Vec<_>>()
        };
        let groups: Vec<_> = self.swin.groups.iter().map(of_group).collect();
        self.swin.shell.upscale(
            blocks,
            image,
            &groups,
            |w, x, place| self.swin.passed(w, ATTENTION, x, place),
            |w, x, image| self.enlarged(w, x, image),
        )
    }
}
