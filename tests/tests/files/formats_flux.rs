//! FLUX.1 in published formats: quantized weights give the same bits as their dequantized f32 values.

use std::path::Path;

use anyhow::Result;
use sluice_engine::{
    checkpoint::read_header,
    precision::{Encoding, Format},
};
use sluice_tests::{
    checkpoint::Fixture,
    original_names::Tensors,
    packed::{Packaged, ScaleNames, T5_IN_LLAMA, Written, package, renamed, write_gguf},
    twins::{as_safetensors, check_files, with_files},
};

const DENOISER: &str = "diffusion_models/tiny_flux";
const T5: &str = "text_encoders/t5xxl";

/// Compares a run with files made by `pack` and `write` to a run with their values in f32.
fn check(
    name: &str,
    files: &[&str],
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&Fixture::new("flux", "dev"), "horse"), files, pack, write).unwrap();
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    let path = model.join(format!("{file}.gguf"));
    match file {
        T5 => write_gguf(&path, "t5encoder", &renamed(tensors, &T5_IN_LLAMA)),
        _ => write_gguf(&path, "flux", tensors),
    }
}

/// As in published files: matrices of the blocks in one type if rows are whole blocks of it, in Q8_0 or 16
/// bits otherwise; norms and biases unchanged.
fn as_published(tensors: &Tensors, format: Format) -> Packaged {
    let written = |name: &str, tensor: &candle_core::Tensor| match tensor.dims() {
        shape @ [_, columns] if name.contains("block") => {
            if columns.is_multiple_of(format.block().0) && format != Format::Bf16 {
                Written::drawn(name, shape, format)
            } else if columns.is_multiple_of(32) && format != Format::Bf16 {
                Written::new(tensor, Format::Q8_0.into())
            } else {
                Written::new(tensor, Format::Bf16.into())
            }
        }
        [_, _] => Written::new(tensor, Format::F16.into()),
        _ => Written::new(tensor, Format::F32.into()),
    };
    tensors.iter().map(|(name, tensor)| (name.clone(), written(name, tensor).unwrap())).collect()
}

#[test]
fn gguf_of_every_type_draws_what_its_widened_weights_draw() {
    for format in [
        Format::Q2K,
        Format::Q3K,
        Format::Q4_0,
        Format::Q4_1,
        Format::Q4K,
        Format::Q5_0,
        Format::Q5_1,
        Format::Q5K,
        Format::Q6K,
        Format::Q8_0,
        Format::Iq4Nl,
        Format::Iq4Xs,
        Format::Bf16,
    ] {
        let pack = |_: &str, tensors: &Tensors| {
            let packed = as_published(tensors, format);
            let count = packed.values().filter(|tensor| tensor.encoding.format == format).count();
            assert!(count >= 4, "{format:?} is in {count} tensors");
            packed
        };
        check(format.name(), &[DENOISER], pack, gguf);
    }
}

/// A T5 encoder in GGUF has its relative positions in a lookup table, and packed embeddings.
#[test]
fn a_t5_encoder_in_gguf_draws_what_its_widened_weights_draw() {
    let pack = |file: &str, tensors: &Tensors| {
        if file == T5 {
            package(tensors, |name, shape| match shape {
                [_, columns] if columns.is_multiple_of(32) && !name.contains("relative") => {
                    Format::Q8_0.into()
                }
                _ => Format::F32.into(),
            })
            .unwrap()
        } else {
            as_published(tensors, Format::Q4K)
        }
    };
    check("T5 in GGUF", &[DENOISER, T5], pack, gguf);
}

fn blocks_in(encoding: impl Fn(&[usize]) -> Encoding) -> impl Fn(&str, &Tensors) -> Packaged {
    move |_, tensors| {
        package(tensors, |name, shape| match shape {
            [_, _] if name.contains("block") && name.ends_with(".weight") && !name.contains("relative") => {
                encoding(shape)
            }
            _ => Format::Bf16.into(),
        })
        .unwrap()
    }
}

#[test]
fn fp8_and_nf4_draw_what_their_widened_weights_draw() {
    let whole = |format| move |shape: &[usize]| Encoding::scaled(format, shape.iter().product());
    let both = [DENOISER, T5];
    check("e4m3", &both, blocks_in(|_| Format::F8E4m3.into()), as_safetensors(ScaleNames::ScaleWeight));
    check("e5m2", &both, blocks_in(|_| Format::F8E5m2.into()), as_safetensors(ScaleNames::ScaleWeight));
    check("scaled e4m3", &both, blocks_in(whole(Format::F8E4m3)), as_safetensors(ScaleNames::ScaleWeight));
    check("scaled e4m3", &both, blocks_in(whole(Format::F8E4m3)), as_safetensors(ScaleNames::WeightScale));
    let nf4 = |_: &[usize]| Encoding::scaled(Format::Nf4, 64);
    check("nf4", &[DENOISER], blocks_in(nf4), as_safetensors(ScaleNames::WeightScale));
    let twice = |file: &str, tensors: &Tensors| -> Packaged {
        let packed = blocks_in(nf4)(file, tensors).into_iter();
        packed.map(|(name, tensor)| (name, tensor.with_nested_scales())).collect()
    };
    check("nf4, scales quantised too", &[DENOISER], twice, as_safetensors(ScaleNames::Nested));
}

#[test]
fn a_file_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let write =
        |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &as_published(tensors, Format::Q6K));
    let model = with_files(&Fixture::new("flux", "dev"), folder.path(), &[DENOISER], write).unwrap();
    let path = model.join(format!("{DENOISER}.gguf"));
    let formats: std::collections::BTreeSet<String> =
        read_header(&path).unwrap().values().map(|tensor| tensor.dtype_name()).collect();
    assert_eq!(formats.into_iter().collect::<Vec<_>>(), ["F16", "F32", "Q6_K", "Q8_0"]);
    let content = sluice_engine::models::content(&path).unwrap();
    assert_eq!((content.what.as_str(), content.format.as_str()), ("FLUX.1 denoiser", "GGUF"));
}
