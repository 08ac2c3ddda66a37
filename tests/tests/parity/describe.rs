//! Language models that see, against transformers: how images are read, the chat, its scores, and how it goes on.

use std::{fs, path::Path};

use candle_core::{Device, Tensor};
use sluice_engine::{
    checkpoint::CheckpointError,
    models::{content, open_language_model},
    precision::Format,
    request::{ComputeDtype, Describe, ModelSource, Request, Writing},
    session::Event,
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    describe::{INSTRUCTION, Seeing, write_images},
    golden::{distance, ids},
    original_names::Tensors,
    runner::{End, Runner},
    writer,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;
/// Of scores, one of so many is in the reference.
const KEPT: usize = 4;

fn golden() -> Tensors {
    load(&fixtures().join("describe/golden.safetensors")).unwrap()
}

/// A request for a description of the images of the reference, of which each token is the likeliest.
fn request(model: &Path, folder: &Path, seeing: Seeing, longest: u32) -> Request {
    let writing =
        Writing { instruction: INSTRUCTION.to_owned(), temperature: 0.0, longest, ..Writing::default() };
    let describe = Describe { images: write_images(folder).unwrap(), pixels: seeing.pixels(), writing };
    Request {
        model: ModelSource::Path(model.to_owned()),
        dtype: Some(ComputeDtype::F32),
        describe: Some(describe),
        ..Request::default()
    }
}

#[test]
fn descriptions_go_on_as_in_transformers() {
    let golden = golden();
    for seeing in Seeing::ALL {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        seeing.write(&model).unwrap();
        let name = seeing.name();
        let want = ids(&golden[&format!("{name}.answer")]).unwrap();
        let request = request(&model, folder.path(), seeing, want.len() as u32);
        let (_, found) = Runner::start().unwrap().dump(request, None).unwrap();
        let chat = ids(&golden[&format!("{name}.chat")]).unwrap();
        assert_eq!(ids(&found["language_model.chat"]).unwrap(), chat, "{name}");
        for which in ["first", "last"] {
            let scores: Vec<f32> = found[&format!("language_model.scores.{which}")].to_vec1().unwrap();
            let kept: Vec<f32> = scores.into_iter().step_by(KEPT).collect();
            let kept = Tensor::new(kept, &Device::Cpu).unwrap();
            let wanted = &golden[&format!("{name}.scores.{which}")];
            let distance = distance(which, wanted, &kept, TOLERANCE).unwrap();
            println!("{name}, {which} scores: {distance:.2e}");
        }
        assert_eq!(ids(&found["language_model.answer"]).unwrap(), want, "{name}");
    }
}

#[test]
fn images_are_read_in_the_sizes_of_transformers() {
    const WIDTHS: [u32; 8] = [11, 27, 41, 58, 299, 1000, 1023, 2099];
    const HEIGHTS: [u32; 6] = [13, 30, 43, 300, 777, 1999];
    let folder = tempfile::tempdir().unwrap();
    Seeing::Qwen25.write(folder.path()).unwrap();
    let model = open_language_model(folder.path()).unwrap();
    let tower = model.vision_tower().unwrap().network;
    let golden = ids(&golden()["sizes"]).unwrap();
    let sizes = WIDTHS.iter().flat_map(|width| HEIGHTS.iter().map(move |height| [*width, *height]));
    for (size, want) in sizes.zip(golden.chunks(2)) {
        let seen = tower.size_within(size, 300_000);
        assert_eq!(seen.grid.map(|count| count as i64).as_slice(), want, "{size:?}");
        assert_eq!(seen.read, [seen.grid[1] as u32 * 28, seen.grid[0] as u32 * 28]);
        assert_eq!((seen.before, seen.scaled), (None, size), "it is scaled once");
    }
}

#[test]
fn newer_names_older_configurations_and_shards_give_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let published = folder.path().join("published");
    let seeing = Seeing::Qwen25;
    seeing.write(&published).unwrap();
    let mut runner = Runner::start().unwrap();
    let mut words = |model: &Path| {
        let (_, dump) = runner.dump(request(model, folder.path(), seeing, 6), None).unwrap();
        let bits = |tensor: &Tensor| tensor.to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits);
        bits(&dump["language_model.scores.last"]).collect::<Vec<_>>()
    };
    let want = words(&published);

    let newer = folder.path().join("newer");
    let renamed = |(name, tensor): (String, Tensor)| {
        let name = match name.strip_prefix("model.") {
            Some(own) => format!("model.language_model.{own}"),
            None if name.starts_with("visual.") => format!("model.{name}"),
            None => name,
        };
        (name, tensor)
    };
    let tensors = seeing.weights().unwrap();
    seeing.write_tensors(&newer, &tensors.clone().into_iter().map(renamed).collect()).unwrap();
    assert!(words(&newer) == want, "newer names");

    // As transformers 4 wrote it, and as it is published.
    let older = folder.path().join("older");
    seeing.write(&older).unwrap();
    let mut config = seeing.config();
    let mut text = config["text_config"].take();
    let rope = text["rope_parameters"].take();
    text["rope_theta"] = rope["rope_theta"].clone();
    text["rope_scaling"] = serde_json::json!({ "type": "mrope", "mrope_section": rope["mrope_section"] });
    text["vision_config"] = config["vision_config"].take();
    for name in ["model_type", "tie_word_embeddings"] {
        text[name] = config[name].take();
    }
    fs::write(older.join("config.json"), text.to_string()).unwrap();
    assert!(words(&older) == want, "an older configuration");

    let shards = folder.path().join("shards");
    seeing.write(&shards).unwrap();
    fs::remove_file(shards.join("model.safetensors")).unwrap();
    let (one, other): (Tensors, Tensors) =
        tensors.into_iter().partition(|(name, _)| name.starts_with("visual."));
    for (number, part) in [&one, &other].into_iter().enumerate() {
        save(part, &shards.join(format!("model-0000{}-of-00002.safetensors", number + 1))).unwrap();
    }
    assert!(words(&shards) == want, "shards");
}

