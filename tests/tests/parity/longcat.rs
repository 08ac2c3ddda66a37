//! Whole runs of LongCat-Image and LongCat-Image-Edit against diffusers, through the session, stage by stage. diffusers has no
//! pipelines of them for image to image and inpainting.

use std::{cell::Cell, path::Path};

use candle_core::Tensor;
use sluice_engine::{
    models::{self, ModelDefaults},
    request::Request,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    modes::{
        check_every_mode, check_every_mode_filled_in, check_forecasts, check_forecasts_of,
        check_half_precision,
    },
    original_names::Tensors,
    parity::{check_case, check_layouts},
    runner::Runner,
};

const DENOISER: &str = "diffusion_models/tiny_longcat";

fn fixture() -> Fixture {
    Fixture::new("longcat", "default")
}

fn write(case: &str, layout: Layout, folder: &Path) -> std::path::PathBuf {
    Fixture::new("longcat", case).write(folder, layout, Stored::F32).unwrap()
}

/// The prompt is cut inside a quotation, and the negative prompt is padding alone.
#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("longcat", "default").unwrap();
}

/// The reference goes through the autoencoder, and at half its size through the vision tower.
#[test]
fn an_edited_image_is_what_diffusers_gives() {
    check_case("longcat", "edit").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("longcat", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
    let edit = Fixture::new("longcat", "edit");
    let folder = tempfile::tempdir().unwrap();
    // Only its name tells a file of the model that edits from one of the other.
    let model = write("edit", Layout::Split, folder.path());
    let file = model.join(format!("{DENOISER}.safetensors"));
    let named = file.with_file_name("LongCat-Image-Edit.safetensors");
    std::fs::rename(&file, &named).unwrap();
    let hub = tempfile::tempdir().unwrap();
    let run = edit.run("one").unwrap();
    let mut runner = Runner::start().unwrap();
    let (expected, _) = runner.repeat(&run, &write("edit", Layout::Diffusers, hub.path())).unwrap();
    let (found, _) = runner.repeat(&run, &named).unwrap();
    assert_eq!(found[0].media, expected[0].media);
}

/// Norms are called `scale` in some single files and `weight` in others, and some have the names of diffusers.
#[test]
fn single_files_of_all_names_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let model = write("default", Layout::Split, folder.path());
    let file = model.join(format!("{DENOISER}.safetensors"));
    let hub = tempfile::tempdir().unwrap();
    let whole = write("default", Layout::Diffusers, hub.path());
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let (expected, _) = runner.repeat(&run, &whole).unwrap();
    let stored = load(&file).unwrap();
    let scales = |(name, tensor): (String, Tensor)| (name.replace("_norm.weight", "_norm.scale"), tensor);
    let renamed: Tensors = stored.clone().into_iter().map(scales).collect();
    assert!(renamed.keys().ne(stored.keys()));
    let theirs = load(&whole.join("transformer/diffusion_pytorch_model.safetensors")).unwrap();
    for tensors in [renamed, theirs] {
        save(&tensors, &file).unwrap();
        let (found, _) = runner.repeat(&run, &file).unwrap();
        assert_eq!(found[0].media, expected[0].media);
    }
}

#[test]
fn models_that_edit_and_fast_ones_are_told_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let hub = |case: &str, name: &str| write(case, Layout::Diffusers, &folder.path().join(name));
    let described = |path: &Path| {
        let model = models::open(path, &[]).unwrap();
        let ModelDefaults { steps, guidance, .. } = model.defaults;
        (model.references().map(|takes| takes.most), steps, guidance)
    };
    assert_eq!(described(&hub("default", "one")), (None, 50, 4.0));
    assert_eq!(described(&hub("edit", "two")), (Some(1), 50, 4.5));
    assert_eq!(described(&hub("edit", "LongCat-Image-Edit-Turbo")), (Some(1), 8, 1.0));
    let mut before =
        write("edit", Layout::Split, &folder.path().join("split")).join(format!("{DENOISER}.safetensors"));
    for (name, expected) in [
        ("LongCat-Image-Q4_K_M", (None, 50, 4.0)),
        ("longcat_image_edit_bf16", (Some(1), 50, 4.5)),
        ("LongCat-Image-Edit-Turbo", (Some(1), 8, 1.0)),
    ] {
        let named = before.with_file_name(format!("{name}.safetensors"));
        std::fs::rename(&before, &named).unwrap();
        assert_eq!(described(&named), expected, "{name}");
        before = named;
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
    for (case, run) in [("default", "guided"), ("edit", "one"), ("salted", "batch")] {
        check_every_mode(&Fixture::new("longcat", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
    // Prompts that were encoded before would leave out the vision tower.
    let prompts = Cell::new(0);
    let new_prompt = |request: Request| {
        prompts.set(prompts.get() + 1);
        Request { prompt: format!("{} {}", request.prompt, prompts.get()), ..request }
    };
    check_forecasts_of(&Fixture::new("longcat", "edit"), "one", 0.95..1.25, 0.9..1.25, new_prompt).unwrap();
}
