//! The image encoder of SigLIP (Zhai et al. 2023, arXiv:2303.15343).

use serde::Deserialize;

use super::vision_tower::CHANNELS;
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, StoredName, TensorTable},
    nn::{Mask, Result, Tensor, attention, gelu_tanh},
    residency::Weights,
};

/// Prefix of the names in published files.
const PREFIX: &str = "vision_model.";
const PATCHES: &str = "embeddings.patch_embedding";
const PLACES: &str = "embeddings.position_embedding.weight";
/// Width of the heads of published encoders.
const HEAD: usize = 72;
/// Pixels along each side of the images that published encoders read, of which the last few are left over.
const IMAGE: usize = 384;

/// The shape of an image encoder, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct SiglipConfig {
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
    /// Added to the variance in every norm.
    pub layer_norm_eps: f64,
}

impl Default for SiglipConfig {
    /// The shape of SigLIP SO400M.
    fn default() -> Self {
        Self {
            hidden_size: 1152,
            intermediate_size: 4304,
            num_hidden_layers: 27,
            num_attention_heads: 16,
            image_size: IMAGE,
            patch_size: 14,
            layer_norm_eps: 1e-6,
        }
    }
}

impl SiglipConfig {
    /// Infers the shape from the tensors, for files without a configuration. Heads have the width of published encoders, and
    /// an image is as large as theirs if it has as many patches.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| stored(tensors, name).map(<[usize]>::to_vec);
        let (kernel, places) = (shape(&format!("{PATCHES}.weight"))?, shape(PLACES)?);
        let (width, patch_size) = (*kernel.first()?, *kernel.get(2)?);
        let side = places.first()?.isqrt() * patch_size;
        let layers = (0..)
            .take_while(|layer| shape(&format!("encoder.layers.{layer}.layer_norm1.weight")).is_some())
            .count();
        Some(Self {
            hidden_size: width,
            intermediate_size: *shape("encoder.layers.0.mlp.fc1.weight")?.first()?,
            num_hidden_layers: layers,
            num_attention_heads: (width / HEAD).max(1),
            image_size: if IMAGE / patch_size.max(1) * patch_size == side { IMAGE } else { side },
            patch_size,
            ..Self::default()
        })
    }

    /// Rejects numbers that no encoder can have.
    ///
    /// # Errors
    /// With the field, its value and the reason.
    pub fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
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
        Ok(())
    }

    /// Patches along each side of an image.
    pub fn patches_along(&self) -> usize {
        self.image_size / self.patch_size
    }

    /// The blocks: embeddings, layers, norm.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let layer = |index: usize| {
            BlockSpec::new(format!("encoder.layers.{index}"))
                .norm("layer_norm1", width)
                .linear("self_attn.q_proj", width, width)
                .linear("self_attn.k_proj", width, width)
                .linear("self_attn.v_proj", width, width)
                .linear("self_attn.out_proj", width, width)
                .norm("layer_norm2", width)
                .linear("mlp.fc1", inner, width)
                .linear("mlp.fc2", width, inner)
        };
        let mut blocks = vec![
            BlockSpec::stem("embeddings")
                .conv(PATCHES, width, CHANNELS, self.patch_size)
                .tensor(PLACES, &[self.patches_along().pow(2), width]),
        ];
        blocks.extend((0..self.num_hidden_layers).map(layer));
        blocks.push(BlockSpec::stem("post_layernorm").norm("post_layernorm", width));
        blocks
    }

    /// Width of the image encoder in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        stored(tensors, "post_layernorm.weight")?;
        // CLIP's encoder has a class, and names the first norm otherwise.
        let has_class = tensors.keys().any(|name| name.ends_with("embeddings.class_embedding"));
        stored(tensors, PLACES)?.get(1).copied().filter(|_| !has_class)
    }

    /// The name in published files.
    pub fn published_name(name: &str) -> StoredName {
        StoredName::whole(format!("{PREFIX}{name}"))
    }

    /// The states `[images, patches, width]` after one of the blocks, from those before it; before the first they are
    /// patches of pixels.
    pub(super) fn pass(&self, w: &Weights, index: usize, x: &Tensor) -> Result<Tensor> {
        match index {
            0 => w.patches(PATCHES, x)?.broadcast_add(&w.get(PLACES)?.unsqueeze(0)?),
            _ if index <= self.num_hidden_layers => self.layer(w, x),
            _ => w.layer_norm("post_layernorm", x, self.layer_norm_eps),
        }
    }

    fn layer(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let eps = self.layer_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let h = w.layer_norm("layer_norm1", x, eps)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.num_attention_heads, ()));
        let (q, k, v) = (heads("self_attn.q_proj")?, heads("self_attn.k_proj")?, heads("self_attn.v_proj")?);
        let attended = attention(&q, &k, &v, Mask::None)?;
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.out_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let h = gelu_tanh(&w.linear("mlp.fc1", &w.layer_norm("layer_norm2", &x, eps)?)?)?;
        x + w.linear("mlp.fc2", &h)?
    }
}

/// The shape of a tensor under its own name or its name in published files.
fn stored<'a>(tensors: &'a TensorTable, name: &str) -> Option<&'a [usize]> {
    let tensor = tensors.get(&format!("{PREFIX}{name}")).or_else(|| tensors.get(name))?;
    Some(tensor.shape())
}
