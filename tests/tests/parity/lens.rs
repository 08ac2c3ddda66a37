//! Whole runs of Lens against the reference, through the session, stage by stage. diffusers does not have it:
//! `tests/reference/lens.py` is its transformer and its pipeline, written down from published code; the text encoder, the
//! autoencoder and the scheduler are those of transformers and diffusers. There is no reference for image to image and
//! inpainting.

use std::fs;

use sluice_engine::models;
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    modes::{check_every_mode, check_every_mode_filled_in, check_forecasts, check_half_precision},
    parity::{check_case, check_layouts},
};

const DENOISER: &str = "diffusion_models/lens_tiny";

fn fixture() -> Fixture {
    Fixture::new("lens", "default")
}

/// Also without a negative prompt, where the image sees no text.
#[test]
fn the_published_constants_give_what_the_reference_gives() {
    check_case("lens", "default").unwrap();
}

/// Also with a window of 9 tokens, and other layers of the text encoder.
#[test]
fn other_sizes_constants_and_weights_give_what_the_reference_gives() {
    check_case("lens", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "output"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("default", "unconditional"), ("salted", "batch")] {
        check_every_mode(&Fixture::new("lens", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

/// An expert has room for all tokens in a forecast.
#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.15, 0.9..1.15).unwrap();
}

/// Only its name tells a model of few or of many steps.
#[test]
fn the_name_of_a_file_says_how_many_steps_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{DENOISER}.safetensors"));
    for (name, steps, guidance) in
        [("lens_bf16", 20, 5.0), ("lens_turbo_bf16", 4, 1.0), ("lens_base_bf16", 50, 5.0)]
    {
        let path = file.with_file_name(format!("{name}.safetensors"));
        fs::copy(&file, &path).unwrap();
        let defaults = models::open(&path, &[]).unwrap().defaults;
        assert_eq!((defaults.steps, defaults.guidance), (steps, guidance), "{name}");
    }
}
