//! Errors in a model's files give a message with the file and advice, and fail only one job.

use std::{fs, path::Path};

use candle_core::{DType, Device, Tensor};
use serde_json::json;
use sluice_tests::{
    checkpoint::{Layout, load, save, set_json},
    failures::{Failures, write_header},
    original_names::Tensors,
};

const TRANSFORMER: &str = "transformer/diffusion_pytorch_model.safetensors";
const TEXT_ENCODER: &str = "text_encoder/model.safetensors";

fn zeros(shape: &[usize], dtype: DType) -> Tensor {
    Tensor::zeros(shape, dtype, &Device::Cpu).unwrap()
}

#[test]
fn damaged_weight_files() {
    let mut all = Failures::new().unwrap();
    let name = "diffusion_pytorch_model.safetensors";
    let shorten = |path: &Path| {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1000).unwrap();
    };
    all.file("truncated", TRANSFORMER, shorten, &[name, "incomplete"]).unwrap();
    all.file("empty", TRANSFORMER, |path| fs::write(path, "").unwrap(), &[name, "empty"]).unwrap();
    all.file("three bytes", TRANSFORMER, |path| fs::write(path, "abc").unwrap(), &[name, "3 bytes"]).unwrap();
    all.file("no header", TRANSFORMER, |path| fs::write(path, [0; 64]).unwrap(), &[name, "header"]).unwrap();
    let boast = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[..8].copy_from_slice(&(64_u64 << 20).to_le_bytes());
        fs::write(path, bytes).unwrap();
    };
    all.file("boasting header", TRANSFORMER, boast, &[name, "header", "67108864"]).unwrap();
    all.file(
        "text",
        TRANSFORMER,
        |path| fs::write(path, "hello ".repeat(99)).unwrap(),
        &[name, "is not a safetensors file"],
    )
    .unwrap();
    all.file(
        "broken header",
        TRANSFORMER,
        |path| write_header(path, "{\"a\": ", 0).unwrap(),
        &[name, "header", "damaged"],
    )
    .unwrap();
    let overlapping = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#;
    all.file(
        "backward offsets",
        TRANSFORMER,
        |path| write_header(path, overlapping, 8).unwrap(),
        &[name, "header"],
    )
    .unwrap();
    let huge = r#"{"a":{"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8]}}"#;
    all.file(
        "overflowing shape",
        TRANSFORMER,
        |path| write_header(path, huge, 8).unwrap(),
        &[name, "header"],
    )
    .unwrap();
    let unknown = r#"{"a":{"dtype":"Q17","shape":[2],"data_offsets":[0,8]}}"#;
    all.file(
        "unknown dtype",
        TRANSFORMER,
        |path| write_header(path, unknown, 8).unwrap(),
        &[name, "header", "Q17"],
    )
    .unwrap();
    all.file("gone", TRANSFORMER, |path| fs::remove_file(path).unwrap(), &["transformer", ".safetensors"])
        .unwrap();
}

