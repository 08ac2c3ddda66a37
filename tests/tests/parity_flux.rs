//! Whole runs of FLUX.1 against diffusers, through the session, stage by stage.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use sluice_engine::{
    memory::{DeviceChoice, Estimate, Forecast, MemoryPreferences, OffloadMode, Outcome},
    request::{ComputeDtype, ModelSource, Request},
    session::{Command, Event, Job, PlanQuery, PlanSubject},
};
use sluice_tests::{
    checkpoint::{Fixture, load},
    golden::{compare, distance},
    original_names::Tensors,
    parity::{check_case, check_layouts},
    runner::Runner,
};

#[test]
fn dev_gives_what_diffusers_gives() {
    check_case("flux", "dev").unwrap();
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
    for (case, run) in [("dev", "horse"), ("schnell", "batch")] {
        let fixture = Fixture::new("flux", case);
        check_layouts(&fixture, &fixture.run(run).unwrap()).unwrap();
    }
}

/// As in the parity of Z-Image: within a few per cent, and not the same.
#[test]
fn computing_in_half_precision_stays_near() {
    let (fixture, folder) = (Fixture::new("flux", "dev"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let run = fixture.run("horse").unwrap();
    let golden = run.golden().unwrap();
    let mut runner = Runner::start().unwrap();
    for (dtype, allowed) in [(ComputeDtype::Bf16, 0.1), (ComputeDtype::F16, 0.0125)] {
        let request = Request { dtype, ..run.request(&model) };
        let (_, dump) = runner.dump(request, Some(&run.latents().unwrap())).unwrap();
        for name in ["encode_prompt.0.0.0", "encode_prompt.0.0.1", "transformer.0.out.0.0", "step.2.latents"]
        {
            let distance = compare(name, &golden, &dump, allowed).unwrap();
            println!("{dtype:?} {name}: {distance:.1e}");
            assert!(distance > 1e-5, "{dtype:?} {name} is too close to be 16 bits: {distance}");
        }
    }
}

fn forecast(runner: &Runner, request: &Request, memory: &MemoryPreferences) -> Forecast {
    let query = PlanQuery {
        id: 1,
        subject: PlanSubject::Model,
        request: request.clone(),
        memory: memory.clone(),
        frames: 1,
    };
    runner.send(Command::Plan(Box::new(query))).unwrap();
    loop {
        match runner.event().unwrap() {
            Event::Planned { forecast, .. } => return *forecast,
            Event::NotPlanned { failure, .. } => panic!("no plan: {}", failure.message),
            _ => {}
        }
    }
}

fn card(mode: OffloadMode) -> MemoryPreferences {
    MemoryPreferences {
        mode,
        device: DeviceChoice::Simulated("rtx-4060".to_owned()),
        min_free_vram: 0,
        ..MemoryPreferences::default()
    }
}

/// The tensors of every stage, and what the card held.
fn draw(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> (Tensors, Outcome) {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.safetensors");
    let job = Job { memory: memory.clone(), dump: Some(dump.clone()), ..runner.job(request.clone()) };
    let ended = runner.run(job).unwrap();
    let outcome = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => Some((**outcome).clone()),
        _ => None,
    });
    ended.pictures().unwrap();
    (load(&dump).unwrap(), outcome.unwrap())
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let (fixture, folder) = (Fixture::new("flux", "dev"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let own = fixture.run("horse").unwrap().request(&model);
    let mut runner = Runner::of_two_threads().unwrap();
    for (mode, batch, dtype) in [
        (OffloadMode::None, 1, ComputeDtype::F32),
        (OffloadMode::Aggressive, 3, ComputeDtype::F32),
        (OffloadMode::Aggressive, 1, ComputeDtype::Bf16),
    ] {
        // What both threads take at the same moment differs from run to run, and in a picture of this size it shows in
        // what is tried out.
        for (estimate, near) in [(Estimate::Formula, 0.97..1.08), (Estimate::Dryrun, 0.9..1.15)] {
            // Tiles as small as this leave the denoiser with the peak.
            let memory = MemoryPreferences { tile: Some(16), estimate, ..card(mode) };
            let request = Request { width: 512, height: 384, steps: 2, batch, dtype, ..own.clone() };
            let (_, outcome) = draw(&mut runner, &request, &memory);
            let ratio = outcome.predicted_device as f64 / outcome.measured_device as f64;
            println!(
                "{mode:?} {batch} {dtype:?} {estimate:?}: {ratio:.3} of {} bytes",
                outcome.measured_device
            );
            assert!(
                near.contains(&ratio),
                "{mode:?} {batch} {dtype:?} {estimate:?}: {ratio:.3}, {outcome:?}"
            );
        }
    }
}

#[test]
fn a_summary_names_every_part() {
    let (fixture, folder) = (Fixture::new("flux", "schnell"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let runner = Runner::start().unwrap();
    runner.send(Command::Load { model: ModelSource::Path(model) }).unwrap();
    let Event::ModelLoaded(summary) = runner.event().unwrap() else { panic!("it does not load") };
    let parts: Vec<(&str, &str)> =
        summary.components.iter().map(|part| (part.role.as_str(), part.architecture.as_str())).collect();
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

/// Two text encoders, two kinds of blocks and modulations that are needed once: wherever their weights are, the bytes
/// are the same, and no budget is exceeded.
#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for case in ["dev", "salted"] {
        let (fixture, folder) = (Fixture::new("flux", case), tempfile::tempdir().unwrap());
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let run = fixture.runs().unwrap().remove(0);
        let request = Request { batch: 2, width: 48, height: 32, steps: 2, ..run.request(&model) };
        let mut runner = Runner::start().unwrap();
        let (want, _) = draw(&mut runner, &request, &card(OffloadMode::None));
        for &mode in OffloadMode::ALL {
            let plenty = card(mode);
            let least = forecast(&runner, &request, &plenty).least_device.unwrap();
            for budget in [least, least + least / 8] {
                let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
                let (got, outcome) = draw(&mut runner, &request, &memory);
                let peak = outcome.measured_device;
                assert!(peak <= budget, "{case} {mode:?}: {peak} bytes of {budget} were held");
                assert_eq!(got.len(), want.len());
                for (name, want) in &want {
                    distance(name, want, &got[name], 0.0)
                        .unwrap_or_else(|error| panic!("{case} {mode:?}: {error}"));
                }
            }
        }
    }
}
