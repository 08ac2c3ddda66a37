//! Runs that need more memory than was predicted.

use std::{cell::RefCell, path::Path};

use sluice_engine::{
    hardware::{MemoryAccount, Probe, unmetered},
    memory::{MemoryPreferences, OffloadMode, Outcome},
    models,
    output::Media,
    pipeline::{self, Journal, LoadedModel, Observer, Pace, Resolved, RunOptions, Stage, Target},
    request::{ComputeDtype, Request},
    residency::CancelToken,
    telemetry::Recorder,
};
use sluice_tests::{checkpoint::load, runner::Runner, threads::two_metered_threads};

use super::support::{assert_same, forecast, mode, run_dumped, starter};

/// Why plans were changed.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Observer for Reasons {
    fn stage_started(&mut self, _: &Stage) {}

    fn stage_finished(&mut self, _: &Stage, _: f64) {}

    fn resumed(&mut self, _: u32) {}

    fn step(&mut self, _: u32, _: u32, _: f64) {}

    fn preview(&mut self, _: u32, _: Vec<Media>) {}

    fn wants_previews(&self) -> bool {
        false
    }

    fn replanned(&mut self, reason: &str) {
        self.0.push(reason.to_owned());
    }
}

/// Generates under plans that expect `factor` times the predicted activations.
fn generate(
    request: &Request,
    memory: &MemoryPreferences,
    factor: f64,
    dump: &Path,
) -> (Vec<String>, Outcome) {
    let account = MemoryAccount::new();
    let threads = two_metered_threads(&account).unwrap();
    threads.install(|| {
        let target = Target::choose(memory, &Probe::new().sample(), 0, Pace::Here).unwrap();
        let (loaded, resolved) = unmetered(|| {
            let model = models::open(&request.model.resolve().unwrap(), &[]).unwrap();
            let name = "starter".to_owned();
            let loaded = LoadedModel::new(model, name, ComputeDtype::F32, &target, memory, &account);
            let resolved = Resolved::new(loaded.model(), request, ComputeDtype::F32).unwrap();
            (loaded, resolved.with_tile(memory.tile))
        });
        let dump = dump.to_owned();
        let options = RunOptions {
            initial_latents: None,
            dump: Some(&dump),
            cancel: CancelToken::default(),
            memory,
            target: &target,
            activation_factor: factor,
            recorder: Recorder::disabled(),
            journal: RefCell::new(Journal::default()),
        };
        let mut reasons = Reasons::default();
        let rendered = loaded.render(&resolved, &options, &mut reasons).unwrap();
        let identity = loaded.model().identity();
        (reasons.0, rendered.plan.outcome(pipeline::run_identity(identity, &resolved, memory)))
    })
}

#[test]
fn a_run_out_of_memory_goes_on_with_less_and_draws_the_same_bytes() {
    let request = starter(256, 3);
    let mut runner = Runner::of_two_threads().unwrap();
    let memory = MemoryPreferences { tile: Some(16), ..mode(OffloadMode::LayerStreaming) };
    let honest = forecast(&runner, &request, &memory);
    let want = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
    let (enough, everything) = (honest.least_device.unwrap(), honest.plan.unwrap().peak_device());
    let budget = enough + (everything - enough) / 2;
    let memory = MemoryPreferences { vram_budget: Some(budget), ..memory };

    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.safetensors");
    let (reasons, outcome) = generate(&request, &memory, 0.5, &dump);
    assert!(reasons.first().is_some_and(|reason| reason.starts_with("Ran out of memory")), "{reasons:?}");
    assert!(outcome.measured_device <= budget);
    let steps = |name: &str| name.starts_with("step.");
    let [mut got, mut want] = [load(&dump).unwrap(), want.tensors];
    got.retain(|name, _| steps(name));
    want.retain(|name, _| steps(name));
    assert_same(&got, &want, "less memory");

    let (reasons, _) = generate(&request, &memory, 1.0, &dump);
    assert!(reasons.is_empty(), "{reasons:?}");
}
