//! HAT, the Hybrid Attention Transformer (Chen et al. 2023, arXiv:2205.04437): blocks of a Swin transformer with a convolution
//! beside the attention, and after each group a block whose windows see what is around them.

use std::path::Path;

use super::{
    Upscaler,
    ending::Ending,
    open::{Found, refused},
    places::{channels_first, channels_last, mean},
    shell::{EPS, FIRST},
    swin::{ATTENTION, Sees, Swin, TABLE, fed_forward},
    upscaler::EVERYTHING,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Conv2d, Result as TensorResult, Tensor, add, gelu},
    residency::{Blocks, RunError, Weights},
};

/// The share of the convolution that is added beside the attention; files do not say it.
const SHARE: f64 = 0.01;

/// The shape of a HAT (Chen et al. 2023).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hat {
    /// Its blocks, and what is around them.
    swin: Swin,
    /// Rows, and columns, that the last block of a group sees on each side of a window.
    around: usize,
    /// Channels between the two convolutions beside the attention.
    compressed: usize,
    /// Values from which the weight of each channel is made.
    squeezed: usize,
    ending: Ending,
    factor: usize,
}

impl Hat {
    pub(super) const ARCHITECTURE: &str = "HAT";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        let group = "layers.0.residual_group";
        [
            "blocks.0.attn.qkv.weight",
            "blocks.0.conv_block.cab.0.weight",
            "blocks.0.conv_block.cab.3.attention.1.weight",
            "blocks.0.mlp.fc1.weight",
            "overlap_attn.qkv.weight",
            "overlap_attn.mlp.fc1.weight",
        ]
        .iter()
        .all(|name| tensors.contains_key(&format!("{group}.{name}")))
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let swin = Swin::found(path, tensors, FIRST)?;
        if swin.shell.after_three && !tensors.contains_key("conv_after_body.0.weight") {
            return Err(refused(path, "it has no convolution after its groups"));
        }
        let block = "layers.0.residual_group.blocks.0.conv_block.cab";
        let (&[compressed, ..], &[squeezed, ..], &[distances, _]) = (
            shape(&format!("{block}.0.weight")),
            shape(&format!("{block}.3.attention.1.weight")),
            shape(&format!("layers.0.residual_group.overlap_attn.{TABLE}")),
        ) else {
            return Err(refused(path, "a part of its first group is missing"));
        };
        let (lines, own) = (distances.isqrt(), 2 * swin.side - 1);
        if lines * lines != distances || lines < own || !(lines - own).is_multiple_of(2) {
            return Err(refused(
                path,
                format!("windows of {} with {distances} distances do not fit", swin.side),
            ));
        }
        let (ending, factor) = Ending::found(path, &shape)?;
        let around = (lines - own) / 2;
        let network = Self { swin, around, compressed, squeezed, ending, factor };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(&self) -> Vec<BlockSpec> {
        let Self { compressed, squeezed, .. } = *self;
        let width = self.swin.shell.width;
        let groups = self.swin.groups.iter().enumerate().map(|(group, &[blocks, heads])| {
            let name = format!("layers.{group}.residual_group");
            let block = |block: usize| {
                let spec = BlockSpec::new(format!("{name}.blocks.{block}"));
                self.swin
                    .described(spec, ATTENTION, heads, Sees::of_block(block))
                    .conv("conv_block.cab.0", compressed, width, 3)
                    .conv("conv_block.cab.2", width, compressed, 3)
                    .linear("conv_block.cab.3.attention.1", squeezed, width)
                    .linear("conv_block.cab.3.attention.3", width, squeezed)
            };
            let last = BlockSpec::new(format!("{name}.overlap_attn"));
            let last = self.swin.described(last, "", heads, Sees::Around(self.around));
            (0..blocks).map(block).chain([last]).collect::<Vec<_>>()
        });
        self.swin.shell.described(groups, |spec| self.ending.described(spec, width, self.factor))
    }

    /// A block of `x` `[1, height, width, channels]`.
    fn passed(&self, w: &Weights<'_>, mut x: Tensor, (heads, sees): (usize, Sees)) -> TensorResult<Tensor> {
        if let Sees::Around(_) = sees {
            return self.swin.passed(w, "", x, (heads, sees));
        }
        let normed = w.layer_norm("norm1", &x, EPS)?;
        let convolved = convolved(w, &normed)?;
        let seen = self.swin.attended(w, ATTENTION, normed, (heads, sees))?;
        x = add(&x, &seen)?;
        drop(seen);
        x = add(&x, &convolved)?;
        drop(convolved);
        fed_forward(w, x)
    }
}

/// What is added beside the attention: convolutions of normed values `[1, height, width, channels]`, whose channels are weighed
/// by their means (Zhang et al. 2018, arXiv:1807.02758).
fn convolved(w: &Weights<'_>, normed: &Tensor) -> TensorResult<Tensor> {
    let mut x = channels_first(normed)?;
    x = w.conv2d("conv_block.cab.0", &x, Conv2d::SAME_3X3_IN_TILES)?;
    x = gelu(&x)?;
    x = w.conv2d("conv_block.cab.2", &x, Conv2d::SAME_3X3_IN_TILES)?;
    x = channels_last(&x)?;
    let inner = w.linear("conv_block.cab.3.attention.1", &mean(&x)?)?.relu()?;
    let raw = w.linear("conv_block.cab.3.attention.3", &inner)?;
    // The sigmoid, of which a share is added.
    let weights = raw.affine(0.5, 0.0)?.tanh()?.affine(0.5 * SHARE, 0.5 * SHARE)?;
    x.broadcast_mul(&weights)
}

impl Upscaler for Hat {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn multiple(&self) -> usize {
        self.swin.side
    }

    fn reach(&self) -> usize {
        EVERYTHING
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let of_group = |&[blocks, heads]: &[usize; 2]| {
            let each = (0..blocks).map(Sees::of_block).chain([Sees::Around(self.around)]);
            each.map(|sees| (heads, sees)).collect::<Vec<_>>()
        };
        let groups: Vec<_> = self.swin.groups.iter().map(of_group).collect();
        self.swin.shell.upscale(
            blocks,
            image,
            &groups,
            |w, x, place| self.passed(w, x, place),
            |w, x, _| self.ending.enlarged(w, x, self.factor),
        )
    }
}
