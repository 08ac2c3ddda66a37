//! Runs of transformers that ControlNets steer, compared with diffusers.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::CheckpointError,
    models::{Kind, OpenedModels, content},
    request::{ControlMode, ControlNet, Enlarger, Hires, ModelSource, Preprocessor, Request, RequestError},
};
use sluice_tests::{
    checkpoint::{Fixture, load, save},
    golden::{MODULE, WHOLE_RUN, compare},
    modes::{check_every_mode, check_every_mode_of, check_forecasts_of, forecast},
    original_names::{self, Tensors},
    runner::Runner,
};

/// The last one is of XLabs' kind.
const FLUX: [(&str, &str, &str); 3] =
    [("flux", "dev", "steered/guided"), ("flux", "dev", "steered/two"), ("flux", "deep", "steered/hinted")];
const QWEN_IMAGE: [(&str, &str, &str); 2] =
    [("qwen_image", "default", "steered/guided"), ("qwen_image", "salted", "steered/uneven")];
/// Two of InstantX's kind, and two of Stability's, of which the last one says that it follows Canny edges.
const SD3: [(&str, &str, &str); 4] = [
    ("sd3", "medium", "steered/guided"),
    ("sd3", "medium", "steered/two"),
    ("sd3", "large", "steered/alone"),
    ("sd3", "large", "steered/edges"),
];

/// The first version of the union, and versions 2.1 and 2.0, which see the image before it is refined.
const Z_IMAGE: [(&str, &str, &str); 3] = [
    ("z_image", "default", "steered/guided"),
    ("z_image", "default", "steered/refined"),
    ("z_image", "salted", "steered/layered"),
];

/// The runs of all families.
fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FLUX.into_iter().chain(QWEN_IMAGE).chain(SD3).chain(Z_IMAGE)
}

/// One run for each kind of ControlNet.
const KINDS: [(&str, &str, &str); 8] =
    [FLUX[0], QWEN_IMAGE[0], SD3[0], SD3[2], Z_IMAGE[0], Z_IMAGE[1], Z_IMAGE[2], FLUX[2]];
/// Gives tensors in the names of diffusers those of authors.
type Renaming = fn(&Tensors) -> candle_core::Result<Tensors>;
const FILE: &str = "diffusion_pytorch_model.safetensors";

/// Writes the model of a run with its ControlNets, and returns its request.
fn written((family, case, run): (&str, &str, &str), folder: &Path) -> Request {
    let fixture = Fixture::new(family, case);
    let run = fixture.run(run).unwrap();
    let model = fixture.write_diffusers(folder).unwrap();
    run.write_beside(&model).unwrap();
    run.request(&model)
}

/// A request with its first ControlNet changed.
fn changed(request: &Request, change: impl Fn(&ControlNet) -> ControlNet) -> Request {
    Request { control_nets: vec![change(&request.control_nets[0])], ..request.clone() }
}

