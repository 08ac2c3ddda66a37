//! Options that save work: guidance outside its interval and the step cache; and decoded previews.

use candle_core::{Device, Tensor};
use sluice_engine::{
    memory::{DeviceChoice, MemoryPreferences, OffloadMode, Residence, StageKind},
    request::{GuidanceOptions, Interval, Request, RequestError, Sampler, Schedule},
    session::{Event, Job},
    telemetry::StepRecord,
};
use sluice_tests::{checkpoint::save, hash_weights, original_names::Tensors, runner::Runner};

use super::support::{
    SMALL, Tiny, assert_same, attempt, card, forecast, half_streamed, mode, passing_through, run, run_dumped,
    starter,
};

fn interval(request: &Request, start: f32, end: f32) -> Request {
    let guiding = GuidanceOptions { interval: Interval { start, end }, ..GuidanceOptions::default() };
    Request { guiding, ..request.clone() }
}

fn latents(tensors: &Tensors, step: usize) -> Tensors {
    let name = format!("step.{step}.latents");
    Tensors::from([(name.clone(), tensors[&name].clone())])
}

#[test]
fn steps_outside_the_interval_are_those_without_guidance() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let guided = Request { steps: 4, ..tiny.request.clone() };
    let plain = Request { guidance: 0.0, ..guided.clone() };
    let mut draw = |request: &Request| run_dumped(&mut runner, request, &card()).tensors;
    let (full, none) = (draw(&guided), draw(&plain));
    assert_same(&draw(&interval(&guided, 0.0, 1.0)), &full, "an interval of all steps");
    let late = draw(&interval(&guided, 0.5, 1.0));
    for step in 0..2 {
        assert_same(&latents(&late, step), &latents(&none, step), "steps before the interval");
    }
    let early = draw(&interval(&guided, 0.0, 0.5));
    for step in 0..2 {
        assert_same(&latents(&early, step), &latents(&full, step), "steps in the interval");
    }
    for (tensors, other) in [(&late, &none), (&early, &full)] {
        let values = |tensors: &Tensors| -> Vec<f32> {
            tensors["step.3.latents"].flatten_all().unwrap().to_vec1().unwrap()
        };
        assert_ne!(values(tensors), values(other), "guidance changed nothing");
    }
}

#[test]
fn forecasts_know_that_unguided_steps_take_half() {
    let tiny = Tiny::new();
    let mut runner = Runner::of_two_threads().unwrap();
    let guided = Request { steps: 4, ..tiny.request.clone() };
    let half = interval(&guided, 0.0, 0.5);
    let plain = Request { guidance: 0.0, ..guided.clone() };
    let seconds =
        [&guided, &half, &plain].map(|request| forecast(&runner, request, &card()).plan.unwrap().seconds);
    assert!(seconds[0] > seconds[1] && seconds[1] > seconds[2], "{seconds:?}");
    let outcome = run(&mut runner, &half, &mode(OffloadMode::None)).outcome;
    assert!(outcome.measured_device <= outcome.predicted_device, "{outcome:?}");
}

fn steps(events: &[Event]) -> Vec<StepRecord> {
    let batches = events.iter().filter_map(|event| match event {
        Event::Telemetry { events, .. } => Some(events),
        _ => None,
    });
    let step = |event: &sluice_engine::telemetry::TelemetryEvent| match event {
        sluice_engine::telemetry::TelemetryEvent::Step(step) => Some(*step),
        _ => None,
    };
    batches.flatten().filter_map(step).collect()
}

#[test]
fn the_step_cache_leaves_out_the_same_predictions_wherever_the_weights_are() {
    let plain = starter(SMALL, 12);
    let request = Request { step_cache: 0.3, ..plain.clone() };
    let mut runner = Runner::start().unwrap();
    let want = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
    let reused: Vec<u32> = steps(&want.events).iter().map(|step| step.reused).collect();
    assert_eq!(reused.len(), 12);
    let sum: u32 = reused.iter().sum();
    println!("{reused:?}");
    assert!(sum >= 2 && reused[..2] == [0, 0] && reused[11] == 0, "{reused:?}");
    let half = half_streamed(&runner, &request);
    let got = run_dumped(&mut runner, &request, &half);
    assert_same(&got.tensors, &want.tensors, "streamed blocks");
    assert_eq!(steps(&got.events).iter().map(|step| step.reused).collect::<Vec<_>>(), reused);

    let all = run_dumped(&mut runner, &plain, &mode(OffloadMode::None));
    assert!(steps(&all.events).iter().all(|step| step.reused == 0));
    let passes = |ran: &super::support::Ran| ran.blocks().iter().map(|block| block.walk).max();
    assert_eq!(passes(&all).unwrap() - passes(&want).unwrap(), sum);
}

