//! The shape of the transformer, and its blocks.

use serde::Deserialize;

use super::{ALONE, ALONE_MODULATION, KERNEL, PLACES, original_names::original_name};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::joint::{Conditions, HEAD_MODULATORS, Heads, MLP_RATIO, MLPS, Modulators, SIDES},
};

/// Width of a head in all published models.
const HEAD_WIDTH: usize = 64;

const TEXT_MODULATOR: &[(&str, usize)] = &[("norm1_context.linear", 6)];
/// After the last block, the text is not needed.
const LAST_TEXT_MODULATOR: &[(&str, usize)] = &[("norm1_context.shift", 1), ("norm1_context.scale", 1)];
const IMAGE_MODULATOR: &[(&str, usize)] = &[("norm1.linear", ALONE_MODULATION)];
const DUAL_IMAGE_MODULATOR: &[(&str, usize)] = &[("norm1.linear", ALONE_MODULATION + 3)];

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sd3Config {
    /// Side of the latents that the model was trained for.
    pub sample_size: usize,
    /// Side of a patch of latents.
    pub patch_size: usize,
    /// Number of latent channels.
    pub in_channels: usize,
    /// Number of output channels, if different.
    pub out_channels: Option<usize>,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub joint_attention_dim: usize,
    /// Width of text tokens, which must be that of image tokens.
    pub caption_projection_dim: usize,
    /// Width of the pooled prompt embedding.
    pub pooled_projection_dim: usize,
    /// Side of the table of position embeddings, in patches.
    pub pos_embed_max_size: usize,
    /// The blocks in which the image also attends to itself alone.
    pub dual_attention_layers: Vec<usize>,
    /// How queries and keys are normalized: `rms_norm`, or `None`.
    pub qk_norm: Option<String>,
    /// Which streams its blocks have.
    #[serde(skip)]
    pub streams: Streams,
}

/// The streams of tokens in a network's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Image and text, of which the last block only passes on the image.
    #[default]
    Both,
    /// Image and text to the end.
    BothToTheEnd,
    /// The image alone.
    Image,
}

impl Default for Sd3Config {
    fn default() -> Self {
        Self {
            sample_size: 128,
            patch_size: 2,
            in_channels: 16,
            out_channels: Some(16),
            num_layers: 18,
            attention_head_dim: HEAD_WIDTH,
            num_attention_heads: 18,
            joint_attention_dim: 4096,
            caption_projection_dim: 1152,
            pooled_projection_dim: 2048,
            pos_embed_max_size: 96,
            dual_attention_layers: Vec::new(),
            qk_norm: None,
            streams: Streams::Both,
        }
    }
}

