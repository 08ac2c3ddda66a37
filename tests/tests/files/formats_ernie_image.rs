//! ERNIE-Image in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::models;
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, in_blocks, in_scaled_fp8, write_gguf},
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

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "ernie_image", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors).unwrap(), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| in_scaled_fp8(tensors, |name| name.contains("layers.")).unwrap();
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

#[test]
fn a_file_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors).unwrap());
    let model =
        with_files(&Fixture::new("ernie_image", "default"), folder.path(), &[DENOISER], write).unwrap();
    let content = models::content(&model.join(format!("{DENOISER}.gguf"))).unwrap();
    assert_eq!((content.what.as_str(), content.format.as_str()), ("ERNIE-Image denoiser", "GGUF"));
}