#[test]
fn steered_runs_give_what_diffusers_gives() {
    let mut runner = Runner::start().unwrap();
    for steered @ (family, case, name) in all() {
        let folder = tempfile::tempdir().unwrap();
        let request = written(steered, folder.path());
        let run = Fixture::new(family, case).run(name).unwrap();
        let (_, dump) = runner.dump(request.clone(), Some(&run.latents().unwrap())).unwrap();
        let golden = run.golden().unwrap();
        for tensor in golden.keys() {
            let tolerance = if tensor == "vae.decode.in" { WHOLE_RUN } else { MODULE };
            let distance = compare(tensor, &golden, &dump, tolerance).unwrap();
            println!("{family} {name} {tensor}: {distance:.1e}");
        }
        let alone = Request { control_nets: Vec::new(), ..request };
        let (_, alone) = runner.dump(alone, Some(&run.latents().unwrap())).unwrap();
        assert!(compare("vae.decode.in", &golden, &alone, 0.01).is_err(), "{name}: it has no effect");
    }
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (family, case, run) in all() {
        println!("{family} {case} {run}");
        check_every_mode(&Fixture::new(family, case), run).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    // As for runs of their families without ControlNets.
    let formulas =
        [0.97..1.08, 0.95..1.1, 0.98..1.05, 0.98..1.05, 0.98..1.05, 0.98..1.05, 0.98..1.05, 0.97..1.08];
    for ((family, case, run), formula) in KINDS.into_iter().zip(formulas) {
        println!("{family} {case}");
        // The convolutions of a hint have the peak, while the decoder is loaded: they have to take longer than that.
        let is_hinted = run.ends_with("hinted");
        let sized = |request: Request| {
            let times = if is_hinted { 2 } else { 1 };
            Request { width: times * request.width, height: times * request.height, ..request }
        };
        check_forecasts_of(&Fixture::new(family, case), run, formula, 0.9..1.15, sized).unwrap();
    }
}

/// The second pass has maps of its own size.
#[test]
fn hires_fix_is_steered_in_both_passes_and_in_every_mode() {
    let hires = |strength| Some(Hires { scale: 2.0, strength, steps: None, enlarger: Enlarger::Latent });
    for steered @ (family, case, run) in KINDS {
        let fixture = Fixture::new(family, case);
        check_every_mode_of(&fixture, run, |request| Request { hires: hires(0.5), ..request }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let request = Request { hires: hires(1.0), steps: 4, ..written(steered, folder.path()) };
        let mut runner = Runner::start().unwrap();
        let (_, drawn) = runner.dump(request.clone(), None).unwrap();
        let (_, alone) = runner.dump(Request { control_nets: Vec::new(), ..request }, None).unwrap();
        assert!(compare("output", &drawn, &alone, 0.01).is_err(), "{family}: the second pass is not steered");
    }
}

/// A ControlNet outside of its start and end takes nothing and changes nothing.
#[test]
fn only_the_steps_between_start_and_end_are_steered() {
    for steered in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let request = Request { steps: 2, ..written(steered, folder.path()) };
        let mut runner = Runner::start().unwrap();
        let mut last = |start: f64, end: f64| {
            let request = changed(&request, |net| ControlNet { start, end, ..net.clone() });
            runner.draw(request).unwrap().remove(0).media
        };
        let (all, first, second, none) = (last(0.0, 1.0), last(0.0, 0.5), last(0.5, 1.0), last(0.3, 0.4));
        let alone = Request { control_nets: Vec::new(), ..request.clone() };
        assert!(all != first && all != second && first != second, "{steered:?}");
        assert_eq!(none, runner.draw(alone).unwrap().remove(0).media, "{steered:?}");
        let runner = Runner::start().unwrap();
        let seconds = |end: f64| {
            let request = changed(&request, |net| ControlNet { end, ..net.clone() });
            let forecast = forecast(&runner, &request, &Default::default()).unwrap();
            forecast.plan.unwrap().stages.iter().map(|stage| stage.seconds).sum::<f64>()
        };
        assert!(seconds(0.5) < seconds(1.0), "{steered:?}: steps without the ControlNet take as long");
    }
}

#[test]
fn a_preprocessor_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = sluice_tests::estimators::write_all(folder.path()).unwrap();
    let request = Request { estimators, ..written(FLUX[0], folder.path()) };
    let mut runner = Runner::start().unwrap();
    let mut drawn = Vec::new();
    for preprocessor in Preprocessor::ALL.into_iter().filter(|preprocessor| !preprocessor.takes_input()) {
        let request = changed(&request, |net| ControlNet { preprocessor, ..net.clone() });
        let media = runner.draw(request).unwrap().remove(0).media;
        assert!(!drawn.contains(&media), "{preprocessor:?} changes nothing");
        drawn.push(media);
    }
}

