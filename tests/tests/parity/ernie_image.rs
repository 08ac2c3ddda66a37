//! Whole runs of ERNIE-Image against diffusers, through the session, stage by stage. diffusers has no pipelines of it for image to
//! image and inpainting.

use candle_core::Tensor;
use sluice_engine::{models, precision::Format};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load},
    golden::{MODULE, WHOLE_RUN, compare},
    modes::{check_every_mode, check_every_mode_filled_in, check_forecasts, check_half_precision},
    original_names::{Tensors, alternating},
    packed::{LANGUAGE_MODEL_IN_LLAMA, package, renamed, write_gguf},
    parity::{check_case, check_layouts},
    runner::Runner,
};

const DENOISER: &str = "diffusion_models/tiny_ernie_image";
const ENCODER: &str = "text_encoders/ministral_3_3b";

fn fixture() -> Fixture {
    Fixture::new("ernie_image", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("ernie_image", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("ernie_image", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

/// Its rotations are slowed down for longer texts, which no tensor shows.
#[test]
fn an_encoder_in_llama_cpps_files_gives_what_diffusers_gives() {
    const HEAD: usize = 128;
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{ENCODER}.safetensors"));
    let stored = |(name, tensor): (String, Tensor)| {
        let is_rotated = name.contains("q_proj") || name.contains("k_proj");
        let tensor = if is_rotated { alternating(&tensor, HEAD).unwrap() } else { tensor };
        (name, tensor)
    };
    let tensors: Tensors = load(&file).unwrap().into_iter().map(stored).collect();
    let packed = package(&tensors, |_, _| Format::F32.into()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let gguf = file.with_extension("gguf");
    write_gguf(&gguf, "mistral3", &renamed(&packed, &LANGUAGE_MODEL_IN_LLAMA)).unwrap();
    assert_eq!(models::content(&gguf).unwrap().what, "Mistral text encoder, width 64");
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let (_, dump) = runner.dump(run.request(&model), Some(&run.latents().unwrap())).unwrap();
    let golden = run.golden().unwrap();
    compare("encode_prompt.0.0.0", &golden, &dump, MODULE).unwrap();
    compare("step.2.latents", &golden, &dump, WHOLE_RUN).unwrap();
}

/// Only its name tells a model of few steps.
#[test]
fn a_file_with_turbo_in_its_name_takes_few_steps() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{DENOISER}.safetensors"));
    let turbo = file.with_file_name("ernie-image-turbo.safetensors");
    std::fs::copy(&file, &turbo).unwrap();
    for (path, steps, guidance) in [(file, 50, 4.0), (turbo, 8, 1.0)] {
        let defaults = models::open(&path, &[]).unwrap().defaults;
        assert_eq!((defaults.steps, defaults.guidance), (steps, guidance));
    }
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "output"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    check_every_mode(&fixture(), "guided").unwrap();
    check_every_mode(&Fixture::new("ernie_image", "salted"), "batch").unwrap();
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
}
