//! Whole runs of Z-Image against diffusers, through the session, stage by stage.

use std::path::Path;

use candle_core::DType;
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    modes::check_half_precision,
    parity::{check_case, check_layouts},
    runner::Runner,
};

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("z_image", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("z_image", "salted").unwrap();
}

#[test]
fn epsilons_that_decide_give_what_diffusers_gives() {
    check_case("z_image", "faint").unwrap();
}

fn outputs(layout: Layout, stored: Stored, folder: &Path) -> Vec<Vec<u8>> {
    let fixture = Fixture::new("z_image", "default");
    let model = fixture.write(folder, layout, stored).unwrap();
    let mut runner = Runner::start().unwrap();
    let (pictures, _) = runner.repeat(&fixture.run("guided").unwrap(), &model).unwrap();
    pictures.into_iter().map(|picture| picture.media.frames()[0].pixels.clone()).collect()
}

#[test]
fn every_layout_gives_the_same_bytes() {
    let fixture = Fixture::new("z_image", "default");
    check_layouts(&fixture, &fixture.run("guided").unwrap()).unwrap();
}

#[test]
fn a_split_file_named_on_its_own_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("z_image", "default");
    let run = fixture.run("guided").unwrap();
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let mut runner = Runner::start().unwrap();
    let whole = runner.repeat(&run, &model).unwrap();
    let file = runner.repeat(&run, &model.join("diffusion_models/tiny_z_image.safetensors")).unwrap();
    assert_eq!(whole.0[0].media, file.0[0].media);
}

#[test]
fn half_precision_files_are_widened_without_loss() {
    for dtype in [DType::F16, DType::BF16] {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let stored = outputs(Layout::Diffusers, Stored::As(dtype), a.path());
        let rounded = outputs(Layout::Split, Stored::RoundedTo(dtype), b.path());
        assert!(stored == rounded, "{dtype:?}");
    }
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"];
    check_half_precision(&Fixture::new("z_image", "default"), "guided", &names).unwrap();
}
