//! HiDream-I1 in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::models;
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, in_8_bits, in_scaled_fp8, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_hidream";
const LLAMA: &str = "text_encoders/llama_3.1_8b_instruct";

fn fixture() -> Fixture {
    Fixture::new("hidream", "default")
}

/// As in city96's files: matrices of the blocks in 8 bits, but for the choice of experts.
fn in_blocks(tensors: &Tensors) -> Packaged {
    in_8_bits(tensors, |name| name.contains("_blocks.") && !name.contains(".gate.")).unwrap()
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "hidream", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check_files("GGUF", (&fixture(), "guided"), &[DENOISER], |_, tensors| in_blocks(tensors), gguf).unwrap();
}

/// As ComfyUI publishes the transformer and Llama.
#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| {
        in_scaled_fp8(tensors, |name| name.contains("_blocks.") || name.contains(".layers.")).unwrap()
    };
    let write = as_safetensors(ScaleNames::ScaleWeight);
    check_files("fp8", (&fixture(), "guided"), &[DENOISER, LLAMA], pack, write).unwrap();
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors));
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let content = models::content(&model.join(format!("{DENOISER}.gguf"))).unwrap();
    assert_eq!(content.what, "HiDream-I1 denoiser");
}