impl Sd3Config {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let kernel = shape("pos_embed.proj.weight")?;
        let (dim, patch) = (*kernel.first()?, *kernel.get(2)?);
        let has = |block: usize, layer: &str| shape(&format!("transformer_blocks.{block}.{layer}")).is_some();
        let layers = (0..).take_while(|&block| has(block, "attn.to_q.weight")).count();
        let norm = shape("transformer_blocks.0.attn.norm_q.weight");
        let head = norm.as_ref().map_or(Some(HEAD_WIDTH), |norm| norm.first().copied())?;
        Some(Self {
            patch_size: patch,
            in_channels: *kernel.get(1)?,
            out_channels: shape("proj_out.weight")?.first()?.checked_div(patch * patch),
            num_layers: layers,
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape("context_embedder.weight")?.get(1)?,
            caption_projection_dim: dim,
            pooled_projection_dim: *shape("time_text_embed.text_embedder.linear_1.weight")?.get(1)?,
            pos_embed_max_size: shape(PLACES)?.iter().product::<usize>().checked_div(dim)?.isqrt(),
            dual_attention_layers: (0..layers).filter(|&block| has(block, "attn2.to_q.weight")).collect(),
            qk_norm: norm.map(|_| "rms_norm".to_owned()),
            ..Self::default()
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        let counts = [
            ("patch_size", self.patch_size),
            ("in_channels", self.in_channels),
            ("num_layers", self.num_layers),
            ("attention_head_dim", self.attention_head_dim),
            ("num_attention_heads", self.num_attention_heads),
            ("pos_embed_max_size", self.pos_embed_max_size),
        ];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return wrong(field, "0".to_owned(), "it must be at least 1".to_owned());
        }
        let dim = self.heads().dim();
        if self.caption_projection_dim != dim {
            let reason = format!("it must be {dim}, the width of image tokens");
            return wrong("caption_projection_dim", self.caption_projection_dim.to_string(), reason);
        }
        if let Some(channels) = self.out_channels.filter(|&channels| channels != self.in_channels) {
            let reason = format!("it must be {}, the number of latent channels", self.in_channels);
            return wrong("out_channels", channels.to_string(), reason);
        }
        if let Some(block) = self.dual_attention_layers.iter().find(|&&block| block >= self.num_layers) {
            let reason = format!("there are only {} blocks, counted from 0", self.num_layers);
            return wrong("dual_attention_layers", block.to_string(), reason);
        }
        match &self.qk_norm {
            Some(norm) if norm != "rms_norm" => {
                let reason = "only rms_norm and no norm are supported".to_owned();
                wrong("qk_norm", norm.clone(), reason)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn heads(&self) -> Heads {
        Heads {
            count: self.num_attention_heads,
            width: self.attention_head_dim,
            are_normed: self.qk_norm.is_some(),
        }
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            dim: self.heads().dim(),
            pooled: self.pooled_projection_dim,
            prompt: if self.streams == Streams::Image { 0 } else { self.joint_attention_dim },
            has_guidance: false,
        }
    }

    /// Whether the image attends to itself alone in this transformer block.
    pub(super) fn is_dual(&self, block: usize) -> bool {
        self.dual_attention_layers.contains(&block)
    }

    /// The number of streams needed after this transformer block.
    pub(super) fn outputs(&self, block: usize) -> usize {
        match self.streams {
            Streams::Both if block + 1 == self.num_layers => 1,
            Streams::Both | Streams::BothToTheEnd => 2,
            Streams::Image => 1,
        }
    }

    /// Number of values in a patch of latents.
    fn patch_width(&self) -> usize {
        self.in_channels * self.patch_size * self.patch_size
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    pub(super) fn embedders(&self) -> usize {
        2 + self.num_layers
    }

    /// Index of the block with the table of position embeddings, which is read in parts and never leased.
    pub(super) fn places(&self) -> usize {
        self.embedders() + self.num_layers + 2
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    pub(super) fn modulators(&self, block: usize) -> Modulators {
        let block = block - 1;
        if block == self.num_layers {
            return HEAD_MODULATORS;
        }
        if self.streams == Streams::Image {
            return &[IMAGE_MODULATOR];
        }
        match (self.is_dual(block), self.outputs(block)) {
            (false, 2) => &[IMAGE_MODULATOR, TEXT_MODULATOR],
            (true, 2) => &[DUAL_IMAGE_MODULATOR, TEXT_MODULATOR],
            (false, _) => &[IMAGE_MODULATOR, LAST_TEXT_MODULATOR],
            (true, _) => &[DUAL_IMAGE_MODULATOR, LAST_TEXT_MODULATOR],
        }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (conditions, heads, patch) = (self.conditions(), self.heads(), self.patch_size);
        let dim = heads.dim();
        let block = |index: usize| format!("transformer_blocks.{index}");
        let mut blocks = vec![conditions.spec()];
        blocks.extend((0..self.num_layers).map(|index| {
            heads.modulation_spec(&format!("{}.", block(index)), "modulation", self.modulators(index + 1))
        }));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        let kernel = [dim, self.in_channels, patch, patch];
        let embedder = BlockSpec::stem("embedders").tensor(format!("{KERNEL}.weight"), &kernel);
        blocks.push(embedder.tensor(format!("{KERNEL}.bias"), &[dim]));
        blocks.extend((0..self.num_layers).map(|index| {
            let spec = BlockSpec::new(block(index));
            if self.streams == Streams::Image {
                let inner = MLP_RATIO * dim;
                let spec = heads.spec(spec, &SIDES[0], true).linear("ff.net.0.proj", inner, dim);
                return spec.linear("ff.net.2", dim, inner);
            }
            let spec = heads.joint_spec(spec, MLPS, self.outputs(index));
            if self.is_dual(index) { heads.spec(spec, &ALONE, true) } else { spec }
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.patch_width(), dim));
        let places = self.pos_embed_max_size * self.pos_embed_max_size;
        blocks.push(BlockSpec::stem("places").tensor(PLACES, &[places, dim]));
        blocks
    }
}