#[test]
fn a_union_has_to_be_told_what_it_follows() {
    let folder = tempfile::tempdir().unwrap();
    let request = written(FLUX[1], folder.path());
    let models = OpenedModels::default();
    let check = |mode, preprocessor| {
        let request = changed(&request, |net| ControlNet { mode, preprocessor, ..net.clone() });
        models.of(&request).unwrap().validate(&request)
    };
    let none = Preprocessor::None;
    let missing = check(None, none).unwrap_err();
    assert!(matches!(missing, RequestError::ControlNetWithoutMode { .. }), "{missing}");
    assert!(missing.to_string().ends_with("canny, tile, depth, blur, pose, gray, low_quality"), "{missing}");
    assert_eq!(check(None, Preprocessor::Canny), Ok(()));
    assert_eq!(check(Some(ControlMode::Pose), none), Ok(()));
    for (preprocessor, made) in [
        (Preprocessor::Depth, ControlMode::Depth),
        (Preprocessor::Pose, ControlMode::Pose),
        (Preprocessor::Segments, ControlMode::Segments),
        (Preprocessor::SoftEdge, ControlMode::SoftEdge),
    ] {
        let net = ControlNet { preprocessor, ..ControlNet::default() };
        assert_eq!(net.mode(), Some(made));
        assert_eq!(
            check(None, preprocessor),
            Err(RequestError::NoMapEstimator(preprocessor.estimated().unwrap()))
        );
    }
    // The other one follows one kind only.
    let told = |mode| {
        let net = ControlNet { mode, ..request.control_nets[1].clone() };
        let request = Request { control_nets: vec![net], ..request.clone() };
        models.of(&request).unwrap().validate(&request)
    };
    assert_eq!(
        (told(None), told(Some(ControlMode::Pose))),
        (Ok(()), Err(RequestError::ControlNetHasNoModes))
    );
    let mut runner = Runner::start().unwrap();
    let mut drawn = |mode| {
        let request = changed(&request, |net| ControlNet { mode: Some(mode), ..net.clone() });
        runner.draw(request).unwrap().remove(0).media
    };
    assert!(drawn(ControlMode::Pose) != drawn(ControlMode::Gray), "the kind makes no difference");
}

/// The file of the first ControlNet of a run with its tensors changed.
fn with_tensors(request: &Request, folder: &Path, change: impl Fn(&str) -> Option<String>) -> PathBuf {
    let own = load(&request.control_nets[0].model.join(FILE)).unwrap();
    let file = folder.join("other.safetensors");
    let tensors = own.into_iter().filter_map(|(name, tensor)| Some((change(&name)?, tensor)));
    save(&tensors.collect(), &file).unwrap();
    file
}

