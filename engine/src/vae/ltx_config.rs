//! The shape of an [`LtxAutoencoder`](super::LtxAutoencoder).

use serde::Deserialize;

use super::wan_config::CUBE;
use crate::checkpoint::{BlockSpec, CheckpointError, Part, TensorTable};

/// Width of the sinusoidal embedding of a timestep.
pub(super) const TIME: usize = 256;
/// How a level is halved: by a convolution that skips every second value, in all three directions.
const PLAIN_LEVEL: &str = "LTXVideoDownBlock3D";

/// The shape of the autoencoder, as in its `config.json`. Its words are those of diffusers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct LtxAutoencoderConfig {
    /// Channels of the encoder's input.
    pub in_channels: usize,
    /// Channels of the decoder's output.
    pub out_channels: usize,
    /// Channels of the latents.
    pub latent_channels: usize,
    /// Widths of the encoder's levels, from full resolution down.
    pub block_out_channels: Vec<usize>,
    /// The kinds of the encoder's levels.
    pub down_block_types: Vec<String>,
    /// Widths of the decoder's levels, from full resolution down.
    pub decoder_block_out_channels: Vec<usize>,
    /// Residual blocks of the encoder's levels and of its middle.
    pub layers_per_block: Vec<usize>,
    /// Residual blocks of the decoder's levels and of its middle.
    pub decoder_layers_per_block: Vec<usize>,
    /// Which of the encoder's levels halve all three lengths.
    pub spatio_temporal_scaling: Vec<bool>,
    /// Which of the decoder's levels double them.
    pub decoder_spatio_temporal_scaling: Vec<bool>,
    /// Where the decoder adds noise, as in LTX-Video 0.9.1.
    pub decoder_inject_noise: Vec<bool>,
    /// Which of the decoder's levels have a shortcut around the doubling.
    pub upsample_residual: Vec<bool>,
    /// What the decoder's levels divide their widths by.
    pub upsample_factor: Vec<usize>,
    /// Whether the decoder is told how noisy its latents are.
    pub timestep_conditioning: bool,
    /// Side of the square patches of pixels that are the channels of the network.
    pub patch_size: usize,
    /// Frames of these patches.
    pub patch_size_t: usize,
    /// Added to the variance in the norms of shortcuts.
    pub resnet_norm_eps: f64,
    /// What latents are multiplied by before diffusion.
    pub scaling_factor: f64,
    /// Whether the encoder sees no later frames.
    pub encoder_causal: bool,
    /// Whether the decoder sees no later frames.
    pub decoder_causal: bool,
}

impl Default for LtxAutoencoderConfig {
    fn default() -> Self {
        Self {
            in_channels: 3,
            out_channels: 3,
            latent_channels: 128,
            block_out_channels: vec![128, 256, 512, 512],
            down_block_types: vec![PLAIN_LEVEL.to_owned(); 4],
            decoder_block_out_channels: vec![128, 256, 512, 512],
            layers_per_block: vec![4, 3, 3, 3, 4],
            decoder_layers_per_block: vec![4, 3, 3, 3, 4],
            spatio_temporal_scaling: vec![true, true, true, false],
            decoder_spatio_temporal_scaling: vec![true, true, true, false],
            decoder_inject_noise: vec![false; 5],
            upsample_residual: vec![false; 4],
            upsample_factor: vec![1; 4],
            timestep_conditioning: false,
            patch_size: 4,
            patch_size_t: 1,
            resnet_norm_eps: 1e-6,
            scaling_factor: 1.0,
            encoder_causal: true,
            decoder_causal: false,
        }
    }
}

/// A level of the encoder: residual blocks of one width, a halving, and a residual block to the next width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DownLevel {
    /// Width of its residual blocks.
    pub inputs: usize,
    /// Width of its result.
    pub outputs: usize,
    /// Number of its residual blocks.
    pub layers: usize,
    /// Whether it halves all three lengths.
    pub halves: bool,
}

/// A level of the decoder: a residual block from the width before, a doubling, and residual blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UpLevel {
    /// Width of its input.
    pub inputs: usize,
    /// Width of its residual blocks.
    pub outputs: usize,
    /// Number of its residual blocks after the doubling.
    pub layers: usize,
    /// Whether it doubles all three lengths.
    pub doubles: bool,
    /// Whether there is a shortcut around the doubling.
    pub has_shortcut: bool,
    /// The doubling's input is this many times as wide as its result.
    pub factor: usize,
}

