//! Tiny IP-Adapters with their image encoder, whose weights come from names, as in `reference/image_prompts.py`.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};

use crate::{checkpoint::save, hash_weights::weight, original_names::Tensors};

/// Width of the encoder.
const WIDTH: usize = 128;
/// Width inside its feed-forward layers.
const INNER: usize = 64;
/// Values of its embedding of an image.
const EMBEDDING: usize = 24;
const ENCODER_LAYERS: usize = 3;
/// Pixels along each side of a patch.
const PATCH: usize = 14;
/// Patches along each side of an image.
const ALONG: usize = 2;
/// Tokens of a plain adapter.
const TOKENS: usize = 4;
/// Tokens of one with a resampler.
const RESAMPLED: usize = 3;
/// Width of the resampler.
const INSIDE: usize = 48;
/// Width of its heads together.
const HEADS: usize = 128;
const LAYERS: usize = 4;
/// The width inside its feed-forward layers, in that of the others.
const RATIO: usize = 4;

/// Names and shapes.
#[derive(Default)]
struct Shapes(Vec<(String, Vec<usize>)>);

impl Shapes {
    fn tensor(&mut self, name: impl Into<String>, shape: &[usize]) {
        self.0.push((name.into(), shape.to_vec()));
    }

    fn norm(&mut self, name: &str, width: usize) {
        self.tensor(format!("{name}.weight"), &[width]);
        self.tensor(format!("{name}.bias"), &[width]);
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.tensor(format!("{name}.weight"), &[outputs, inputs]);
        self.tensor(format!("{name}.bias"), &[outputs]);
    }

    /// The tensors, whose values come from their names after a prefix.
    fn made(self, prefix: &str) -> Result<Tensors> {
        let made = self.0.into_iter().map(|(name, shape)| {
            let values = weight(&format!("{prefix}.{name}"), &shape, 1.0);
            Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?))
        });
        made.collect()
    }
}

/// The image encoder under the names of published files.
pub fn encoder() -> Result<Tensors> {
    let mut shapes = Shapes::default();
    let model = "vision_model";
    shapes.tensor(format!("{model}.embeddings.class_embedding"), &[WIDTH]);
    shapes.tensor(format!("{model}.embeddings.patch_embedding.weight"), &[WIDTH, 3, PATCH, PATCH]);
    shapes.tensor(format!("{model}.embeddings.position_embedding.weight"), &[1 + ALONG * ALONG, WIDTH]);
    shapes.norm(&format!("{model}.pre_layrnorm"), WIDTH);
    for layer in 0..ENCODER_LAYERS {
        let layer = format!("{model}.encoder.layers.{layer}");
        for name in ["k_proj", "v_proj", "q_proj", "out_proj"] {
            shapes.linear(&format!("{layer}.self_attn.{name}"), WIDTH, WIDTH);
        }
        shapes.norm(&format!("{layer}.layer_norm1"), WIDTH);
        shapes.linear(&format!("{layer}.mlp.fc1"), INNER, WIDTH);
        shapes.linear(&format!("{layer}.mlp.fc2"), WIDTH, INNER);
        shapes.norm(&format!("{layer}.layer_norm2"), WIDTH);
    }
    shapes.norm(&format!("{model}.post_layernorm"), WIDTH);
    shapes.tensor("visual_projection.weight", &[EMBEDDING, WIDTH]);
    shapes.made("image_encoder")
}

/// An IP-Adapter of a kind, "plain" or "plus", for a UNet with diffusers' names.
pub fn adapter(kind: &str, unet: &Tensors) -> Result<Tensors> {
    let read = unet.iter().filter(|(name, _)| name.ends_with(".attn2.to_k.weight"));
    let mut read: Vec<(&String, &Tensor)> = read.collect();
    // In the files, what is in the middle comes last.
    read.sort_by_key(|(name, _)| name.starts_with("mid_block"));
    let width = read.first().context("the UNet reads no prompt")?.1.dim(1)?;
    let mut shapes = Shapes::default();
    if kind == "plain" {
        shapes.linear("image_proj.proj", TOKENS * width, EMBEDDING);
        shapes.norm("image_proj.norm", width);
    } else {
        shapes.tensor("image_proj.latents", &[1, RESAMPLED, INSIDE]);
        shapes.linear("image_proj.proj_in", INSIDE, WIDTH);
        for layer in 0..LAYERS {
            let [attention, forward] = ["0", "1"].map(|half| format!("image_proj.layers.{layer}.{half}"));
            shapes.norm(&format!("{attention}.norm1"), INSIDE);
            shapes.norm(&format!("{attention}.norm2"), INSIDE);
            shapes.tensor(format!("{attention}.to_q.weight"), &[HEADS, INSIDE]);
            shapes.tensor(format!("{attention}.to_kv.weight"), &[2 * HEADS, INSIDE]);
            shapes.tensor(format!("{attention}.to_out.weight"), &[INSIDE, HEADS]);
            shapes.norm(&format!("{forward}.0"), INSIDE);
            shapes.tensor(format!("{forward}.1.weight"), &[RATIO * INSIDE, INSIDE]);
            shapes.tensor(format!("{forward}.3.weight"), &[INSIDE, RATIO * INSIDE]);
        }
        shapes.linear("image_proj.proj_out", width, INSIDE);
        shapes.norm("image_proj.norm_out", width);
    }
    for (number, (_, tensor)) in read.into_iter().enumerate() {
        for name in ["to_k_ip", "to_v_ip"] {
            shapes.tensor(format!("ip_adapter.{}.{name}.weight", 2 * number + 1), tensor.dims());
        }
    }
    shapes.made(kind)
}

/// Writes IP-Adapters of some kinds for a UNet to a folder, and their encoder beside them as h94/IP-Adapter has it.
pub fn write(kinds: &[&str], unet: &Tensors, folder: &Path) -> Result<()> {
    let beside = folder.join("image_encoder");
    fs::create_dir_all(&beside)?;
    for kind in kinds {
        save(&adapter(kind, unet)?, &folder.join(format!("{kind}.safetensors")))?;
    }
    save(&encoder()?, &beside.join("model.safetensors"))?;
    let config = format!(
        "{{\"hidden_size\": {WIDTH}, \"intermediate_size\": {INNER}, \"num_hidden_layers\": {ENCODER_LAYERS}, \
         \"num_attention_heads\": 2, \"image_size\": {}, \"patch_size\": {PATCH}, \"hidden_act\": \"quick_gelu\", \
         \"projection_dim\": {EMBEDDING}}}",
        ALONG * PATCH
    );
    Ok(fs::write(beside.join("config.json"), config)?)
}