#[test]
fn what_a_model_cannot_do_is_refused_in_words() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let aligned = Request { schedule: Schedule::AlignYourSteps, ..tiny.request.clone() };
    let failure = attempt(&mut runner, &aligned, &card()).failure().unwrap();
    assert_eq!(failure.message, RequestError::NoSuchLevels(Schedule::AlignYourSteps).to_string());
    for wrong in [
        interval(&tiny.request, 0.5, 0.5),
        Request { step_cache: -1.0, ..tiny.request.clone() },
        Request {
            guiding: GuidanceOptions { rescale: 2.0, ..GuidanceOptions::default() },
            ..tiny.request.clone()
        },
    ] {
        attempt(&mut runner, &wrong, &card()).failure().unwrap();
    }
}

/// A tiny decoder for FLUX.1's latents, under its author's names.
fn tiny_decoder(width: usize) -> Tensors {
    let weight = |name: &str, shape: &[usize]| {
        let values = hash_weights::weight(name, shape, 1.0);
        (name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
    };
    let mut tensors = Tensors::from([
        weight("1.weight", &[width, 16, 3, 3]),
        weight("1.bias", &[width]),
        weight("10.weight", &[3, width, 3, 3]),
        weight("10.bias", &[3]),
    ]);
    for part in ["conv.0", "conv.2", "conv.4"] {
        tensors.extend([
            weight(&format!("3.{part}.weight"), &[width, width, 3, 3]),
            weight(&format!("3.{part}.bias"), &[width]),
        ]);
    }
    tensors.extend([5, 7, 9].map(|number| weight(&format!("{number}.weight"), &[width, width, 3, 3])));
    tensors
}

/// Sizes of a run's previews, and the ratio of measured to predicted memory.
fn previewed(runner: &mut Runner, request: &Request, memory: MemoryPreferences) -> (Vec<(u32, u32)>, f64) {
    let job = Job { memory, previews: true, ..runner.job(request.clone()) };
    let ended = runner.run(job).unwrap();
    let sizes = ended.events.iter().filter_map(|event| match event {
        Event::Preview { media, .. } => media[0].first().map(|image| (image.width, image.height)),
        _ => None,
    });
    let taken = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => {
            Some(outcome.measured_device as f64 / outcome.predicted_device as f64)
        }
        _ => None,
    });
    (sizes.collect(), taken.unwrap())
}

#[test]
fn a_tiny_decoder_beside_the_model_makes_previews_where_there_is_room() {
    for (width, is_used) in [(2, true), (192, false)] {
        let tiny = Tiny::new();
        let folder = tiny.model.join("vae_approx");
        std::fs::create_dir(&folder).unwrap();
        save(&tiny_decoder(width), &folder.join("taef1_decoder.safetensors")).unwrap();
        let mut runner = Runner::of_two_threads().unwrap();
        let request = Request { width: 64, height: 48, batch: 2, ..tiny.request.clone() };
        let (sizes, taken) = previewed(&mut runner, &request, mode(OffloadMode::Aggressive));
        let expected = if is_used { (64, 48) } else { (8, 6) };
        assert!(!sizes.is_empty() && sizes.iter().all(|size| *size == expected), "{width}: {sizes:?}");
        assert!(taken <= 1.0 || !is_used, "previews took {taken} of what was foretold");
    }
}

/// The map from latents to colours is fitted to an image decoded for that purpose, before the first step.
/// Memory taken on demand is predicted to 1%.
#[test]
fn fitting_previews_takes_no_more_than_decoding() {
    let on_demand = Some(Residence::OnDemand);
    let memory = MemoryPreferences { text_encoder: on_demand, autoencoder: on_demand, ..passing_through() };
    let mut runner = Runner::of_two_threads().unwrap();
    let request = starter(2 * SMALL, 3);
    let plan = forecast(&runner, &request, &memory).plan.unwrap();
    let decoding = plan.first_of(StageKind::Decode).unwrap().device();
    assert_eq!(decoding, plan.peak_device(), "it would not be seen");
    let (sizes, taken) = previewed(&mut runner, &request, memory);
    assert!(!sizes.is_empty() && taken < 1.01, "{sizes:?}, {taken}");
}

