//! Runs of Stable Diffusion that read images through IP-Adapters, compared with diffusers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sluice_engine::{
    checkpoint::CheckpointError,
    models::{Kind, OpenedModels, content},
    output::{Output, read_settings},
    request::{Enlarger, Fit, Hires, ImagePrompt, ModelSource, Request, SourceImage},
    session::{Command, Event, Job, PlanQuery, PlanSubject},
};
use sluice_tests::{
    checkpoint::{Fixture, load, save},
    golden::{MODULE, WHOLE_RUN, compare, distance},
    image_prompts::encoder,
    modes::{check_every_mode, check_every_mode_of, check_forecasts, forecast},
    original_names::Tensors,
    runner::Runner,
};

/// The first two have several images, the third is not guided, and the fourth has two IP-Adapters that act in some of the steps.
const PROMPTED: [(&str, &str, &str); 5] = [
    ("stable_diffusion", "one", "prompted/plain"),
    ("stable_diffusion", "one", "prompted/plus"),
    ("stable_diffusion", "one", "prompted/both"),
    ("sdxl", "base", "prompted/plain"),
    ("sdxl", "base", "prompted/plus"),
];

/// Writes the model of a run with its IP-Adapters, and returns its request.
fn written(family: &str, case: &str, run: &str, folder: &Path) -> Request {
    let fixture = Fixture::new(family, case);
    let run = fixture.run(run).unwrap();
    let model = fixture.write_diffusers(folder).unwrap();
    run.write_beside(&model).unwrap();
    run.request(&model)
}

fn plain(folder: &Path) -> Request {
    written("stable_diffusion", "one", "prompted/plain", folder)
}

/// A request with something else about its first image prompt.
fn with(request: &Request, change: impl Fn(&mut ImagePrompt)) -> Request {
    let mut changed = request.clone();
    change(&mut changed.image_prompts[0]);
    changed
}

#[test]
fn prompted_runs_give_what_diffusers_gives() {
    let mut runner = Runner::start().unwrap();
    for (family, case, name) in PROMPTED {
        let folder = tempfile::tempdir().unwrap();
        let request = written(family, case, name, folder.path());
        let run = Fixture::new(family, case).run(name).unwrap();
        let (_, dump) = runner.dump(request.clone(), Some(&run.latents().unwrap())).unwrap();
        let golden = run.golden().unwrap();
        for (tensor, tolerance) in [("unet.0.out.0", MODULE), ("vae.decode.in", WHOLE_RUN)] {
            let distance = compare(tensor, &golden, &dump, tolerance).unwrap();
            println!("{family} {name} {tensor}: {distance:.1e}");
        }
        let alone = Request { image_prompts: Vec::new(), ..request };
        let (_, alone) = runner.dump(alone, Some(&run.latents().unwrap())).unwrap();
        let is_other = compare("vae.decode.in", &golden, &alone, 0.01).is_err();
        assert!(is_other, "{name}: the IP-Adapter has no effect");
    }
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (family, case, run) in PROMPTED {
        check_every_mode(&Fixture::new(family, case), run).unwrap();
    }
}

