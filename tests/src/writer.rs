//! A tiny language model, whose weights come from the names of their tensors; `reference/writer.py` has the same.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use candle_core::{Device, Tensor};
use serde_json::Value;
use sluice_engine::precision::{Encoding, Format};

use crate::{
    checkpoint::{fixtures, read_json},
    hash_weights::weight,
    original_names::Tensors,
    packed::{GgufValue, LANGUAGE_MODEL_IN_LLAMA, package, renamed, write_gguf_values},
};

/// What comes before the names.
const NAME: &str = "writer.c";
/// Its width, that of its feed-forward layers, of its queries, of its keys, and of a head.
const WIDTH: usize = 64;
const INNER: usize = 96;
const QUERIES: usize = 128;
const KEYS: usize = 64;
const HEAD: usize = 32;
const LAYERS: usize = 3;
/// The number of its tokens.
pub const TOKENS: usize = 583;
/// What the reference was told.
pub const INSTRUCTION: &str = "You are an assistant designed to generate images.\nWrite in detail:";
/// The prompt of the reference.
pub const PROMPT: &str = "a dog dancing in the rain, 造相 🚂";
/// A chat template of a model that thinks first unless it is asked not to.
pub const THINKING: &str = "{%- if enable_thinking is defined and enable_thinking is false %}{%- endif %}";

/// The weights, under the names of transformers.
pub fn weights() -> Result<Tensors> {
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("model.embed_tokens.weight".to_owned(), vec![TOKENS, WIDTH]),
        ("model.norm.weight".to_owned(), vec![WIDTH]),
    ];
    for layer in 0..LAYERS {
        let own: [(&str, &[usize]); 11] = [
            ("input_layernorm", &[WIDTH]),
            ("post_attention_layernorm", &[WIDTH]),
            ("self_attn.q_proj", &[QUERIES, WIDTH]),
            ("self_attn.k_proj", &[KEYS, WIDTH]),
            ("self_attn.v_proj", &[KEYS, WIDTH]),
            ("self_attn.o_proj", &[WIDTH, QUERIES]),
            ("self_attn.q_norm", &[HEAD]),
            ("self_attn.k_norm", &[HEAD]),
            ("mlp.gate_proj", &[INNER, WIDTH]),
            ("mlp.up_proj", &[INNER, WIDTH]),
            ("mlp.down_proj", &[WIDTH, INNER]),
        ];
        let own = own
            .into_iter()
            .map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape.to_vec()));
        shapes.extend(own);
    }
    let made = |(name, shape): (String, Vec<usize>)| {
        let values = weight(&format!("{NAME}.{name}"), &shape, 1.0);
        Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?))
    };
    shapes.into_iter().map(made).collect()
}

/// What the header of its file says.
pub fn values(template: &str) -> Result<Vec<(&'static str, GgufValue)>> {
    let text = |text: &str| GgufValue::Text(text.to_owned());
    let tokenizer: Value = read_json(&fixtures().join("z_image/tokenizer/tokenizer.json"))?;
    let mut tokens = BTreeMap::new();
    for (token, id) in tokenizer["model"]["vocab"].as_object().into_iter().flatten() {
        tokens.insert(id.as_u64(), token.clone());
    }
    for added in tokenizer["added_tokens"].as_array().into_iter().flatten() {
        tokens.insert(added["id"].as_u64(), added["content"].as_str().unwrap_or_default().to_owned());
    }
    let pair = |pair: &Value| Some(format!("{} {}", pair[0].as_str()?, pair[1].as_str()?));
    let merges = tokenizer["model"]["merges"].as_array().into_iter().flatten().filter_map(pair).collect();
    Ok(vec![
        ("general.architecture", text("qwen3")),
        ("qwen3.rope.freq_base", GgufValue::Float(5e6)),
        ("qwen3.attention.layer_norm_rms_epsilon", GgufValue::Float(1e-5)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.tokens", GgufValue::Texts(tokens.into_values().collect())),
        ("tokenizer.ggml.merges", GgufValue::Texts(merges)),
        ("tokenizer.chat_template", text(template)),
    ])
}

/// Writes tensors as llama.cpp does, matrices in a format.
pub fn write_tensors(
    file: &Path,
    tensors: &Tensors,
    values: &[(&str, GgufValue)],
    format: Format,
) -> Result<()> {
    let stored =
        |_: &str, shape: &[usize]| Encoding::from(if shape.len() > 1 { format } else { Format::F32 });
    let names: Vec<_> = LANGUAGE_MODEL_IN_LLAMA.into_iter().chain([("lm_head", "output")]).collect();
    write_gguf_values(file, values, &renamed(&package(tensors, stored)?, &names))
}

/// Writes the model to a GGUF file, its matrices in a format.
pub fn write(file: &Path, format: Format) -> Result<()> {
    write_tensors(file, &weights()?, &values(THINKING)?, format)
}
