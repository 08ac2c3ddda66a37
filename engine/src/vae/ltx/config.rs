//! The shape of an [`LtxAutoencoder`](super::LtxAutoencoder).

use serde::Deserialize;

use super::original;
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    vae::wan_config::CUBE,
};

/// Width of the sinusoidal embedding of a timestep.
pub const TIME: usize = 256;
/// The encoder's levels up to 0.9.1: a residual block after the halving leads to the next width.
pub const PLAIN_LEVEL: &str = "LTXVideoDownBlock3D";
/// The encoder's levels from 0.9.5 on: the halving leads to the next width.
pub const FOLDED_LEVEL: &str = "LTXVideo095DownBlock3D";

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
    /// Which of the encoder's levels halve lengths.
    pub spatio_temporal_scaling: Vec<bool>,
    /// What the encoder's levels halve, and how.
    pub downsample_type: Vec<String>,
    /// Which of the decoder's levels double them.
    pub decoder_spatio_temporal_scaling: Vec<bool>,
    /// Where the decoder adds noise, as in LTX-Video 0.9.1: in its levels and, last, in its middle.
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
            downsample_type: vec!["conv".to_owned(); 4],
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

/// How a level of the encoder makes its values fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halving {
    /// By a convolution that skips every second value, in all three directions.
    Strided,
    /// Neighbouring values become channels.
    Folded {
        /// Frames that become one.
        frames: usize,
        /// Side of the squares of pixels that become one.
        side: usize,
    },
}

impl Halving {
    /// Frames that become one, and the side of the squares of pixels that become one.
    fn factors(self) -> [usize; 2] {
        match self {
            Self::Strided => [2, 2],
            Self::Folded { frames, side } => [frames, side],
        }
    }
}

/// A level of the encoder: residual blocks of one width, a halving, and the way to the next width.
#[derive(Debug, Clone, PartialEq)]
pub struct DownLevel {
    /// Width of its residual blocks.
    pub inputs: usize,
    /// Width of its result.
    pub outputs: usize,
    /// Number of its residual blocks.
    pub layers: usize,
    /// How it makes its values fewer, if it does.
    pub halving: Option<Halving>,
}

impl DownLevel {
    /// Whether a residual block leads to the next width. Otherwise the halving does.
    pub fn widens(&self) -> bool {
        self.inputs != self.outputs && !matches!(self.halving, Some(Halving::Folded { .. }))
    }
}

/// A level of the decoder: a residual block from the width before, a doubling, and residual blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct UpLevel {
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
    /// Whether its residual blocks add noise.
    pub noisy: bool,
}

