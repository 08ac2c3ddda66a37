//! Anima in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::{checkpoint::CheckpointError, models};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::{Tensors, prefixed},
    packed::{Packaged, ScaleNames, in_8_bits, in_scaled_fp8, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_anima";

fn fixture() -> Fixture {
    Fixture::new("anima", "default")
}

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&fixture(), "guided"), &[DENOISER], pack, write).unwrap();
}

/// As in published files: matrices of the blocks in 8 bits, all others in 16.
fn in_blocks(tensors: &Tensors) -> Packaged {
    in_8_bits(tensors, is_in_block).unwrap()
}

fn is_in_block(name: &str) -> bool {
    name.starts_with("blocks.") && !name.contains("adaln")
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "cosmos", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| in_scaled_fp8(tensors, is_in_block).unwrap();
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

/// The names in published files begin with `net.`, scales included.
#[test]
fn scaled_fp8_under_the_published_prefix_draws_the_same() {
    let pack = |_: &str, tensors: &Tensors| {
        in_scaled_fp8(&prefixed("net.", tensors.clone()), |name| {
            name.strip_prefix("net.").is_some_and(is_in_block)
        })
        .unwrap()
    };
    check("prefixed fp8", pack, as_safetensors(ScaleNames::ScaleWeight));
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors));
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let said = |file: &str| models::content(&model.join(file)).unwrap().what;
    assert_eq!(said(&format!("{DENOISER}.gguf")), "Anima denoiser");
    assert_eq!(said("text_encoders/tiny_qwen3.safetensors"), "Qwen3 text encoder, width 64");
    let folder = tempfile::tempdir().unwrap();
    let whole = fixture().write_diffusers(folder.path()).unwrap();
    assert_eq!(models::content(&whole).unwrap().what, "Anima: denoiser, 2 text encoders, autoencoder");
}

/// Without its conditioner, the transformer is that of another model.
#[test]
fn a_transformer_without_a_conditioner_is_not_anima() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| {
        let bare = tensors.iter().filter(|(name, _)| !name.starts_with("llm_adapter."));
        let bare: Tensors = bare.map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
        gguf(model, file, &in_blocks(&bare))
    };
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let error = models::open(&model, &[]).unwrap_err();
    assert!(matches!(error, CheckpointError::UnknownFamily { .. }), "{error}");
}