#[test]
fn weights_that_do_not_fit() {
    let mut all = Failures::new().unwrap();
    let key = "layers.1.feed_forward.w2.weight";
    let file = "diffusion_pytorch_model.safetensors";
    all.tensors("missing tensor", TRANSFORMER, |tensors| drop(tensors.remove(key)), &[file, key]).unwrap();
    all.tensors(
        "missing layer",
        TRANSFORMER,
        |tensors| tensors.retain(|name, _| !name.starts_with("layers.1.")),
        &[file, "layers.1.", "more are missing"],
    )
    .unwrap();
    all.tensors(
        "wrong shape",
        TRANSFORMER,
        |tensors| drop(tensors.insert(key.to_owned(), zeros(&[128, 77], DType::F32))),
        &[file, key, "[128, 77]", "[128, 341]"],
    )
    .unwrap();
    all.tensors(
        "integers",
        TRANSFORMER,
        |tensors| drop(tensors.insert(key.to_owned(), zeros(&[128, 341], DType::I64))),
        &[file, key, "I64"],
    )
    .unwrap();
    let eight_bits = |path: &Path| {
        let mut tensors = load(path).unwrap();
        tensors.insert(key.to_owned(), zeros(&[128, 341], DType::U8));
        save(&tensors, path).unwrap();
        // The writer lacks this dtype, so its name is patched into the header; both names have one byte.
        let mut bytes = fs::read(path).unwrap();
        let (from, to) = (br#""dtype":"U8","shape":[128,341]"#, br#""dtype":"F8_E8M0","shape":[128,341]"#);
        let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
        bytes.splice(at..at + from.len(), to.iter().copied());
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) + (to.len() - from.len()) as u64;
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        fs::write(path, bytes).unwrap();
    };
    all.file("eight bits of exponent", TRANSFORMER, eight_bits, &[file, key, "F8_E8M0"]).unwrap();
    all.tensors(
        "not a number",
        "vae/diffusion_pytorch_model.safetensors",
        |tensors| {
            let name = "decoder.conv_out.bias";
            tensors.insert(name.to_owned(), Tensor::new(&[0.1_f32, f32::NAN, 0.2], &Device::Cpu).unwrap());
        },
        &["NaN", "f32"],
    )
    .unwrap();
    let foreign = |model: &Path| {
        let path = model.join(TEXT_ENCODER);
        let mut tensors = load(&path).unwrap();
        tensors.insert("embed_tokens.weight".to_owned(), zeros(&[100, 64], DType::F32));
        save(&tensors, &path).unwrap();
        set_json(&model.join("text_encoder/config.json"), "vocab_size", json!(100)).unwrap();
        model.to_owned()
    };
    all.model("tokenizer of another model", Layout::Diffusers, foreign, &["tokenizer", "100"]).unwrap();
    let narrow = |model: &Path| {
        set_json(&model.join("transformer/config.json"), "cap_feat_dim", json!(80)).unwrap();
        model.to_owned()
    };
    all.model("another text width", Layout::Diffusers, narrow, &["80"]).unwrap();
}

#[test]
fn parts_that_are_missing() {
    let mut all = Failures::new().unwrap();
    let shard = "diffusion_pytorch_model-00002-of-00003.safetensors";
    let remove_shard = |model: &Path| {
        fs::remove_file(model.join("transformer").join(shard)).unwrap();
        model.to_owned()
    };
    all.model("missing shard", Layout::Sharded, remove_shard, &[shard, "missing"]).unwrap();
    let index = "transformer/diffusion_pytorch_model.safetensors.index.json";
    let break_index = |model: &Path| {
        fs::write(model.join(index), "{\"weight_map\": {").unwrap();
        model.to_owned()
    };
    all.model("broken index", Layout::Sharded, break_index, &["index.json"]).unwrap();
    let empty_index = |model: &Path| {
        fs::write(model.join(index), "{}").unwrap();
        model.to_owned()
    };
    all.model("index without a map", Layout::Sharded, empty_index, &["index.json", "weight_map"]).unwrap();

    for (role, folder) in
        [("text encoder", "text_encoder"), ("denoiser", "transformer"), ("autoencoder", "vae")]
    {
        let remove = |model: &Path| {
            fs::remove_dir_all(model.join(folder)).unwrap();
            model.to_owned()
        };
        all.model(&format!("no {role}"), Layout::Diffusers, remove, &[role, folder]).unwrap();
    }
    for (role, folder) in [("text encoder", "text_encoders"), ("autoencoder", "vae")] {
        let remove = |model: &Path| {
            fs::remove_dir_all(model.join(folder)).unwrap();
            model.to_owned()
        };
        all.model(&format!("no {role} file"), Layout::Split, remove, &[role, folder]).unwrap();
    }
    let tokenizer = "tokenizer/tokenizer.json";
    all.file("broken tokenizer", tokenizer, |path| fs::write(path, "{}").unwrap(), &["tokenizer.json"])
        .unwrap();
}

#[test]
fn a_tokenizer_that_is_missing() {
    for layout in [Layout::Diffusers, Layout::Split] {
        // The message is the same in both layouts, so each gets its own engine.
        let mut all = Failures::new().unwrap();
        let remove = |model: &Path| {
            fs::remove_dir_all(model.join("tokenizer")).unwrap();
            model.to_owned()
        };
        all.model(&format!("no tokenizer, {layout:?}"), layout, remove, &["tokenizer"]).unwrap();
    }
}

