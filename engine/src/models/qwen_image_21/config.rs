//! The shape of the transformer, and its blocks.

use serde::Deserialize;

use super::{MARK, MLP, MODULATIONS};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::{joint::SIDES, modulated::FREQUENCY_WIDTH, patches::wrong_axes},
};

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct QwenImage21Config {
    /// Side of the patches of latents.
    pub patch_size: usize,
    /// Channels of the latents.
    pub in_channels: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub context_in_dim: usize,
    /// Hidden width of the feed-forward layers, as a multiple of the stream's.
    pub mlp_ratio: usize,
    /// Widths of the parts of a head that are rotated by the place in the sequence, by row and by column.
    pub axes_dims_rope: Vec<usize>,
    /// Added to the variance or mean square in every norm.
    pub eps: f64,
    /// Whether prompt and references are modulated as without noise.
    pub causal_condition: bool,
}

impl Default for QwenImage21Config {
    fn default() -> Self {
        Self {
            patch_size: 1,
            in_channels: 64,
            num_layers: 32,
            attention_head_dim: 128,
            num_attention_heads: 32,
            context_in_dim: 4096,
            mlp_ratio: 3,
            axes_dims_rope: vec![16, 56, 56],
            eps: 1e-6,
            causal_condition: true,
        }
    }
}

impl QwenImage21Config {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let &[dim, in_channels] = shape("img_in.weight")? else { return None };
        let head = *shape("transformer_blocks.0.attn.norm_q.weight")?.first()?;
        let inner = *shape("transformer_blocks.0.img_mlp.out.weight")?.get(1)?;
        Some(Self {
            in_channels,
            num_layers: tensors.keys().filter(|name| name.ends_with(".attn.norm_q.weight")).count(),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            context_in_dim: *shape(MARK)?.first()?,
            mlp_ratio: inner.checked_div(dim)?,
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
            ..Self::default()
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if self.patch_size != 1 {
            return part.refuse(
                "patch_size",
                self.patch_size,
                "only patches of a single latent are supported",
            );
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        if !self.causal_condition {
            let reason = "only models whose prompt is modulated as without noise are supported";
            return part.refuse("causal_condition", false, reason);
        }
        Ok(())
    }

    /// Width of the stream.
    pub(super) fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// The blocks: what is needed once per run, the embedder of latents, the layers, and the head.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, inner) = (self.dim(), self.mlp_ratio * self.dim());
        let layer = |index: usize| {
            let spec = BlockSpec::new(format!("transformer_blocks.{index}"));
            let spec = SIDES[0].qkv.iter().fold(spec, |spec, name| spec.matrix(name, dim, dim));
            let spec =
                SIDES[0].norms.iter().fold(spec, |spec, name| spec.scale(name, self.attention_head_dim));
            let spec = spec.matrix(SIDES[0].out, dim, dim);
            MLP.iter().fold(spec, |spec, name| spec.matrix(name, inner, dim)).matrix(
                "img_mlp.out",
                dim,
                inner,
            )
        };
        let conditioning = BlockSpec::stem("conditioning")
            .matrix("time_text_embed.timestep_embedder.linear_1", dim, FREQUENCY_WIDTH)
            .matrix("time_text_embed.timestep_embedder.linear_2", dim, dim)
            .matrix("modulation.1", MODULATIONS * dim, dim)
            .matrix("norm_out.linear", dim, dim)
            .scale("txt_in.text_norm", self.context_in_dim)
            .matrix("txt_in.in_layer", dim, self.context_in_dim)
            .matrix("txt_in.out_layer", dim, dim);
        let embedder = BlockSpec::stem("embedder").matrix("img_in", dim, self.in_channels);
        let mut blocks = vec![conditioning, embedder];
        blocks.extend((0..self.num_layers).map(layer));
        blocks.push(BlockSpec::stem("head").matrix("proj_out", self.in_channels, dim));
        blocks
    }
}