/// With a ControlNet, an input image and a second pass.
#[test]
fn image_prompts_go_with_everything_else_in_every_mode() {
    let fixture = Fixture::new("stable_diffusion", "one");
    let steered = fixture.run("steered/guided").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let model = fixture.write_diffusers(folder.path()).unwrap();
    steered.write_beside(&model).unwrap();
    let nets = steered.request(&model).control_nets;
    let hires = Some(Hires { scale: 2.0, strength: 0.5, steps: None, enlarger: Enlarger::Latent });
    let image = fixture.run("filled_in").unwrap().request(&model).source;
    check_every_mode_of(&fixture, "prompted/both", |request| Request {
        hires: hires.clone(),
        control_nets: nets.clone(),
        ..request
    })
    .unwrap();
    check_every_mode_of(&fixture, "prompted/plain", |request| Request { source: image.clone(), ..request })
        .unwrap();

    let request =
        Request { control_nets: nets, ..written("stable_diffusion", "one", "prompted/both", folder.path()) };
    let mut runner = Runner::start().unwrap();
    let mut dump = |request: Request| runner.dump(request, None).unwrap().1;
    let both = dump(request.clone());
    for one in [
        Request { control_nets: Vec::new(), ..request.clone() },
        Request { image_prompts: Vec::new(), ..request.clone() },
    ] {
        assert!(compare("output", &both, &dump(one), 0.01).is_err(), "one of them has no effect");
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let near = || (0.98..1.05, 0.9..1.15);
    for (family, case, run) in [PROMPTED[2], PROMPTED[3]] {
        check_forecasts(&Fixture::new(family, case), run, near().0, near().1).unwrap();
    }
}

/// The base reads them, its refiner does not.
#[test]
fn a_refiner_takes_the_last_steps_of_a_prompted_run_in_every_mode() {
    let (fixture, folder) = (Fixture::new("sdxl", "base"), tempfile::tempdir().unwrap());
    let prompts = written("sdxl", "base", "prompted/plain", folder.path()).image_prompts;
    check_every_mode_of(&fixture, "refined/guided", |request| Request {
        image_prompts: prompts.clone(),
        ..request
    })
    .unwrap();
}

/// What is not read in any step changes nothing.
#[test]
fn a_weight_of_zero_changes_nothing_and_tokens_are_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let mut runner = Runner::start().unwrap();
    let alone = runner.draw(Request { image_prompts: Vec::new(), ..request.clone() }).unwrap();
    let none = runner.draw(with(&request, |prompt| prompt.weight = 0.0)).unwrap();
    assert!(alone[0].media == none[0].media);
    let first = runner.draw(request.clone()).unwrap();
    assert!(first[0].media != alone[0].media);
    // The same images, with what is kept of them.
    let again = runner.draw(request.clone()).unwrap();
    assert!(first[0].media == again[0].media);
    let other = with(&request, |prompt| prompt.images.truncate(1));
    assert!(runner.draw(other).unwrap()[0].media != first[0].media);
}

/// As ComfyUI has them: adapters and encoders in folders of their own, without a configuration.
#[test]
fn encoders_are_found_where_programs_keep_them() {
    let folder = tempfile::tempdir().unwrap();
    let request = written("stable_diffusion", "one", "prompted/both", folder.path());
    let mut runner = Runner::start().unwrap();
    let expected = runner.draw(request.clone()).unwrap();
    for (adapters, encoders) in [
        ("comfy/models/ipadapter", "comfy/models/clip_vision"),
        ("hub/sdxl_models", "hub/models/image_encoder"),
        ("flat", "flat"),
    ] {
        let [adapters, encoders] = [adapters, encoders].map(|name| folder.path().join(name));
        fs::create_dir_all(&adapters).unwrap();
        fs::create_dir_all(&encoders).unwrap();
        save(&encoder().unwrap(), &encoders.join("tiny_vit.safetensors")).unwrap();
        let mut moved = request.clone();
        for prompt in &mut moved.image_prompts {
            let file = adapters.join(prompt.adapter.file_name().unwrap());
            fs::copy(&prompt.adapter, &file).unwrap();
            prompt.adapter = file;
        }
        let drawn = runner.draw(moved).unwrap();
        assert!(drawn[0].media == expected[0].media, "{}", encoders.display());
    }
}

/// The middle of an image is read, in the square that the encoder was trained with.
#[test]
fn the_sides_of_an_image_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let picture = |name: &str, sides: u8| {
        let file = folder.path().join(name);
        let pixels = image::RgbImage::from_fn(90, 40, |x, y| match x {
            25..65 => image::Rgb([x as u8 * 3, y as u8 * 5, 90]),
            _ => image::Rgb([sides; 3]),
        });
        pixels.save(&file).unwrap();
        file
    };
    let mut runner = Runner::start().unwrap();
    let mut tokens = |file: PathBuf| {
        let request = with(&request, |prompt| prompt.images = vec![file.clone()]);
        runner.dump(request, None).unwrap().1.remove("image_prompt.0.0").unwrap()
    };
    let (dark, light) = (tokens(picture("dark.png", 0)), tokens(picture("light.png", 255)));
    // The bicubic filter reaches a little further.
    distance("tokens", &dark, &light, 0.5).unwrap();
    let whole = tokens(request.image_prompts[0].images[0].clone());
    assert!(distance("tokens", &dark, &whole, 1e-3).is_err());
}

