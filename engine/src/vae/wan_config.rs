//! The shape of a [`WanAutoencoder`](super::WanAutoencoder).
//!
//! That of Wan 2.2 5B has shortcuts around its levels, and patches of pixels as channels. That of Qwen-Image 2.1 has the
//! shortcuts, an opacity beside the colours, and kernels for single frames.

use serde::Deserialize;

use crate::checkpoint::{BlockSpec, CheckpointError, Part, TensorTable};

/// A kernel over frames, rows and columns.
pub(super) const CUBE: [usize; 3] = [3; 3];
/// A kernel over frames alone.
const TIME: [usize; 3] = [3, 1, 1];

/// The shape of the autoencoder, as in its `config.json`. Its words are those of diffusers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct WanAutoencoderConfig {
    /// Width at full resolution.
    pub base_dim: usize,
    /// The same of the decoder, if it differs.
    pub decoder_base_dim: Option<usize>,
    /// Channels of the latents.
    pub z_dim: usize,
    /// Widths from full resolution down to the smallest, in multiples of `base_dim`.
    pub dim_mult: Vec<usize>,
    /// Residual blocks per level; the decoder has one more.
    pub num_res_blocks: usize,
    /// Levels with attention.
    pub attn_scales: Vec<f64>,
    /// For each level but the last, whether the number of frames is halved there too.
    pub temperal_downsample: Vec<bool>,
    /// Subtracted from the channels of the latents before diffusion.
    pub latents_mean: Vec<f64>,
    /// What the channels of the latents are then divided by.
    pub latents_std: Vec<f64>,
    /// Whether levels have shortcuts around their resampling, as in Wan 2.2 5B.
    pub is_residual: bool,
    /// Channels of the encoder's input.
    pub in_channels: usize,
    /// Channels of the decoder's output.
    pub out_channels: usize,
    /// Side of the square patches of pixels that are the channels of the network, if it has any.
    pub patch_size: Option<usize>,
    /// Whether its kernels span rows and columns of a single image, and no frames. Its tensors show it.
    #[serde(skip)]
    pub is_flat: bool,
}

impl Default for WanAutoencoderConfig {
    fn default() -> Self {
        Self {
            base_dim: 96,
            decoder_base_dim: None,
            z_dim: 16,
            dim_mult: vec![1, 2, 4, 4],
            num_res_blocks: 2,
            attn_scales: Vec::new(),
            temperal_downsample: vec![false, true, true],
            latents_mean: vec![
                -0.7571, -0.7089, -0.9113, 0.1075, -0.1745, 0.9653, -0.1517, 1.5508, 0.4134, -0.0715, 0.5517,
                -0.3632, -0.1922, -0.9497, 0.2503, -0.2921,
            ],
            latents_std: vec![
                2.8184, 1.4541, 2.3275, 2.6558, 1.2196, 1.7708, 2.6052, 2.0743, 3.2687, 2.1526, 2.8652,
                1.5579, 1.6382, 1.1253, 2.8251, 1.9160,
            ],
            is_residual: false,
            in_channels: 3,
            out_channels: 3,
            patch_size: None,
            is_flat: false,
        }
    }
}

/// What the tensors of an encoder say about its levels.
struct Levels {
    dim_mult: Vec<usize>,
    in_time: Vec<bool>,
    resnets: usize,
}