impl LtxAutoencoderConfig {
    /// The shape of tensors with the authors' names, or else that of 0.9.0 if the tensors have its widths, for files without
    /// a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        if original::is_original(tensors) {
            return original::shape_of(tensors);
        }
        let config = Self::default();
        let input = tensors.get("decoder.conv_in.conv.weight")?.shape();
        let widest = config.decoder_block_out_channels.last().copied()?;
        (input.first() == Some(&widest)).then_some(config)
    }

    /// Rejects values that no model can have, and those of models that are not supported.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let (down, up) = (self.down_count(), self.decoder_block_out_channels.len());
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
        self.check_encoder(part)?;
        self.check_decoder(part)?;
        if self.patch_size == 0 || self.patch_size_t != 1 {
            return part.refuse("patch_size_t", self.patch_size_t, "patches must have one frame");
        }
        Ok(())
    }

    fn check_encoder(&self, part: &Part) -> Result<(), CheckpointError> {
        let kind = if self.is_folded() { FOLDED_LEVEL } else { PLAIN_LEVEL };
        if let Some(other) = self.down_block_types.iter().find(|own| *own != kind) {
            return part.refuse(
                "down_block_types",
                other,
                "the levels of an encoder must be of one known type",
            );
        }
        if self.is_folded() && self.downsample_type.len() != self.down_count() {
            let (length, wanted) = (self.downsample_type.len(), self.down_count());
            return part.refuse(
                "downsample_type",
                format!("{length} values"),
                format!("it must have {wanted}"),
            );
        }
        if let Some(other) = self.downsample_type.iter().find(|name| factors(name).is_none()) {
            let reason = "only conv, spatial, temporal and spatiotemporal are known";
            return part.refuse("downsample_type", other, reason);
        }
        for DownLevel { inputs, outputs, halving, .. } in self.down_levels() {
            let fits = match halving {
                Some(Halving::Folded { frames, side }) => {
                    let values = frames * side * side;
                    outputs.is_multiple_of(values) && (inputs * values).is_multiple_of(outputs)
                }
                _ => inputs == outputs || !self.is_folded(),
            };
            if !fits {
                let reason = "the width does not fit the number of values that become one";
                return part.refuse("block_out_channels", outputs, reason);
            }
        }
        let halvings = self.down_levels().into_iter().filter_map(|level| level.halving);
        let [frames, side] = halvings.fold([1, 1], |[frames, side], halving| {
            let [fewer, smaller] = halving.factors();
            [frames * fewer, side * smaller]
        });
        if [frames, side * self.patch_size] != [self.frames_per_latent(), self.scale()] {
            let (wanted, scale) = (self.frames_per_latent(), self.scale());
            let reason =
                format!("the decoder makes {wanted} frames of {scale} by {scale} pixels of a latent");
            return part.refuse("spatio_temporal_scaling", format!("{frames} frames, {side}"), reason);
        }
        Ok(())
    }

    fn check_decoder(&self, part: &Part) -> Result<(), CheckpointError> {
        let levels = self.up_levels();
        let noisy = self.decoder_inject_noise.contains(&true);
        if noisy && self.decoder_inject_noise.len() <= levels.len() {
            let length = format!("{} values", self.decoder_inject_noise.len());
            return part.refuse("decoder_inject_noise", length, format!("it must have {}", levels.len() + 1));
        }
        if levels.iter().any(|level| level.noisy && level.inputs != level.outputs) {
            let reason = "a level that adds noise must have one width";
            return part.refuse("decoder_inject_noise", true, reason);
        }
        if self.timestep_conditioning && levels.iter().any(|level| level.inputs != level.outputs) {
            let reason = "a decoder that is told its noise must have levels of one width";
            return part.refuse("timestep_conditioning", true, reason);
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

    /// Whether the encoder's levels are those from 0.9.5 on.
    pub fn is_folded(&self) -> bool {
        self.down_block_types.last().is_some_and(|kind| kind == FOLDED_LEVEL)
    }

    /// The number of the encoder's levels.
    fn down_count(&self) -> usize {
        self.block_out_channels.len().saturating_sub(usize::from(self.is_folded()))
    }

    /// The levels of the encoder, from full resolution down.
    pub fn down_levels(&self) -> Vec<DownLevel> {
        let widths = &self.block_out_channels;
        let level = |index: usize| DownLevel {
            inputs: widths[index],
            outputs: widths[(index + 1).min(widths.len() - 1)],
            layers: self.layers_per_block[index],
            halving: self.spatio_temporal_scaling[index].then(|| self.halving(index)),
        };
        (0..self.down_count()).map(level).collect()
    }

    /// How a level of the encoder halves its values.
    fn halving(&self, index: usize) -> Halving {
        let factors = self.downsample_type.get(index).and_then(|name| factors(name)).flatten();
        match factors.filter(|_| self.is_folded()) {
            Some([frames, side]) => Halving::Folded { frames, side },
            None => Halving::Strided,
        }
    }

    /// The levels of the decoder, from the smallest up.
    pub fn up_levels(&self) -> Vec<UpLevel> {
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
                noisy: self.decoder_inject_noise.get(index).copied().unwrap_or(false),
            }
        };
        (0..count).map(level).collect()
    }

    /// Width of the decoder's middle.
    pub fn widest(&self) -> usize {
        self.decoder_block_out_channels.last().copied().unwrap_or_default()
    }

    /// Residual blocks of the middles of encoder and decoder.
    pub fn middle_layers(&self) -> [usize; 2] {
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
                spec = resnet(spec, &format!("resnets.{layer}"), [level.inputs; 2], Resnet::default());
            }
            spec = match level.halving {
                Some(Halving::Strided) => conv(spec, "downsamplers.0", level.inputs, level.inputs),
                Some(Halving::Folded { frames, side }) => {
                    let outputs = level.outputs / (frames * side * side);
                    conv(spec, "downsamplers.0.conv", outputs, level.inputs)
                }
                None => spec,
            };
            if level.widens() {
                spec = resnet(spec, "conv_out", [level.inputs, level.outputs], Resnet::default());
            }
            blocks.push(spec);
        }
        let mut middle = BlockSpec::new("encoder.mid_block");
        for layer in 0..down_layers {
            middle = resnet(middle, &format!("resnets.{layer}"), [smallest.outputs; 2], Resnet::default());
        }
        let out = BlockSpec::stem("encoder.out");
        blocks.extend([middle, conv(out, "encoder.conv_out", self.latent_channels + 1, smallest.outputs)]);

        let (conditioned, widest) = (self.timestep_conditioning, self.widest());
        let noisy = self.decoder_inject_noise.get(up.len()).copied().unwrap_or(false);
        blocks.push(conv(BlockSpec::stem("decoder.in"), "decoder.conv_in", widest, self.latent_channels));
        let mut middle = BlockSpec::new("decoder.mid_block");
        if conditioned {
            middle = time_embedder(middle, "time_embedder", 4 * widest);
        }
        for layer in 0..up_layers {
            middle = resnet(middle, &format!("resnets.{layer}"), [widest; 2], Resnet { conditioned, noisy });
        }
        blocks.push(middle);
        for (index, level) in up.iter().enumerate() {
            let mut spec = BlockSpec::new(format!("decoder.up_blocks.{index}"));
            let kind = Resnet { conditioned, noisy: level.noisy };
            if conditioned {
                spec = time_embedder(spec, "time_embedder", 4 * level.inputs);
            }
            if level.inputs != level.outputs {
                spec = resnet(spec, "conv_in", [level.inputs, level.outputs], kind);
            }
            if level.doubles {
                let inputs = level.outputs * level.factor;
                spec = conv(spec, "upsamplers.0.conv", 8 * inputs / level.factor, inputs);
            }
            for layer in 0..level.layers {
                spec = resnet(spec, &format!("resnets.{layer}"), [level.outputs; 2], kind);
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
    pub fn first_decoder_block(&self) -> usize {
        self.down_count() + 3
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

/// What a residual block has besides its convolutions.
#[derive(Debug, Clone, Copy, Default)]
struct Resnet {
    /// It is told the timestep.
    conditioned: bool,
    /// It adds noise.
    noisy: bool,
}

fn resnet(spec: BlockSpec, name: &str, [inputs, outputs]: [usize; 2], kind: Resnet) -> BlockSpec {
    let spec = conv(spec, &format!("{name}.conv1"), outputs, inputs);
    let mut spec = conv(spec, &format!("{name}.conv2"), outputs, outputs);
    if kind.conditioned {
        spec = spec.tensor(format!("{name}.scale_shift_table"), &[4, inputs]);
    }
    if kind.noisy {
        for number in [1, 2] {
            spec = spec.tensor(format!("{name}.per_channel_scale{number}"), &[inputs, 1, 1]);
        }
    }
    if inputs == outputs {
        return spec;
    }
    let spec = spec.norm(&format!("{name}.norm3"), inputs);
    spec.conv3d(&format!("{name}.conv_shortcut.conv"), outputs, inputs, [1; 3])
}

/// How many frames become one, and the side of the squares of pixels that become one, by the name of the folding;
/// `None` for an unknown name, and nothing inside for a strided convolution.
fn factors(name: &str) -> Option<Option<[usize; 2]>> {
    match name {
        "conv" => Some(None),
        "spatial" => Some(Some([1, 2])),
        "temporal" => Some(Some([2, 1])),
        "spatiotemporal" => Some(Some([2, 2])),
        _ => None,
    }
}
