//! Tiny models for tests of the program.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

/// The tokens of the tokenizer among the fixtures.
const TOKENS: usize = 583;
/// Widths of the model and its vision tower.
const WIDTH: usize = 16;
const SEEN: usize = 8;

/// Writes tensors of zeros, in f32.
pub fn write<S: AsRef<[usize]>>(path: &Path, tensors: &[(&str, S)]) {
    let mut header = Map::new();
    let mut end = 0;
    for (name, shape) in tensors {
        let (start, shape) = (end, shape.as_ref());
        end += 4 * shape.iter().product::<usize>();
        header.insert(
            (*name).to_owned(),
            json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, end] }),
        );
    }
    let header = Value::from(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + end, 0);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes a tiny HED whose weights are zero, so that it is as sure of an edge as of none.
pub fn write_hed(path: &Path) {
    let mut tensors = vec![("norm".to_owned(), vec![1, 3, 1, 1])];
    let mut inputs = 3;
    for block in 1..=5 {
        for (name, outputs, side) in [("convs.0", 4, 3), ("projection", 1, 1)] {
            let kernel = vec![outputs, inputs, side, side];
            tensors.push((format!("block{block}.{name}.weight"), kernel));
            tensors.push((format!("block{block}.{name}.bias"), vec![outputs]));
            inputs = 4;
        }
    }
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape.as_slice())).collect();
    write(path, &tensors);
}

/// A tiny Qwen2.5-VL without any knowledge: all its weights are zero, so that all words are equally likely.
pub fn write_model(folder: &Path) {
    let mut shapes: Vec<(String, Vec<usize>)> = Vec::new();
    let mut add = |name: &str, shape: &[usize]| shapes.push((name.to_owned(), shape.to_vec()));
    for name in ["model.embed_tokens", "lm_head"] {
        add(&format!("{name}.weight"), &[TOKENS, WIDTH]);
    }
    add("model.norm.weight", &[WIDTH]);
    for norm in ["input_layernorm", "post_attention_layernorm"] {
        add(&format!("model.layers.0.{norm}.weight"), &[WIDTH]);
    }
    for name in ["q_proj", "k_proj", "v_proj"] {
        add(&format!("model.layers.0.self_attn.{name}.weight"), &[WIDTH, WIDTH]);
        add(&format!("model.layers.0.self_attn.{name}.bias"), &[WIDTH]);
    }
    for name in ["self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"] {
        add(&format!("model.layers.0.{name}.weight"), &[WIDTH, WIDTH]);
    }
    add("visual.patch_embed.proj.weight", &[SEEN, 3, 2, 14, 14]);
    for name in ["blocks.0.norm1", "blocks.0.norm2", "merger.ln_q"] {
        add(&format!("visual.{name}.weight"), &[SEEN]);
    }
    let linears = [
        ("blocks.0.attn.qkv", 3 * SEEN, SEEN),
        ("blocks.0.attn.proj", SEEN, SEEN),
        ("blocks.0.mlp.gate_proj", SEEN, SEEN),
        ("blocks.0.mlp.up_proj", SEEN, SEEN),
        ("blocks.0.mlp.down_proj", SEEN, SEEN),
        ("merger.mlp.0", 4 * SEEN, 4 * SEEN),
        ("merger.mlp.2", WIDTH, 4 * SEEN),
    ];
    for (name, outputs, inputs) in linears {
        add(&format!("visual.{name}.weight"), &[outputs, inputs]);
        add(&format!("visual.{name}.bias"), &[outputs]);
    }
    let tensors: Vec<_> = shapes.iter().map(|(name, shape)| (name.as_str(), shape.as_slice())).collect();
    write(&folder.join("model.safetensors"), &tensors);
    let config = json!({
        "model_type": "qwen2_5_vl", "vocab_size": TOKENS, "hidden_size": WIDTH, "intermediate_size": WIDTH,
        "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1,
        "vision_config": {
            "depth": 1, "hidden_size": SEEN, "intermediate_size": SEEN, "num_heads": 1, "out_hidden_size": WIDTH,
        },
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/z_image/tokenizer");
    fs::copy(tokenizer.join("tokenizer.json"), folder.join("tokenizer.json")).unwrap();
}
