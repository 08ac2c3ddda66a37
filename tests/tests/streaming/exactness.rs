//! The placement of weights changes no bit of the result.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sluice_engine::{
    memory::{Keep, MemoryPreferences, OffloadMode, Residence, Wish},
    request::{ComputeDtype, GuidanceOptions, Interval, Request, Sampler},
};
use sluice_tests::runner::Runner;

use super::support::{Tiny, assert_same, card, forecast, mode, run_dumped, starter};

fn residence() -> impl Strategy<Value = Option<Residence>> {
    prop::option::of(prop::sample::select(Residence::ALL))
}

/// Any memory preferences, and a budget as a fraction of the range from the minimum to plenty.
fn any_preferences() -> impl Strategy<Value = (MemoryPreferences, f64)> {
    let modes = prop::sample::select(OffloadMode::ALL);
    let wishes = prop::sample::select(Wish::ALL);
    let residences = [residence(), residence(), residence()];
    let others = (prop::option::of(0..4_u32), prop::sample::select(Keep::ALL), any::<bool>());
    (modes, wishes, residences, others, 0.0..1.2_f64).prop_map(
        |(mode, wish, [text_encoder, denoiser, autoencoder], (prefetch, keep, little_ram), budget)| {
            // So little that most blocks are read from disk each time.
            let ram_budget = little_ram.then_some(200 << 10);
            let memory = MemoryPreferences {
                mode,
                wish,
                text_encoder,
                denoiser,
                autoencoder,
                prefetch,
                keep,
                ram_budget,
                ..card()
            };
            (memory, budget)
        },
    )
}

fn any_request(tiny: &Tiny) -> impl Strategy<Value = Request> + use<> {
    let request = tiny.request.clone();
    let dtypes = prop::sample::select(ComputeDtype::ALL.to_vec());
    let guidances = prop::sample::select(vec![0.0, 2.5]);
    let samplers = prop::sample::select(Sampler::ALL.to_vec());
    let starts = prop::sample::select(vec![0.0, 0.0, 0.4]);
    let caches = prop::sample::select(vec![0.0, 0.0, 10.0]);
    let choices = (dtypes, 1..4_u32, guidances, samplers, starts, caches);
    choices.prop_map(move |(dtype, batch, guidance, sampler, start, step_cache)| {
        let interval = Interval { start, end: 1.0 };
        Request {
            dtype: Some(dtype),
            batch,
            guidance,
            sampler,
            guiding: GuidanceOptions { interval, ..GuidanceOptions::default() },
            step_cache,
            ..request.clone()
        }
    })
}

#[test]
fn every_plan_draws_the_same_bytes() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
    let mut cases = TestRunner::new_with_rng(config, TestRunner::deterministic().new_rng());
    let runner = std::cell::RefCell::new(&mut runner);
    let planned = std::cell::Cell::new(0);
    cases
        .run(&(any_preferences(), any_request(&tiny)), |((mut memory, part), request)| {
            let mut runner = runner.borrow_mut();
            let want = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
            let plenty = forecast(&runner, &request, &memory);
            let (Some(least), Ok(plan)) = (plenty.least_device, plenty.plan) else { return Ok(()) };
            let budget = least as f64 + part * (plan.peak_device().saturating_sub(least)) as f64;
            memory.vram_budget = Some(budget as u64);
            let got = run_dumped(&mut runner, &request, &memory);
            assert_same(&got.tensors, &want.tensors, &format!("{memory:?}"));
            planned.set(planned.get() + 1);
            Ok(())
        })
        .unwrap();
    assert!(planned.get() >= 30, "only {} of the cases had a plan", planned.get());
}

#[test]
fn the_starter_draws_the_same_bytes_in_every_mode() {
    let mut runner = Runner::start().unwrap();
    let request = starter(128, 2);
    let want = run_dumped(&mut runner, &request, &MemoryPreferences::default());
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..card() };
        for least in [false, true] {
            let least = least.then(|| forecast(&runner, &request, &plenty).least_device).flatten();
            let memory = MemoryPreferences { vram_budget: least, ..plenty.clone() };
            let got = run_dumped(&mut runner, &request, &memory);
            assert_same(&got.tensors, &want.tensors, mode.name());
        }
    }
}

#[test]
fn the_processor_draws_the_same_bytes_from_disk() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let all = MemoryPreferences::default();
    let want = run_dumped(&mut runner, &tiny.request, &all);
    let least = forecast(&runner, &tiny.request, &all).least_device;
    let got = run_dumped(&mut runner, &tiny.request, &MemoryPreferences { ram_budget: least, ..all });
    assert_same(&got.tensors, &want.tensors, "the least memory");
    assert!(got.outcome.measured_device < want.outcome.measured_device);
}
