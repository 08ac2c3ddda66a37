//! The autoencoder of Stable Diffusion and FLUX.1 (Rombach et al. 2022, arXiv:2112.10752, appendix G).

use super::{Autoencoder, AutoencoderKlConfig, LatentScaling, Tiling, original_names::original_name};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, TensorTable},
    nn::{Conv2d, Mask, Result, Tensor, add, attention, upsample_nearest_2x},
    residency::{Blocks, RunError, Weights},
};

/// Added to the variance in every group norm.
const EPS: f64 = 1e-6;

/// The shape of an autoencoder; its weights come from a store.
#[derive(Debug, Clone)]
pub struct AutoencoderKl {
    config: AutoencoderKlConfig,
}

impl AutoencoderKl {
    /// Builds the autoencoder from its shape.
    pub fn new(config: AutoencoderKlConfig) -> Self {
        Self { config }
    }

    /// Finds every tensor of an autoencoder, under diffusers' or the original names. Files without a
    /// configuration lack the scaling of the latents, which then comes from the family.
    pub fn open(
        part: &Part,
        scaling: LatentScaling,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(|tensors| {
            let shape = AutoencoderKlConfig::from_shapes(tensors)?;
            Some(AutoencoderKlConfig { scaling_factor: scaling.factor, shift_factor: scaling.shift, ..shape })
        })?;
        let wrong = |field, value: String, reason: &str| part.refuse(field, value, reason);
        let groups = config.norm_num_groups;
        for (field, widths) in [
            ("block_out_channels", &config.block_out_channels[..]),
            ("decoder_block_out_channels", config.decoder_widths()),
        ] {
            if widths.is_empty() || groups == 0 || widths.iter().any(|width| !width.is_multiple_of(groups)) {
                let reason = format!("every width must be a multiple of {groups} groups");
                return wrong(field, format!("{widths:?}"), &reason);
            }
        }
        if config.decoder_widths().len() != config.block_out_channels.len() {
            let value = format!("{:?}", config.decoder_widths());
            return wrong("decoder_block_out_channels", value, "it must have as many levels as the encoder");
        }
        if !config.scaling_factor.is_finite() || config.scaling_factor == 0.0 {
            let value = config.scaling_factor.to_string();
            return wrong("scaling_factor", value, "it must be a finite number other than 0");
        }
        let levels = config.block_out_channels.len();
        let component = Component::bind(
            Role::Autoencoder,
            "AutoencoderKL",
            &config.blueprint(),
            &part.tensors,
            |name| original_name(name, levels),
            &part.path,
        )?;
        Ok((Self { config }, component))
    }

