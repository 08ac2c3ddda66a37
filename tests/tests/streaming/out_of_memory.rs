//! Runs that need more memory than was predicted.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use sluice_engine::{
    hardware::{MemoryAccount, Probe, computing_threads, unmetered},
    memory::{MemoryPreferences, OffloadMode, Outcome},
    models,
    output::Media,
    pipeline::{
        self, ActivePlan, Journal, LoadedModel, Observer, Pace, PipelineError, Rendered, Resolved,
        RunOptions, Stage, Target,
    },
    request::{ComputeDtype, Request},
    residency::CancelToken,
    telemetry::Recorder,
};
use sluice_tests::{checkpoint::load, runner::Runner};

use super::support::{SMALL, assert_same, forecast, mode, run_dumped, starter};

/// Why plans were changed.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Observer for Reasons {
    fn stage_started(&mut self, _: &Stage) {}

    fn stage_finished(&mut self, _: &Stage, _: f64) {}

    fn resumed(&mut self, _: u32) {}

    fn step(&mut self, _: u32, _: u32, _: f64) {}

    fn preview(&mut self, _: u32, _: Vec<Media>) {}

    fn text(&mut self, _: &str, _: bool) {}

    fn wants_previews(&self) -> bool {
        false
    }

    fn found(&mut self, _: usize, _: usize) {}

    fn replanned(&mut self, reason: &str) {
        self.0.push(reason.to_owned());
    }

    fn stopped(&mut self, _: &ActivePlan) {}
}

/// A model loaded for a request.
struct Ready<'a> {
    loaded: LoadedModel,
    resolved: Resolved,
    target: Target,
    memory: &'a MemoryPreferences,
    account: Arc<MemoryAccount>,
}

impl<'a> Ready<'a> {
    /// Loads the model, and uses it in threads whose allocations are charged to its account.
    fn used<T: Send>(
        request: &Request,
        memory: &'a MemoryPreferences,
        used: impl FnOnce(&Self) -> T + Send,
    ) -> T {
        let account = MemoryAccount::new();
        let threads = computing_threads(&account, Some(2)).unwrap();
        threads.install(|| {
            let target = Target::choose(memory, &Probe::new().sample(), 0, Pace::Here).unwrap();
            let ready = unmetered(|| {
                let model = models::open(&request.model.resolve().unwrap(), &[]).unwrap();
                let name = "starter".to_owned();
                let loaded = LoadedModel::new(model, name, ComputeDtype::F32, &target, memory, &account);
                let resolved = Resolved::new(loaded.model(), request, ComputeDtype::F32).unwrap();
                Ready { loaded, resolved: resolved.with_tile(memory.tile), target, memory, account }
            });
            used(&ready)
        })
    }

    /// Generates under plans that expect `factor` times the predicted activations.
    fn render(
        &self,
        factor: f64,
        dump: Option<&PathBuf>,
        reasons: &mut Reasons,
    ) -> Result<Rendered, PipelineError> {
        let options = RunOptions {
            initial_latents: None,
            dump,
            cancel: CancelToken::default(),
            memory: self.memory,
            target: &self.target,
            activation_factor: factor,
            recorder: Recorder::disabled(),
            journal: RefCell::new(Journal::default()),
        };
        self.loaded.render(&self.resolved, &options, reasons)
    }

    fn media(&self) -> Result<Vec<Media>, PipelineError> {
        Ok(self.render(1.0, None, &mut Reasons::default())?.media)
    }
}

/// Generates under plans that expect `factor` times the predicted activations.
fn generate(
    request: &Request,
    memory: &MemoryPreferences,
    factor: f64,
    dump: &Path,
) -> (Vec<String>, Outcome) {
    let dump = dump.to_owned();
    Ready::used(request, memory, |ready| {
        let mut reasons = Reasons::default();
        let rendered = ready.render(factor, Some(&dump), &mut reasons).unwrap();
        let run = pipeline::run_identity(ready.loaded.model().identity(), &ready.resolved, memory);
        (reasons.0, rendered.plan.outcome(run))
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

/// Every charge of memory on the device is refused once, in turn, in the manner of SQLite's tests.
#[test]
fn whichever_charge_is_refused_a_run_draws_the_same_bytes_or_says_that_memory_ran_out() {
    let request = starter(SMALL, 1);
    let runner = Runner::of_two_threads().unwrap();
    let plenty = forecast(&runner, &request, &mode(OffloadMode::None)).plan.unwrap().peak_device();
    let memory = MemoryPreferences { vram_budget: Some(plenty), ..mode(OffloadMode::None) };
    let [gone_around, named] = Ready::used(&request, &memory, |ready| {
        let want = ready.media().unwrap();
        let [mut gone_around, mut named] = [0; 2];
        for number in 1.. {
            ready.account.refuse_charge(number);
            let got = ready.media();
            let is_over = ready.account.is_fault_ahead();
            ready.account.refuse_charge(0);
            match got {
                Ok(media) => {
                    assert!(media == want, "charge {number}: other bytes");
                    gone_around += u32::from(!is_over);
                }
                Err(PipelineError::OutOfMemory(_)) => {
                    named += 1;
                    assert!(ready.media().unwrap() == want, "the run after charge {number}");
                }
                Err(error) => panic!("charge {number}: {error}"),
            }
            if is_over {
                break;
            }
        }
        [gone_around, named]
    });
    println!("{gone_around} refused charges gone around with a smaller plan, {named} named in an error");
    assert!(gone_around > 0);
}