/// A model that is known without its files is planned with it, too.
#[test]
fn a_known_model_refuses_an_adapter_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let runner = Runner::start().unwrap();
    let query = PlanQuery {
        id: 1,
        subject: PlanSubject::Known("sd1.5".to_owned()),
        request,
        memory: Default::default(),
    };
    runner.send(Command::Plan(Box::new(query))).unwrap();
    let failure = loop {
        match runner.event().unwrap() {
            Event::NotPlanned { failure, .. } => break failure,
            Event::Planned { .. } => panic!("the IP-Adapter is left out"),
            _ => {}
        }
    };
    assert!(failure.message.contains("and the model is Stable Diffusion 1"), "{}", failure.message);
}

#[test]
fn what_cannot_be_read_is_said_before_anything_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let runner = Runner::start().unwrap();
    let said = |request: &Request| forecast(&runner, request, &Default::default()).unwrap_err().to_string();
    let missing = with(&request, |prompt| prompt.images = vec!["/nowhere/style.png".into()]);
    assert!(said(&missing).contains("style.png"));
    assert!(said(&with(&request, |prompt| prompt.weight = 3.0)).contains("the weight 3 of image prompts"));
    assert!(said(&with(&request, |prompt| prompt.images.clear())).contains("has no image to read"));
}

#[test]
fn what_is_no_adapter_for_a_model_is_said() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let request = plain(folder.path());
    let xl = written("sdxl", "base", "prompted/plain", other.path());
    let own = load(&request.image_prompts[0].adapter).unwrap();
    let models = OpenedModels::default();
    let refused = |request: &Request, adapter: PathBuf| {
        let request = with(request, |prompt| prompt.adapter.clone_from(&adapter));
        let error = models.of(&request).map(|_| ()).unwrap_err();
        format!("{error}. {}", error.advice())
    };
    let saved = |tensors: &Tensors| {
        let file = folder.path().join("ip_adapters/other.safetensors");
        save(tensors, &file).unwrap();
        file
    };
    let renamed = |from: &str, to: &str| {
        let other = own.iter().map(|(name, tensor)| (name.replace(from, to), tensor.clone())).collect();
        saved(&other)
    };
    let said = refused(&request, xl.image_prompts[0].adapter.clone());
    assert!(
        said.contains("cannot be used as an IP-Adapter: it is for a model with prompts of width"),
        "{said}"
    );
    assert!(said.contains("huggingface.co/h94/IP-Adapter"), "{said}");
    assert!(refused(&request, renamed("to_v_ip", "to_v_lora")).contains("FaceID"));
    assert!(refused(&request, renamed("image_proj.proj.", "image_proj.proj.0.")).contains("full faces"));
    assert!(refused(&request, renamed("ip_adapter.", "other.")).contains("no keys and values of images"));
    let one = own.first_key_value().map(|(_, tensor)| tensor.clone()).unwrap();
    let alone = |name: &str| saved(&[(name.to_owned(), one.clone())].into());
    let lora = refused(&request, alone("lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight"));
    let stranger = "it is no IP-Adapter, but something else: LoRA for Stable Diffusion, 1 matrix, rank";
    assert!(!lora.contains("FaceID") && lora.contains(stranger), "{lora}");
    for (name, what) in
        [("notes.txt", "it is not a model file"), ("text.safetensors", "it is not a safetensors file")]
    {
        let file = folder.path().join(name);
        fs::write(&file, "These are words and no weights.").unwrap();
        let said = refused(&request, file);
        assert!(said.contains(&format!("cannot be used as an IP-Adapter: {what}")), "{said}");
        assert!(said.contains("huggingface.co/h94/IP-Adapter"), "{said}");
    }
    let flux = "double_blocks.0.processor.ip_adapter_double_stream_k_proj.weight";
    assert!(refused(&request, alone(flux)).contains("it is for FLUX.1"));
    assert!(!refused(&request, alone("double_blocks.0.processor.proj_lora1.down.weight")).contains("FLUX.1"));
    let mut fewer = own.clone();
    fewer.remove("ip_adapter.1.to_k_ip.weight").unwrap();
    fewer.remove("ip_adapter.1.to_v_ip.weight").unwrap();
    assert!(refused(&request, saved(&fewer)).contains("cannot be used as an IP-Adapter"));
    let last = own.keys().filter(|name| name.contains("to_k_ip")).count() * 2 - 1;
    let mut fewer = own.clone();
    fewer.remove(&format!("ip_adapter.{last}.to_k_ip.weight")).unwrap();
    fewer.remove(&format!("ip_adapter.{last}.to_v_ip.weight")).unwrap();
    assert!(refused(&request, saved(&fewer)).contains("blocks of attention, and the model has"));
    assert!(refused(&request, folder.path().join("none.safetensors")).contains("none.safetensors"));
    assert!(refused(&request, folder.path().join("ip_adapters")).contains("it is a folder"));
    let pickle = folder.path().join("ip-adapter_sd15.bin");
    fs::write(&pickle, b"PK\x03\x04").unwrap();
    assert!(refused(&request, pickle).contains(".safetensors version"));
    let said = refused(
        &Request { model: ModelSource::Starter, ..request.clone() },
        request.image_prompts[0].adapter.clone(),
    );
    assert!(said.contains("no IP-Adapters for this kind of model"), "{said}");
}

