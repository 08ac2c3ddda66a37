//! The shape of the transformer, and its blocks.

use serde::Deserialize;

use super::{EMBEDDER, MLPS, MODULATORS};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::{
        flux_files::{Widths, count, shape},
        joint::{Heads, SIDES},
        modulated::FREQUENCY_WIDTH,
        patches::wrong_axes,
    },
};

/// Added to the variance or mean square in every norm.
const EPS: f64 = 1e-6;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Flux2Config {
    /// Channels of the latents.
    pub in_channels: usize,
    /// Number of double blocks.
    pub num_layers: usize,
    /// Number of single blocks.
    pub num_single_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub joint_attention_dim: usize,
    /// Hidden width of the feed-forward layers, as a multiple of the streams' width.
    pub mlp_ratio: f64,
    /// Widths of the parts of a head that are rotated by image, row, column and place in the text.
    pub axes_dims_rope: Vec<usize>,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Added to the variance or mean square in every norm.
    pub eps: f64,
    /// Whether the guidance scale is an input of the network.
    pub guidance_embeds: bool,
}

impl Default for Flux2Config {
    fn default() -> Self {
        Self {
            in_channels: 128,
            num_layers: 8,
            num_single_layers: 48,
            attention_head_dim: 128,
            num_attention_heads: 48,
            joint_attention_dim: 15_360,
            mlp_ratio: 3.0,
            axes_dims_rope: vec![32; 4],
            rope_theta: 2000.0,
            eps: EPS,
            guidance_embeds: true,
        }
    }
}

impl Flux2Config {
    /// Infers the shape from the tensors, for files without a configuration. The base of the rotary frequencies, which
    /// shapes do not show, is that of all published models.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let widths = Widths::of(tensors)?;
        let outputs = ["double_blocks.0.img_mlp.2.weight", "transformer_blocks.0.ff.linear_out.weight"];
        let inner = *shape(tensors, &outputs)?.get(1)?;
        Some(Self {
            in_channels: widths.channels,
            num_layers: count(tensors, [".img_attn.proj.weight", ".ff.linear_out.weight"]),
            num_single_layers: count(tensors, [".linear2.weight", ".attn.to_qkv_mlp_proj.weight"]),
            attention_head_dim: widths.head,
            num_attention_heads: widths.heads()?,
            joint_attention_dim: widths.prompt,
            mlp_ratio: inner as f64 / widths.dim as f64,
            axes_dims_rope: vec![widths.head / 4; 4],
            guidance_embeds: ["guidance_in.in_layer", "time_guidance_embed.guidance_embedder.linear_1"]
                .iter()
                .any(|layer| tensors.contains_key(&format!("{layer}.weight"))),
            ..Self::default()
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 4, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        if self.mlp_ratio < 1.0 || self.mlp_ratio.fract() != 0.0 {
            return part.refuse("mlp_ratio", self.mlp_ratio, "it must be a whole number");
        }
        if self.eps != EPS {
            return part.refuse("eps", self.eps, "only 1e-6 is supported");
        }
        Ok(())
    }

    pub(super) fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: true }
    }

    pub(super) fn mlp_ratio(&self) -> usize {
        self.mlp_ratio as usize
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let heads = self.heads();
        let (dim, inner) = (heads.dim(), self.mlp_ratio() * heads.dim());
        let attention = |spec: BlockSpec, side: usize| {
            let layers = &SIDES[side];
            let spec = layers.qkv.iter().fold(spec, |spec, name| spec.matrix(name, dim, dim));
            layers.norms.iter().fold(spec, |spec, name| spec.scale(name, heads.width))
        };
        let conditioning = BlockSpec::stem("conditioning")
            .matrix(&format!("{EMBEDDER}.timestep_embedder.linear_1"), dim, FREQUENCY_WIDTH)
            .matrix(&format!("{EMBEDDER}.timestep_embedder.linear_2"), dim, dim);
        let conditioning = if self.guidance_embeds {
            conditioning
                .matrix(&format!("{EMBEDDER}.guidance_embedder.linear_1"), dim, FREQUENCY_WIDTH)
                .matrix(&format!("{EMBEDDER}.guidance_embedder.linear_2"), dim, dim)
        } else {
            conditioning
        };
        let conditioning = conditioning.matrix("context_embedder", dim, self.joint_attention_dim);
        let mut blocks = vec![conditioning];
        blocks.extend(MODULATORS.iter().map(|(name, layers)| {
            let layers = layers.iter().copied().flatten();
            layers.fold(BlockSpec::stem(*name), |spec, (name, width)| spec.matrix(name, width * dim, dim))
        }));
        blocks.push(BlockSpec::stem("embedders").matrix("x_embedder", dim, self.in_channels));
        blocks.extend((0..self.num_layers).map(|index| {
            let mut spec = BlockSpec::new(format!("transformer_blocks.{index}"));
            for (side, mlp) in MLPS.iter().enumerate() {
                spec = attention(spec, side).matrix(SIDES[side].out, dim, dim);
                spec =
                    feed_forward_spec(spec, mlp, inner, dim).matrix(&format!("{mlp}.linear_out"), dim, inner);
            }
            spec
        }));
        blocks.extend((0..self.num_single_layers).map(|index| {
            let spec = attention(BlockSpec::new(format!("single_transformer_blocks.{index}")), 0);
            feed_forward_spec(spec, "attn", inner, dim).matrix("attn.to_out", dim, dim + inner)
        }));
        blocks.push(BlockSpec::stem("head").matrix("proj_out", self.in_channels, dim));
        blocks
    }
}

/// Adds the gate and the values of a SwiGLU feed-forward layer; see [`fed_forward`](super::fed_forward).
fn feed_forward_spec(spec: BlockSpec, name: &str, inner: usize, dim: usize) -> BlockSpec {
    spec.matrix(&format!("{name}.gate"), inner, dim).matrix(&format!("{name}.up"), inner, dim)
}
