//! Past runs correct the forecasts of the same model, and of no other.

use std::path::Path;

use sluice_engine::{
    memory::{DeviceChoice, Forecast, MemoryPreferences, Residence, StageKind, Wish},
    precision::Storage,
    request::{ComputeDtype, Hires, ModelSource, Request, Upscale},
    session::{Command, Event, Job, SessionOptions},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    runner::{End, Runner},
};

use super::support::{forecast, run, starter};

fn memory() -> MemoryPreferences {
    MemoryPreferences {
        device: DeviceChoice::Processor,
        vram_budget: Some(1 << 30),
        ..MemoryPreferences::default()
    }
}

fn remembering(data: &Path) -> Runner {
    Runner::with(SessionOptions { data: Some(data.to_owned()), ..SessionOptions::default() }).unwrap()
}

fn of(model: &Path) -> Request {
    Request { model: ModelSource::Path(model.to_owned()), ..starter(64, 3) }
}

/// A tiny model in a folder called `model`.
fn tiny(family: &str, case: &str, folder: &Path, stored: Stored) -> Request {
    let model = folder.join("model");
    std::fs::create_dir_all(&model).unwrap();
    of(&Fixture::new(family, case).write(&model, Layout::Diffusers, stored).unwrap())
}

#[test]
fn runs_of_a_model_in_a_folder_of_the_same_name_move_no_other_forecast() {
    let [here, there, data] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let small = tiny("z_image", "default", here.path(), Stored::F32);
    let other = tiny("stable_diffusion", "one", there.path(), Stored::F32);
    let rounded =
        tiny("z_image", "default", &there.path().join("rounded"), Stored::As(candle_core::DType::BF16));
    let moved = tiny("z_image", "default", &there.path().join("moved"), Stored::F32);

    let mut runner = remembering(data.path());
    let before = forecast(&runner, &other, &memory());
    for _ in 0..3 {
        let ran = run(&mut runner, &small, &memory());
        assert_eq!(ran.outcome.model, before.model, "the names are the same");
    }
    drop(runner);
    let runner = remembering(data.path());
    let want = forecast(&Runner::start().unwrap(), &other, &memory());
    let after = forecast(&runner, &other, &memory());
    assert_eq!((after.accuracy, after.plan, after.machine), (None, want.plan, want.machine));
    assert_eq!(forecast(&runner, &rounded, &memory()).accuracy, None, "stored in another format");
    let bf16 = Request { dtype: Some(ComputeDtype::Bf16), ..small.clone() };
    assert_eq!(forecast(&runner, &bf16, &memory()).accuracy, None, "computed in another format");
    for same in [small, moved] {
        assert_eq!(forecast(&runner, &same, &memory()).accuracy.unwrap().runs, 3);
    }
}

#[test]
fn runs_with_weights_in_8_bits_that_were_allowed_are_compared_with_such_runs() {
    let data = tempfile::tempdir().unwrap();
    let (mut runner, request) = (remembering(data.path()), starter(32, 3));
    let memory = MemoryPreferences {
        may_use_8_bit: true,
        wish: Wish::Memory,
        denoiser: Some(Residence::Resident),
        ..memory()
    };
    for runs in 1..=3 {
        let ran = run(&mut runner, &request, &memory);
        assert_ne!(ran.outcome.run.unwrap().precisions, [Storage::Stored; 2]);
        assert_eq!(forecast(&runner, &request, &memory).accuracy.unwrap().runs, runs);
    }
}

/// A picture of a width and height to be enlarged.
fn enlarging(folder: &Path, width: u32, height: u32) -> Request {
    let path = folder.join(format!("{width}.png"));
    let pixels: Vec<u8> = (0..3 * width * height).map(|place| (place * 7 % 251) as u8).collect();
    image::save_buffer(&path, &pixels, width, height, image::ColorType::Rgb8).unwrap();
    Request {
        model: ModelSource::Upscaler,
        upscale: Some(Upscale { path, scale: 4.0 }),
        ..Request::default()
    }
}

/// Predicted seconds of the stage that enlarges.
fn predicted(forecast: &Forecast) -> f64 {
    forecast.plan.as_ref().unwrap().first_of(StageKind::Upscale).unwrap().seconds
}

#[test]
fn an_upscale_will_take_as_long_as_the_last_one_took() {
    let [pictures, data] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let request = enlarging(pictures.path(), 320, 240);
    let larger = enlarging(pictures.path(), 480, 320);
    let second_pass = Request { hires: Some(Hires::default()), ..starter(256, 3) };
    let bf16 = Request { dtype: Some(ComputeDtype::Bf16), ..request.clone() };
    let mut runner = remembering(data.path());
    let seconds = |runner: &Runner| {
        [&request, &larger, &second_pass, &bf16]
            .map(|request| predicted(&forecast(runner, request, &memory())))
    };
    let before = seconds(&runner);
    let assumed = forecast(&runner, &request, &memory()).machine.operations_per_second;
    let ran = run(&mut runner, &request, &memory());
    let [speed] = &ran.outcome.speeds[..] else { panic!("{:?}", ran.outcome.speeds) };
    assert!(speed.operations_per_second > 0.0);
    let after = seconds(&runner);
    let wanted = before[0] * assumed / speed.operations_per_second;
    println!("{before:?} and {after:?} for {wanted}");
    assert!((after[0] / wanted - 1.0).abs() < 0.1, "{} for {wanted}", after[0]);
    let [same, larger, second_pass, bf16]: [f64; 4] =
        std::array::from_fn(|which| after[which] / before[which]);
    assert!((larger / same - 1.0).abs() < 0.1, "a larger picture takes as much longer or shorter as it did");
    assert!((second_pass / same - 1.0).abs() < 0.1, "the same upscaler in another model");
    assert_eq!(bf16, 1.0, "another dtype");
}

#[test]
fn a_cancelled_run_tells_how_long_its_steps_took_and_nothing_of_memory() {
    let data = tempfile::tempdir().unwrap();
    let (mut runner, request) = (remembering(data.path()), starter(64, 1_000));
    let before = forecast(&runner, &request, &memory());
    let job = Job { memory: memory(), ..runner.job(request.clone()) };
    let id = job.id;
    runner.send(Command::Generate(Box::new(job))).unwrap();
    while !matches!(runner.event().unwrap(), Event::Step { step: 3.., .. }) {}
    runner.send(Command::Cancel { job: id }).unwrap();
    assert!(matches!(runner.wait(id).unwrap().end, End::Cancelled));

    let after = forecast(&runner, &request, &memory());
    assert_ne!(after.machine.operations_per_second, before.machine.operations_per_second);
    let peak = |forecast: &Forecast| forecast.plan.as_ref().unwrap().peak_device();
    assert_eq!((after.accuracy, peak(&after)), (None, peak(&before)));
    drop(runner);
    let runner = remembering(data.path());
    assert_eq!(forecast(&runner, &request, &memory()).machine, after.machine);
}
