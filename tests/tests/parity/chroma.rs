//! Whole runs of Chroma against diffusers, through the session, stage by stage.

use sluice_tests::{
    checkpoint::Fixture,
    modes::{check_every_mode, check_forecasts, check_half_precision},
    parity::{check_case, check_layouts},
};

fn fixture() -> Fixture {
    Fixture::new("chroma", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("chroma", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("chroma", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("default", "filled_in"), ("salted", "mixed")] {
        check_every_mode(&Fixture::new("chroma", case), run).unwrap();
    }
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
}
