//! The shape of a UNet.

use serde::Deserialize;

use super::published::Published;
use crate::checkpoint::{CheckpointError, Part};

/// The shape of the network, from diffusers' `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Published")]
pub struct UnetConfig {
    /// Input channels: those of the latents and, for inpainting, those of the mask and of the masked image.
    pub in_channels: usize,
    /// Output channels: those of the latents.
    pub out_channels: usize,
    /// Levels from the full resolution to the smallest.
    pub levels: Vec<Level>,
    /// Number of transformer blocks between the two residual blocks in the middle. `None`: there is no
    /// middle.
    pub middle: Option<usize>,
    /// Width of the prompt embeddings.
    pub cross_attention_dim: usize,
    /// Number of groups of every group norm.
    pub norm_num_groups: usize,
    /// Added to the variance in the norms of residual blocks.
    pub norm_eps: f64,
    /// Whether cosines of the timestep come before sines.
    pub flip_sin_to_cos: bool,
    /// Subtracted from half the width of the timestep embedding to get the spacing of the frequencies.
    pub freq_shift: f64,
    /// Inputs of every residual block besides the timestep.
    pub addition: Option<Addition>,
    /// Side of the latents that it was trained on, if known.
    pub sample_size: Option<usize>,
}

/// One resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Number of channels.
    pub width: usize,
    /// Number of attention heads.
    pub heads: usize,
    /// Transformer blocks after each residual block on the way down.
    pub down: Vec<usize>,
    /// The same on the way up, with one more.
    pub up: Vec<usize>,
}

/// The pooled prompt and the sizes of the image, for Stable Diffusion XL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addition {
    /// Width of the sinusoidal embedding of each size.
    pub time_dim: usize,
    /// Total width of the pooled prompt and all sizes.
    pub inputs: usize,
}

impl Default for UnetConfig {
    /// Stable Diffusion 1.5.
    fn default() -> Self {
        let level = |width, depth| Level { width, heads: 8, down: vec![depth; 2], up: vec![depth; 3] };
        Self {
            in_channels: 4,
            out_channels: 4,
            levels: vec![level(320, 1), level(640, 1), level(1280, 1), level(1280, 0)],
            middle: Some(1),
            cross_attention_dim: 768,
            norm_num_groups: 32,
            norm_eps: 1e-5,
            flip_sin_to_cos: true,
            freq_shift: 0.0,
            addition: None,
            sample_size: None,
        }
    }
}

impl UnetConfig {
    /// Rejects values that no network can have.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        let groups = self.norm_num_groups;
        let widths: Vec<usize> = self.levels.iter().map(|level| level.width).collect();
        if widths.is_empty()
            || groups == 0
            || widths.iter().any(|width| *width < 2 || !width.is_multiple_of(groups))
        {
            let reason = format!("every width must be a multiple of {groups} groups");
            return wrong("block_out_channels", format!("{widths:?}"), reason);
        }
        for Level { width, heads, .. } in &self.levels {
            if *heads == 0 || !width.is_multiple_of(*heads) {
                let reason = format!("the width {width} must be a multiple of the number of heads");
                return wrong("attention_head_dim", heads.to_string(), reason);
            }
        }
        if self.levels.iter().any(|level| level.down.is_empty() || level.up.len() != level.down.len() + 1) {
            let reason =
                "every level needs at least one on the way down and one more on the way up".to_owned();
            return wrong("layers_per_block", format!("{:?}", self.levels), reason);
        }
        if !(self.norm_eps >= 0.0 && self.norm_eps.is_finite()) {
            return wrong(
                "norm_eps",
                self.norm_eps.to_string(),
                "it must be a finite number of at least 0".to_owned(),
            );
        }
        let (alone, filling) = (self.out_channels, 2 * self.out_channels + 1);
        if alone == 0 || ![alone, filling].contains(&self.in_channels) {
            let reason = format!(
                "Sluice supports {alone} (the latents) or {filling} (inpainting models with a mask and an image), not \
                 models with other inputs such as depth"
            );
            return wrong("in_channels", self.in_channels.to_string(), reason);
        }
        if let Some(Addition { time_dim, inputs }) = self.addition
            && (time_dim == 0 || !time_dim.is_multiple_of(2) || inputs < 5 * time_dim)
        {
            let reason =
                "it must be even, and 5 times it must not exceed projection_class_embeddings_input_dim"
                    .to_owned();
            return wrong("addition_time_embed_dim", time_dim.to_string(), reason);
        }
        Ok(())
    }

    /// Width of the embedded timestep.
    pub fn time_width(&self) -> usize {
        4 * self.levels.first().map_or(0, |level| level.width)
    }
}