#[test]
fn configurations_that_cannot_be_right() {
    let mut all = Failures::new().unwrap();
    let broken = |path: &Path| fs::write(path, "{\"dim\": 128,").unwrap();
    all.file("broken configuration", "transformer/config.json", broken, &["transformer/config.json"])
        .unwrap();
    let (transformer, text) = ("transformer/config.json", "text_encoder/config.json");
    let (vae, scheduler) = ("vae/config.json", "scheduler/scheduler_config.json");
    for (name, file, key, value, words) in [
        ("a word for a number", transformer, "dim", json!("wide"), ["config.json", "wide"]),
        ("no heads", transformer, "n_heads", json!(0), ["config.json", "n_heads"]),
        ("heads that do not divide", transformer, "n_heads", json!(3), ["config.json", "n_heads"]),
        (
            "axes that do not add up",
            transformer,
            "axes_dims",
            json!([16, 16, 16]),
            ["config.json", "axes_dims"],
        ),
        ("odd axes", transformer, "axes_dims", json!([15, 24, 25]), ["config.json", "axes_dims"]),
        ("no patch", transformer, "all_patch_size", json!([]), ["config.json", "all_patch_size"]),
        ("patch of nothing", transformer, "all_patch_size", json!([0]), ["config.json", "all_patch_size"]),
        ("no layers", text, "num_hidden_layers", json!(0), ["config.json", "num_hidden_layers"]),
        ("no text heads", text, "num_key_value_heads", json!(0), ["config.json", "num_key_value_heads"]),
        ("other text heads", text, "num_attention_heads", json!(8), ["q_proj", "[128, 64]"]),
        ("no widths", vae, "block_out_channels", json!([]), ["config.json", "block_out_channels"]),
        ("groups that do not divide", vae, "norm_num_groups", json!(31), ["config.json", "31"]),
        ("no groups", vae, "norm_num_groups", json!(0), ["config.json", "0 groups"]),
        ("no scaling", vae, "scaling_factor", json!(0.0), ["config.json", "scaling_factor"]),
        ("no shift", scheduler, "shift", json!(0.0), ["scheduler_config.json", "shift"]),
    ] {
        let spoil = |path: &Path| set_json(path, key, value.clone()).unwrap();
        all.file(name, file, spoil, &words).unwrap();
    }
}

#[test]
fn what_is_no_model() {
    let mut all = Failures::new().unwrap();
    let stranger = |model: &Path| {
        set_json(&model.join("model_index.json"), "_class_name", json!("StrangerPipeline")).unwrap();
        let other = Tensors::from([("other.weight".to_owned(), zeros(&[2, 2], DType::F32))]);
        save(&other, &model.join(TRANSFORMER)).unwrap();
        model.to_owned()
    };
    all.model("unknown family", Layout::Diffusers, stranger, &["StrangerPipeline"]).unwrap();
    let broken_index = |model: &Path| {
        fs::write(model.join("model_index.json"), "[1, 2").unwrap();
        model.to_owned()
    };
    all.model("broken model index", Layout::Diffusers, broken_index, &["model_index.json"]).unwrap();
    for extension in ["ckpt", "pt", "bin"] {
        let pickle = |model: &Path| {
            let path = model.join(format!("model.{extension}"));
            fs::write(&path, b"\x80\x02}q\x00.").unwrap();
            path
        };
        all.model(extension, Layout::Diffusers, pickle, &[&format!("model.{extension}"), "pickle"]).unwrap();
    }
    let only_pickles = |model: &Path| {
        let (from, to) = (model.join(TRANSFORMER), model.join("transformer/diffusion_pytorch_model.bin"));
        fs::rename(from, to).unwrap();
        model.to_owned()
    };
    all.model(
        "pickled component",
        Layout::Diffusers,
        only_pickles,
        &["diffusion_pytorch_model.bin", "pickle"],
    )
    .unwrap();
    all.model("nothing there", Layout::Diffusers, |model| model.join("not/there"), &["not/there"]).unwrap();
    let empty = |model: &Path| {
        let path = model.join("empty folder");
        fs::create_dir(&path).unwrap();
        path
    };
    all.model("empty folder", Layout::Diffusers, empty, &["empty folder"]).unwrap();
    let text = |model: &Path| {
        let path = model.join("notes.txt");
        fs::write(&path, "hello").unwrap();
        path
    };
    all.model("text file", Layout::Diffusers, text, &["notes.txt"]).unwrap();
}
