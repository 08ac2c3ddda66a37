//! Whole runs of FLUX.2 klein against diffusers, through the session, stage by stage.

use candle_core::Tensor;
use sluice_engine::{
    models::{self, Model, ModelDefaults},
    request::{ComputeDtype, GuidanceOptions, Request},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Run, Stored, load, save},
    golden::{MODULE, compare},
    modes::{check_every_mode, check_forecasts, check_half_precision},
    original_names::Tensors,
    parity::{check_case, check_layouts},
    runner::Runner,
};

fn fixture() -> Fixture {
    Fixture::new("flux2", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("flux2", "default").unwrap();
}

#[test]
fn base_models_are_guided_as_in_diffusers() {
    check_case("flux2", "base").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("flux2", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("horse").unwrap()).unwrap();
}

/// Some programs call the weights of norms as most do.
#[test]
fn norms_may_be_called_weights() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let path = model.join("diffusion_models/tiny_flux2.safetensors");
    let run = fixture().run("cut").unwrap();
    let mut runner = Runner::start().unwrap();
    let (expected, _) = runner.repeat(&run, &model).unwrap();
    let rename = |(name, tensor): (String, Tensor)| (name.replace("_norm.scale", "_norm.weight"), tensor);
    let renamed: Tensors = load(&path).unwrap().into_iter().map(rename).collect();
    assert!(renamed.contains_key("single_blocks.1.norm.key_norm.weight"));
    save(&renamed, &path).unwrap();
    let (found, _) = runner.repeat(&run, &model).unwrap();
    assert_eq!(found[0].media, expected[0].media);
}

fn defaults(model: &Model) -> (u32, f32) {
    let ModelDefaults { steps, guidance, .. } = model.defaults;
    (steps, guidance)
}

/// A diffusers folder says whether guidance is distilled; of other files, the name does.
#[test]
fn base_models_start_from_settings_of_their_own() {
    for (case, expected) in [("default", (4, 1.0)), ("base", (50, 4.0))] {
        let folder = tempfile::tempdir().unwrap();
        let model = Fixture::new("flux2", case).write_diffusers(folder.path()).unwrap();
        assert_eq!(defaults(&models::open(&model, &[]).unwrap()), expected, "{case}");
    }
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join("diffusion_models/tiny_flux2.safetensors");
    assert_eq!(defaults(&models::open(&file, &[]).unwrap()), (4, 1.0));
    let base = file.with_file_name("flux-2-klein-Base-4b.safetensors");
    std::fs::rename(&file, &base).unwrap();
    assert_eq!(defaults(&models::open(&base, &[]).unwrap()), (50, 4.0));
}

/// As in diffusers, the guidance scale does nothing; a negative prompt can guide all the same.
#[test]
fn distilled_models_are_guided_only_by_true_cfg() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    assert!(models::open(&model, &[]).unwrap().reads_true_cfg());
    let base = Fixture::new("flux2", "base").write_diffusers(&folder.path().join("base")).unwrap();
    assert!(!models::open(&base, &[]).unwrap().reads_true_cfg());
    let run = fixture().run("cut").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut dump = |change: &dyn Fn(Request) -> Request| {
        runner.dump(change(run.request(&model)), Some(&run.latents().unwrap())).unwrap().1
    };
    let plain = dump(&|request| request);
    let ignored = dump(&|request| Request { guidance: 4.0, ..request });
    compare("step.0.latents", &plain, &ignored, 0.0).unwrap();
    let guiding = GuidanceOptions { true_cfg: 3.0, ..GuidanceOptions::default() };
    let guided = dump(&|request| Request { negative_prompt: "blurry".to_owned(), guiding, ..request });
    assert!(guided.contains_key("transformer.0.out.0.1"));
    assert!(compare("step.0.latents", &plain, &guided, MODULE).is_err());
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"];
    check_half_precision(&fixture(), "horse", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    check_every_mode(&fixture(), "edited").unwrap();
    check_every_mode(&Fixture::new("flux2", "base"), "guided").unwrap();
    check_every_mode(&Fixture::new("flux2", "salted"), "wide").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    for run in ["guided", "edited"] {
        check_forecasts(&Fixture::new("flux2", "base"), run, 0.95..1.1, 0.9..1.15).unwrap();
    }
}

/// diffusers has no pipeline that only starts from an image.
#[test]
fn images_and_masks_are_starts_as_in_every_family() {
    let edits = Fixture::new("qwen_image", "default");
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    let mut runner = Runner::start().unwrap();
    let mut change = |run: &Run, strength: f64| {
        let own = run.request(&model);
        let source =
            own.source.clone().map(|source| sluice_engine::request::SourceImage { strength, ..source });
        let request = Request { source, steps: 4, dtype: Some(ComputeDtype::F32), ..own };
        runner.dump(request, None).unwrap()
    };
    let (little, dump) = change(&edits.run("drawn_over").unwrap(), 0.25);
    assert!(dump.contains_key("step.0.latents") && !dump.contains_key("step.1.latents"));
    let (much, _) = change(&edits.run("drawn_over").unwrap(), 1.0);
    assert!(little[0].media != much[0].media);
    change(&edits.run("filled_in").unwrap(), 1.0);
}
