//! Runs of Stable Diffusion that ControlNets steer, compared with diffusers.

use std::{fs, path::Path};

use sluice_engine::{
    models::OpenedModels,
    output::Media,
    request::{ControlNet, Enlarger, Hires, Preprocessor, Request},
    session::{Command, Event, PlanQuery, PlanSubject},
};
use sluice_tests::{
    checkpoint::{Fixture, load, save},
    golden::{MODULE, WHOLE_RUN, compare},
    modes::{check_every_mode, check_every_mode_of, check_forecasts, forecast},
    original_names,
    runner::Runner,
};

const STEERED: [(&str, &str, &str); 3] = [
    ("stable_diffusion", "one", "steered/guided"),
    ("stable_diffusion", "one", "steered/two"),
    ("sdxl", "base", "steered/guided"),
];

/// Writes the model of a run with its ControlNets, and returns its request.
pub fn written(family: &str, case: &str, run: &str, folder: &Path) -> Request {
    let fixture = Fixture::new(family, case);
    let run = fixture.run(run).unwrap();
    let model = fixture.write_diffusers(folder).unwrap();
    run.write_beside(&model).unwrap();
    run.request(&model)
}

#[test]
fn steered_runs_give_what_diffusers_gives() {
    let mut runner = Runner::start().unwrap();
    for (family, case, name) in STEERED {
        let folder = tempfile::tempdir().unwrap();
        let request = written(family, case, name, folder.path());
        let run = Fixture::new(family, case).run(name).unwrap();
        let (_, dump) = runner.dump(request.clone(), Some(&run.latents().unwrap())).unwrap();
        let golden = run.golden().unwrap();
        for (tensor, tolerance) in [("latents.init", 0.0), ("unet.0.out.0", MODULE), ("output", WHOLE_RUN)] {
            let distance = compare(tensor, &golden, &dump, tolerance).unwrap();
            println!("{family} {name} {tensor}: {distance:.1e}");
        }
        let alone = Request { control_nets: Vec::new(), ..request };
        let (_, alone) = runner.dump(alone, Some(&run.latents().unwrap())).unwrap();
        assert!(compare("output", &golden, &alone, 0.01).is_err(), "{name}: the ControlNet has no effect");
    }
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (family, case, run) in STEERED {
        check_every_mode(&Fixture::new(family, case), run).unwrap();
    }
}

/// At full strength, the second pass of hires fix keeps next to nothing of the first, so what differs is its own.
#[test]
fn hires_fix_is_steered_in_its_second_pass_and_in_every_mode() {
    let hires = |strength| Some(Hires { scale: 2.0, strength, steps: None, enlarger: Enlarger::Latent });
    let fixture = Fixture::new("stable_diffusion", "one");
    check_every_mode_of(&fixture, "steered/guided", |request| Request { hires: hires(0.5), ..request })
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let own = written("stable_diffusion", "one", "steered/guided", folder.path());
    let request = Request { hires: hires(1.0), steps: 4, ..own };
    let mut runner = Runner::start().unwrap();
    let (pictures, steered) = runner.dump(request.clone(), None).unwrap();
    let alone = Request { control_nets: Vec::new(), ..request.clone() };
    let (_, alone) = runner.dump(alone, None).unwrap();
    let image = pictures[0].media.first().unwrap();
    assert_eq!([image.width, image.height], [2 * request.width, 2 * request.height]);
    assert!(compare("output", &steered, &alone, 0.01).is_err(), "the second pass is not steered");
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("stable_diffusion", "one"), "steered/guided", 0.98..1.05, 0.9..1.15)
        .unwrap();
    check_forecasts(&Fixture::new("sdxl", "base"), "steered/guided", 0.98..1.05, 0.9..1.15).unwrap();
}