impl LtxAutoencoderConfig {
    /// The published shape, for files without a configuration, if the tensors have its widths.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let config = Self::default();
        let input = tensors.get("decoder.conv_in.conv.weight")?.shape();
        let widest = config.decoder_block_out_channels.last().copied()?;
        (input.first() == Some(&widest)).then_some(config)
    }

    /// Rejects values that no model can have, and those of models that are not supported.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let (down, up) = (self.block_out_channels.len(), self.decoder_block_out_channels.len());
        let lengths = [
            ("spatio_temporal_scaling", self.spatio_temporal_scaling.len(), down),
            ("layers_per_block", self.layers_per_block.len(), down + 1),
            ("decoder_spatio_temporal_scaling", self.decoder_spatio_temporal_scaling.len(), up),
            ("decoder_layers_per_block", self.decoder_layers_per_block.len(), up + 1),
            ("upsample_residual", self.upsample_residual.len(), up),
            ("upsample_factor", self.upsample_factor.len(), up),
        ];
        if let Some((field, length, wanted)) =
            lengths.into_iter().find(|(_, length, wanted)| length != wanted)
        {
            return part.refuse(field, format!("{length} values"), format!("it must have {wanted}"));
        }
        let widths = self.block_out_channels.iter().chain(&self.decoder_block_out_channels);
        if down == 0 || up == 0 || widths.chain(&self.upsample_factor).any(|&width| width == 0) {
            let reason = "every width must be at least 1";
            return part.refuse("block_out_channels", format!("{:?}", self.block_out_channels), reason);
        }
        if let Some(kind) = self.down_block_types.iter().find(|kind| *kind != PLAIN_LEVEL) {
            let reason = "the encoders of LTX-Video 0.9.5 and later are not supported yet";
            return part.refuse("down_block_types", kind, reason);
        }
        if self.decoder_inject_noise.contains(&true) {
            let reason = "decoders that add noise, as in LTX-Video 0.9.1, are not supported yet";
            return part.refuse("decoder_inject_noise", true, reason);
        }
        if self.timestep_conditioning && self.up_levels().iter().any(|level| level.inputs != level.outputs) {
            let reason = "a decoder that is told its noise must have levels of one width";
            return part.refuse("timestep_conditioning", true, reason);
        }
        if self.patch_size == 0 || self.patch_size_t != 1 {
            return part.refuse("patch_size_t", self.patch_size_t, "patches must have one frame");
        }
        Ok(())
    }

    /// Pixels per latent, in each direction.
    pub fn scale(&self) -> usize {
        self.patch_size * self.frames_per_latent()
    }

    /// Frames per latent frame after the first.
    pub fn frames_per_latent(&self) -> usize {
        1 << self.decoder_spatio_temporal_scaling.iter().filter(|doubles| **doubles).count()
    }

    /// The levels of the encoder, from full resolution down.
    pub(super) fn down_levels(&self) -> Vec<DownLevel> {
        let widths = &self.block_out_channels;
        let level = |index: usize| DownLevel {
            inputs: widths[index],
            outputs: widths[(index + 1).min(widths.len() - 1)],
            layers: self.layers_per_block[index],
            halves: self.spatio_temporal_scaling[index],
        };
        (0..widths.len()).map(level).collect()
    }

    /// The levels of the decoder, from the smallest up.
    pub(super) fn up_levels(&self) -> Vec<UpLevel> {
        let count = self.decoder_block_out_channels.len();
        let mut width = self.widest();
        let level = |place: usize| {
            let index = count - 1 - place;
            let factor = self.upsample_factor[index];
            let inputs = width / factor;
            width = self.decoder_block_out_channels[index] / factor;
            UpLevel {
                inputs,
                outputs: width,
                layers: self.decoder_layers_per_block[index],
                doubles: self.decoder_spatio_temporal_scaling[index],
                has_shortcut: self.upsample_residual[index],
                factor,
            }
        };
        (0..count).map(level).collect()
    }

    /// Width of the decoder's middle.
    pub(super) fn widest(&self) -> usize {
        self.decoder_block_out_channels.last().copied().unwrap_or_default()
    }

    /// Residual blocks of the middles of encoder and decoder.
    pub(super) fn middle_layers(&self) -> [usize; 2] {
        [&self.layers_per_block, &self.decoder_layers_per_block]
            .map(|layers| layers.last().copied().unwrap_or(0))
    }

    /// The encoder's blocks, then the decoder's.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (down, up) = (self.down_levels(), self.up_levels());
        let [down_layers, up_layers] = self.middle_layers();
        let (Some(first), Some(smallest), Some(last)) = (down.first(), down.last(), up.last().cloned())
        else {
            return Vec::new();
        };
        let pixels = self.patch_size * self.patch_size;
        let mut blocks = vec![conv(
            BlockSpec::stem("encoder.in"),
            "encoder.conv_in",
            first.inputs,
            pixels * self.in_channels,
        )];
        for (index, level) in down.iter().enumerate() {
            let mut spec = BlockSpec::new(format!("encoder.down_blocks.{index}"));
            for layer in 0..level.layers {
                spec = resnet(spec, &format!("resnets.{layer}"), [level.inputs; 2], false);
            }
            if level.halves {
                spec = conv(spec, "downsamplers.0", level.inputs, level.inputs);
            }
            if level.inputs != level.outputs {
                spec = resnet(spec, "conv_out", [level.inputs, level.outputs], false);
            }
            blocks.push(spec);
        }
        let mut middle = BlockSpec::new("encoder.mid_block");
        for layer in 0..down_layers {
            middle = resnet(middle, &format!("resnets.{layer}"), [smallest.outputs; 2], false);
        }
        let out = BlockSpec::stem("encoder.out");
        blocks.extend([middle, conv(out, "encoder.conv_out", self.latent_channels + 1, smallest.outputs)]);

        let (conditioned, widest) = (self.timestep_conditioning, self.widest());
        blocks.push(conv(BlockSpec::stem("decoder.in"), "decoder.conv_in", widest, self.latent_channels));
        let mut middle = BlockSpec::new("decoder.mid_block");
        if conditioned {
            middle = time_embedder(middle, "time_embedder", 4 * widest);
        }
        for layer in 0..up_layers {
            middle = resnet(middle, &format!("resnets.{layer}"), [widest; 2], conditioned);
        }
        blocks.push(middle);
        for (index, level) in up.iter().enumerate() {
            let mut spec = BlockSpec::new(format!("decoder.up_blocks.{index}"));
            if conditioned {
                spec = time_embedder(spec, "time_embedder", 4 * level.inputs);
            }
            if level.inputs != level.outputs {
                spec = resnet(spec, "conv_in", [level.inputs, level.outputs], conditioned);
            }
            if level.doubles {
                let inputs = level.outputs * level.factor;
                spec = conv(spec, "upsamplers.0.conv", 8 * inputs / level.factor, inputs);
            }
            for layer in 0..level.layers {
                spec = resnet(spec, &format!("resnets.{layer}"), [level.outputs; 2], conditioned);
            }
            blocks.push(spec);
        }
        let mut out = conv(
            BlockSpec::stem("decoder.out"),
            "decoder.conv_out",
            pixels * self.out_channels,
            last.outputs,
        );
        if conditioned {
            out = time_embedder(out, "decoder.time_embedder", 2 * last.outputs)
                .tensor("decoder.scale_shift_table", &[2, last.outputs]);
        }
        blocks.push(out);
        blocks
    }

    /// Index of the decoder's first block; all blocks before it are the encoder's.
    pub(super) fn first_decoder_block(&self) -> usize {
        self.block_out_channels.len() + 3
    }
}

/// A convolution over time and space, which has a layer of its own around it.
fn conv(spec: BlockSpec, name: &str, outputs: usize, inputs: usize) -> BlockSpec {
    spec.conv3d(&format!("{name}.conv"), outputs, inputs, CUBE)
}

fn time_embedder(spec: BlockSpec, name: &str, width: usize) -> BlockSpec {
    spec.linear(&format!("{name}.timestep_embedder.linear_1"), width, TIME).linear(
        &format!("{name}.timestep_embedder.linear_2"),
        width,
        width,
    )
}

fn resnet(spec: BlockSpec, name: &str, [inputs, outputs]: [usize; 2], conditioned: bool) -> BlockSpec {
    let spec = conv(spec, &format!("{name}.conv1"), outputs, inputs);
    let mut spec = conv(spec, &format!("{name}.conv2"), outputs, outputs);
    if conditioned {
        spec = spec.tensor(format!("{name}.scale_shift_table"), &[4, inputs]);
    }
    if inputs == outputs {
        return spec;
    }
    let spec = spec.norm(&format!("{name}.norm3"), inputs);
    spec.conv3d(&format!("{name}.conv_shortcut.conv"), outputs, inputs, [1; 3])
}
