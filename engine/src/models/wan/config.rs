//! The shape of Wan's transformer, and the names of its tensors.

use serde::Deserialize;

use crate::checkpoint::{BlockSpec, CheckpointError, Part, StoredName, TensorTable};

/// Modulations of a block: shift, scale and gate of attention, and of the feed-forward.
pub(super) const MODULATIONS: usize = 6;
/// Width of a head in all published models.
const HEAD_WIDTH: usize = 128;
/// Channels of the mask of given frames: one for each frame of a latent frame.
const MASKS: usize = 4;
/// The table that the noise level's modulation is added to.
pub(super) const TABLE: &str = "scale_shift_table";

/// A transformer block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// One of the clip, with its number.
    Plain(usize),
    /// One of the second stream, with its number in that.
    Control(usize),
}

impl Layer {
    fn name(self) -> String {
        match self {
            Self::Plain(index) => format!("blocks.{index}"),
            Self::Control(index) => format!("vace_blocks.{index}"),
        }
    }
}

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct WanConfig {
    /// Sides of the patches: frames, rows, columns.
    pub patch_size: Vec<usize>,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output: those of the latents.
    pub out_channels: usize,
    /// Width of the prompt embeddings.
    pub text_dim: usize,
    /// Number of values in the sinusoidal embedding of the timestep.
    pub freq_dim: usize,
    /// Width inside the feed-forward layers.
    pub ffn_dim: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Whether the input of the attention to the prompt is normalized.
    pub cross_attn_norm: bool,
    /// How queries and keys are normalized.
    pub qk_norm: Option<String>,
    /// Added to the variance, or the mean square, in every norm.
    pub eps: f64,
    /// Width of the embeddings of an image, in models that read them.
    pub image_dim: Option<usize>,
    /// Width of the image's tokens in attention.
    pub added_kv_proj_dim: Option<usize>,
    /// Number of image tokens whose places have embeddings, in models that read two images.
    pub pos_embed_seq_len: Option<usize>,
    /// The blocks that those of a second stream add to, in models for control (Wan VACE). The second stream has one block
    /// for each of them.
    pub vace_layers: Vec<usize>,
    /// Channels that the second stream reads: two encoded clips, and a mask for each pixel of a latent.
    pub vace_in_channels: usize,
}

impl Default for WanConfig {
    fn default() -> Self {
        Self {
            patch_size: vec![1, 2, 2],
            num_attention_heads: 40,
            attention_head_dim: HEAD_WIDTH,
            in_channels: 16,
            out_channels: 16,
            text_dim: 4096,
            freq_dim: 256,
            ffn_dim: 13_824,
            num_layers: 40,
            cross_attn_norm: true,
            qk_norm: Some("rms_norm_across_heads".to_owned()),
            eps: 1e-6,
            image_dim: None,
            added_kv_proj_dim: None,
            pos_embed_seq_len: None,
            vace_layers: Vec::new(),
            vace_in_channels: 96,
        }
    }
}