#[test]
fn a_missing_encoder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let beside = folder.path().join("ip_adapters/image_encoder");
    let models = OpenedModels::default();
    let refused = || models.of(&request).map(|_| ()).unwrap_err();
    // One of another size is none.
    let mut small = encoder().unwrap();
    let projection = small.remove("visual_projection.weight").unwrap();
    small.insert("visual_projection.weight".to_owned(), projection.narrow(0, 0, 16).unwrap());
    save(&small, &beside.join("model.safetensors")).unwrap();
    for _ in 0..2 {
        let error = refused();
        assert!(matches!(error, CheckpointError::NoImageEncoder { .. }), "{error}");
        let said = format!("{error}. {}", error.advice());
        assert!(said.contains("a CLIP image encoder with embeddings of 24 values. Download it"), "{said}");
        fs::remove_dir_all(&beside).unwrap_or_default();
    }
    // In a folder of the user's.
    let elsewhere = tempfile::tempdir().unwrap();
    save(&encoder().unwrap(), &elsewhere.path().join("vit.safetensors")).unwrap();
    models.search_in(vec![elsewhere.path().to_owned()]);
    assert!(models.of(&request).is_ok());
}

#[test]
fn adapters_are_known_by_their_contents() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let known = content(&request.image_prompts[0].adapter).unwrap();
    assert_eq!(known.kind, Kind::IpAdapter);
    assert!(known.what.starts_with("IP-Adapter for a model with prompts of width"), "{}", known.what);
}

#[test]
fn settings_are_saved_with_the_image_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { batch: 1, ..written("stable_diffusion", "one", "prompted/both", folder.path()) };
    let mut runner = Runner::start().unwrap();
    let file = folder.path().join("image.png");
    let job = Job { output: Some(Output::File(file.clone())), ..runner.job(request.clone()) };
    runner.run(job).unwrap().pictures().unwrap();
    let restored = read_settings(&file).unwrap();
    assert_eq!(restored.settings.request.image_prompts, request.image_prompts);
}

/// An input image is changed under the influence of others.
#[test]
fn image_to_image_reads_image_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let request = plain(folder.path());
    let source = SourceImage {
        path: request.image_prompts[0].images[0].clone(),
        strength: 0.7,
        fit: Fit::Crop,
        ..SourceImage::default()
    };
    let request = Request { source: Some(source), ..request };
    let mut runner = Runner::start().unwrap();
    let alone = runner.draw(Request { image_prompts: Vec::new(), ..request.clone() }).unwrap();
    assert!(runner.draw(request).unwrap()[0].media != alone[0].media);
}
