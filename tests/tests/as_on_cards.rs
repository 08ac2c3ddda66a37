//! What cards compute with, compositions of the tensor library's functions, gives what diffusers gives: on the
//! processor, in a process of its own.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use std::fs;

use sluice_engine::nn::compute_as_on_cards;
use sluice_tests::{
    checkpoint::{Fixture, fixtures},
    modes::check_half_precision,
    parity::check_case,
};

fn check_family(family: &str) {
    compute_as_on_cards(true);
    let entries = fs::read_dir(fixtures().join(family)).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("checkpoint").is_dir());
    let mut cases: Vec<_> = folders.map(|path| path.file_name().unwrap().to_owned()).collect();
    cases.sort();
    assert!(cases.len() > 2, "{family}: {cases:?}");
    for case in cases {
        let case = case.to_str().unwrap();
        check_case(family, case).unwrap_or_else(|error| panic!("{family} {case}: {error:#}"));
    }
}

#[test]
fn flux() {
    check_family("flux");
    let names = ["encode_prompt.0.0.0", "encode_prompt.0.0.1", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("flux", "dev"), "horse", &names).unwrap();
}

#[test]
fn stable_diffusion_3() {
    check_family("sd3");
}

#[test]
fn stable_diffusion() {
    check_family("stable_diffusion");
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.2.latents"];
    check_half_precision(&Fixture::new("stable_diffusion", "one"), "guided", &names).unwrap();
}

#[test]
fn stable_diffusion_xl() {
    check_family("sdxl");
}

#[test]
fn z_image() {
    check_family("z_image");
}