/// A chosen side is neither rounded to one of the planner's own nor made smaller, and one tile that covers the image is
/// no tile at all.
#[test]
fn tiles_have_the_side_that_was_chosen() {
    let mut runner = Runner::start().unwrap();
    let request = Request { width: 320, height: 256, ..starter(320, 1) };
    let whole = run_dumped(&mut runner, &request, &card()).tensors;
    for (side, expected) in [(24, Some(24)), (17, Some(17)), (1000, None)] {
        let memory = MemoryPreferences { tile: Some(side), ..card() };
        let plan = forecast(&runner, &request, &memory).plan.unwrap();
        let tile = plan.first_of(StageKind::Decode).unwrap().uses[0].tile;
        assert_eq!(tile, expected, "{side}");
        let tiled = run_dumped(&mut runner, &request, &memory).tensors;
        let differs = mean_distance(&whole, &tiled) > 0.0;
        assert_eq!(differs, expected.is_some(), "{side}");
    }
}

#[test]
fn memory_that_is_to_stay_free_counts_beside_a_budget() {
    let runner = Runner::start().unwrap();
    let request = starter(SMALL, 1);
    let budget = |min_free_vram, vram_budget| {
        let memory = MemoryPreferences {
            device: DeviceChoice::Simulated("rtx-3060".to_owned()),
            min_free_vram,
            vram_budget,
            ..MemoryPreferences::default()
        };
        forecast(&runner, &request, &memory).machine.device_budget
    };
    let gib = 1 << 30;
    assert_eq!(budget(gib, Some(8 * gib)), 8 * gib);
    assert_eq!(budget(6 * gib, Some(8 * gib)), budget(6 * gib, None));
    assert_eq!(budget(12 * gib, Some(8 * gib)), 0);
}

#[test]
fn a_simulated_card_has_its_own_time_and_that_of_this_computer() {
    let runner = Runner::start().unwrap();
    let request = starter(512, 4);
    let simulated = forecast(&runner, &request, &card());
    let here = simulated.seconds_here.expect("the processor computes in the place of the card");
    let there = simulated.plan.unwrap().seconds;
    let processor = MemoryPreferences { device: DeviceChoice::Processor, ..MemoryPreferences::default() };
    let alone = forecast(&runner, &request, &processor);
    assert_eq!(alone.seconds_here, None);
    let alone = alone.plan.unwrap().seconds;
    assert!(here > there, "{here} s here, {there} s on the card");
    // The way over the link of the card is all that is between them.
    assert!((0.33..3.0).contains(&(here / alone)), "{here} s here, {alone} s on the processor alone");
}

/// Mean difference of two images, in levels of 255.
fn mean_distance(one: &Tensors, other: &Tensors) -> f64 {
    let values =
        |tensors: &Tensors| -> Vec<f32> { tensors["output"].flatten_all().unwrap().to_vec1().unwrap() };
    let (one, other) = (values(one), values(other));
    let sum: f64 = one.iter().zip(&other).map(|(one, other)| f64::from((one - other).abs())).sum();
    255.0 * sum / one.len() as f64
}

#[test]
#[ignore = "measures what docs/sampling.md says"]
fn what_the_step_cache_costs_and_gains() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let models = [
        ("starter", Request { guidance: 2.0, ..starter(64, 20) }),
        ("tiny Z-Image", Request { steps: 20, ..tiny.request.clone() }),
    ];
    for (model, plain) in models {
        for sampler in [Sampler::Euler, Sampler::Dpmpp2m, Sampler::Heun, Sampler::EulerAncestral] {
            let plain = Request { sampler, ..plain.clone() };
            let mut draw = |step_cache| {
                let request = Request { step_cache, ..plain.clone() };
                let ran = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
                let steps = steps(&ran.events);
                let took: u64 = steps.iter().map(|step| step.took).sum();
                (ran.tensors, took as f64, steps.iter().map(|step| step.reused).sum::<u32>())
            };
            let (want, whole, _) = draw(0.0);
            for threshold in [0.02, 0.05, 0.1, 0.2, 0.4] {
                let (got, took, reused) = draw(threshold);
                let error = mean_distance(&want, &got);
                let calls = sampler.calls(20);
                println!(
                    "{model} {} {threshold}: {reused} of {calls}, {:.0} % of the time, off by {error:.2}",
                    sampler.name(),
                    100.0 * took / whole
                );
            }
        }
    }
}
