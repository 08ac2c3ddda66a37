//! Tiny language models that see, whose weights come from the names of their tensors; `reference/describe.py` has the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use image::{Rgb, RgbImage};
use serde_json::{Value, json};

use crate::{
    checkpoint::{fixtures, save},
    hash_weights::weight,
    original_names::Tensors,
};

/// What comes before the names.
const NAME: &str = "describe.d";
/// The number of tokens.
const TOKENS: usize = 583;
const LAYERS: usize = 3;
/// Widths of the language models: of states, of feed-forward layers, of keys, and of a head.
const WIDTH: usize = 64;
const INNER: usize = 96;
const KEYS: usize = 32;
const HEAD: usize = 16;
/// Widths of the vision towers: of states, of feed-forward layers, and of four patches together.
const SEEN: usize = 32;
const SEEN_INNER: usize = 48;
const MERGED: usize = 4 * SEEN;
/// What the reference was told.
pub const INSTRUCTION: &str = "Describe this image:\nwrite one sentence, 造相 🚂.";
/// Width and height of the images of the reference.
pub const SIZES: [[u32; 2]; 2] = [[190, 130], [40, 61]];

/// Which of the two models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeing {
    /// Qwen2.5-VL.
    Qwen25,
    /// Qwen3-VL.
    Qwen3,
}

