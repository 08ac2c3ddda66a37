//! Krea 2 in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::{fs, path::Path};

use anyhow::Result;
use sluice_engine::models;
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    original_names::Tensors,
    packed::{Packaged, ScaleNames, in_8_bits, in_scaled_fp8, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_krea2";
const ENCODER: &str = "text_encoders/qwen3vl_4b";

fn fixture() -> Fixture {
    Fixture::new("krea2", "default")
}

fn check(
    name: &str,
    files: &[&str],
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&fixture(), "guided"), files, pack, write).unwrap();
}

/// As in published files: matrices of the blocks in 8 bits, all others in 16.
fn in_blocks(tensors: &Tensors) -> Packaged {
    in_8_bits(tensors, |name| name.starts_with("blocks.")).unwrap()
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "krea2", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", &[DENOISER], |_, tensors| in_blocks(tensors), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| {
        in_scaled_fp8(tensors, |name| name.starts_with("blocks.") || name.contains(".layers.")).unwrap()
    };
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", &[DENOISER, ENCODER], pack, as_safetensors(names));
    }
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors));
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let said = |file: &str| models::content(&model.join(file)).unwrap().what;
    assert_eq!(said(&format!("{DENOISER}.gguf")), "Krea 2 denoiser");
    assert_eq!(said(&format!("{ENCODER}.safetensors")), "Qwen3-VL text encoder, width 32");
}

/// Qwen3 of the same width is another model: it is not taken even if its file comes first.
#[test]
fn the_encoder_has_to_be_one_that_sees() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let encoder = model.join(format!("{ENCODER}.safetensors"));
    let tensors = sluice_tests::checkpoint::load(&encoder).unwrap();
    let blind = tensors.iter().filter_map(|(name, tensor)| {
        Some((format!("model.{}", name.strip_prefix("model.language_model.")?), tensor.clone()))
    });
    let blind: Tensors = blind.collect();
    let other = model.join("text_encoders/a_qwen_3_4b.safetensors");
    sluice_tests::checkpoint::save(&blind, &other).unwrap();
    let opened = models::open(&model, &[]).unwrap();
    assert_eq!(opened.parts[0].component.files, std::slice::from_ref(&encoder));
    // Alone, it is only taken if its name says what it is.
    fs::remove_file(&encoder).unwrap();
    assert!(models::open(&model, &[]).unwrap_err().to_string().contains("Qwen3-VL"));
    let named = other.with_file_name("qwen3vl_4b_text.safetensors");
    fs::rename(&other, &named).unwrap();
    let opened = models::open(&model, &[]).unwrap();
    assert_eq!(opened.parts[0].component.files, [named]);
}