/// The authors' files have names of their own, and may have the ControlNet after a prefix.
#[test]
fn every_layout_draws_the_same_bytes() {
    for (family, case, run) in [STEERED[0], STEERED[2]] {
        let folder = tempfile::tempdir().unwrap();
        let request = written(family, case, run, folder.path());
        let mut runner = Runner::start().unwrap();
        let expected = runner.draw(request.clone()).unwrap();
        let own = load(&request.control_nets[0].model.join("diffusion_pytorch_model.safetensors")).unwrap();
        let original = original_names::control_net(&own);
        for (name, prefix) in [("plain", ""), ("prefixed", "control_model.")] {
            let file = folder.path().join(format!("{name}.safetensors"));
            save(&original_names::prefixed(prefix, original.clone()), &file).unwrap();
            let nets = vec![ControlNet { model: file, ..request.control_nets[0].clone() }];
            let drawn = runner.draw(Request { control_nets: nets, ..request.clone() }).unwrap();
            assert!(drawn[0].media == expected[0].media, "{family}: {name}");
        }
    }
}

/// A model that is known without its files refuses and counts a ControlNet, too.
#[test]
fn a_known_model_is_planned_with_its_control_net() {
    let folder = tempfile::tempdir().unwrap();
    let request = written("stable_diffusion", "one", "steered/guided", folder.path());
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
            Event::Planned { .. } => panic!("the ControlNet is left out"),
            _ => {}
        }
    };
    assert!(failure.message.contains("and the model is Stable Diffusion 1"), "{}", failure.message);
}

/// Before anything is computed.
#[test]
fn a_missing_image_is_said_by_the_forecast() {
    let folder = tempfile::tempdir().unwrap();
    let request = written("stable_diffusion", "one", "steered/guided", folder.path());
    let nets = vec![ControlNet { image: "/nowhere/edges.png".into(), ..request.control_nets[0].clone() }];
    let request = Request { control_nets: nets, ..request };
    let runner = Runner::start().unwrap();
    let error = forecast(&runner, &request, &Default::default()).unwrap_err();
    assert!(error.to_string().contains("edges.png"), "{error}");
}

#[test]
fn a_preprocessor_changes_what_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let request = written("stable_diffusion", "one", "steered/guided", folder.path());
    let mut runner = Runner::start().unwrap();
    let mut drawn: Vec<Media> = Vec::new();
    let estimators = sluice_tests::estimators::write_all(folder.path()).unwrap();
    let request = Request { estimators, ..request };
    for preprocessor in Preprocessor::ALL.into_iter().filter(|preprocessor| !preprocessor.takes_input()) {
        let nets = vec![ControlNet { preprocessor, ..request.control_nets[0].clone() }];
        let media = runner.draw(Request { control_nets: nets, ..request.clone() }).unwrap().remove(0).media;
        assert!(!drawn.contains(&media), "{preprocessor:?} changes nothing");
        drawn.push(media);
    }
}

#[test]
fn what_cannot_steer_a_model_is_said() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let request = written("stable_diffusion", "one", "steered/guided", folder.path());
    let xl = written("sdxl", "base", "steered/guided", other.path());
    let own = &request.control_nets[0];
    let weights = own.model.join("diffusion_pytorch_model.safetensors");
    let renamed = |from: &str, to: &str| {
        let file = folder.path().join("other.safetensors");
        let tensors = load(&weights).unwrap().into_iter();
        save(&tensors.map(|(name, tensor)| (name.replace(from, to), tensor)).collect(), &file).unwrap();
        file
    };
    let models = OpenedModels::default();
    let refused = |request: &Request, model: &Path| {
        let nets = vec![ControlNet { model: model.to_owned(), ..own.clone() }];
        let error = models.of(&Request { control_nets: nets, ..request.clone() }).unwrap_err();
        error.to_string()
    };
    let said = refused(&request, &xl.control_nets[0].model);
    assert!(said.contains("it is for a model with prompts of width"), "{said}");
    let said = refused(&request, &folder.path().join("missing.safetensors"));
    assert!(said.contains("missing.safetensors"), "{said}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(refused(&request, &folder.path().join("empty")).contains("it is a folder without weights"));
    let said = refused(&request, &renamed("controlnet_cond_embedding", "lora_controlnet"));
    assert!(said.contains("it is a control LoRA"), "{said}");
    let said = refused(&request, &folder.path().join("unet/diffusion_pytorch_model.safetensors"));
    assert!(said.contains("it is no ControlNet"), "{said}");
    let said = refused(&Request::default(), &weights);
    assert!(said.contains("and the model is Z-Image"), "{said}");
}