impl Seeing {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Qwen25, Self::Qwen3];

    /// Its name in the reference.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qwen25 => "qwen25",
            Self::Qwen3 => "qwen3",
        }
    }

    /// The most pixels of an image in the reference.
    pub fn pixels(self) -> u32 {
        match self {
            Self::Qwen25 => 20_000,
            Self::Qwen3 => 400_000,
        }
    }

    /// Names and shapes of its tensors, as published.
    fn shapes(self) -> Vec<(String, Vec<usize>)> {
        let mut shapes = vec![("lm_head.weight".to_owned(), vec![TOKENS, WIDTH])];
        let (language, vision) = match self {
            Self::Qwen25 => ("model.", "visual."),
            Self::Qwen3 => ("model.language_model.", "model.visual."),
        };
        let mut add = |name: String, shape: &[usize]| shapes.push((name, shape.to_vec()));
        add(format!("{language}embed_tokens.weight"), &[TOKENS, WIDTH]);
        add(format!("{language}norm.weight"), &[WIDTH]);
        for layer in 0..LAYERS {
            let mut add =
                |name: &str, shape: &[usize]| add(format!("{language}layers.{layer}.{name}"), shape);
            for norm in ["input_layernorm", "post_attention_layernorm"] {
                add(&format!("{norm}.weight"), &[WIDTH]);
            }
            for (name, outputs) in [("q_proj", WIDTH), ("k_proj", KEYS), ("v_proj", KEYS)] {
                add(&format!("self_attn.{name}.weight"), &[outputs, WIDTH]);
                if self == Self::Qwen25 {
                    add(&format!("self_attn.{name}.bias"), &[outputs]);
                }
            }
            if self == Self::Qwen3 {
                add("self_attn.q_norm.weight", &[HEAD]);
                add("self_attn.k_norm.weight", &[HEAD]);
            }
            add("self_attn.o_proj.weight", &[WIDTH, WIDTH]);
            add("mlp.gate_proj.weight", &[INNER, WIDTH]);
            add("mlp.up_proj.weight", &[INNER, WIDTH]);
            add("mlp.down_proj.weight", &[WIDTH, INNER]);
        }
        let mut add = |name: &str, shape: &[usize]| shapes.push((format!("{vision}{name}"), shape.to_vec()));
        let side = if self == Self::Qwen25 { 14 } else { 16 };
        add("patch_embed.proj.weight", &[SEEN, 3, 2, side, side]);
        let linear = |name: &str, outputs: usize, inputs: usize| {
            [(format!("{name}.weight"), vec![outputs, inputs]), (format!("{name}.bias"), vec![outputs])]
        };
        let mut linears = Vec::new();
        for block in 0..LAYERS {
            let own = |name: &str| format!("blocks.{block}.{name}");
            for norm in ["norm1", "norm2"] {
                add(&own(&format!("{norm}.weight")), &[SEEN]);
                if self == Self::Qwen3 {
                    add(&own(&format!("{norm}.bias")), &[SEEN]);
                }
            }
            linears.extend(linear(&own("attn.qkv"), 3 * SEEN, SEEN));
            linears.extend(linear(&own("attn.proj"), SEEN, SEEN));
            let inner: &[(&str, bool)] = match self {
                Self::Qwen25 => &[("mlp.gate_proj", false), ("mlp.up_proj", false), ("mlp.down_proj", true)],
                Self::Qwen3 => &[("mlp.linear_fc1", false), ("mlp.linear_fc2", true)],
            };
            for (name, is_last) in inner {
                let (outputs, inputs) = if *is_last { (SEEN, SEEN_INNER) } else { (SEEN_INNER, SEEN) };
                linears.extend(linear(&own(name), outputs, inputs));
            }
        }
        match self {
            Self::Qwen25 => {
                add("merger.ln_q.weight", &[SEEN]);
                linears.extend(linear("merger.mlp.0", MERGED, MERGED));
                linears.extend(linear("merger.mlp.2", WIDTH, MERGED));
            }
            Self::Qwen3 => {
                add("patch_embed.proj.bias", &[SEEN]);
                add("pos_embed.weight", &[16, SEEN]);
                for (name, normed) in [
                    ("merger", SEEN),
                    ("deepstack_merger_list.0", MERGED),
                    ("deepstack_merger_list.1", MERGED),
                ] {
                    add(&format!("{name}.norm.weight"), &[normed]);
                    add(&format!("{name}.norm.bias"), &[normed]);
                    linears.extend(linear(&format!("{name}.linear_fc1"), MERGED, MERGED));
                    linears.extend(linear(&format!("{name}.linear_fc2"), WIDTH, MERGED));
                }
            }
        }
        linears.iter().for_each(|(name, shape)| add(name, shape));
        shapes
    }

    /// The weights under the names of published files; matrices are rounded to f16.
    pub fn weights(self) -> Result<Tensors> {
        let made = |(name, shape): (String, Vec<usize>)| {
            let values = weight(&format!("{NAME}.{}.{name}", self.name()), &shape, 1.0);
            let dtype = if shape.len() > 1 { DType::F16 } else { DType::F32 };
            Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)?))
        };
        self.shapes().into_iter().map(made).collect()
    }

    /// Its `config.json`, as transformers 5 writes it.
    pub fn config(self) -> Value {
        let text = json!({
            "vocab_size": TOKENS, "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
            "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
        });
        let vision = json!({
            "depth": LAYERS, "hidden_size": SEEN, "intermediate_size": SEEN_INNER, "num_heads": 2,
            "out_hidden_size": WIDTH, "temporal_patch_size": 2, "spatial_merge_size": 2,
        });
        let with = |mut base: Value, more: Value| {
            if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
                base.extend(more);
            }
            base
        };
        let rope = |sections: [usize; 3]| json!({ "rope_theta": 5e5, "rope_type": "default", "mrope_section": sections });
        let (kind, text, vision) = match self {
            Self::Qwen25 => (
                "qwen2_5_vl",
                with(text, json!({ "rope_parameters": rope([2, 3, 3]) })),
                with(vision, json!({ "patch_size": 14, "fullatt_block_indexes": [1], "window_size": 56 })),
            ),
            Self::Qwen3 => (
                "qwen3_vl",
                with(text, json!({ "head_dim": HEAD, "rope_parameters": rope([4, 2, 2]) })),
                with(
                    vision,
                    json!({
                        "patch_size": 16, "num_position_embeddings": 16, "deepstack_visual_indexes": [0, 1],
                    }),
                ),
            ),
        };
        json!({
            "model_type": kind, "tie_word_embeddings": false, "text_config": text, "vision_config": vision,
        })
    }

    /// Writes the model into a folder as transformers saves it, with these tensors.
    pub fn write_tensors(self, folder: &Path, tensors: &Tensors) -> Result<()> {
        fs::create_dir_all(folder)?;
        for name in ["tokenizer.json", "tokenizer_config.json"] {
            fs::copy(fixtures().join("z_image/tokenizer").join(name), folder.join(name))?;
        }
        fs::write(folder.join("config.json"), self.config().to_string())?;
        save(tensors, &folder.join("model.safetensors"))
    }

    /// Writes the model into a folder as it is published.
    pub fn write(self, folder: &Path) -> Result<()> {
        self.write_tensors(folder, &self.weights()?)
    }
}

/// Writes the images of the reference into a folder.
pub fn write_images(folder: &Path) -> Result<Vec<PathBuf>> {
    let write = |(number, [width, height]): (usize, [u32; 2])| {
        let pixel = |x: u32, y: u32| {
            Rgb([x * 255 / width, y * 255 / height, (x * 7 + y * 13) % 256].map(|value| value as u8))
        };
        let file = folder.join(format!("image-{number}.png"));
        RgbImage::from_fn(width, height, pixel).save(&file)?;
        Ok(file)
    };
    SIZES.into_iter().enumerate().map(write).collect()
}
