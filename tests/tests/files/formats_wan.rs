//! Wan in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::{models, precision::Format};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, T5_IN_LLAMA, in_scaled_fp8, package, renamed, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_wan";
const ENCODER: &str = "text_encoders/umt5_xxl";

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&Fixture::new("wan", "default"), "guided"), &[DENOISER, ENCODER], pack, write)
        .unwrap();
}

/// As in published files: matrices in blocks if rows are whole blocks, and the rest in 16 or 32 bits. The kernel of the
/// patches keeps its five dimensions.
fn in_blocks(tensors: &Tensors) -> Packaged {
    package(tensors, |name, shape| match shape {
        [_, _] if name.contains("relative_attention_bias") => Format::F16.into(),
        [_, columns] if columns.is_multiple_of(256) => Format::Q4K.into(),
        [_, columns] if columns.is_multiple_of(32) => Format::Q8_0.into(),
        [_, _, _, _, _] => Format::F16.into(),
        _ => Format::F32.into(),
    })
    .unwrap()
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    let path = model.join(format!("{file}.gguf"));
    match file {
        ENCODER => write_gguf(&path, "t5encoder", &renamed(tensors, &T5_IN_LLAMA)),
        _ => write_gguf(&path, "wan", tensors),
    }
}

#[test]
fn gguf_generates_what_its_widened_weights_generate() {
    check("GGUF", |_, tensors| in_blocks(tensors), gguf);
}

#[test]
fn scaled_fp8_generates_what_its_widened_weights_generate() {
    let pack = |_: &str, tensors: &Tensors| in_scaled_fp8(tensors, |name| name.contains("block")).unwrap();
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors));
    let model =
        with_files(&Fixture::new("wan", "default"), folder.path(), &[DENOISER, ENCODER], write).unwrap();
    for (file, what) in [(DENOISER, "Wan"), (ENCODER, "T5 text encoder")] {
        let content = models::content(&model.join(format!("{file}.gguf"))).unwrap();
        assert!(content.what.contains(what), "{}", content.what);
        assert_eq!(content.format, "GGUF");
    }
}
