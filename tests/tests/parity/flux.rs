//! Whole runs of FLUX.1 against diffusers, through the session, stage by stage.

use std::path::{Path, PathBuf};

use candle_core::DType;
use sluice_engine::{
    models::{self, Model},
    request::{ModelSource, Redux, Request, RequestError, SourceImage},
    session::{Command, Event},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    golden::distance,
    modes::{check_every_mode, check_forecasts, check_half_precision},
    parity::{check_case, check_layouts},
    runner::Runner,
};

#[test]
fn dev_gives_what_diffusers_gives() {
    check_case("flux", "dev").unwrap();
}

#[test]
fn kontext_gives_what_diffusers_gives() {
    check_case("flux", "kontext").unwrap();
}

/// Also at its own guidance, whose embedding has angles of tens of thousands.
#[test]
fn fill_gives_what_diffusers_gives() {
    check_case("flux", "fill").unwrap();
}

#[test]
fn schnell_gives_what_diffusers_gives() {
    check_case("flux", "schnell").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("flux", "salted").unwrap();
}

#[test]
fn epsilons_that_decide_give_what_diffusers_gives() {
    check_case("flux", "faint").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    for (case, run) in [("dev", "horse"), ("schnell", "batch"), ("kontext", "tall"), ("fill", "changed")] {
        let fixture = Fixture::new("flux", case);
        check_layouts(&fixture, &fixture.run(run).unwrap()).unwrap();
    }
}

#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "encode_prompt.0.0.1", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("flux", "dev"), "horse", &names).unwrap();
}

/// As in ComfyUI's folders, and without configurations.
#[test]
fn redux_is_found_with_its_image_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("flux", "dev");
    let model = fixture.write(&folder.path().join("models"), Layout::Split, Stored::F32).unwrap();
    let run = fixture.run("seen_one").unwrap();
    let hub = folder.path().join("hub");
    std::fs::create_dir(&hub).unwrap();
    run.write_beside(&hub).unwrap();
    let part = |part: &str| load(&hub.join(format!("redux/default/{part}"))).unwrap();
    let file = model.join("style_models/flux1-redux-dev.safetensors");
    save(&part("image_embedder/diffusion_pytorch_model.safetensors"), &file).unwrap();
    let own = run.request(&model);
    let through = |path: PathBuf| Request { redux: Some(Redux::new(path)), ..own.clone() };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(through(file.clone()));
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.contains("SigLIP"), "{}", failure.message);
    let encoder = model.join("clip_vision/sigclip_vision_patch14_384.safetensors");
    save(&part("image_encoder/model.safetensors"), &encoder).unwrap();
    let latents = run.latents().unwrap();
    let mut dump = |path: PathBuf| runner.dump(through(path), Some(&latents)).unwrap().1;
    let (here, there) = (dump(file.clone()), dump(hub.join("redux/default")));
    assert_eq!(here.len(), there.len());
    for (name, tensor) in &here {
        distance(name, &tensor.to_dtype(DType::F64).unwrap(), &there[name], 0.0).unwrap();
    }
    let said = |path: &Path| models::content(path).unwrap().what;
    assert_eq!(said(&file), "Redux for FLUX.1");
    assert_eq!(said(&encoder), "SigLIP image encoder, width 144");
}

#[test]
fn redux_is_refused_where_it_is_of_no_use() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("flux", "dev");
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let run = fixture.run("seen_two").unwrap();
    run.write_beside(&model).unwrap();
    let own = run.request(&model);
    let redux = own.redux.clone().unwrap();
    let mut runner = Runner::start().unwrap();
    let mut refused = |request: Request, words: &str| {
        let job = runner.job(request);
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert!(failure.message.contains(words), "{}", failure.message);
    };
    refused(Request { references: Vec::new(), ..own.clone() }, "Redux reads reference images");
    let of = |redux: Redux| Request { redux: Some(redux), ..own.clone() };
    refused(of(Redux { strengths: vec![1.0; 3], ..redux.clone() }), "3 strengths");
    refused(of(Redux { strengths: vec![f32::NAN], ..redux.clone() }), "the strength NaN");
    refused(of(Redux::new(model.join("vae/diffusion_pytorch_model.safetensors"))), "no layers of Redux");
    let other = Request { model: ModelSource::Starter, width: 128, height: 128, ..of(redux) };
    refused(other, "does not read images through one");
}

/// The memory that both threads allocate at the same time varies between runs; at this image size that shows in dry
/// runs.
#[test]
fn forecasts_of_the_peak_come_true() {
    for (case, run) in [("dev", "horse"), ("kontext", "wide"), ("fill", "anew")] {
        check_forecasts(&Fixture::new("flux", case), run, 0.97..1.08, 0.9..1.15).unwrap();
    }
}