impl Levels {
    /// Of an encoder whose layers are numbered in one sequence.
    fn in_sequence<'a>(shape: &impl Fn([&str; 2]) -> Option<&'a [usize]>, base_dim: usize) -> Option<Self> {
        let kernel = |number: usize, original: &str, own: &str| {
            let original = format!("encoder.downsamples.{number}.{original}.weight");
            shape([&original, &format!("encoder.down_blocks.{number}.{own}.weight")])
        };
        let (mut dim_mult, mut in_time, mut resnets, mut width) = (Vec::new(), Vec::new(), 0, base_dim);
        for number in 0.. {
            if let Some(kernel) = kernel(number, "residual.6", "conv2") {
                width = *kernel.first()?;
                resnets += usize::from(dim_mult.is_empty());
            } else if kernel(number, "resample.1", "resample.1").is_some() {
                dim_mult.push(width.checked_div(base_dim)?);
                in_time.push(kernel(number, "time_conv", "time_conv").is_some());
            } else {
                break;
            }
        }
        dim_mult.push(width.checked_div(base_dim)?);
        Some(Self { dim_mult, in_time, resnets })
    }

    /// Of an encoder whose layers are numbered within levels.
    fn nested<'a>(shape: &impl Fn([&str; 2]) -> Option<&'a [usize]>, base_dim: usize) -> Option<Self> {
        let resnet = |level: usize, layer: usize| {
            let original = format!("encoder.downsamples.{level}.downsamples.{layer}.residual.6.weight");
            shape([&original, &format!("encoder.down_blocks.{level}.resnets.{layer}.conv2.weight")])
        };
        let resnets = (0..).take_while(|layer| resnet(0, *layer).is_some()).count();
        let width = |level: usize| resnet(level, 0)?.first()?.checked_div(base_dim);
        let dim_mult: Vec<usize> = (0..).map_while(width).collect();
        let in_time = |level: usize| {
            let original = format!("encoder.downsamples.{level}.downsamples.{resnets}.time_conv.weight");
            shape([&original, &format!("encoder.down_blocks.{level}.downsampler.time_conv.weight")]).is_some()
        };
        let in_time = (0..dim_mult.len().saturating_sub(1)).map(in_time).collect();
        Some(Self { dim_mult, in_time, resnets })
    }
}

/// One level of the encoder or the decoder: its residual blocks, then its resampling.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    /// Width of its input.
    pub inputs: usize,
    /// Width of its residual blocks.
    pub width: usize,
    /// The names of its residual blocks.
    pub resnets: Vec<String>,
    /// How it ends; the last level keeps the size.
    pub sampler: Option<Sampler>,
    /// Whether there is a shortcut around it.
    pub has_shortcut: bool,
}

/// The end of a level, where the resolution changes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sampler {
    /// Its name.
    pub name: String,
    /// Width of its result.
    pub outputs: usize,
    /// Whether the number of frames changes too.
    pub in_time: bool,
}

