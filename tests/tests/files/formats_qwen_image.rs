//! Qwen-Image in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::models;
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{LANGUAGE_MODEL_IN_LLAMA, Packaged, ScaleNames, in_blocks, in_scaled_fp8, renamed, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_qwen_image";
const ENCODER: &str = "text_encoders/qwen_2.5_vl_7b";

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&Fixture::new("qwen_image", "default"), "guided"), &[DENOISER, ENCODER], pack, write)
        .unwrap();
}

/// A language model in GGUF has no vision tower: that is a file of its own.
fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    let path = model.join(format!("{file}.gguf"));
    if file == DENOISER {
        return write_gguf(&path, "qwen_image", tensors);
    }
    let seeing = |name: &str| name.starts_with("visual.");
    let told = tensors.iter().filter(|(name, _)| !seeing(name));
    let told: Packaged = told.map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
    assert!(told.len() < tensors.len() && told.contains_key("lm_head.weight"));
    write_gguf(
        &path,
        "qwen2vl",
        &renamed(&renamed(&told, &LANGUAGE_MODEL_IN_LLAMA), &[("lm_head", "output")]),
    )
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors).unwrap(), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| {
        in_scaled_fp8(tensors, |name| name.contains("layers.") || name.contains("blocks.")).unwrap()
    };
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors).unwrap());
    let fixture = Fixture::new("qwen_image", "default");
    let model = with_files(&fixture, folder.path(), &[DENOISER, ENCODER], write).unwrap();
    for (file, what) in [(DENOISER, "Qwen-Image denoiser"), (ENCODER, "Qwen2.5-VL text encoder, width 256")] {
        let content = models::content(&model.join(format!("{file}.gguf"))).unwrap();
        assert_eq!((content.what.as_str(), content.format.as_str()), (what, "GGUF"));
    }
}