impl WanConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let kernel = shape("patch_embedding.weight")?;
        let (dim, in_channels) = (*kernel.first()?, *kernel.get(1)?);
        let patch_size = kernel.get(2..).filter(|sides| sides.len() == 3)?.to_vec();
        let values: usize = patch_size.iter().product();
        let count = |name: &str| {
            (0..).take_while(|layer| shape(&format!("{name}.{layer}.attn1.to_q.weight")).is_some()).count()
        };
        let (layers, control) = (count("blocks"), count("vace_blocks"));
        Some(Self {
            num_attention_heads: dim / HEAD_WIDTH,
            in_channels,
            out_channels: *shape("proj_out.weight")?.first()? / values.max(1),
            text_dim: *shape("condition_embedder.text_embedder.linear_1.weight")?.get(1)?,
            freq_dim: *shape("condition_embedder.time_embedder.linear_1.weight")?.get(1)?,
            ffn_dim: *shape("blocks.0.ffn.net.0.proj.weight")?.first()?,
            num_layers: layers,
            // They are evenly spaced in all published models.
            vace_layers: (0..control).map(|index| index * (layers / control.max(1))).collect(),
            vace_in_channels: shape("vace_patch_embedding.weight")
                .and_then(|kernel| kernel.get(1).copied())
                .unwrap_or_default(),
            cross_attn_norm: shape("blocks.0.norm2.weight").is_some(),
            image_dim: shape("condition_embedder.image_embedder.norm1.weight")
                .and_then(|norm| norm.first().copied()),
            added_kv_proj_dim: shape("blocks.0.attn2.add_k_proj.weight")
                .and_then(|weight| weight.get(1).copied()),
            pos_embed_seq_len: shape("condition_embedder.image_embedder.pos_embed")
                .and_then(|places| places.get(1).copied()),
            patch_size,
            ..Self::default()
        })
    }

    /// Rejects values that no model can have, and those of models that are not supported.
    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let [1, rows, columns] = self.patch_size[..] else {
            let reason = "it must be three numbers, the first of them 1";
            return part.refuse("patch_size", format!("{:?}", self.patch_size), reason);
        };
        if rows != columns || rows == 0 {
            return part.refuse("patch_size", format!("{:?}", self.patch_size), "patches must be square");
        }
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if self.attention_head_dim < 6 || !self.attention_head_dim.is_multiple_of(2) {
            let reason = "it must be an even number, at least 6";
            return part.refuse("attention_head_dim", self.attention_head_dim, reason);
        }
        if self.freq_dim < 2 || !self.freq_dim.is_multiple_of(2) {
            return part.refuse("freq_dim", self.freq_dim, "it must be an even number, at least 2");
        }
        if let Some(norm) = self.qk_norm.as_ref().filter(|norm| *norm != "rms_norm_across_heads") {
            return part.refuse("qk_norm", norm, "only rms_norm_across_heads is supported");
        }
        if ![self.out_channels, 2 * self.out_channels + MASKS].contains(&self.in_channels) {
            let reason = "it must be the channels of the latents, or twice as many and 4 for a mask";
            return part.refuse("in_channels", self.in_channels, reason);
        }
        if !self.vace_layers.is_empty() {
            let rises = self.vace_layers.windows(2).all(|pair| pair[0] < pair[1]);
            if !rises || self.vace_layers.iter().any(|layer| *layer >= self.num_layers) {
                let reason = "they must be numbers of blocks, in order";
                return part.refuse("vace_layers", format!("{:?}", self.vace_layers), reason);
            }
            if self.in_channels != self.out_channels || self.image_dim.is_some() {
                let reason = "models for control read the latents alone beside what controls";
                return part.refuse("in_channels", self.in_channels, reason);
            }
        }
        if self.image_dim.is_some() != self.added_kv_proj_dim.is_some() {
            let reason = "models with image embeddings have projections for them, and others have not";
            return part.refuse("added_kv_proj_dim", format!("{:?}", self.added_kv_proj_dim), reason);
        }
        Ok(())
    }

    /// Whether a second stream controls it.
    pub(super) fn is_controlled(&self) -> bool {
        !self.vace_layers.is_empty()
    }

    /// Its transformer blocks in the order in which they run. A block of the second stream comes right before the one that
    /// it adds to.
    pub(super) fn layers(&self) -> Vec<Layer> {
        let mut layers = Vec::with_capacity(self.num_layers + self.vace_layers.len());
        for index in 0..self.num_layers {
            let control = self.vace_layers.iter().position(|layer| *layer == index);
            layers.extend(control.map(Layer::Control));
            layers.push(Layer::Plain(index));
        }
        layers
    }

    /// Input channels beyond those of the latents: a mask for each frame of a latent frame, and an encoded clip.
    pub(super) fn channels_beside(&self) -> usize {
        self.in_channels.saturating_sub(self.out_channels)
    }

    /// The numbers of images that it can be given, at the most one first and one last. Models that embed images
    /// embed a fixed number.
    pub(super) fn images(&self) -> &'static [usize] {
        match (self.image_dim, self.pos_embed_seq_len) {
            (None, _) => &[1, 2],
            (Some(_), None) => &[1],
            (Some(_), Some(_)) => &[2],
        }
    }

    /// Width of the residual stream.
    pub(super) fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// Side of the square patches of latents.
    pub(super) fn patch(&self) -> usize {
        self.patch_size.last().copied().unwrap_or(1)
    }

    /// Widths of the parts of a head that are rotated by frame, row and column.
    pub(super) fn axes(&self) -> [usize; 3] {
        let side = 2 * (self.attention_head_dim / 6);
        [self.attention_head_dim - 2 * side, side, side]
    }

    /// The blocks. The first depends only on prompt and noise level and is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, inner) = (self.dim(), self.ffn_dim);
        let embedder = "condition_embedder";
        let conditioning = BlockSpec::stem("conditioning")
            .linear(&format!("{embedder}.time_embedder.linear_1"), dim, self.freq_dim)
            .linear(&format!("{embedder}.time_embedder.linear_2"), dim, dim)
            .linear(&format!("{embedder}.time_proj"), MODULATIONS * dim, dim)
            .linear(&format!("{embedder}.text_embedder.linear_1"), dim, self.text_dim)
            .linear(&format!("{embedder}.text_embedder.linear_2"), dim, dim);
        let conditioning = match self.image_dim {
            Some(width) => self.with_image_embedder(conditioning, width),
            None => conditioning,
        };
        let kernel = [1, self.patch(), self.patch()];
        let patches = BlockSpec::stem("embedder").conv3d("patch_embedding", dim, self.in_channels, kernel);
        let patches = match self.is_controlled() {
            true => patches.conv3d("vace_patch_embedding", dim, self.vace_in_channels, kernel),
            false => patches,
        };
        let block = |layer: Layer| {
            let mut spec = BlockSpec::new(layer.name()).tensor(TABLE, &[1, MODULATIONS, dim]);
            if layer == Layer::Control(0) {
                spec = spec.linear("proj_in", dim, dim);
            }
            if matches!(layer, Layer::Control(_)) {
                spec = spec.linear("proj_out", dim, dim);
            }
            for attention in ["attn1", "attn2"] {
                for layer in ["to_q", "to_k", "to_v", "to_out.0"] {
                    spec = spec.linear(&format!("{attention}.{layer}"), dim, dim);
                }
                if self.qk_norm.is_some() {
                    for norm in ["norm_q", "norm_k"] {
                        spec = spec.scale(&format!("{attention}.{norm}"), dim);
                    }
                }
            }
            if let Some(width) = self.added_kv_proj_dim {
                spec = spec.linear("attn2.add_k_proj", dim, width).linear("attn2.add_v_proj", dim, width);
                if self.qk_norm.is_some() {
                    spec = spec.scale("attn2.norm_added_k", dim);
                }
            }
            if self.cross_attn_norm {
                spec = spec.norm("norm2", dim);
            }
            spec.linear("ffn.net.0.proj", inner, dim).linear("ffn.net.2", dim, inner)
        };
        let mut blocks = vec![conditioning, patches];
        blocks.extend(self.layers().into_iter().map(block));
        let values = self.out_channels * self.patch() * self.patch();
        blocks.push(BlockSpec::stem("head").tensor(TABLE, &[1, 2, dim]).linear("proj_out", values, dim));
        blocks
    }

    fn with_image_embedder(&self, spec: BlockSpec, width: usize) -> BlockSpec {
        let name = "condition_embedder.image_embedder";
        let spec = match self.pos_embed_seq_len {
            Some(tokens) => spec.tensor(format!("{name}.pos_embed"), &[1, tokens, width]),
            None => spec,
        };
        spec.norm(&format!("{name}.norm1"), width)
            .linear(&format!("{name}.ff.net.0.proj"), width, width)
            .linear(&format!("{name}.ff.net.2"), self.dim(), width)
            .norm(&format!("{name}.norm2"), self.dim())
    }
}