impl WanAutoencoderConfig {
    /// Infers the shape from tensors under their original or diffusers names, for files without a configuration.
    /// The scaling of the latents is that of the published model.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape =
            |names: [&str; 2]| names.iter().find_map(|name| tensors.get(*name)).map(|tensor| tensor.shape());
        let input = shape(["encoder.conv1.weight", "encoder.conv_in.weight"])?;
        let base_dim = *input.first()?;
        let decoder_dim = *shape(["decoder.head.2.weight", "decoder.conv_out.weight"])?.get(1)?;
        let has = |name: &str| tensors.contains_key(name);
        let is_residual = [
            "encoder.downsamples.0.downsamples.0.residual.6.weight",
            "encoder.down_blocks.0.resnets.0.conv2.weight",
        ]
        .iter()
        .any(|name| has(name));
        let levels = if is_residual {
            Levels::nested(&shape, base_dim)?
        } else {
            Levels::in_sequence(&shape, base_dim)?
        };
        let (dim_mult, in_time, resnets) = (levels.dim_mult, levels.in_time, levels.resnets);
        let out_channels = *shape(["decoder.head.2.weight", "decoder.conv_out.weight"])?.first()?;
        let z_dim = *shape(["decoder.conv1.weight", "decoder.conv_in.weight"])?.get(1)?;
        let is_flat = is_flat(tensors);
        let scaling = match is_residual {
            true if is_flat => Self::of_qwen_image_21(),
            true => Self::of_wan_2_2(),
            false => Self::default(),
        };
        Some(Self {
            base_dim,
            decoder_base_dim: Some(decoder_dim / dim_mult.first()?.max(&1)),
            z_dim,
            dim_mult,
            num_res_blocks: resnets,
            temperal_downsample: in_time,
            in_channels: *input.get(1)?,
            out_channels,
            is_residual,
            patch_size: (out_channels > 3 && !is_flat).then(|| (out_channels / 3).isqrt()),
            is_flat,
            ..scaling
        })
    }

    /// The shape of Qwen-Image 2.1's.
    #[expect(clippy::approx_constant, reason = "a mean that is near a constant by chance")]
    fn of_qwen_image_21() -> Self {
        Self {
            decoder_base_dim: Some(144),
            z_dim: 64,
            dim_mult: vec![1, 2, 4, 8, 8],
            temperal_downsample: vec![false, true, true, true],
            latents_mean: vec![
                0.5126, 0.7721, -0.0631, 1.3506, -0.7855, -2.1025, -0.3458, 1.3722, 1.8873, -1.7177, -0.651,
                0.2732, 0.7562, -0.6163, -1.0277, 3.8363, 2.021, 0.0472, 0.932, 2.0087, 2.4954, -0.1391,
                -1.4249, 1.8464, -0.5236, 1.2826, 3.7046, -1.3035, 2.7286, -1.4518, -1.9036, -1.9955,
                -0.0342, -1.0265, -0.7636, 3.0555, 0.0746, -3.0751, -0.1076, 1.7376, -1.0914, -1.9435,
                -0.2784, -1.368, 0.4809, -0.4433, 0.3764, 0.5729, -2.0595, 1.096, -1.326, -2.0211, -5.0179,
                0.5275, 4.0162, 1.8505, 0.3026, 1.9373, 1.4937, 0.2632, 0.5547, -1.7121, -0.1562, 0.0304,
            ],
            latents_std: vec![
                3.2001, 3.2936, 3.4321, 3.0091, 3.1061, 4.0379, 4.0705, 3.791, 3.0785, 3.65, 3.9308, 3.0904,
                2.8778, 3.7675, 3.732, 5.0756, 3.2864, 4.0397, 3.1317, 4.0443, 2.9249, 3.9454, 3.0988,
                4.2489, 3.4896, 3.8513, 3.9323, 3.4719, 3.7498, 4.283, 3.5694, 4.2467, 3.9037, 3.2947, 5.077,
                3.5075, 3.27, 3.4767, 2.8063, 5.1125, 3.5327, 4.7833, 3.1286, 4.1819, 3.8527, 3.8312, 3.5605,
                4.3875, 3.9624, 4.0168, 3.5643, 4.055, 5.5614, 4.2963, 4.408, 3.4959, 3.8747, 3.7608, 3.5735,
                3.149, 3.7662, 3.6746, 3.4563, 3.8161,
            ],
            is_residual: true,
            in_channels: 4,
            out_channels: 4,
            is_flat: true,
            ..Self::default()
        }
    }

    /// The shape of Wan 2.2 5B's.
    fn of_wan_2_2() -> Self {
        Self {
            base_dim: 160,
            decoder_base_dim: Some(256),
            z_dim: 48,
            latents_mean: vec![
                -0.2289, -0.0052, -0.1323, -0.2339, -0.2799, 0.0174, 0.1838, 0.1557, -0.1382, 0.0542, 0.2813,
                0.0891, 0.157, -0.0098, 0.0375, -0.1825, -0.2246, -0.1207, -0.0698, 0.5109, 0.2665, -0.2108,
                -0.2158, 0.2502, -0.2055, -0.0322, 0.1109, 0.1567, -0.0729, 0.0899, -0.2799, -0.123, -0.0313,
                -0.1649, 0.0117, 0.0723, -0.2839, -0.2083, -0.052, 0.3748, 0.0152, 0.1957, 0.1433, -0.2944,
                0.3573, -0.0548, -0.1681, -0.0667,
            ],
            latents_std: vec![
                0.4765, 1.0364, 0.4514, 1.1677, 0.5313, 0.499, 0.4818, 0.5013, 0.8158, 1.0344, 0.5894,
                1.0901, 0.6885, 0.6165, 0.8454, 0.4978, 0.5759, 0.3523, 0.7135, 0.6804, 0.5833, 1.4146,
                0.8986, 0.5659, 0.7069, 0.5338, 0.4889, 0.4917, 0.4069, 0.4999, 0.6866, 0.4093, 0.5709,
                0.6065, 0.6415, 0.4944, 0.5726, 1.2042, 0.5458, 1.6887, 0.3971, 1.06, 0.3943, 0.5537, 0.5444,
                0.4089, 0.7468, 0.7744,
            ],
            is_residual: true,
            in_channels: 12,
            out_channels: 12,
            patch_size: Some(2),
            ..Self::default()
        }
    }

    /// Rejects values that no model can have, and those of models that are not supported.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let levels = self.dim_mult.len();
        if self.base_dim == 0 || self.dim_mult.is_empty() || self.dim_mult.contains(&0) {
            return part.refuse("dim_mult", format!("{:?}", self.dim_mult), "every width must be at least 1");
        }
        if self.temperal_downsample.len() + 1 < levels {
            let value = format!("{:?}", self.temperal_downsample);
            return part.refuse("temperal_downsample", value, format!("it must have {} values", levels - 1));
        }
        if !self.attn_scales.is_empty() {
            let value = format!("{:?}", self.attn_scales);
            return part.refuse("attn_scales", value, "attention in levels is not supported");
        }
        let (patch, colours) = (self.patch() * self.patch(), if self.is_flat { 4 } else { 3 });
        for (field, channels) in [("in_channels", self.in_channels), ("out_channels", self.out_channels)] {
            if patch == 0 || channels != colours * patch {
                return part.refuse(
                    field,
                    channels,
                    format!("it must be {colours} · {patch}, for the colours of a patch"),
                );
            }
        }
        if self.is_residual && self.has_odd_shortcuts() {
            let reason = "the channels of a level's shortcut do not divide";
            return part.refuse("dim_mult", format!("{:?}", self.dim_mult), reason);
        }
        for (field, values) in [("latents_mean", &self.latents_mean), ("latents_std", &self.latents_std)] {
            let wrong = |value: &f64| !value.is_finite() || (field == "latents_std" && *value == 0.0);
            if values.len() != self.z_dim || values.iter().any(wrong) {
                let reason = format!("it must be {} finite numbers, and no deviation may be 0", self.z_dim);
                return part.refuse(field, format!("{values:?}"), reason);
            }
        }
        Ok(())
    }

    /// Pixels per latent, in each direction.
    pub fn scale(&self) -> usize {
        self.patch() << (self.dim_mult.len() - 1)
    }

    /// Side of the patches of pixels.
    pub(super) fn patch(&self) -> usize {
        self.patch_size.unwrap_or(1)
    }

    /// Whether a shortcut would have to split channels unevenly.
    fn has_odd_shortcuts(&self) -> bool {
        let factor =
            |level: &Level| level.sampler.as_ref().map_or(1, |sampler| if sampler.in_time { 8 } else { 4 });
        let odd = |level: &Level| !(level.inputs * factor(level)).is_multiple_of(level.width);
        let odd_up = |level: &Level| {
            level.sampler.is_some() && !(level.width * factor(level)).is_multiple_of(level.inputs)
        };
        self.down_levels().iter().any(odd) || self.up_levels().iter().any(odd_up)
    }

    /// Frames per latent frame after the first.
    pub fn frames_per_latent(&self) -> usize {
        let in_time = self.temperal_downsample.iter().take(self.dim_mult.len() - 1);
        1 << in_time.filter(|halves| **halves).count()
    }

    fn decoder_dim(&self) -> usize {
        self.decoder_base_dim.unwrap_or(self.base_dim)
    }

    /// The levels of the encoder, from full resolution down.
    pub(super) fn down_levels(&self) -> Vec<Level> {
        let widths = self.dim_mult.iter().map(|times| times * self.base_dim);
        let (mut inputs, mut number) = (self.base_dim, 0);
        let level = |(level, width): (usize, usize)| {
            let name = |block: usize| match self.is_residual {
                true => format!("{level}.resnets.{block}"),
                false => (number + block).to_string(),
            };
            let resnets = (0..self.num_res_blocks).map(name).collect();
            number += self.num_res_blocks;
            let sampler = (level + 1 < self.dim_mult.len()).then(|| Sampler {
                name: if self.is_residual { format!("{level}.downsampler") } else { number.to_string() },
                outputs: width,
                in_time: self.temperal_downsample[level],
            });
            number += usize::from(sampler.is_some());
            let inputs = std::mem::replace(&mut inputs, width);
            Level { inputs, width, resnets, sampler, has_shortcut: self.is_residual }
        };
        widths.enumerate().map(level).collect()
    }

    /// The levels of the decoder, from the smallest up.
    pub(super) fn up_levels(&self) -> Vec<Level> {
        let widths: Vec<usize> = self.dim_mult.iter().rev().map(|times| times * self.decoder_dim()).collect();
        let mut inputs = widths.first().copied().unwrap_or_default();
        let level = |(level, &width): (usize, &usize)| {
            let sampler = (level + 1 < widths.len()).then(|| Sampler {
                name: if self.is_residual { "upsampler" } else { "upsamplers.0" }.to_owned(),
                outputs: if self.is_residual { width } else { width / 2 },
                in_time: self.temperal_downsample[widths.len() - 2 - level],
            });
            let resnets = (0..=self.num_res_blocks).map(|block| format!("resnets.{block}")).collect();
            let next = sampler.as_ref().map_or(width, |sampler| sampler.outputs);
            let has_shortcut = self.is_residual && sampler.is_some();
            Level { inputs: std::mem::replace(&mut inputs, next), width, resnets, sampler, has_shortcut }
        };
        widths.iter().enumerate().map(level).collect()
    }

    /// The encoder's blocks, then the decoder's.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let [down, up] = [self.down_levels(), self.up_levels()];
        let (Some(smallest), Some(first), Some(last)) = (down.last(), up.first(), up.last()) else {
            return Vec::new();
        };
        let moments = 2 * self.z_dim;
        let kernels = Kernels { is_flat: self.is_flat };
        let stem = BlockSpec::stem("encoder.in");
        let mut blocks = vec![kernels.add(stem, "encoder.conv_in", self.base_dim, self.in_channels)];
        for (index, level) in down.iter().enumerate() {
            let name = format!("encoder.levels.{index}");
            let spec = BlockSpec { prefix: "encoder.down_blocks.".to_owned(), ..BlockSpec::new(name) };
            blocks.push(kernels.level(spec, level, 1));
        }
        blocks.push(kernels.middle("encoder.mid_block", smallest.width));
        let out = BlockSpec::stem("encoder.out").tensor("encoder.norm_out.gamma", &[smallest.width]);
        let out = kernels.add(out, "encoder.conv_out", moments, smallest.width);
        blocks.push(out.conv("quant_conv", moments, moments, 1));
        let stem = BlockSpec::stem("decoder.in").conv("post_quant_conv", self.z_dim, self.z_dim, 1);
        blocks.push(kernels.add(stem, "decoder.conv_in", first.inputs, self.z_dim));
        blocks.push(kernels.middle("decoder.mid_block", first.inputs));
        for (index, level) in up.iter().enumerate() {
            blocks.push(kernels.level(BlockSpec::new(format!("decoder.up_blocks.{index}")), level, 2));
        }
        let out = BlockSpec::stem("decoder.out").tensor("decoder.norm_out.gamma", &[last.width]);
        blocks.push(kernels.add(out, "decoder.conv_out", self.out_channels, last.width));
        blocks
    }

    /// Names and shapes of the tensors of a flat autoencoder's file that only clips would need.
    pub fn layers_of_clips(&self) -> Vec<(String, Vec<usize>)> {
        let mut layers = Vec::new();
        for (side, levels, frames) in
            [("encoder.down_blocks.", self.down_levels(), 1), ("decoder.up_blocks.", self.up_levels(), 2)]
        {
            for (index, level) in levels.iter().enumerate() {
                let Some(sampler) = level.sampler.as_ref().filter(|sampler| sampler.in_time) else {
                    continue;
                };
                let block = if frames == 2 { format!("{side}{index}.") } else { side.to_owned() };
                let name = format!("{block}{}.time_conv", sampler.name);
                let outputs = frames * level.width;
                layers.push((format!("{name}.weight"), vec![outputs, level.width, 1, 1]));
                layers.push((format!("{name}.bias"), vec![outputs]));
            }
        }
        layers
    }

    /// Index of the decoder's first block; all blocks before it are the encoder's.
    pub(super) fn first_decoder_block(&self) -> usize {
        self.dim_mult.len() + 3
    }
}

