//! FLUX.2 klein in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::{
    models,
    precision::{Encoding, Format},
};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{LANGUAGE_MODEL_IN_LLAMA, Packaged, ScaleNames, in_blocks, package, renamed, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_flux2";
const ENCODER: &str = "text_encoders/tiny_qwen3";

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&Fixture::new("flux2", "default"), "horse"), &[DENOISER, ENCODER], pack, write)
        .unwrap();
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    let path = model.join(format!("{file}.gguf"));
    match file {
        DENOISER => write_gguf(&path, "flux", tensors),
        _ => write_gguf(&path, "qwen3", &renamed(tensors, &LANGUAGE_MODEL_IN_LLAMA)),
    }
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors).unwrap(), gguf);
}

/// The matrices of the blocks in one format; rows of one scale are parts of a joined matrix, too.
#[test]
fn scaled_fp8_and_nf4_draw_what_their_widened_weights_draw() {
    let pack = |encoding: fn(&[usize]) -> Encoding| {
        move |_: &str, tensors: &Tensors| {
            package(tensors, |name, shape| match shape {
                [_, _] if name.contains("layers.") || name.contains("_blocks.") => encoding(shape),
                _ => Format::Bf16.into(),
            })
            .unwrap()
        }
    };
    let whole = |shape: &[usize]| Encoding::scaled(Format::F8E4m3, shape.iter().product());
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack(whole), as_safetensors(names));
    }
    check("nf4", pack(|_| Encoding::scaled(Format::Nf4, 64)), as_safetensors(ScaleNames::WeightScale));
}

#[test]
fn files_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors).unwrap());
    let fixture = Fixture::new("flux2", "default");
    let model = with_files(&fixture, folder.path(), &[DENOISER, ENCODER], write).unwrap();
    for (file, what) in [
        (format!("{DENOISER}.gguf"), "FLUX.2 denoiser"),
        (format!("{ENCODER}.gguf"), "Qwen3 text encoder, width 64"),
        ("vae/flux2-vae.safetensors".to_owned(), "autoencoder of FLUX.2, 128 channels"),
    ] {
        assert_eq!(models::content(&model.join(file)).unwrap().what, what);
    }
}
