//! Models with a table of noise levels, against diffusers' schedulers with the same configurations.

use std::{collections::BTreeMap, fs};

use candle_core::{Result, Tensor};
use serde::Deserialize;
use serde_json::Value;
use sluice_engine::{
    checkpoint::{Checkpoint, read_json},
    models::scheduler,
    request::{GuidanceOptions, Sampler, Schedule},
    sampling::{self, Discrete, Guide, PredictionType, Training, Walk, variance_preserving},
};
use sluice_tests::{
    checkpoint::{fixtures, load},
    golden::distance,
    original_names::Tensors,
};

/// Largest difference from the reference, relative to the largest value.
const TOLERANCE: f64 = 2e-5;

#[derive(Deserialize)]
struct Configurations {
    runs: BTreeMap<String, Run>,
    levels: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Run {
    config: Value,
    sampler: Sampler,
    schedule: Schedule,
}

fn golden() -> (Configurations, Tensors) {
    let folder = fixtures().join("tables");
    (
        read_json(&folder.join("configurations.json")).unwrap(),
        load(&folder.join("golden.safetensors")).unwrap(),
    )
}

/// The table of a model folder with this scheduler.
fn open(config: &Value) -> Discrete {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scheduler")).unwrap();
    fs::write(folder.path().join("model_index.json"), "{}").unwrap();
    fs::write(folder.path().join("scheduler/scheduler_config.json"), config.to_string()).unwrap();
    let checkpoint = Checkpoint::open(folder.path(), &[]).unwrap();
    scheduler::discrete(&checkpoint, Discrete::stable_diffusion(PredictionType::Epsilon)).unwrap()
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn largest(tensor: &Tensor) -> f64 {
    values(tensor).iter().fold(0.0, |largest, value| largest.max(f64::from(value.abs())))
}

fn farthest(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len(), "{found:?} instead of {expected:?}");
    let differences =
        found.iter().zip(expected).map(|(found, wanted)| (found - wanted).abs() / wanted.max(1e-6));
    differences.fold(0.0, f32::max)
}

#[test]
fn levels_are_those_of_every_scheduler_and_spacing() {
    let (configurations, golden) = golden();
    assert_eq!(configurations.levels.len(), 17);
    for (name, config) in &configurations.levels {
        let discrete = open(config);
        for steps in [3, 7, 20] {
            let expected = values(&golden[&format!("levels.{name}.{steps}")]);
            let distance = farthest(&discrete.sigmas(steps), &expected);
            println!("{name} in {steps} steps: {distance:.1e}");
            assert!(distance < 3e-6, "{name} in {steps} steps: {:?} {expected:?}", discrete.sigmas(steps));
        }
    }
}

/// `0.5 · (W x) + 0.1 · sin(t / 100)` with `W` over the channels: a stand-in for the network.
fn stand_in(matrix: &Tensor, x: &Tensor, time: f32) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let mixed = matrix.matmul(&x.reshape((channels, height * width))?)?;
    (mixed.reshape((batch, channels, height, width))? * 0.5)? + 0.1 * f64::from((time / 100.0).sin())
}

/// The direction from image to noise.
fn direction(prediction: PredictionType, x: &Tensor, output: Tensor, sigma: f32) -> Result<Tensor> {
    let share = variance_preserving(sigma);
    match prediction {
        PredictionType::Epsilon => Ok(output),
        // The velocity is `share · noise − share · σ · image`, and `x = image + σ · noise`.
        PredictionType::VPrediction => (output * share)? + (x * (f64::from(sigma) * share * share))?,
    }
}

#[test]
fn samplers_walk_as_diffusers_schedulers_do() {
    let (configurations, golden) = golden();
    let mut failures = Vec::new();
    for (name, run) in &configurations.runs {
        let discrete = open(&run.config);
        let prediction = discrete.prediction();
        let training = Training::Discrete(discrete);
        let sigmas = training.sigmas(run.schedule, 6, 0);
        let mut expected = values(&golden[&format!("{name}.levels")]);
        // Some schedulers repeat the last level.
        expected.truncate(sigmas.len());
        let levels = farthest(&sigmas, &expected);
        assert!(levels < 1e-5, "{name} has the levels {sigmas:?}");
        let start = training.noised(None, &golden["noise"], sigmas[0]).unwrap();
        let recorded = training.recorded(&start, sigmas[0]).unwrap();
        distance(name, &golden[&format!("{name}.start")], &recorded, TOLERANCE).unwrap();

        let times = values(&golden[&format!("{name}.times")]);
        // diffusers rounds some timesteps.
        let is_rounded = times.iter().all(|time| time.fract() == 0.0);
        // Noise at a level in the thousands is only accurate to its own rounding, in diffusers too.
        let rounding = f64::from(f32::EPSILON) * largest(&start);
        let (mut calls, mut draws) = (0, 0);
        let mut found = Vec::new();
        let walk = Walk {
            sigmas: &sigmas,
            training: &training,
            model: &mut |x, sigma| -> Result<Tensor> {
                let time = times[calls];
                let own = training.timestep(sigma);
                let near = if is_rounded { 0.5 } else { 2e-2 };
                assert!((own - time).abs() <= near, "{name}: {sigma} is at {own}, not at {time}");
                calls += 1;
                let output = stand_in(&golden["matrix"], &training.seen(x, sigma)?, time)?;
                direction(prediction, x, output, sigma)
            },
            noise: &mut |_| {
                draws += 1;
                Ok(golden[&format!("noise.{}", draws - 1)].clone())
            },
            after: &mut |step| {
                found.push(training.recorded(step.latents, step.sigma)?);
                Ok(())
            },
        };
        sampling::walk(run.sampler, walk, start).unwrap();
        assert_eq!(calls, times.len(), "{name}");
        let mut farthest: f64 = 0.0;
        for (step, x) in found.iter().enumerate() {
            let name = format!("{name}.{step}");
            match distance(&name, &golden[&name], x, TOLERANCE.max(rounding / largest(&golden[&name]))) {
                Ok(distance) => farthest = farthest.max(distance),
                Err(error) => failures.push(error.to_string()),
            }
        }
        println!("{name}: {farthest:.1e}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(configurations.runs.len(), 15);
}

#[test]
fn rescaled_guidance_is_that_of_diffusers() {
    let (_, golden) = golden();
    let options = GuidanceOptions { rescale: 0.7, ..GuidanceOptions::default() };
    let guide = Guide::new(4.5, &options, &[1.0, 0.0]);
    let outputs = ["positive", "negative"].map(|side| golden[&format!("rescale.{side}")].clone());
    let found = guide.join(&outputs).unwrap();
    println!("{:.1e}", distance("rescaled", &golden["rescale.out"], &found, 2e-6).unwrap());
}
