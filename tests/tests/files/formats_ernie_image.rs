//! ERNIE-Image in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::{
    models,
    precision::{Encoding, Format},
};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, package, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_ernie_image";

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&Fixture::new("ernie_image", "default"), "guided"), &[DENOISER], pack, write).unwrap();
}

/// As in published files: matrices in blocks if rows are whole blocks, else in 16 bits.
fn in_blocks(tensors: &Tensors) -> Packaged {
    package(tensors, |_, shape| match shape {
        [_, columns] if columns.is_multiple_of(256) => Format::Q4K.into(),
        [_, columns] if columns.is_multiple_of(32) => Format::Q8_0.into(),
        [_, _] => Format::F16.into(),
        _ => Format::F32.into(),
    })
    .unwrap()
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "ernie_image", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| {
        package(tensors, |name, shape| match shape {
            [_, _] if name.contains("layers.") => Encoding::scaled(Format::F8E4m3, shape.iter().product()),
            _ => Format::Bf16.into(),
        })
        .unwrap()
    };
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

#[test]
fn a_file_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors));
    let model =
        with_files(&Fixture::new("ernie_image", "default"), folder.path(), &[DENOISER], write).unwrap();
    let content = models::content(&model.join(format!("{DENOISER}.gguf"))).unwrap();
    assert_eq!((content.what.as_str(), content.format.as_str()), ("ERNIE-Image denoiser", "GGUF"));
}
