//! Checkpoints of random weights have the shapes of published models, run like any other, and are written in
//! little memory.

use std::{collections::BTreeMap, fs, path::Path};

use sluice_engine::{
    checkpoint::{Block, Component, read_header},
    hardware::{MemoryAccount, computing_threads},
    models::{self, KnownDefaults},
    output::{Image, Media, Settings, write_png},
    request::{Mode, ModelSource, Request, SourceImage, SourceMask},
};
use sluice_tests::{known, runner::Runner};
use sluice_tools::{Likeness, LikenessError, RandomDtype, RandomTensor, write_random};

fn write(likeness: &Likeness, folder: &Path, dtype: RandomDtype, seed: u64) {
    assert!(likeness.write(folder, dtype, Some(seed), |_| true).unwrap());
}

/// The number of weights of every component of every model, as in diffusers' and transformers' classes; the list was
/// written by `likeness.py`.
#[test]
fn published_models_have_as_many_weights() {
    let counted: BTreeMap<String, BTreeMap<String, u64>> =
        serde_json::from_str(include_str!("../../fixtures/parameters.json")).unwrap();
    assert_eq!(counted.len(), 51);
    assert!(Likeness::ids().all(|id| counted.contains_key(id)));
    for (id, counted) in counted {
        let likeness = Likeness::of(&id).unwrap();
        let weights =
            likeness.tensors().unwrap().into_iter().map(|(folder, tensors)| {
                (folder.to_owned(), tensors.iter().map(RandomTensor::elements).sum())
            });
        assert_eq!(weights.collect::<BTreeMap<String, u64>>(), counted, "{id}");
    }
}

/// A request with its start and end image and its mask in a folder.
fn from_images(request: Request, folder: &Path) -> Request {
    let write = |path: &Path| {
        let path = folder.join(path);
        let pixels = (0..64 * 64 * 3).map(|value| (value * 7 % 251) as u8).collect();
        let image = Image::opaque(64, 64, pixels);
        write_png(&path, &Media::Image(image), &Settings::new(&request, "", "", 0)).unwrap();
        path
    };
    let last_image = request.last_image.as_deref().map(write);
    let source = request.source.clone().map(|source| {
        let mask = source.mask.map(|mask| SourceMask { path: write(&mask.path), ..mask });
        SourceImage { path: write(&source.path), mask, ..source }
    });
    Request { source, last_image, ..request }
}

/// Tests that share the small ones, and run beside each other.
const PARTS: usize = 4;

/// Every fourth one opens and draws. Dtypes take turns.
fn check_small_ones(part: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let dtypes = RandomDtype::ALL.into_iter().cycle();
    for (id, dtype) in Likeness::ids().zip(dtypes).skip(part).step_by(PARTS) {
        let model = folder.path().join(id);
        write(&Likeness::of(id).unwrap().tiny(), &model, dtype, 1);
        // Cascades need sides of 128 pixels. Their noise starts at a hundred times the image, by which what a random
        // network predicts is multiplied.
        let is_cascade = ["stable-cascade", "wuerstchen"].contains(&id);
        let (side, most) = if is_cascade { (128, 1e6) } else { (64, 1e4) };
        let request = Request {
            model: ModelSource::Path(model.clone()),
            prompt: "a fox in the snow".to_owned(),
            width: side,
            height: side,
            steps: 2,
            guidance: 3.0,
            ..Request::default()
        };
        let KnownDefaults { modes, fills_in, .. } = models::known_model(id).unwrap().defaults().unwrap();
        let request = match modes.is_empty() || modes.contains(&Mode::Text) {
            true => request.with_needed_images(&modes, fills_in),
            false => Request { frames: 5, ..request }.with_needed_images(&modes, fills_in),
        };
        let request = from_images(request, folder.path());
        let (pictures, tensors) = runner.dump(request, None).unwrap();
        assert_eq!(pictures.len(), 1, "{id}");
        let latents: Vec<f32> = tensors["step.1.latents"].flatten_all().unwrap().to_vec1().unwrap();
        let square: f32 = latents.iter().map(|value| value * value).sum::<f32>() / latents.len() as f32;
        assert!(square.is_finite() && square > 1e-3 && square < most, "{id}: {square}");
        let pixels = &pictures[0].media.frames()[0].pixels;
        let flat = pixels.iter().all(|value| *value == pixels[0]);
        assert!(!flat, "{id} draws one colour");
        fs::remove_dir_all(model).unwrap();
    }
}

#[test]
fn a_first_quarter_of_small_ones_opens_and_draws_in_every_dtype() {
    check_small_ones(0);
}

#[test]
fn a_second_quarter_of_small_ones_opens_and_draws_in_every_dtype() {
    check_small_ones(1);
}

#[test]
fn a_third_quarter_of_small_ones_opens_and_draws_in_every_dtype() {
    check_small_ones(2);
}

#[test]
fn a_fourth_quarter_of_small_ones_opens_and_draws_in_every_dtype() {
    check_small_ones(3);
}