/// As its folder or the name of its file says. Its results have the size that suits model and image.
#[test]
fn kontext_is_told_from_other_models_and_takes_one_reference() {
    let folder = tempfile::tempdir().unwrap();
    let write = |case: &str, layout, name: &str| {
        let model = Fixture::new("flux", case).write(&folder.path().join(name), layout, Stored::F32).unwrap();
        models::open(&model, &[]).unwrap()
    };
    let edits = |model: &Model| model.references().unwrap().edits;
    assert!(edits(&write("kontext", Layout::Diffusers, "folder")));
    assert!(
        !edits(&write("kontext", Layout::Split, "split")) && !edits(&write("dev", Layout::Diffusers, "dev"))
    );
    let split = folder.path().join("split/diffusion_models");
    let named = split.join("flux1-Kontext-dev.safetensors");
    std::fs::rename(split.join("tiny_flux.safetensors"), &named).unwrap();
    let model = models::open(&named, &[]).unwrap();
    assert!(edits(&model));
    assert_eq!(model.references().unwrap().size([1600, 900], None), Some([1392, 752]));
    let run = Fixture::new("flux", "kontext").run("wide").unwrap().request(&named);
    let both = Request { references: [&run.references[..], &run.references].concat(), ..run.clone() };
    let error = model.validate(&both).unwrap_err().to_string();
    assert_eq!(error, "this model takes one reference image, and 2 are given");
    assert_eq!(model.validate(&run), Ok(()));
    let other = models::open(
        &Fixture::new("sd3", "medium").write_diffusers(&folder.path().join("sd3")).unwrap(),
        &[],
    );
    assert_eq!(other.unwrap().validate(&run), Err(RequestError::NoReferences));
}

/// As the shape of its network says, whatever its files are called.
#[test]
fn fill_needs_an_image_and_a_mask() {
    let (fixture, folder) = (Fixture::new("flux", "fill"), tempfile::tempdir().unwrap());
    for (layout, name) in
        [(Layout::Diffusers, "folder"), (Layout::Split, "split"), (Layout::Single, "single")]
    {
        let path = fixture.write(&folder.path().join(name), layout, Stored::F32).unwrap();
        let model = models::open(&path, &[]).unwrap();
        assert!(model.fills_in() && model.references().is_none(), "{layout:?}");
        assert_eq!((model.defaults.steps, model.defaults.guidance), (50, 30.0), "{layout:?}");
        let run = fixture.run("anew").unwrap().request(&path);
        assert_eq!(model.validate(&run), Ok(()));
        let unmasked = run.source.clone().map(|source| SourceImage { mask: None, ..source });
        for source in [unmasked, None] {
            let error = model.validate(&Request { source, ..run.clone() }).unwrap_err();
            assert_eq!(error, RequestError::NothingToFillIn);
            assert!(error.to_string().ends_with("give an image and a mask of that part"), "{error}");
        }
        assert_eq!(model.validate(&Request { source: None, ..run }.with_needed_images(&[], true)), Ok(()));
    }
}

/// A network with other inputs, as those of Canny and Depth, is refused by their number.
#[test]
fn other_inputs_are_refused() {
    let (fixture, folder) = (Fixture::new("flux", "fill"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let (config, weights) = ("transformer/config.json", "transformer/diffusion_pytorch_model.safetensors");
    let [config, weights] = [config, weights].map(|name| model.join(name));
    let mut tensors = load(&weights).unwrap();
    let narrow = tensors["x_embedder.weight"].narrow(1, 0, 128).unwrap().contiguous().unwrap();
    tensors.insert("x_embedder.weight".to_owned(), narrow);
    save(&tensors, &weights).unwrap();
    let own = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, own.replace("384", "128")).unwrap();
    let error = models::open(&model, &[]).unwrap_err().to_string();
    assert!(error.contains("in_channels") && error.contains("128") && error.contains("Fill 384"), "{error}");
}

/// A reference that has vanished is an error before anything is computed.
#[test]
fn a_reference_that_is_not_there_is_named() {
    let (fixture, folder) = (Fixture::new("flux", "kontext"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let run = fixture.run("wide").unwrap().request(&model);
    let mut runner = Runner::start().unwrap();
    let job = runner.job(Request { references: vec!["gone.png".into()], ..run });
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.starts_with("the image gone.png cannot be read"), "{}", failure.message);
}

#[test]
fn a_summary_names_every_part() {
    let (fixture, folder) = (Fixture::new("flux", "schnell"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let runner = Runner::start().unwrap();
    runner.send(Command::Load { model: ModelSource::Path(model) }).unwrap();
    let Event::ModelLoaded(summary) = runner.event().unwrap() else { panic!("it does not load") };
    let parts: Vec<(&str, &str)> =
        summary.components.iter().map(|part| (part.role.id(), part.architecture.as_str())).collect();
    let expected = [
        ("text_encoder", "CLIP-L"),
        ("text_encoder", "T5 encoder"),
        ("denoiser", "FLUX.1 transformer"),
        ("autoencoder", "AutoencoderKL"),
    ];
    assert_eq!(parts, expected);
    assert_eq!((summary.defaults.steps, summary.defaults.guidance, summary.size_multiple), (4, 0.0, 16));
    let blocks: Vec<&str> = summary.components[2].blocks.iter().map(|block| block.name.as_str()).collect();
    let expected = [
        "conditioning",
        "transformer_blocks.0.modulation",
        "transformer_blocks.1.modulation",
        "single_transformer_blocks.0.modulation",
        "single_transformer_blocks.1.modulation",
        "head.modulation",
        "embedders",
        "transformer_blocks.0",
        "transformer_blocks.1",
        "single_transformer_blocks.0",
        "single_transformer_blocks.1",
        "head",
    ];
    assert_eq!(blocks, expected);
}

/// Two text encoders, two kinds of blocks, and modulations needed only once.
#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (case, run) in [
        ("dev", "cut"),
        ("dev", "seen_two"),
        ("salted", "batch"),
        ("kontext", "tall"),
        ("fill", "anew"),
        ("fill", "changed"),
    ] {
        check_every_mode(&Fixture::new("flux", case), run).unwrap();
    }
}
