//! The shape of the transformer, and its blocks.

use serde::Deserialize;

use super::FREQUENCY_WIDTH;
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::patches::wrong_axes,
};

/// Maximum width of the timestep embedding.
const MODULATION_WIDTH: usize = 256;
/// Hidden width of the timestep embedder.
const TIMESTEP_HIDDEN: usize = 1024;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ZImageConfig {
    /// Sides of the square patches; the first is used.
    pub all_patch_size: Vec<usize>,
    /// Number of latent channels.
    pub in_channels: usize,
    /// Width of the residual stream.
    pub dim: usize,
    /// Number of blocks of the joint sequence.
    pub n_layers: usize,
    /// Number of blocks of each refiner.
    pub n_refiner_layers: usize,
    /// Number of attention heads.
    pub n_heads: usize,
    /// Added to the mean square in norms of the residual stream.
    pub norm_eps: f64,
    /// Whether queries and keys are normalized.
    pub qk_norm: bool,
    /// Width of the prompt embeddings.
    pub cap_feat_dim: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Factor of the timestep in 0…1.
    pub t_scale: f64,
    /// Widths of the parts of a head that are rotated by caption position, row and column.
    pub axes_dims: Vec<usize>,
}

impl Default for ZImageConfig {
    fn default() -> Self {
        Self {
            all_patch_size: vec![2],
            in_channels: 16,
            dim: 3840,
            n_layers: 30,
            n_refiner_layers: 2,
            n_heads: 30,
            norm_eps: 1e-5,
            qk_norm: true,
            cap_feat_dim: 2560,
            rope_theta: 256.0,
            t_scale: 1000.0,
            axes_dims: vec![32, 48, 48],
        }
    }
}

impl ZImageConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a
    /// configuration. What the shapes do not show is as in all published models.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |names: [&str; 2]| {
            names.iter().find_map(|name| tensors.get(*name)).map(|tensor| tensor.shape().to_vec())
        };
        let count = |stack: &str| {
            let suffix = ".attention_norm1.weight";
            tensors.keys().filter(|name| name.starts_with(stack) && name.ends_with(suffix)).count()
        };
        let embedder = shape(["x_embedder.weight", "all_x_embedder.2-1.weight"])?;
        let (dim, patch) = (*embedder.first()?, *embedder.get(1)?);
        let q_norm = shape(["layers.0.attention.q_norm.weight", "layers.0.attention.norm_q.weight"]);
        let head = q_norm.as_ref().and_then(|shape| shape.first().copied()).unwrap_or(128);
        Some(Self {
            in_channels: patch / 4,
            dim,
            n_layers: count("layers."),
            n_refiner_layers: count("noise_refiner."),
            n_heads: dim / head,
            qk_norm: q_norm.is_some(),
            cap_feat_dim: *shape(["cap_embedder.0.weight", "cap_embedder.0.weight"])?.first()?,
            axes_dims: vec![head / 4, head / 8 * 3, head / 8 * 3],
            ..Self::default()
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        if self.all_patch_size.first().is_none_or(|&side| side == 0) {
            return wrong(
                "all_patch_size",
                format!("{:?}", self.all_patch_size),
                "it must have a patch size of at least 1".to_owned(),
            );
        }
        if self.n_heads == 0 || !self.dim.is_multiple_of(self.n_heads) {
            let reason = format!("the width {} must be a multiple of it", self.dim);
            return wrong("n_heads", self.n_heads.to_string(), reason);
        }
        if let Some(reason) = wrong_axes(&self.axes_dims, 3, self.head_dim()) {
            return wrong("axes_dims", format!("{:?}", self.axes_dims), reason);
        }
        Ok(())
    }

    pub(super) fn patch(&self) -> usize {
        self.all_patch_size.first().copied().unwrap_or(2)
    }

    pub(super) fn head_dim(&self) -> usize {
        self.dim / self.n_heads
    }

    pub(super) fn patch_width(&self) -> usize {
        self.patch() * self.patch() * self.in_channels
    }

    /// Hidden width of the feed-forward layers.
    fn inner(&self) -> usize {
        (self.dim as f64 / 3.0 * 8.0) as usize
    }

    pub(super) fn modulation_width(&self) -> usize {
        self.dim.min(MODULATION_WIDTH)
    }

    /// The blocks that the timestep modulates, in the order in which they run.
    pub(super) fn modulated_blocks(&self) -> impl Iterator<Item = String> {
        let refiners = (0..self.n_refiner_layers).map(|index| format!("noise_refiner.{index}"));
        refiners.chain((0..self.n_layers).map(|index| format!("layers.{index}")))
    }

    /// A block of this name.
    pub(super) fn block(&self, name: String) -> BlockSpec {
        let (dim, inner) = (self.dim, self.inner());
        let mut spec = BlockSpec::new(name)
            .scale("attention_norm1", dim)
            .matrix("attention.to_q", dim, dim)
            .matrix("attention.to_k", dim, dim)
            .matrix("attention.to_v", dim, dim)
            .matrix("attention.to_out.0", dim, dim)
            .scale("attention_norm2", dim)
            .scale("ffn_norm1", dim)
            .matrix("feed_forward.w1", inner, dim)
            .matrix("feed_forward.w2", dim, inner)
            .matrix("feed_forward.w3", inner, dim)
            .scale("ffn_norm2", dim);
        if self.qk_norm {
            spec = spec.scale("attention.norm_q", self.head_dim()).scale("attention.norm_k", self.head_dim());
        }
        spec
    }

    /// The blocks. Those that read only the caption come first, then one with everything that depends only on
    /// the timestep: both are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, modulation, key) = (self.dim, self.modulation_width(), self.patch_key());
        let block = |name: String| self.block(name);
        let stack =
            |name: &'static str, count: usize| (0..count).map(move |index| block(format!("{name}.{index}")));
        let mut blocks = vec![
            BlockSpec::stem("caption embedder")
                .scale("cap_embedder.0", self.cap_feat_dim)
                .linear("cap_embedder.1", dim, self.cap_feat_dim)
                .tensor("cap_pad_token", &[1, dim]),
        ];
        blocks.extend(stack("context_refiner", self.n_refiner_layers));
        let timestep = BlockSpec::stem("modulation")
            .linear("t_embedder.mlp.0", TIMESTEP_HIDDEN, FREQUENCY_WIDTH)
            .linear("t_embedder.mlp.2", modulation, TIMESTEP_HIDDEN);
        let timestep = self.modulated_blocks().fold(timestep, |spec, block| {
            spec.linear(&format!("{block}.adaLN_modulation.0"), 4 * dim, modulation)
        });
        blocks.push(timestep.linear(&format!("all_final_layer.{key}.adaLN_modulation.1"), dim, modulation));
        blocks.push(
            BlockSpec::stem("image embedder")
                .linear(&format!("all_x_embedder.{key}"), dim, self.patch_width())
                .tensor("x_pad_token", &[1, dim]),
        );
        blocks.extend(stack("noise_refiner", self.n_refiner_layers));
        blocks.extend(stack("layers", self.n_layers));
        blocks.push(BlockSpec::new(format!("all_final_layer.{key}")).linear(
            "linear",
            self.patch_width(),
            dim,
        ));
        blocks
    }

    pub(super) fn patch_key(&self) -> String {
        format!("{}-1", self.patch())
    }
}