/// Full size, headers only.
#[test]
fn hollow_checkpoints_open_as_the_model_they_are_like() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("flux");
    let likeness = Likeness::of("flux.1-dev").unwrap();
    assert!(likeness.write(&model, RandomDtype::Bf16, None, |_| true).unwrap());
    let opened = models::open(&model, &[]).unwrap();
    let parameters = |component: &Component| -> u64 { component.blocks.iter().map(Block::parameters).sum() };
    let (_, known) = known::opened("flux.1-dev").unwrap();
    for (component, known) in opened.components().zip(known.components()) {
        assert_eq!(parameters(component), parameters(known), "{}", component.architecture);
    }
    assert_eq!(opened.defaults, known.defaults);
    let file = fs::metadata(model.join("transformer/diffusion_pytorch_model.safetensors")).unwrap();
    assert!(file.len() > 23_000_000_000, "{} bytes", file.len());
}

#[test]
fn a_seed_writes_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let likeness = Likeness::of("sd1.5").unwrap().tiny();
    let place = |name: &str| folder.path().join(name);
    write(&likeness, &place("one"), RandomDtype::F16, 5);
    write(&likeness, &place("same"), RandomDtype::F16, 5);
    write(&likeness, &place("other"), RandomDtype::F16, 6);
    let file = |name: &str| fs::read(place(name).join("unet/diffusion_pytorch_model.safetensors")).unwrap();
    assert!(file("one") == file("same"));
    assert!(file("one") != file("other"));
    // Encoders of one kind have tensors of the same names but different weights.
    let two = place("two");
    let likeness = Likeness::of("sd3-medium").unwrap().tiny();
    write(&likeness, &two, RandomDtype::Bf16, 5);
    let values = |encoder: &str| {
        let table = read_header(&two.join(encoder).join("model.safetensors")).unwrap();
        let bias = &table["text_model.embeddings.position_embedding.weight"];
        let values = bias.load(&candle_core::Device::Cpu).unwrap().flatten_all().unwrap();
        values.to_dtype(candle_core::DType::F32).unwrap().to_vec1::<f32>().unwrap()
    };
    assert_ne!(values("text_encoder")[..64], values("text_encoder_2")[..64]);
}

#[test]
fn text_encoders_of_few_layers_stay_as_wide() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("flux");
    let likeness = Likeness::of("flux.1-dev").unwrap().tiny().with_text_layers(1).unwrap();
    write(&likeness, &model, RandomDtype::Bf16, 0);
    let opened = models::open(&model, &[]).unwrap();
    assert_eq!(opened.text_encoders().map(|encoder| encoder.network.width()).collect::<Vec<_>>(), [64, 192]);
    assert_eq!(opened.part("text_encoder_2").unwrap().component.blocks.len(), 3);
    let error = Likeness::of("flux.1-dev").unwrap().with_text_layers(13).unwrap_err();
    assert!(matches!(error, LikenessError::Layers { layers: 12 }), "{error}");
    assert!(Likeness::of("flux.1-dev").unwrap().with_text_layers(0).is_err());
    // Its blocks read the layer that is there.
    let likeness = Likeness::of("hidream-i1-full").unwrap().tiny().with_text_layers(1).unwrap();
    let model = folder.path().join("hidream");
    write(&likeness, &model, RandomDtype::Bf16, 0);
    models::open(&model, &[]).unwrap();
}

#[test]
fn what_is_there_already_is_left_alone_and_what_is_broken_off_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let likeness = Likeness::of("sd1.5").unwrap().tiny();
    let model = folder.path().join("model");
    let mut told = 0;
    let written = likeness
        .write(&model, RandomDtype::Bf16, Some(0), |_| {
            told += 1;
            told < 20
        })
        .unwrap();
    assert!(!written);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    fs::create_dir(&model).unwrap();
    write(&likeness, &model, RandomDtype::Bf16, 0);
    let error = likeness.write(&model, RandomDtype::Bf16, Some(0), |_| true).unwrap_err();
    assert!(matches!(error, LikenessError::Taken { .. }), "{error}");
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert!(likeness.write(&file, RandomDtype::Bf16, Some(0), |_| true).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

/// A tensor of 256 MB is written through buffers of about 10 MB.
#[test]
fn weights_pass_through_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = [RandomTensor { name: "a.weight".to_owned(), shape: vec![8192, 8192] }];
    let account = MemoryAccount::new();
    let path = folder.path().join("large.safetensors");
    let pool = computing_threads(&account, Some(2)).unwrap();
    assert!(pool.install(|| write_random(&path, &tensors, RandomDtype::F32, 0, &mut |_| true)).unwrap());
    let written = fs::metadata(&path).unwrap().len();
    let peak = account.take_peaks().activations;
    assert!(written > 256 << 20 && peak > 1 << 20 && peak < 24 << 20, "{peak} bytes held for {written}");
}
