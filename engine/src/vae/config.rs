//! The shape of an [`AutoencoderKl`](super::AutoencoderKl).

use serde::Deserialize;

use crate::checkpoint::{BlockSpec, TensorTable};

/// The shape of the autoencoder, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct AutoencoderKlConfig {
    /// Channels of the input image.
    pub in_channels: usize,
    /// Channels of the output image.
    pub out_channels: usize,
    /// Channels of the latents.
    pub latent_channels: usize,
    /// Widths from full resolution down to the smallest.
    pub block_out_channels: Vec<usize>,
    /// The decoder's widths, if they are others.
    pub decoder_block_out_channels: Option<Vec<usize>>,
    /// Residual blocks per level; the decoder has one more.
    pub layers_per_block: usize,
    /// Groups of every group norm.
    pub norm_num_groups: usize,
    /// Factor of the latents before diffusion.
    pub scaling_factor: f64,
    /// Subtracted from the latents before that.
    pub shift_factor: Option<f64>,
    /// Whether a 1×1 convolution follows the encoder.
    pub use_quant_conv: bool,
    /// Whether a 1×1 convolution precedes the decoder.
    pub use_post_quant_conv: bool,
    /// Whether the smallest level has attention.
    pub mid_block_add_attention: bool,
}

/// How a family scales latents before diffusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatentScaling {
    /// The factor.
    pub factor: f64,
    /// Subtracted before scaling.
    pub shift: Option<f64>,
}

impl Default for AutoencoderKlConfig {
    fn default() -> Self {
        Self {
            in_channels: 3,
            out_channels: 3,
            latent_channels: 4,
            block_out_channels: vec![128, 256, 512, 512],
            decoder_block_out_channels: None,
            layers_per_block: 2,
            norm_num_groups: 32,
            scaling_factor: 0.18215,
            shift_factor: None,
            use_quant_conv: true,
            use_post_quant_conv: true,
            mid_block_add_attention: true,
        }
    }
}

