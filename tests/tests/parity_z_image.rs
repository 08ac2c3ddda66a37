//! Whole runs of Z-Image against diffusers, through the session, stage by stage.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use std::path::Path;

use candle_core::{DType, Tensor};
use sluice_engine::request::ComputeDtype;
use sluice_tests::{
    checkpoint::{Fixture, Layout, Run, Stored},
    golden::{MODULE, WHOLE_RUN, compare, distance, ids},
    original_names::Tensors,
    runner::Runner,
};

/// The tensors of a run, in order of computation, and how close each has to be.
fn tolerance(name: &str) -> f64 {
    match name {
        "latents.init" => 0.0,
        name if name.starts_with("encode_prompt.") || name.starts_with("transformer.0.out.") => MODULE,
        _ => WHOLE_RUN,
    }
}

fn check(run: &Run, dump: &Tensors) {
    let golden = run.golden().unwrap();
    let mut wrong = Vec::new();
    for name in golden.keys() {
        let found = if name.ends_with(".input_ids") {
            assert_eq!(ids(&dump[name]).unwrap(), ids(&golden[name]).unwrap(), "{} {name}", run.name());
            continue;
        } else if name.ends_with(".in.t") {
            continue; // what a dump does not have; the outputs depend on it
        } else if name.starts_with("scheduler.") {
            // Heun's method in diffusers counts the levels in between twice.
            distance(name, &without_repeats(&golden[name]), &dump[name], MODULE)
        } else {
            compare(name, &golden, dump, tolerance(name))
        };
        match found {
            Ok(distance) => println!("{} {name}: {distance:.1e}", run.name()),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", run.name(), wrong.join("\n"));
    for name in ["encode_prompt.0.1.0", "text_encoder.1.input_ids", "transformer.0.out.0.1"] {
        let expected = golden.contains_key(name);
        assert_eq!(dump.contains_key(name), expected, "{}: {name} is there only with guidance", run.name());
    }
}

fn without_repeats(levels: &Tensor) -> Tensor {
    let mut values: Vec<f32> = levels.to_vec1().unwrap();
    values.dedup();
    Tensor::new(values.as_slice(), levels.device()).unwrap()
}

fn check_case(case: &str) {
    let (fixture, folder) = (Fixture::new("z_image", case), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let mut runner = Runner::start().unwrap();
    for run in fixture.runs().unwrap() {
        let (pictures, dump) = runner.repeat(&run, &model).unwrap();
        check(&run, &dump);
        check_pixels(&dump["output"], &pictures.iter().map(|picture| &picture.image).collect::<Vec<_>>());
    }
}

/// The pictures are the floats of `output`, rounded.
fn check_pixels(output: &Tensor, images: &[&sluice_engine::output::Image]) {
    let (batch, _, height, width) = output.dims4().unwrap();
    assert_eq!(images.len(), batch);
    for (index, image) in images.iter().enumerate() {
        assert_eq!((image.width as usize, image.height as usize), (width, height));
        let rows = output.get(index).unwrap().permute((1, 2, 0)).unwrap().flatten_all().unwrap();
        let expected: Vec<u8> = rows
            .to_vec1::<f32>()
            .unwrap()
            .iter()
            .map(|value| (value * 255.0).round_ties_even() as u8)
            .collect();
        assert!(expected == image.pixels, "picture {index} is not what `output` says");
    }
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("default");
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("salted");
}

#[test]
fn epsilons_that_decide_give_what_diffusers_gives() {
    check_case("faint");
}

fn outputs(layout: Layout, stored: Stored, folder: &Path) -> Vec<Vec<u8>> {
    let fixture = Fixture::new("z_image", "default");
    let model = fixture.write(folder, layout, stored).unwrap();
    let mut runner = Runner::start().unwrap();
    let (pictures, _) = runner.repeat(&fixture.run("guided").unwrap(), &model).unwrap();
    pictures.into_iter().map(|picture| picture.image.pixels).collect()
}

#[test]
fn every_layout_gives_the_same_bytes() {
    let fixture = Fixture::new("z_image", "default");
    let run = fixture.run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut dump_of = |layout| {
        let folder = tempfile::tempdir().unwrap();
        let model = fixture.write(folder.path(), layout, Stored::F32).unwrap();
        runner.repeat(&run, &model).unwrap()
    };
    let (pictures, expected) = dump_of(Layout::Diffusers);
    for layout in [Layout::Sharded, Layout::Split, Layout::SplitPrefixed] {
        let (others, dump) = dump_of(layout);
        assert!(pictures.iter().zip(&others).all(|(a, b)| a.image == b.image), "{layout:?}: other pixels");
        assert_eq!(dump.len(), expected.len(), "{layout:?}");
        for (name, tensor) in &expected {
            let same = distance(name, &tensor.to_dtype(DType::F64).unwrap(), &dump[name], 0.0);
            assert!(same.is_ok(), "{layout:?}: {}", same.unwrap_err());
        }
    }
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
    assert_eq!(whole.0[0].image, file.0[0].image);
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

/// 16-bit activations round each value to 8 (bf16) or 11 (f16) bits; some dozen roundings in a row stay
/// within a few per cent of the largest value, and leave no value as it was.
#[test]
fn computing_in_half_precision_stays_near() {
    let (fixture, folder) = (Fixture::new("z_image", "default"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let run = fixture.run("guided").unwrap();
    let golden = run.golden().unwrap();
    let mut runner = Runner::start().unwrap();
    for (dtype, allowed) in [(ComputeDtype::Bf16, 0.1), (ComputeDtype::F16, 0.0125)] {
        let request = sluice_engine::request::Request { dtype, ..run.request(&model) };
        let (_, dump) = runner.dump(request, Some(&run.latents().unwrap())).unwrap();
        for name in ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"] {
            let distance = compare(name, &golden, &dump, allowed).unwrap();
            println!("{dtype:?} {name}: {distance:.1e}");
            assert!(distance > 1e-5, "{dtype:?} {name} is too close to be 16 bits: {distance}");
        }
    }
}
