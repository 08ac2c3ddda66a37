//! The image encoder of CLIP (Radford et al. 2021, arXiv:2103.00020).

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Mask, Result, Tensor, attention, gelu, quick_gelu},
    residency::{Blocks, RunError, Weights},
};

/// Prefix of the names in published files.
const PREFIX: &str = "vision_model.";
const CLASS: &str = "embeddings.class_embedding";
const PATCHES: &str = "embeddings.patch_embedding";
const PLACES: &str = "embeddings.position_embedding.weight";
const EMBEDDING: &str = "visual_projection";
/// Channels of an image.
const CHANNELS: usize = 3;
/// Widths of larger encoders, each with that of its heads: OpenCLIP's ViT-H and ViT-bigG.
const LARGE: [(usize, usize); 2] = [(1280, 80), (1664, 104)];
/// Means and deviations of the channels of the images that CLIP was trained on, in 0…1.
pub const CLIP_SPREAD: [[f32; CHANNELS]; 2] =
    [[0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_6, 0.275_777_1]];

/// The shape of an image encoder, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClipVisionConfig {
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward layers.
    pub intermediate_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Attention heads.
    pub num_attention_heads: usize,
    /// Pixels along each side of an image.
    pub image_size: usize,
    /// Pixels along each side of a patch.
    pub patch_size: usize,
    /// `quick_gelu` or `gelu`.
    pub hidden_act: String,
    /// Added to the variance in every norm.
    pub layer_norm_eps: f64,
}

impl Default for ClipVisionConfig {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            intermediate_size: 3072,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            image_size: 224,
            patch_size: 32,
            hidden_act: "quick_gelu".to_owned(),
            layer_norm_eps: 1e-5,
        }
    }
}

impl ClipVisionConfig {
    /// Infers the shape from the tensors, for files without a configuration. Encoders that are not [`LARGE`] have heads of
    /// width 64.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| stored(tensors, name).map(<[usize]>::to_vec);
        let (patches, places) = (shape(&format!("{PATCHES}.weight"))?, shape(PLACES)?);
        let (width, patch_size) = (*patches.first()?, *patches.get(2)?);
        let side = (places.first()?.checked_sub(1)? as f64).sqrt().round() as usize;
        let layers = (0..)
            .take_while(|layer| shape(&format!("encoder.layers.{layer}.layer_norm1.weight")).is_some())
            .count();
        let large = LARGE.iter().find(|(own, _)| *own == width);
        Some(Self {
            hidden_size: width,
            intermediate_size: *shape("encoder.layers.0.mlp.fc1.weight")?.first()?,
            num_hidden_layers: layers,
            num_attention_heads: (width / large.map_or(64, |(_, head)| *head)).max(1),
            image_size: side * patch_size,
            patch_size,
            hidden_act: if large.is_some() { "gelu" } else { "quick_gelu" }.to_owned(),
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let reason = "the width must be a multiple of the number of heads";
            return part.refuse("num_attention_heads", self.num_attention_heads, reason);
        }
        if self.patch_size == 0 || self.image_size < self.patch_size {
            return part.refuse("patch_size", self.patch_size, "an image must have at least one patch");
        }
        if self.num_hidden_layers == 0 {
            return part.refuse("num_hidden_layers", 0, "it must be at least 1");
        }
        if !["quick_gelu", "gelu"].contains(&self.hidden_act.as_str()) {
            return part.refuse("hidden_act", &self.hidden_act, "only quick_gelu and gelu are supported");
        }
        Ok(())
    }

    /// Tokens of an image: the class and its patches.
    pub fn tokens(&self) -> usize {
        1 + (self.image_size / self.patch_size).pow(2)
    }

    /// The blocks: embeddings, and the layers but for the last, whose result is not used.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let width = self.hidden_size;
        let kernel = [width, CHANNELS, self.patch_size, self.patch_size];
        let mut blocks = vec![
            BlockSpec::stem("embeddings")
                .tensor(CLASS, &[width])
                .tensor(format!("{PATCHES}.weight"), &kernel)
                .tensor(PLACES, &[self.tokens(), width])
                .norm("pre_layrnorm", width),
        ];
        blocks.extend((1..self.num_hidden_layers).map(|number| self.layer(number - 1)));
        blocks
    }

    /// The blocks for the embedding of a whole image, which has so many values: all layers, and what projects the class.
    pub(super) fn blueprint_to_embedding(&self, values: usize) -> Vec<BlockSpec> {
        let width = self.hidden_size;
        let mut blocks = self.blueprint();
        blocks.push(self.layer(self.num_hidden_layers - 1));
        blocks.push(
            BlockSpec::stem("embedding").norm("post_layernorm", width).matrix(EMBEDDING, values, width),
        );
        blocks
    }

    fn layer(&self, index: usize) -> BlockSpec {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        BlockSpec::new(format!("encoder.layers.{index}"))
            .norm("layer_norm1", width)
            .linear("self_attn.q_proj", width, width)
            .linear("self_attn.k_proj", width, width)
            .linear("self_attn.v_proj", width, width)
            .linear("self_attn.out_proj", width, width)
            .norm("layer_norm2", width)
            .linear("mlp.fc1", inner, width)
            .linear("mlp.fc2", width, inner)
    }
}