impl AutoencoderKlConfig {
    /// Infers the shape from tensors under their original or diffusers names, for files without a
    /// configuration. The scaling of the latents cannot be inferred.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let has = |name: &str| tensors.contains_key(name);
        let latent_channels = *shape("decoder.conv_in.weight")?.get(1)?;
        let width = |names: [String; 2]| names.iter().find_map(|name| shape(name)?.first().copied());
        let level_width = |level: usize| {
            width([
                format!("encoder.down.{level}.block.0.conv2.weight"),
                format!("encoder.down_blocks.{level}.resnets.0.conv2.weight"),
            ])
        };
        let widths: Vec<usize> = (0..).map_while(level_width).collect();
        // diffusers numbers the decoder's levels from the smallest.
        let decoder_width = |level: usize| {
            width([
                format!("decoder.up.{level}.block.0.conv2.weight"),
                format!("decoder.up_blocks.{}.resnets.0.conv2.weight", widths.len() - 1 - level),
            ])
        };
        let decoder_widths: Vec<usize> = (0..widths.len()).map_while(decoder_width).collect();
        let layers = (0..)
            .take_while(|layer| {
                tensors.contains_key(&format!("encoder.down.0.block.{layer}.conv1.weight"))
                    || tensors.contains_key(&format!("encoder.down_blocks.0.resnets.{layer}.conv1.weight"))
            })
            .count();
        Some(Self {
            in_channels: *shape("encoder.conv_in.weight")?.get(1)?,
            out_channels: *shape("decoder.conv_out.weight")?.first()?,
            latent_channels,
            decoder_block_out_channels: (decoder_widths != widths).then_some(decoder_widths),
            block_out_channels: widths,
            layers_per_block: layers,
            use_quant_conv: has("quant_conv.weight") || has("encoder.quant_conv.weight"),
            use_post_quant_conv: has("post_quant_conv.weight") || has("decoder.post_quant_conv.weight"),
            ..Self::default()
        })
    }

    /// Pixels per latent, in each direction.
    pub fn scale(&self) -> usize {
        1 << self.block_out_channels.len().saturating_sub(1)
    }

    /// The encoder's blocks, then the decoder's.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let widths = &self.block_out_channels;
        let (Some(&first), Some(&last)) = (widths.first(), widths.last()) else { return Vec::new() };
        let mut blocks = vec![BlockSpec::new("encoder").conv("conv_in", first, self.in_channels, 3)];
        for (level, &width) in widths.iter().enumerate() {
            let mut block = BlockSpec::new(format!("encoder.down_blocks.{level}"));
            let before = if level == 0 { first } else { widths[level - 1] };
            for layer in 0..self.layers_per_block {
                let inputs = if layer == 0 { before } else { width };
                block = resnet(block, &format!("resnets.{layer}"), inputs, width);
            }
            if level + 1 < widths.len() {
                block = block.conv("downsamplers.0.conv", width, width, 3);
            }
            blocks.push(block);
        }
        blocks.push(self.mid_block("encoder.mid_block", last));
        let moments = 2 * self.latent_channels;
        let head = BlockSpec::stem("encoder.out").norm("encoder.conv_norm_out", last).conv(
            "encoder.conv_out",
            moments,
            last,
            3,
        );
        blocks.push(if self.use_quant_conv { head.conv("quant_conv", moments, moments, 1) } else { head });

        let widths = self.decoder_widths();
        let (Some(&first), Some(&last)) = (widths.first(), widths.last()) else { return Vec::new() };
        let stem = BlockSpec::stem("decoder.in").conv("decoder.conv_in", last, self.latent_channels, 3);
        blocks.push(if self.use_post_quant_conv {
            stem.conv("post_quant_conv", self.latent_channels, self.latent_channels, 1)
        } else {
            stem
        });
        blocks.push(self.mid_block("decoder.mid_block", last));
        for level in 0..widths.len() {
            let width = widths[widths.len() - 1 - level];
            let before = if level == 0 { last } else { widths[widths.len() - level] };
            let mut block = BlockSpec::new(format!("decoder.up_blocks.{level}"));
            for layer in 0..=self.layers_per_block {
                let inputs = if layer == 0 { before } else { width };
                block = resnet(block, &format!("resnets.{layer}"), inputs, width);
            }
            if level + 1 < widths.len() {
                block = block.conv("upsamplers.0.conv", width, width, 3);
            }
            blocks.push(block);
        }
        blocks.push(BlockSpec::stem("decoder.out").norm("decoder.conv_norm_out", first).conv(
            "decoder.conv_out",
            self.out_channels,
            first,
            3,
        ));
        blocks
    }

    /// The decoder's widths, from full resolution down to the smallest.
    pub fn decoder_widths(&self) -> &[usize] {
        self.decoder_block_out_channels.as_ref().unwrap_or(&self.block_out_channels)
    }

    /// Index of the decoder's first block; all blocks before it are the encoder's.
    pub fn first_decoder_block(&self) -> usize {
        self.block_out_channels.len() + 3
    }

    fn mid_block(&self, name: &str, width: usize) -> BlockSpec {
        let block = resnet(BlockSpec::new(name), "resnets.0", width, width);
        let block = if self.mid_block_add_attention {
            block
                .norm("attentions.0.group_norm", width)
                .linear("attentions.0.to_q", width, width)
                .linear("attentions.0.to_k", width, width)
                .linear("attentions.0.to_v", width, width)
                .linear("attentions.0.to_out.0", width, width)
        } else {
            block
        };
        resnet(block, "resnets.1", width, width)
    }
}

fn resnet(block: BlockSpec, name: &str, inputs: usize, outputs: usize) -> BlockSpec {
    let block = block
        .norm(&format!("{name}.norm1"), inputs)
        .conv(&format!("{name}.conv1"), outputs, inputs, 3)
        .norm(&format!("{name}.norm2"), outputs)
        .conv(&format!("{name}.conv2"), outputs, outputs, 3);
    if inputs == outputs { block } else { block.conv(&format!("{name}.conv_shortcut"), outputs, inputs, 1) }
}
