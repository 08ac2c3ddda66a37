//! Whole runs of Krea 2 against diffusers, through the session, stage by stage. diffusers has no pipelines of it for image to
//! image and inpainting.

use sluice_engine::models;
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    modes::{check_every_mode, check_every_mode_filled_in, check_forecasts, check_half_precision},
    parity::{check_case, check_layouts},
};

fn fixture() -> Fixture {
    Fixture::new("krea2", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("krea2", "default").unwrap();
}

/// Its levels do not depend on the size of the image.
#[test]
fn the_distilled_model_gives_what_diffusers_gives() {
    check_case("krea2", "turbo").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("krea2", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.0.latents", "output"];
    check_half_precision(&fixture(), "cut", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("turbo", "batch"), ("salted", "mixed")] {
        check_every_mode(&Fixture::new("krea2", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
}

/// Without an index, the name of the file says whether a model is distilled.
#[test]
fn a_file_with_turbo_in_its_name_is_distilled() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let raw = model.join("diffusion_models/tiny_krea2.safetensors");
    let turbo = raw.with_file_name("Krea2_Turbo.safetensors");
    std::fs::copy(&raw, &turbo).unwrap();
    for (path, steps, guidance) in [(raw, 28, 4.5), (turbo, 8, 0.0)] {
        let defaults = models::open(&path, &[]).unwrap().defaults;
        assert_eq!((defaults.steps, defaults.guidance), (steps, guidance));
    }
}