    /// Number of latent channels of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get("decoder.conv_in.weight").and_then(|tensor| tensor.shape().get(1).copied())
    }

    /// Its shape.
    pub fn config(&self) -> &AutoencoderKlConfig {
        &self.config
    }

    fn decode_tile(&self, blocks: Blocks<'_>, latents: &Tensor) -> std::result::Result<Tensor, RunError> {
        let first = self.config.first_decoder_block();
        let levels = self.config.block_out_channels.len();
        let last = first + 2 + levels;
        let mut x = latents.clone();
        blocks.walk(first..last + 1, |index, w| {
            x = match index - first {
                0 => {
                    if self.config.use_post_quant_conv {
                        x = w.conv2d("post_quant_conv", &x, Conv2d::POINTWISE)?;
                    }
                    w.conv2d("decoder.conv_in", &x, Conv2d::SAME_3X3)?
                }
                1 => self.mid_block(w, &x)?,
                _ if index == last => self.head(w, "decoder", &x)?,
                level => self.up_block(w, &x, level - 2)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    fn encode_tile(&self, blocks: Blocks<'_>, pictures: &Tensor) -> std::result::Result<Tensor, RunError> {
        let last = self.config.first_decoder_block() - 1;
        let levels = self.config.block_out_channels.len();
        let mut x = pictures.clone();
        blocks.walk(0..last + 1, |index, w| {
            x = match index {
                0 => w.conv2d("conv_in", &x, Conv2d::SAME_3X3)?,
                _ if index == last => {
                    let moments = self.head(w, "encoder", &x)?;
                    if self.config.use_quant_conv {
                        w.conv2d("quant_conv", &moments, Conv2d::POINTWISE)?
                    } else {
                        moments
                    }
                }
                _ if index == levels + 1 => self.mid_block(w, &x)?,
                level => self.down_block(w, &x, level - 1)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    fn down_block(&self, w: &Weights, x: &Tensor, level: usize) -> Result<Tensor> {
        let mut x = x.clone();
        for layer in 0..self.config.layers_per_block {
            x = self.resnet(w, &format!("resnets.{layer}"), &x)?;
        }
        if level + 1 < self.config.block_out_channels.len() {
            x = w.conv2d("downsamplers.0.conv", &x, Conv2d::HALVE_3X3_TRAILING)?;
        }
        Ok(x)
    }

    fn up_block(&self, w: &Weights, x: &Tensor, level: usize) -> Result<Tensor> {
        let mut x = x.clone();
        for layer in 0..=self.config.layers_per_block {
            x = self.resnet(w, &format!("resnets.{layer}"), &x)?;
        }
        if level + 1 < self.config.block_out_channels.len() {
            x = w.conv2d("upsamplers.0.conv", &upsample_nearest_2x(&x)?, Conv2d::SAME_3X3)?;
        }
        Ok(x)
    }

    fn mid_block(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let mut x = self.resnet(w, "resnets.0", x)?;
        if self.config.mid_block_add_attention {
            x = self.attention(w, &x)?;
        }
        self.resnet(w, "resnets.1", &x)
    }

    fn resnet(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        let mut h = self.norm_silu(w, &format!("{name}.norm1"), x)?;
        h = w.conv2d(&format!("{name}.conv1"), &h, Conv2d::SAME_3X3)?;
        h = self.norm_silu(w, &format!("{name}.norm2"), &h)?;
        h = w.conv2d(&format!("{name}.conv2"), &h, Conv2d::SAME_3X3)?;
        let shortcut = format!("{name}.conv_shortcut");
        if w.has(&format!("{shortcut}.weight")) {
            return add(&w.conv2d(&shortcut, x, Conv2d::POINTWISE)?, &h);
        }
        add(x, &h)
    }

    /// Single-head attention over all pixels.
    fn attention(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let (batch, channels, height, width) = x.dims4()?;
        let name = "attentions.0";
        let mut h = w.group_norm(&format!("{name}.group_norm"), x, self.config.norm_num_groups, EPS)?;
        h = h.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
        let head = |part: &str| w.linear(&format!("{name}.{part}"), &h)?.unsqueeze(2);
        let (q, k, v) = (head("to_q")?, head("to_k")?, head("to_v")?);
        h = attention(&q, &k, &v, Mask::None)?.squeeze(2)?;
        drop((q, k, v));
        h = w.linear(&format!("{name}.to_out.0"), &h)?;
        add(x, &h.transpose(1, 2)?.reshape((batch, channels, height, width))?)
    }

    fn head(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        let h = self.norm_silu(w, &format!("{name}.conv_norm_out"), x)?;
        w.conv2d(&format!("{name}.conv_out"), &h, Conv2d::SAME_3X3)
    }

    fn norm_silu(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        w.group_norm_silu(name, x, self.config.norm_num_groups, EPS)
    }
}

impl Autoencoder for AutoencoderKl {
    fn latent_channels(&self) -> usize {
        self.config.latent_channels
    }

    fn image_channels(&self) -> usize {
        self.config.in_channels
    }

    fn scale(&self) -> usize {
        self.config.scale()
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        (latents / self.config.scaling_factor)? + self.config.shift_factor.unwrap_or(0.0)
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        (latents - self.config.shift_factor.unwrap_or(0.0))? * self.config.scaling_factor
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        let latents = latents.to_dtype(blocks.dtype())?;
        match tiling {
            Some(tiling) => tiling.decode(&latents, self.scale(), |tile| {
                blocks.by_shape(tile, |tile| self.decode_tile(blocks, tile))
            }),
            None => self.decode_tile(blocks, &latents),
        }
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let images = images.to_dtype(blocks.dtype())?;
        let moments = match tiling {
            Some(tiling) => tiling.encode(&images, self.scale(), |tile| {
                blocks.by_shape(tile, |tile| self.encode_tile(blocks, tile))
            })?,
            None => self.encode_tile(blocks, &images)?,
        };
        let channels = self.config.latent_channels;
        let log_variance = moments.narrow(1, channels, channels)?.clamp(-30.0, 20.0)?;
        Ok((moments.narrow(1, 0, channels)?, log_variance))
    }
}