#[test]
fn what_cannot_steer_a_model_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let request = written(FLUX[0], folder.path());
    let models = OpenedModels::default();
    let refused = |request: &Request, file: &Path| {
        let request = changed(request, |net| ControlNet { model: file.to_owned(), ..net.clone() });
        let error = models.of(&request).unwrap_err();
        let is_said =
            matches!(error, CheckpointError::ControlNet { .. } | CheckpointError::MissingTensor { .. });
        assert!(is_said, "{error}");
        error.to_string()
    };
    let own = request.control_nets[0].model.join(FILE);
    let other = tempfile::tempdir().unwrap();
    let sd = written(("stable_diffusion", "one", "steered/guided"), other.path());
    let said = refused(&sd, &own);
    assert!(said.contains("it is for FLUX.1, and the model is"), "{said}");
    let said = refused(&request, &sd.control_nets[0].model.join(FILE));
    assert!(said.contains("and the model is FLUX.1"), "{said}");
    let chroma = tempfile::tempdir().unwrap();
    let model = Fixture::new("chroma", "default").write_diffusers(chroma.path()).unwrap();
    let said = refused(&Request { model: ModelSource::Path(model), ..request.clone() }, &own);
    assert!(said.contains("no ControlNets for this kind of model"), "{said}");
    let missing = "transformer_blocks.0.attn.to_v.weight";
    let file = with_tensors(&request, folder.path(), |name| (name != missing).then(|| name.to_owned()));
    assert!(refused(&request, &file).contains(missing));
    let file = with_tensors(&request, folder.path(), |name| {
        Some(
            name.replace("transformer_blocks", "double_blocks")
                .replace("controlnet_x_embedder", "pos_embed_input"),
        )
    });
    let said = refused(&request, &file);
    assert!(said.contains("it is a ControlNet for another kind of transformer"), "{said}");
    let mut tensors = load(&own).unwrap();
    let wide = Tensor::zeros((64, 68), DType::F32, &Device::Cpu).unwrap();
    tensors.insert("controlnet_x_embedder.weight".to_owned(), wide);
    let file = folder.path().join("inpaint.safetensors");
    save(&tensors, &file).unwrap();
    let said = refused(&request, &file);
    assert!(said.contains("it reads 68 values of each patch of its map"), "{said}");
    let (folder, mask) = (tempfile::tempdir().unwrap(), "control_all_x_embedder.2-1.weight");
    let request = written(Z_IMAGE[1], folder.path());
    let mut tensors = load(&request.control_nets[0].model.join(FILE)).unwrap();
    let narrow = tensors[mask].narrow(1, 0, 68).unwrap().contiguous().unwrap();
    tensors.insert(mask.to_owned(), narrow);
    let file = folder.path().join("mask.safetensors");
    save(&tensors, &file).unwrap();
    let said = refused(&request, &file);
    assert!(said.contains("only those that read 64 can be used, or 132 with a mask"), "{said}");
}

/// The files of XLabs and of Stability have names of their own.
#[test]
fn every_layout_draws_the_same_bytes() {
    let layouts: [((&str, &str, &str), Renaming); 3] = [
        (FLUX[2], original_names::xlabs_control_net),
        (SD3[2], original_names::stability_control_net),
        (SD3[3], original_names::stability_control_net),
    ];
    for (steered, original) in layouts {
        let folder = tempfile::tempdir().unwrap();
        let request = written(steered, folder.path());
        let mut runner = Runner::start().unwrap();
        let expected = runner.draw(request.clone()).unwrap();
        let own = load(&request.control_nets[0].model.join(FILE)).unwrap();
        let file = folder.path().join("original.safetensors");
        let renamed = original(&own).unwrap();
        assert!(!renamed.keys().any(|name| name.ends_with("attn.to_q.weight")), "{steered:?}");
        save(&renamed, &file).unwrap();
        let found = content(&file).unwrap();
        assert_eq!(found.kind, Kind::ControlNet, "{steered:?}: {}", found.what);
        let request = changed(&request, |net| ControlNet { model: file.clone(), ..net.clone() });
        let drawn = runner.draw(request).unwrap();
        assert!(drawn[0].media == expected[0].media, "{steered:?}");
    }
}

/// Stability's files are larger than what diffusers reads of them.
#[test]
fn an_embedder_of_prompts_that_no_block_reads_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let request = written(SD3[2], folder.path());
    let mut runner = Runner::start().unwrap();
    let expected = runner.draw(request.clone()).unwrap();
    let own = load(&request.control_nets[0].model.join(FILE)).unwrap();
    let mut tensors = original_names::stability_control_net(&own).unwrap();
    for (layer, shape) in [("weight", &[8, 4][..]), ("bias", &[8])] {
        let zeros = Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
        tensors.insert(format!("context_embedder.{layer}"), zeros);
    }
    let file = folder.path().join("larger.safetensors");
    save(&tensors, &file).unwrap();
    let request = changed(&request, |net| ControlNet { model: file.clone(), ..net.clone() });
    assert!(runner.draw(request).unwrap()[0].media == expected[0].media);
}

