//! The shape of the transformer, and its blocks.

use serde::Deserialize;

use super::{PATCH, SINGLE_MODULATION};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::{
        flux_files::{Widths, count},
        joint::{Conditions, DOUBLE_MODULATION, HEAD_MODULATORS, Heads, MLP_RATIO, MLPS, Modulators, SIDES},
        patches::wrong_axes,
    },
};

const DOUBLE_MODULATORS: Modulators =
    &[&[("norm1.linear", DOUBLE_MODULATION)], &[("norm1_context.linear", DOUBLE_MODULATION)]];
const SINGLE_MODULATORS: Modulators = &[&[("norm.linear", SINGLE_MODULATION)]];

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct FluxConfig {
    /// Number of values in a patch of latents and of what is read beside them.
    pub in_channels: usize,
    /// Number of values in a patch of latents, if it differs from that.
    pub out_channels: Option<usize>,
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
    /// Width of the pooled prompt embedding.
    pub pooled_projection_dim: usize,
    /// Whether the guidance scale is an input of the network: in dev it is, in schnell it is not.
    pub guidance_embeds: bool,
    /// Widths of the parts of a head that are rotated by image, row and column.
    pub axes_dims_rope: Vec<usize>,
}

impl Default for FluxConfig {
    fn default() -> Self {
        Self {
            in_channels: 64,
            out_channels: None,
            num_layers: 19,
            num_single_layers: 38,
            attention_head_dim: 128,
            num_attention_heads: 24,
            joint_attention_dim: 4096,
            pooled_projection_dim: 768,
            guidance_embeds: false,
            axes_dims_rope: vec![16, 56, 56],
        }
    }
}

impl FluxConfig {
    /// Infers the shape from tensors with their original names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let count = |suffix: &str| tensors.keys().filter(|name| name.ends_with(suffix)).count();
        let embedder = shape("img_in.weight")?;
        let dim = *embedder.first()?;
        let head = *shape("double_blocks.0.img_attn.norm.query_norm.scale")?.first()?;
        Some(Self {
            in_channels: *embedder.get(1)?,
            out_channels: shape("final_layer.linear.weight").and_then(|shape| shape.first().copied()),
            num_layers: count(".img_mod.lin.weight"),
            num_single_layers: count(".modulation.lin.weight"),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape("txt_in.weight")?.get(1)?,
            pooled_projection_dim: *shape("vector_in.in_layer.weight")?.get(1)?,
            guidance_embeds: tensors.contains_key("guidance_in.in_layer.weight"),
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
        })
    }

    /// The same for a network of this [trunk](Self::trunk) with other conditioning, with the names of the authors, whose norms
    /// have a `scale` or a `weight`, or with those of diffusers.
    pub(in crate::models) fn trunk_from_shapes(tensors: &TensorTable) -> Option<Self> {
        let widths = Widths::of(tensors)?;
        let head = widths.head;
        Some(Self {
            in_channels: widths.channels,
            num_layers: count(tensors, [".img_attn.proj.weight", ".attn.to_add_out.weight"]),
            num_single_layers: count(tensors, [".linear2.weight", ".proj_mlp.weight"]),
            attention_head_dim: head,
            num_attention_heads: widths.heads()?,
            joint_attention_dim: widths.prompt,
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
            ..Self::default()
        })
    }

    pub(in crate::models) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        for (field, values) in [("in_channels", self.in_channels), ("out_channels", self.outputs())] {
            if values == 0 || !values.is_multiple_of(PATCH * PATCH) {
                let reason = "it must be a multiple of 4, for patches of 2×2 latents".to_owned();
                return wrong(field, values.to_string(), reason);
            }
        }
        if self.num_attention_heads == 0 {
            return wrong("num_attention_heads", "0".to_owned(), "it must be at least 1".to_owned());
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return wrong("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        Ok(())
    }

    pub(in crate::models) fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: true }
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            dim: self.heads().dim(),
            pooled: self.pooled_projection_dim,
            prompt: self.joint_attention_dim,
            has_guidance: self.guidance_embeds,
        }
    }

    pub(super) fn outputs(&self) -> usize {
        self.out_channels.unwrap_or(self.in_channels)
    }

    pub(in crate::models) fn latent_channels(&self) -> usize {
        self.outputs() / (PATCH * PATCH)
    }

    /// The channels that the network reads beside the latents.
    pub(super) fn channels_beside(&self) -> usize {
        (self.in_channels / (PATCH * PATCH)).saturating_sub(self.latent_channels())
    }

    /// Checks that the network reads latents alone, or with them what Fill reads: as many channels of the masked image, and one
    /// for each of the `scale` by `scale` pixels of a latent.
    pub(super) fn check_beside(&self, part: &Part, scale: usize) -> Result<(), CheckpointError> {
        let outputs = self.outputs();
        let of_fill = 2 * outputs + (PATCH * scale).pow(2);
        if [outputs, of_fill].contains(&self.in_channels) {
            return Ok(());
        }
        let reason =
            format!("it must be {outputs}, or in FLUX.1 Fill {of_fill}; other inputs are not supported");
        part.refuse("in_channels", self.in_channels, reason)
    }

    /// Number of double and single blocks.
    pub(super) fn blocks(&self) -> usize {
        self.num_layers + self.num_single_layers
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    pub(in crate::models) fn embedders(&self) -> usize {
        2 + self.num_layers + self.num_single_layers
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    pub(in crate::models) fn modulators(&self, block: usize) -> Modulators {
        if block <= self.num_layers {
            DOUBLE_MODULATORS
        } else if block + 1 < self.embedders() {
            SINGLE_MODULATORS
        } else {
            HEAD_MODULATORS
        }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run;
    /// they are a third of the weights.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        self.blueprint_after(self.conditions().spec())
    }

    /// The same after this block of embedders.
    pub(in crate::models) fn blueprint_after(&self, conditioning: BlockSpec) -> Vec<BlockSpec> {
        let heads = self.heads();
        let double = |index: usize| format!("transformer_blocks.{index}");
        let single = |index: usize| format!("single_transformer_blocks.{index}");
        let modulation =
            |block: String, layers| heads.modulation_spec(&format!("{block}."), "modulation", layers);

        let mut blocks = vec![conditioning];
        blocks.extend((0..self.num_layers).map(|index| modulation(double(index), DOUBLE_MODULATORS)));
        blocks.extend((0..self.num_single_layers).map(|index| modulation(single(index), SINGLE_MODULATORS)));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        blocks.extend(self.trunk());
        blocks
    }

    /// The blocks of a prediction: embedder, double and single blocks, head.
    pub fn trunk(&self) -> Vec<BlockSpec> {
        let heads = self.heads();
        let (dim, inner) = (heads.dim(), MLP_RATIO * heads.dim());
        let double = |index: usize| format!("transformer_blocks.{index}");
        let single = |index: usize| format!("single_transformer_blocks.{index}");
        let mut blocks = Vec::new();
        blocks.push(BlockSpec::stem("embedders").linear("x_embedder", dim, self.in_channels));
        blocks.extend(
            (0..self.num_layers).map(|index| heads.joint_spec(BlockSpec::new(double(index)), MLPS, 2)),
        );
        blocks.extend((0..self.num_single_layers).map(|index| {
            let spec = heads.spec(BlockSpec::new(single(index)), &SIDES[0], false);
            spec.linear("proj_mlp", inner, dim).linear("proj_out", dim, dim + inner)
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.outputs(), dim));
        blocks
    }
}