/// Layers of the transformer: diffusers' name and the authors', which ComfyUI also uses.
const NAMES: [(&str, &str); 24] = [
    (".proj_in.", ".before_proj."),
    (".proj_out.", ".after_proj."),
    ("condition_embedder.time_embedder.linear_1.", "time_embedding.0."),
    ("condition_embedder.time_embedder.linear_2.", "time_embedding.2."),
    ("condition_embedder.text_embedder.linear_1.", "text_embedding.0."),
    ("condition_embedder.text_embedder.linear_2.", "text_embedding.2."),
    ("condition_embedder.time_proj.", "time_projection.1."),
    ("condition_embedder.image_embedder.norm1.", "img_emb.proj.0."),
    ("condition_embedder.image_embedder.ff.net.0.proj.", "img_emb.proj.1."),
    ("condition_embedder.image_embedder.ff.net.2.", "img_emb.proj.3."),
    ("condition_embedder.image_embedder.norm2.", "img_emb.proj.4."),
    ("condition_embedder.image_embedder.pos_embed", "img_emb.emb_pos"),
    (".norm_added_k.", ".norm_k_img."),
    (".add_k_proj.", ".k_img."),
    (".add_v_proj.", ".v_img."),
    (".attn1.", ".self_attn."),
    (".attn2.", ".cross_attn."),
    (".to_out.0.", ".o."),
    (".to_q.", ".q."),
    (".to_k.", ".k."),
    (".to_v.", ".v."),
    (".ffn.net.0.proj.", ".ffn.0."),
    (".ffn.net.2.", ".ffn.2."),
    (".norm2.", ".norm3."),
];

/// The name of a tensor in the authors' files.
pub(super) fn original_name(name: &str) -> StoredName {
    if name == TABLE {
        return StoredName::whole("head.modulation");
    }
    if let Some(parameter) = name.strip_prefix("proj_out.") {
        return StoredName::whole(format!("head.head.{parameter}"));
    }
    let renamed = NAMES.iter().fold(name.to_owned(), |name, (own, original)| name.replace(own, original));
    StoredName::whole(renamed.replace(TABLE, "modulation"))
}