/// Of version 2.0, the authors' file has blocks that were never trained and are not used, which diffusers leaves out.
#[test]
fn untrained_blocks_of_a_union_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let request = written(Z_IMAGE[2], folder.path());
    let mut runner = Runner::start().unwrap();
    let expected = runner.draw(request.clone()).unwrap();
    let own = load(&request.control_nets[0].model.join(FILE)).unwrap();
    let mut tensors = own.clone();
    for (name, tensor) in own.iter().filter(|(name, _)| name.starts_with("control_layers.0.")) {
        let untrained = name.replace("control_layers", "control_noise_refiner");
        let is_projection = ["before_proj", "after_proj"].iter().any(|layer| name.contains(layer));
        let tensor = if is_projection { tensor.zeros_like().unwrap() } else { tensor.clone() };
        tensors.insert(untrained, tensor);
    }
    let file = folder.path().join("Z-Image-Turbo-Fun-Controlnet-Union-2.0.safetensors");
    save(&tensors, &file).unwrap();
    let request = changed(&request, |net| ControlNet { model: file.clone(), ..net.clone() });
    let drawn = runner.draw(request).unwrap();
    assert!(drawn[0].media == expected[0].media, "what was never trained is used");
}

/// Stability's ControlNets were trained on other values of Canny edges, and on depth maps that are black where it is near.
#[test]
fn what_a_file_of_stability_says_it_follows_is_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let request = written(SD3[2], folder.path());
    let own = load(&request.control_nets[0].model.join(FILE)).unwrap();
    let mut runner = Runner::start().unwrap();
    let mut encoded = |name: &str, said: Option<Tensor>| {
        let mut tensors = own.clone();
        tensors.extend(said.map(|said| ("control_type".to_owned(), said)));
        let file = folder.path().join(name);
        save(&tensors, &file).unwrap();
        let request = changed(&request, |net| ControlNet { model: file.clone(), ..net.clone() });
        let (_, dump) = runner.dump(request, None).unwrap();
        dump["vae.encode.map.0.in"].flatten_all().unwrap().to_vec1::<f32>().unwrap()
    };
    let number = |number: i64| Some(Tensor::new(&[number], &Device::Cpu).unwrap());
    let plain = encoded("none.safetensors", None);
    assert_eq!(encoded("blur.safetensors", number(0)), plain);
    let inverted: Vec<f32> = plain.iter().map(|value| -value).collect();
    assert_eq!(encoded("depth.safetensors", number(2)), inverted);
    let half = Tensor::new(&[2f32], &Device::Cpu).unwrap().to_dtype(DType::F16).unwrap();
    assert_eq!(encoded("depth-in-16-bits.safetensors", Some(half)), inverted);
    for (value, plain) in encoded("canny.safetensors", number(1)).iter().zip(&plain) {
        assert!((value - ((plain + 1.0) / 2.0 * 255.0 * 0.5 + 0.5)).abs() < 1e-4, "{value} {plain}");
    }
}

#[test]
fn files_say_what_they_are_for() {
    for (steered, what, modes) in [
        (FLUX[0], "ControlNet for FLUX.1", 0),
        (FLUX[1], "ControlNet for FLUX.1", 7),
        (FLUX[2], "ControlNet for FLUX.1", 0),
        (QWEN_IMAGE[0], "ControlNet for Qwen-Image", 0),
        (SD3[0], "ControlNet for Stable Diffusion 3", 0),
        (SD3[2], "ControlNet for Stable Diffusion 3", 0),
        (Z_IMAGE[0], "ControlNet for Z-Image", 0),
        (Z_IMAGE[1], "ControlNet for Z-Image", 0),
        (Z_IMAGE[2], "ControlNet for Z-Image", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let request = written(steered, folder.path());
        let content = content(&request.control_nets[0].model.join(FILE)).unwrap();
        assert_eq!((content.kind, content.what.as_str()), (Kind::ControlNet, what));
        assert_eq!(content.family.as_deref(), what.strip_prefix("ControlNet for "));
        assert_eq!(content.modes.len(), modes, "{steered:?}");
    }
}