/// Whether the first layer's kernel is one of single images. In ComfyUI's files it spans one frame.
pub(super) fn is_flat(tensors: &TensorTable) -> bool {
    let names = ["decoder.conv_in.weight", "decoder.conv1.weight"];
    let kernel = names.iter().find_map(|name| tensors.get(*name));
    kernel.is_some_and(|kernel| matches!(kernel.shape(), [_, _, _, _] | [_, _, 1, _, _]))
}

/// The kernels of an autoencoder: over frames, or of single images.
#[derive(Clone, Copy)]
struct Kernels {
    is_flat: bool,
}

impl Kernels {
    /// Adds a convolution over rows and columns, and over frames unless they are single.
    fn add(self, spec: BlockSpec, name: &str, outputs: usize, inputs: usize) -> BlockSpec {
        match self.is_flat {
            true => spec.conv(name, outputs, inputs, 3),
            false => spec.conv3d(name, outputs, inputs, CUBE),
        }
    }

    /// A level whose resampling makes `frames` of each frame, if it changes their number. A single one stays alone.
    fn level(self, mut spec: BlockSpec, level: &Level, frames: usize) -> BlockSpec {
        for (index, name) in level.resnets.iter().enumerate() {
            spec = self.resnet(spec, name, if index == 0 { level.inputs } else { level.width }, level.width);
        }
        let Some(Sampler { name, outputs, in_time }) = &level.sampler else { return spec };
        let spec = spec.conv(&format!("{name}.resample.1"), *outputs, level.width, 3);
        match *in_time && !self.is_flat {
            true => spec.conv3d(&format!("{name}.time_conv"), frames * level.width, level.width, TIME),
            false => spec,
        }
    }

    fn middle(self, name: &str, width: usize) -> BlockSpec {
        let spec = self
            .resnet(BlockSpec::new(name), "resnets.0", width, width)
            .tensor("attentions.0.norm.gamma", &[width])
            .linear("attentions.0.to_qkv", 3 * width, width)
            .linear("attentions.0.proj", width, width);
        self.resnet(spec, "resnets.1", width, width)
    }

    fn resnet(self, spec: BlockSpec, name: &str, inputs: usize, outputs: usize) -> BlockSpec {
        let spec = spec.tensor(format!("{name}.norm1.gamma"), &[inputs]);
        let spec = self.add(spec, &format!("{name}.conv1"), outputs, inputs);
        let spec = spec.tensor(format!("{name}.norm2.gamma"), &[outputs]);
        let spec = self.add(spec, &format!("{name}.conv2"), outputs, outputs);
        if inputs == outputs { spec } else { spec.conv(&format!("{name}.conv_shortcut"), outputs, inputs, 1) }
    }
}
