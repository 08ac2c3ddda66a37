//! Files of Stable Diffusion as published: variants of a folder's weights, and metadata in files without a
//! configuration.

use std::{fs, path::Path};

use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};
use sluice_engine::{
    checkpoint::CheckpointError,
    models,
    sampling::{Discrete, PredictionType, Training},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save, set_json},
    twins::check_twins,
};
use sluice_tools::{ConvertTo, convert};

const UNET: &str = "unet/diffusion_pytorch_model.safetensors";

#[test]
fn a_variant_in_16_bits_draws_what_its_weights_stand_for() {
    for (family, case, run) in [("stable_diffusion", "one", "unguided"), ("sdxl", "base", "unguided")] {
        let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
        let write =
            |name: &str, layout, stored| fixture.write(&folder.path().join(name), layout, stored).unwrap();
        let narrow = write("narrow", Layout::Variant, Stored::As(DType::F16));
        let wide = write("wide", Layout::Diffusers, Stored::RoundedTo(DType::F16));
        check_twins(family, &fixture.run(run).unwrap(), &narrow, &wide).unwrap();
    }
}

/// The folder of Stable Diffusion 1.5 has `fp16` and `non_ema` variants next to the default weights.
#[test]
fn of_several_variants_that_without_a_name_is_taken_and_then_that_in_16_bits() {
    let (fixture, folder) = (Fixture::new("stable_diffusion", "one"), tempfile::tempdir().unwrap());
    let [model, many] = ["model", "many"].map(|name| folder.path().join(name));
    for path in [&model, &many] {
        fixture.write_diffusers(path).unwrap();
    }
    let mut others = load(&many.join(UNET)).unwrap();
    for tensor in others.values_mut() {
        *tensor = tensor.zeros_like().unwrap();
    }
    let file = many.join(UNET);
    let run = fixture.run("unguided").unwrap();
    save(&others, &file.with_extension("fp16.safetensors")).unwrap();
    save(&others, &file.with_extension("a_variant.safetensors")).unwrap();
    check_twins("beside the plain one", &run, &many, &model).unwrap();
    fs::rename(&file, file.with_extension("fp16.safetensors")).unwrap();
    check_twins("without the plain one", &run, &many, &model).unwrap();
}

/// The noise levels of the model at a path.
fn training(model: &Path) -> Discrete {
    let opened = models::open(model, &[]).unwrap();
    let denoising = opened.denoisers().next().unwrap().network;
    let Training::Discrete(training) = &denoising.training else { panic!("it is no flow") };
    training.clone()
}

/// Adds tensors with no values, or one, to a file.
fn mark(path: &Path, marks: &[&str], shape: &[usize]) {
    let mut tensors = load(path).unwrap();
    for mark in marks {
        tensors.insert((*mark).to_owned(), Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap());
    }
    save(&tensors, path).unwrap();
}

/// As in the files of NoobAI.
#[test]
fn marks_in_a_file_say_what_a_scheduler_says() {
    let (fixture, folder) = (Fixture::new("sdxl", "to_noise"), tempfile::tempdir().unwrap());
    let run = fixture.run("guided").unwrap();
    let model = fixture.write_diffusers(&folder.path().join("model")).unwrap();
    for (layout, shape) in [
        (Layout::Single, &[0][..]),
        (Layout::Single, &[]),
        (Layout::SplitPrefixed, &[0]),
        (Layout::Split, &[0]),
    ] {
        let name = format!("{layout:?} {shape:?}");
        let path = fixture.write(&folder.path().join(&name), layout, Stored::F32).unwrap();
        let file =
            if path.is_file() { path.clone() } else { path.join("diffusion_models/tiny_unet.safetensors") };
        assert_eq!(training(&path).prediction(), PredictionType::Epsilon, "{name}");
        mark(&file, &["v_pred"], shape);
        assert_eq!(training(&path).prediction(), PredictionType::VPrediction, "{name}");
        assert!(training(&path).sigmas(4)[0] < 15.0, "{name}");
        mark(&file, &["ztsnr"], shape);
        check_twins(&name, &run, &path, &model).unwrap();
        if path == file {
            for to in [ConvertTo::Bf16, ConvertTo::Q8_0] {
                let smaller = file.with_extension(to.name());
                convert(&file, &smaller, to, |_| true).unwrap();
                assert_eq!(training(&smaller), training(&file), "{name} as {}", to.name());
            }
        }
    }
}

/// Writes an entry into the metadata of a safetensors file.
fn note(path: &Path, name: &str, text: &str) {
    let bytes = fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    header["__metadata__"] = json!({ name: text });
    let header = serde_json::to_vec(&header).unwrap();
    let written = [&(header.len() as u64).to_le_bytes()[..], &header, &bytes[8 + length..]].concat();
    fs::write(path, written).unwrap();
}

/// The configuration next to a file takes precedence over marker tensors, and those over metadata.
#[test]
fn a_person_has_the_last_word_about_what_a_network_gives() {
    for family in ["stable_diffusion", "sdxl"] {
        let case = if family == "sdxl" { "base" } else { "one" };
        let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
        let file = fixture.write(folder.path(), Layout::Single, Stored::F32).unwrap();
        let settings = file.with_extension("yaml");
        let gives = || training(&file).prediction();
        assert_eq!(gives(), PredictionType::Epsilon, "{family}");
        note(&file, "modelspec.prediction_type", "v");
        assert_eq!(gives(), PredictionType::VPrediction, "{family}");
        mark(&file, &["v_pred"], &[]);
        note(&file, "modelspec.prediction_type", "epsilon");
        assert_eq!(gives(), PredictionType::VPrediction, "{family}");
        fs::write(&settings, "model:\n  params:\n    parameterization: eps\n").unwrap();
        assert_eq!(gives(), PredictionType::Epsilon, "{family}");
        fs::write(&settings, "model:\n  params:\n    parameterization: \"v\"\n").unwrap();
        assert_eq!(gives(), PredictionType::VPrediction, "{family}");
        assert_eq!(
            models::open(&file, &[]).unwrap().defaults.width,
            if family == "sdxl" { 1024 } else { 512 }
        );
        fs::write(&settings, "model:\n  params:\n    parameterization: x0\n").unwrap();
        let error = models::open(&file, &[]).unwrap_err().to_string();
        assert!(error.contains("tiny.yaml has parameterization = x0"), "{family}: {error}");
    }
}

#[test]
fn networks_for_other_noise_levels_are_refused_by_name() {
    let (fixture, folder) = (Fixture::new("sdxl", "base"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(&folder.path().join("model")).unwrap();
    let scheduler = model.join("scheduler/scheduler_config.json");
    set_json(&scheduler, "_class_name", json!("EDMDPMSolverMultistepScheduler")).unwrap();
    let mut all = vec![model];
    for name in ["edm_mean", "edm_vpred.sigma_max"] {
        let file = fixture.write(&folder.path().join(name), Layout::Single, Stored::F32).unwrap();
        mark(&file, &[name], &[1]);
        all.push(file);
    }
    for path in all {
        let error = models::open(&path, &[]).unwrap_err();
        assert!(matches!(error, CheckpointError::UnknownFamily { .. }), "{error}");
        assert!(error.to_string().contains("EDM noise levels"), "{error}");
    }
}
