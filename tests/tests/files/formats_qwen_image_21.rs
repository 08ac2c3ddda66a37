//! Qwen-Image 2.1 in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::models;
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, in_8_bits, in_scaled_fp8, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_qwen_image_2.1";
const ENCODER: &str = "text_encoders/qwen3vl_8b";

fn fixture() -> Fixture {
    Fixture::new("qwen_image_21", "default")
}

fn check(
    name: &str,
    files: &[&str],
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&fixture(), "one"), files, pack, write).unwrap();
}

/// As in published files: matrices of the blocks in 8 bits, all others in 16.
fn in_blocks(tensors: &Tensors) -> Packaged {
    in_8_bits(tensors, |name| name.contains("blocks.")).unwrap()
}

fn gguf(architecture: &str) -> impl Fn(&Path, &str, &Packaged) -> Result<()> {
    move |model, file, tensors| write_gguf(&model.join(format!("{file}.gguf")), architecture, tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    for architecture in ["qwen_image", "qwen_image21"] {
        check("GGUF", &[DENOISER], |_, tensors| in_blocks(tensors), gguf(architecture));
    }
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| {
        in_scaled_fp8(tensors, |name| name.contains("blocks.") || name.contains(".layers.")).unwrap()
    };
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", &[DENOISER, ENCODER], pack, as_safetensors(names));
    }
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write =
        |model: &Path, file: &str, tensors: &Tensors| gguf("qwen_image21")(model, file, &in_blocks(tensors));
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let said = |file: &str| models::content(&model.join(file)).unwrap().what;
    assert_eq!(said(&format!("{DENOISER}.gguf")), "Qwen-Image 2.1 denoiser");
    assert_eq!(said(&format!("{ENCODER}.safetensors")), "Qwen3-VL text encoder, width 32");
    assert_eq!(said("vae/qwen_image_2.1_vae.safetensors"), "autoencoder of Qwen-Image 2.1, 64 channels");
}
