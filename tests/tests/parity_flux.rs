//! Whole runs of FLUX.1 against diffusers, through the session, stage by stage.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use sluice_engine::{
    memory::{DeviceChoice, MemoryPreferences, OffloadMode},
    request::{ComputeDtype, Request},
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

fn least(runner: &Runner, request: &Request, memory: &MemoryPreferences) -> u64 {
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
            Event::Planned { forecast, .. } => return forecast.least_device.unwrap(),
            Event::NotPlanned { failure, .. } => panic!("no plan: {}", failure.message),
            _ => {}
        }
    }
}

/// The tensors of every stage, and the most bytes that the card held.
fn draw(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> (Tensors, u64) {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.safetensors");
    let job = Job { memory: memory.clone(), dump: Some(dump.clone()), ..runner.job(request.clone()) };
    let ended = runner.run(job).unwrap();
    let peak = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => Some(outcome.measured_device),
        _ => None,
    });
    ended.pictures().unwrap();
    (load(&dump).unwrap(), peak.unwrap())
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
        let card = |mode| MemoryPreferences {
            mode,
            device: DeviceChoice::Simulated("rtx-4060".to_owned()),
            min_free_vram: 0,
            ..MemoryPreferences::default()
        };
        let (want, _) = draw(&mut runner, &request, &card(OffloadMode::None));
        for &mode in OffloadMode::ALL {
            let plenty = card(mode);
            let least = least(&runner, &request, &plenty);
            for budget in [least, least + least / 8] {
                let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
                let (got, peak) = draw(&mut runner, &request, &memory);
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