#[test]
fn the_library_knows_which_language_models_see() {
    let folder = tempfile::tempdir().unwrap();
    for seeing in Seeing::ALL {
        let model = folder.path().join(seeing.name());
        seeing.write(&model).unwrap();
        let found = content(&model.join("model.safetensors")).unwrap();
        assert!(found.sees_images, "{found:?}");
    }
    let blind = folder.path().join("blind.gguf");
    writer::write(&blind, Format::F16).unwrap();
    assert!(!content(&blind).unwrap().sees_images);
}

#[test]
fn what_cannot_see_or_write_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let mut said = |request: Request| {
        let job = runner.job(request);
        runner.run(job).unwrap().failure().unwrap().message
    };
    let text_only = folder.path().join("tiny.gguf");
    writer::write(&text_only, Format::F16).unwrap();
    let blind = said(request(&text_only, folder.path(), Seeing::Qwen25, 8));
    assert!(blind.contains("the language model has no vision tower and sees no images"), "{blind}");

    let seeing = Seeing::Qwen25;
    let model = folder.path().join("model");
    seeing.write(&model).unwrap();
    let with = |change: &dyn Fn(&mut Describe)| {
        let mut request = request(&model, folder.path(), seeing, 8);
        change(request.describe.as_mut().unwrap());
        request
    };
    assert!(said(with(&|describe| describe.images.clear())).contains("there is no image to describe"));
    assert!(said(with(&|describe| describe.pixels = 10)).contains("images of 10 pixels"));
    let missing = folder.path().join("missing.png");
    assert!(said(with(&|describe| describe.images = vec![missing.clone()])).contains("missing.png"));
    let narrow = folder.path().join("narrow.png");
    image::RgbImage::new(2, 402).save(&narrow).unwrap();
    assert!(said(with(&|describe| describe.images = vec![narrow.clone()])).contains("too narrow"));

    let mut encoder = seeing.weights().unwrap();
    encoder.remove("lm_head.weight");
    let mute = folder.path().join("mute");
    seeing.write_tensors(&mute, &encoder).unwrap();
    let error = open_language_model(&mute).map(|_| ()).unwrap_err();
    assert!(matches!(error, CheckpointError::LanguageModel { .. }));
    assert!(error.to_string().contains("lm_head, is missing: it only encodes prompts"), "{error}");

    let other = Request { model: ModelSource::Starter, ..request(&model, folder.path(), seeing, 8) };
    assert!(said(other).contains("cannot describe images"));
}

#[test]
fn a_model_that_sees_writes_prompts_as_well() {
    let folder = tempfile::tempdir().unwrap();
    Seeing::Qwen25.write(folder.path()).unwrap();
    let enhance = Writing { instruction: INSTRUCTION.to_owned(), longest: 8, ..Writing::default() };
    let request = Request {
        model: ModelSource::Path(folder.path().to_owned()),
        prompt: "a dog".to_owned(),
        enhance: Some(enhance),
        ..Request::default()
    };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(request);
    let ended = runner.run(job).unwrap();
    assert!(matches!(ended.end, End::Finished(_)), "{:?}", ended.end);
    let is_whole = |event: &Event| matches!(event, Event::Text { is_whole: true, .. });
    assert!(ended.events.iter().any(is_whole));
}
