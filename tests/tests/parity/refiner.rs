//! A run with Stable Diffusion XL's base and refiner, compared with diffusers.

use std::{fs, path::Path};

use sluice_engine::{
    request::{ModelSource, Refiner, Request},
    session::{Command, Event, PlanQuery, PlanSubject},
};
use sluice_tests::{
    checkpoint::Fixture,
    modes::{check_every_mode, check_forecasts},
    parity::check_run,
    runner::Runner,
};

/// Writes the base model, with the refiner inside its folder.
fn write(fixture: &Fixture, folder: &Path) {
    fixture.write_diffusers(folder).unwrap();
    fixture.run("refined/guided").unwrap().write_beside(folder).unwrap();
}

/// Text to image, a batch with an early switch, and image to image.
#[test]
fn base_and_refiner_give_what_diffusers_gives() {
    let (fixture, folder) = (Fixture::new("sdxl", "base"), tempfile::tempdir().unwrap());
    write(&fixture, folder.path());
    let mut runner = Runner::start().unwrap();
    for run in ["guided", "batch", "drawn_over"] {
        let run = fixture.run(&format!("refined/{run}")).unwrap();
        check_run(&mut runner, &run, folder.path()).unwrap();
    }
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    check_every_mode(&Fixture::new("sdxl", "base"), "refined/guided").unwrap();
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("sdxl", "base"), "refined/guided", 0.98..1.05, 0.9..1.15).unwrap();
}

#[test]
fn the_plan_has_a_stage_for_each_model_and_a_part_for_each_network() {
    let (fixture, folder) = (Fixture::new("sdxl", "base"), tempfile::tempdir().unwrap());
    write(&fixture, folder.path());
    let runner = Runner::start().unwrap();
    let request = fixture.run("refined/guided").unwrap().request(folder.path());
    let plan = |request: &Request| {
        let query = PlanQuery {
            id: 1,
            subject: PlanSubject::Model,
            request: request.clone(),
            memory: Default::default(),
        };
        runner.send(Command::Plan(Box::new(query))).unwrap();
        loop {
            match runner.event().unwrap() {
                Event::Planned { forecast, .. } => break Ok(forecast.plan.unwrap()),
                Event::NotPlanned { failure, .. } => break Err(failure.message),
                _ => {}
            }
        }
    };
    let refined = plan(&request).unwrap();
    let stages: Vec<&str> = refined.stages.iter().map(|stage| stage.stage.name.as_str()).collect();
    assert_eq!(stages, ["Encode", "Denoise", "Refine", "Decode"]);
    let parts: Vec<&str> = refined.parts.iter().map(|part| part.name.as_str()).collect();
    let expected =
        ["text_encoder", "text_encoder_2", "refiner_text_encoder", "denoiser", "refiner", "autoencoder"];
    assert_eq!(parts, expected);

    // All steps are above the switch, so the refiner has nothing to do.
    let early = Request {
        steps: 1,
        refiner: request.refiner.clone().map(|refiner| Refiner { switch: 0.9, ..refiner }),
        ..request.clone()
    };
    let stages = plan(&early).unwrap().stages;
    assert_eq!(stages.len(), 3);

    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    Fixture::new("stable_diffusion", "one").write_diffusers(&other).unwrap();
    let wrong = Request { refiner: Some(Refiner::new(other.clone())), ..request.clone() };
    let message = plan(&wrong).unwrap_err();
    assert!(message.contains("it is not a refiner for Stable Diffusion XL"), "{message}");
    let wrong = Request { model: ModelSource::Path(other), ..request };
    let message = plan(&wrong).unwrap_err();
    assert!(message.contains("Stable Diffusion 1 and 2 does not support refiners"), "{message}");
}