/// The shape of a tensor under its own name or its name in published files.
fn stored<'a>(tensors: &'a TensorTable, name: &str) -> Option<&'a [usize]> {
    let tensor = tensors.get(&format!("{PREFIX}{name}")).or_else(|| tensors.get(name))?;
    Some(tensor.shape())
}

/// An image encoder. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ClipVision {
    config: ClipVisionConfig,
}

impl ClipVision {
    /// Finds every tensor of the encoder in `part`.
    ///
    /// # Errors
    /// When the configuration is wrong or not supported, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let encoder = Self::of(part)?;
        let component = Component::bind(
            Role::TextEncoder,
            "CLIP vision",
            &encoder.config.blueprint(),
            &part.tensors,
            Self::published_name,
            &part.path,
        )?;
        Ok((encoder, component))
    }

    /// The encoder in `part`, by its configuration.
    pub(super) fn of(part: &Part) -> std::result::Result<Self, CheckpointError> {
        let config = part.config(ClipVisionConfig::from_shapes)?;
        config.check(part)?;
        Ok(Self { config })
    }

    /// The name in published files.
    pub(super) fn published_name(name: &str) -> StoredName {
        StoredName::whole(format!("{PREFIX}{name}"))
    }

    /// Values in the embedding of a whole image, if the encoder in `tensors` can make one.
    pub(super) fn embedding(tensors: &TensorTable) -> Option<usize> {
        Self::width(tensors)?;
        tensors.get(&format!("{EMBEDDING}.weight"))?.shape().first().copied()
    }

    /// Width of the image encoder in `tensors`, if there is one.
    pub fn width(tensors: &TensorTable) -> Option<usize> {
        stored(tensors, CLASS)?.first().copied()
    }

    /// Its shape.
    pub fn config(&self) -> &ClipVisionConfig {
        &self.config
    }

    /// Encodes normalized images `[images, 3, side, side]` to the states before the last layer, one image after the
    /// other, `[images · tokens, width]`.
    pub fn encode(&self, blocks: Blocks<'_>, images: &Tensor) -> std::result::Result<Tensor, RunError> {
        let mut x = images.to_dtype(blocks.dtype())?;
        blocks.walk(0..self.config.num_hidden_layers, |index, w| {
            x = self.pass(w, index, &x)?;
            Ok(())
        })?;
        Ok(x.reshape((x.dim(0)? * x.dim(1)?, x.dim(2)?))?)
    }

    /// The states `[images, tokens, width]` after one of the blocks, from those before it; before the first they are images.
    pub(super) fn pass(&self, w: &Weights, index: usize, x: &Tensor) -> Result<Tensor> {
        if index == 0 { self.embed(w, x) } else { self.layer(w, x) }
    }

    /// The embeddings `[images, values]` of whole images, from the states after the last layer.
    pub(super) fn embedded(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let class = x.narrow(1, 0, 1)?.squeeze(1)?.contiguous()?;
        w.linear(EMBEDDING, &w.layer_norm("post_layernorm", &class, self.config.layer_norm_eps)?)
    }

    /// Tokens of images, before the first layer.
    fn embed(&self, w: &Weights, images: &Tensor) -> Result<Tensor> {
        let (count, channels, height, _) = images.dims4()?;
        let side = self.config.patch_size;
        let rows = height / side;
        let split = images.reshape((count, channels, rows, side, rows, side))?;
        let patches =
            split.permute([0, 2, 4, 1, 3, 5])?.reshape((count, rows * rows, channels * side * side))?;
        let x = w.patches(PATCHES, &patches)?;
        let class = w.get(CLASS)?.reshape((1, 1, self.config.hidden_size))?;
        let class = Tensor::cat(&vec![class; count], 0)?;
        let x = Tensor::cat(&[class, x], 1)?.broadcast_add(&w.get(PLACES)?.unsqueeze(0)?)?;
        w.layer_norm("pre_layrnorm", &x, self.config.layer_norm_eps)
    }

    fn layer(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let eps = self.config.layer_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let h = w.layer_norm("layer_norm1", x, eps)?;
        let heads =
            |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.config.num_attention_heads, ()));
        let (q, k, v) = (heads("self_attn.q_proj")?, heads("self_attn.k_proj")?, heads("self_attn.v_proj")?);
        let attended = attention(&q, &k, &v, Mask::None)?;
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.out_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let active = {
            let h = w.linear("mlp.fc1", &w.layer_norm("layer_norm2", &x, eps)?)?;
            if self.config.hidden_act == "gelu" { gelu(&h)? } else { quick_gelu(&h)? }
        };
        x + w.linear("mlp.fc2", &active)?
    }
}
