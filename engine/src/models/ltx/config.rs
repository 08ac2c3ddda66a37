//! The shape of LTX-Video's transformer.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, StoredName, TensorTable},
    models::modulated::FREQUENCY_WIDTH,
};

/// Modulations of a block: shift, scale and gate of attention, and of the feed-forward.
pub const MODULATIONS: usize = 6;
/// Width of a head in files without a configuration: of the small models, and of the large ones.
const HEAD_WIDTHS: [usize; 2] = [64, 128];
/// Width from which on a model counts as large.
const LARGE: usize = 4096;
/// The table that the noise level's modulation is added to.
pub const TABLE: &str = "scale_shift_table";

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct LtxConfig {
    /// Channels of the latents.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Side of the patches of latents.
    pub patch_size: usize,
    /// Frames of the patches.
    pub patch_size_t: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Width of the prompt's tokens in the blocks.
    pub cross_attention_dim: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// How queries and keys are normalized.
    pub qk_norm: String,
    /// Whether the norms of the blocks have weights.
    pub norm_elementwise_affine: bool,
    /// Added to the mean square in the norms of the blocks.
    pub norm_eps: f64,
    /// Width of the prompt embeddings.
    pub caption_channels: usize,
}

impl Default for LtxConfig {
    fn default() -> Self {
        Self {
            in_channels: 128,
            out_channels: 128,
            patch_size: 1,
            patch_size_t: 1,
            num_attention_heads: 32,
            attention_head_dim: 64,
            cross_attention_dim: 2048,
            num_layers: 28,
            qk_norm: "rms_norm_across_heads".to_owned(),
            norm_elementwise_affine: false,
            norm_eps: 1e-6,
            caption_channels: 4096,
        }
    }
}

impl LtxConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let input = shape("proj_in.weight")?;
        let (dim, in_channels) = (*input.first()?, *input.get(1)?);
        let head = HEAD_WIDTHS[usize::from(dim >= LARGE)];
        let layers = (0..)
            .take_while(|layer| shape(&format!("transformer_blocks.{layer}.attn1.to_q.weight")).is_some());
        Some(Self {
            in_channels,
            out_channels: *shape("proj_out.weight")?.first()?,
            num_attention_heads: dim / head,
            attention_head_dim: head,
            cross_attention_dim: *shape("transformer_blocks.0.attn2.to_k.weight")?.get(1)?,
            num_layers: layers.count(),
            caption_channels: *shape("caption_projection.linear_1.weight")?.get(1)?,
            ..Self::default()
        })
    }

    /// Rejects values that no model can have, and those that are not supported.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        if (self.patch_size, self.patch_size_t) != (1, 1) {
            return part.refuse("patch_size", self.patch_size, "only patches of one latent are supported");
        }
        if self.num_attention_heads == 0 || self.dim() < 6 || !self.dim().is_multiple_of(2) {
            let reason = "heads must have an even number of values together, at least 6";
            return part.refuse("num_attention_heads", self.num_attention_heads, reason);
        }
        if self.qk_norm != "rms_norm_across_heads" {
            return part.refuse("qk_norm", &self.qk_norm, "only rms_norm_across_heads is supported");
        }
        if self.norm_elementwise_affine {
            return part.refuse("norm_elementwise_affine", true, "norms with weights are not supported");
        }
        if self.cross_attention_dim != self.dim() {
            let reason = "it must be the width of all heads together";
            return part.refuse("cross_attention_dim", self.cross_attention_dim, reason);
        }
        Ok(())
    }

    /// Width of all heads together.
    pub fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// The blocks. The first depends only on prompt and noise level and is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let dim = self.dim();
        let embedder = "time_embed.emb.timestep_embedder";
        let conditioning = BlockSpec::stem("conditioning")
            .linear(&format!("{embedder}.linear_1"), dim, FREQUENCY_WIDTH)
            .linear(&format!("{embedder}.linear_2"), dim, dim)
            .linear("time_embed.linear", MODULATIONS * dim, dim)
            .linear("caption_projection.linear_1", dim, self.caption_channels)
            .linear("caption_projection.linear_2", dim, dim);
        let block = |index: usize| {
            let spec = BlockSpec::new(format!("transformer_blocks.{index}"));
            let mut spec = spec.tensor(TABLE, &[MODULATIONS, dim]);
            for attention in ["attn1", "attn2"] {
                for layer in ["to_q", "to_k", "to_v", "to_out.0"] {
                    spec = spec.linear(&format!("{attention}.{layer}"), dim, dim);
                }
                for norm in ["norm_q", "norm_k"] {
                    spec = spec.scale(&format!("{attention}.{norm}"), dim);
                }
            }
            spec.linear("ff.net.0.proj", 4 * dim, dim).linear("ff.net.2", dim, 4 * dim)
        };
        let mut blocks =
            vec![conditioning, BlockSpec::stem("embedder").linear("proj_in", dim, self.in_channels)];
        blocks.extend((0..self.num_layers).map(block));
        blocks.push(BlockSpec::stem("head").tensor(TABLE, &[2, dim]).linear(
            "proj_out",
            self.out_channels,
            dim,
        ));
        blocks
    }
}

/// Layers of the transformer: diffusers' name and the authors', which ComfyUI also uses.
const NAMES: [(&str, &str); 4] = [
    ("proj_in.", "patchify_proj."),
    ("time_embed.", "adaln_single."),
    (".norm_q.", ".q_norm."),
    (".norm_k.", ".k_norm."),
];

/// The name of a tensor in the authors' files.
pub fn original_name(name: &str) -> StoredName {
    StoredName::whole(NAMES.iter().fold(name.to_owned(), |name, (own, original)| name.replace(own, original)))
}
