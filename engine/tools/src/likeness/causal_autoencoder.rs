//! The causal 3D autoencoder of Wan (Team Wan 2025), which Qwen-Image shares.

use std::iter::once;

use serde::Deserialize;

use super::outline::Outline;
use crate::random::RandomTensor;

/// A kernel over time, height and width.
const CUBE: [usize; 3] = [3; 3];
const POINT: [usize; 3] = [1; 3];
/// A kernel over time alone.
const TIME: [usize; 3] = [3, 1, 1];
/// Kernels over single frames.
const SQUARE: [usize; 2] = [3; 2];
const PIXEL: [usize; 2] = [1; 2];

/// Configuration of `AutoencoderKLWan` and `AutoencoderKLQwenImage`.
#[derive(Debug, Deserialize)]
pub(super) struct CausalAutoencoderConfig {
    base_dim: usize,
    #[serde(default)]
    decoder_base_dim: Option<usize>,
    dim_mult: Vec<usize>,
    #[serde(default = "red_green_blue")]
    in_channels: usize,
    /// Wan 2.2, whose levels have shortcuts around their resampling.
    #[serde(default)]
    is_residual: bool,
    num_res_blocks: usize,
    #[serde(default = "red_green_blue")]
    out_channels: usize,
    temperal_downsample: Vec<bool>,
    z_dim: usize,
}

fn red_green_blue() -> usize {
    3
}

impl CausalAutoencoderConfig {
    /// The tensors under diffusers' names.
    pub fn tensors(&self) -> Vec<RandomTensor> {
        let mut outline = Outline::default();
        self.encoder(&mut outline);
        outline.convolution("quant_conv", 2 * self.z_dim, 2 * self.z_dim, &POINT);
        outline.convolution("post_quant_conv", self.z_dim, self.z_dim, &POINT);
        self.decoder(&mut outline);
        outline.into_tensors()
    }

    fn encoder(&self, outline: &mut Outline) {
        let widths: Vec<usize> = self.dim_mult.iter().map(|times| times * self.base_dim).collect();
        outline.convolution("encoder.conv_in", self.in_channels, self.base_dim, &CUBE);
        let (mut width, mut flat) = (self.base_dim, 0);
        for (level, &wider) in widths.iter().enumerate() {
            for block in 0..self.num_res_blocks {
                let name = if self.is_residual {
                    format!("encoder.down_blocks.{level}.resnets.{block}")
                } else {
                    format!("encoder.down_blocks.{flat}")
                };
                resnet(outline, &name, width, wider);
                (width, flat) = (wider, flat + 1);
            }
            // The last level keeps its size.
            if level + 1 < widths.len() {
                let name = if self.is_residual {
                    format!("encoder.down_blocks.{level}.downsampler")
                } else {
                    format!("encoder.down_blocks.{flat}")
                };
                outline.convolution(&format!("{name}.resample.1"), width, width, &SQUARE);
                if self.temperal_downsample.get(level) == Some(&true) {
                    outline.convolution(&format!("{name}.time_conv"), width, width, &TIME);
                }
                flat += 1;
            }
        }
        middle(outline, "encoder", width);
        outline.tensor("encoder.norm_out.gamma", &[width, 1, 1, 1]);
        outline.convolution("encoder.conv_out", width, 2 * self.z_dim, &CUBE);
    }

    fn decoder(&self, outline: &mut Outline) {
        let base = self.decoder_base_dim.unwrap_or(self.base_dim);
        let widths: Vec<usize> = self.dim_mult.iter().rev().map(|times| times * base).collect();
        let widest = widths.first().copied().unwrap_or(base);
        outline.convolution("decoder.conv_in", self.z_dim, widest, &CUBE);
        middle(outline, "decoder", widest);
        let mut width = widest;
        for (level, (&before, &after)) in once(&widest).chain(&widths).zip(&widths).enumerate() {
            // Without shortcuts, resampling has halved the channels.
            width = if level > 0 && !self.is_residual { before / 2 } else { before };
            let name = format!("decoder.up_blocks.{level}");
            for block in 0..=self.num_res_blocks {
                resnet(outline, &format!("{name}.resnets.{block}"), width, after);
                width = after;
            }
            if level + 1 < widths.len() {
                let (sampler, outputs) =
                    if self.is_residual { ("upsampler", width) } else { ("upsamplers.0", width / 2) };
                outline.convolution(&format!("{name}.{sampler}.resample.1"), width, outputs, &SQUARE);
                if self.temperal_downsample.iter().rev().nth(level) == Some(&true) {
                    outline.convolution(&format!("{name}.{sampler}.time_conv"), width, 2 * width, &TIME);
                }
            }
        }
        outline.tensor("decoder.norm_out.gamma", &[width, 1, 1, 1]);
        outline.convolution("decoder.conv_out", width, self.out_channels, &CUBE);
    }
}

fn resnet(outline: &mut Outline, name: &str, inputs: usize, outputs: usize) {
    outline.tensor(format!("{name}.norm1.gamma"), &[inputs, 1, 1, 1]);
    outline.convolution(&format!("{name}.conv1"), inputs, outputs, &CUBE);
    outline.tensor(format!("{name}.norm2.gamma"), &[outputs, 1, 1, 1]);
    outline.convolution(&format!("{name}.conv2"), outputs, outputs, &CUBE);
    if inputs != outputs {
        outline.convolution(&format!("{name}.conv_shortcut"), inputs, outputs, &POINT);
    }
}

fn middle(outline: &mut Outline, half: &str, width: usize) {
    let attention = format!("{half}.mid_block.attentions.0");
    outline.tensor(format!("{attention}.norm.gamma"), &[width, 1, 1]);
    outline.convolution(&format!("{attention}.to_qkv"), width, 3 * width, &PIXEL);
    outline.convolution(&format!("{attention}.proj"), width, width, &PIXEL);
    for block in 0..2 {
        resnet(outline, &format!("{half}.mid_block.resnets.{block}"), width, width);
    }
}
