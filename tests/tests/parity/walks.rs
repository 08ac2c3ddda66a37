//! Every sampler and every schedule against k-diffusion, diffusers and the papers.

use std::collections::{BTreeMap, BTreeSet};

use candle_core::{Result, Tensor};
use sluice_engine::{
    request::{Sampler, Schedule},
    sampling::{
        self, AlignedSteps, Discrete, FlowShift, Levels, Mixing, NoiseStream, PredictionType, Training, Walk,
        randn,
    },
};
use sluice_tests::{
    checkpoint::{fixtures, load},
    golden::distance,
};

/// Largest difference from the reference, relative to the largest value.
const TOLERANCE: f64 = 1e-5;

const MIXINGS: [(&str, Mixing); 2] = [("flow", Mixing::Flow), ("exploding", Mixing::Exploding)];

/// A stand-in for the model: `0.5 · (W x) + 0.1 · sin(10 σ)` with `W` over the channels.
fn stand_in(matrix: &Tensor, mixing: Mixing, x: &Tensor, sigma: f32) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let sigma = f64::from(sigma);
    let scale = if mixing == Mixing::Flow { 1.0 } else { sigma.hypot(1.0).recip() };
    let flat = (x.reshape((channels, height * width))? * scale)?;
    let mixed = matrix.matmul(&flat)?.reshape((batch, channels, height, width))?;
    (mixed * 0.5)? + 0.1 * (10.0 * sigma).sin()
}

fn training(mixing: Mixing) -> Training {
    match mixing {
        Mixing::Flow => Training::Flow(FlowShift::fixed(3.0)),
        Mixing::Exploding => Training::Discrete(Discrete::stable_diffusion(PredictionType::Epsilon)),
    }
}

/// The record of a sampler: latents after each step, the levels of its calls, and draws of noise.
struct Walked {
    latents: Vec<Tensor>,
    asked: Vec<f32>,
    draws: usize,
}

fn walked(sampler: Sampler, mixing: Mixing, sigmas: &[f32], golden: &BTreeMap<String, Tensor>) -> Walked {
    let (mut asked, mut latents) = (Vec::new(), Vec::new());
    let mut draws = 0;
    let start = (&golden["start"] * f64::from(sigmas[0])).unwrap();
    let training = training(mixing);
    let walk = Walk {
        sigmas,
        training: &training,
        model: &mut |x, sigma| -> Result<Tensor> {
            asked.push(sigma);
            stand_in(&golden["matrix"], mixing, x, sigma)
        },
        noise: &mut |like| {
            draws += 1;
            let noise = golden[&format!("noise.{}", (draws - 1) % 6)].clone();
            assert_eq!(noise.dims(), like.dims());
            Ok(noise)
        },
        after: &mut |step| {
            assert_eq!((step.index, step.sigma), (latents.len(), sigmas[step.index + 1]));
            latents.push(step.latents.clone());
            step.denoised().map(drop)
        },
    };
    let last = sampling::walk(sampler, walk, start).unwrap();
    distance("the last step", latents.last().unwrap(), &last, 0.0).unwrap();
    Walked { latents, asked, draws }
}

fn golden() -> BTreeMap<String, Tensor> {
    load(&fixtures().join("walks.safetensors")).unwrap().into_iter().collect()
}

#[test]
fn every_sampler_steps_as_the_reference() {
    let golden = golden();
    let mut failures = Vec::new();
    for (model, mixing) in MIXINGS {
        let sigmas: Vec<f32> = golden[&format!("{model}.sigmas")].to_vec1().unwrap();
        for sampler in Sampler::ALL {
            let found = walked(sampler, mixing, &sigmas, &golden);
            assert_eq!(found.latents.len(), 6, "{}", sampler.name());
            let mut farthest: f64 = 0.0;
            for (step, x) in found.latents.iter().enumerate() {
                let name = format!("{model}.{}.{step}", sampler.name());
                match distance(&name, &golden[&name], x, TOLERANCE) {
                    Ok(distance) => farthest = farthest.max(distance),
                    Err(error) => failures.push(error.to_string()),
                }
            }
            println!("{model}.{}: {farthest:.1e}", sampler.name());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The prepared levels are exactly those of the calls, and the number of calls matches the plan.
#[test]
fn every_sampler_calls_where_and_as_often_as_it_says() {
    let golden = golden();
    for (model, mixing) in MIXINGS {
        let sigmas: Vec<f32> = golden[&format!("{model}.sigmas")].to_vec1().unwrap();
        for sampler in Sampler::ALL {
            for steps in [1, 2, 6] {
                let sigmas = &sigmas[6 - steps..];
                let name = format!("{model}.{} in {steps} steps", sampler.name());
                let found = walked(sampler, mixing, sigmas, &golden);
                assert_eq!(found.asked.len(), sampler.calls(steps), "{name}");
                let prepared = sampling::evaluated(sampler, mixing, sigmas);
                assert_eq!(prepared.len(), sampler.levels(steps), "{name}");
                let bits =
                    |levels: &[f32]| levels.iter().map(|level| level.to_bits()).collect::<BTreeSet<_>>();
                assert_eq!(bits(&found.asked), bits(&prepared), "{name}");
                let each = if sampler == Sampler::DpmppSde { 2 } else { 1 };
                assert!([0, each * (steps - 1)].contains(&found.draws), "{name} draws {}", found.draws);
            }
        }
    }
}

/// Stable Diffusion's noise levels.
fn table() -> Vec<f32> {
    load(&fixtures().join("spacings.safetensors")).unwrap()["table"].to_vec1().unwrap()
}

fn levels(model: &str) -> Levels {
    match model {
        "flow" => Levels::Flow(FlowShift::fixed(3.0).constant()),
        _ => Levels::Table(table()),
    }
}

fn spaced() -> impl Iterator<Item = Schedule> {
    let others = [Schedule::Model, Schedule::StaticShift, Schedule::DynamicShift, Schedule::AlignYourSteps];
    Schedule::ALL.into_iter().filter(move |schedule| !others.contains(schedule))
}

#[test]
fn every_spacing_is_that_of_the_reference() {
    let golden = load(&fixtures().join("spacings.safetensors")).unwrap();
    let mut failures = Vec::new();
    for (model, _) in MIXINGS {
        for schedule in spaced() {
            let mut farthest: f32 = 0.0;
            for steps in [1, 2, 7, 20] {
                let name = format!("{model}.{}.{steps}", schedule.name());
                let expected: Vec<f32> = golden[&name].to_vec1().unwrap();
                let found = levels(model).spaced(schedule, steps);
                assert_eq!(found.len(), expected.len(), "{name}");
                for (wanted, found) in expected.iter().zip(&found) {
                    let difference = (wanted - found).abs() / wanted.max(1e-6);
                    farthest = farthest.max(difference);
                    if difference.is_nan() || difference > 1e-5 {
                        failures.push(format!("{name}: {found} where the reference has {wanted}"));
                    }
                }
            }
            println!("{model}.{}: {farthest:.1e}", schedule.name());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn aligned_steps_are_those_of_their_authors() {
    let golden = load(&fixtures().join("spacings.safetensors")).unwrap();
    let models = [
        ("StableDiffusion", AlignedSteps::StableDiffusion),
        ("StableDiffusionXL", AlignedSteps::StableDiffusionXl),
    ];
    for (name, aligned) in models {
        let model = Discrete::stable_diffusion(PredictionType::Epsilon).with_aligned(aligned);
        let training = Training::Discrete(model);
        assert!(training.has(Schedule::AlignYourSteps));
        for steps in [1, 2, 7, 20] {
            let expected: Vec<f32> = golden[&format!("{name}.{steps}")].to_vec1().unwrap();
            let found = training.sigmas(Schedule::AlignYourSteps, steps, 0);
            assert_eq!(found.len(), expected.len());
            for (wanted, found) in expected.iter().zip(&found) {
                assert!((wanted - found).abs() <= 1e-6 * wanted, "{name}: {found} instead of {wanted}");
            }
        }
    }
    assert!(!training(Mixing::Flow).has(Schedule::AlignYourSteps));
}

/// Flow models start at pure noise, where the signal-to-noise ratio is 0.
#[test]
fn every_sampler_takes_every_spacing_in_any_number_of_steps() {
    let golden = golden();
    for (model, mixing) in MIXINGS {
        for schedule in spaced() {
            for steps in [1, 2, 3, 8, 100] {
                let sigmas = levels(model).spaced(schedule, steps);
                let name = format!("{model}, {} in {steps} steps", schedule.name());
                assert!(sigmas.windows(2).all(|pair| pair[0] > pair[1]), "{name}: {sigmas:?}");
                for sampler in Sampler::ALL {
                    let found = walked(sampler, mixing, &sigmas, &golden);
                    let last: Vec<f32> = found.latents[steps - 1].flatten_all().unwrap().to_vec1().unwrap();
                    assert!(last.iter().all(|value| value.is_finite()), "{} on {name}", sampler.name());
                }
            }
        }
    }
}

/// A run from pure noise is the limit of runs from ever more noise. Multistep samplers approach it slowly:
/// like one over the logarithm of the missing noise.
#[test]
fn a_flow_may_begin_at_noise_alone() {
    let golden = golden();
    let rest = [0.9, 0.75, 0.5, 0.25, 0.0];
    let from = |first: f32| [&[first][..], &rest].concat();
    for sampler in Sampler::ALL {
        let exact = walked(sampler, Mixing::Flow, &from(1.0), &golden);
        let near = walked(sampler, Mixing::Flow, &from(0.999_998), &golden);
        let name = sampler.name();
        let distance = distance(name, &exact.latents[4], &near.latents[4], 5e-3).unwrap();
        println!("{name}: {distance:.1e}");
    }
}

#[test]
fn noise_goes_on_where_it_was() {
    let mut stream = NoiseStream::new(7);
    let first = stream.draw(64);
    assert_eq!(first, randn(7, 64));
    assert_eq!([first, stream.draw(64)].concat(), randn(7, 128));
    let mut pairs = NoiseStream::new(7);
    assert_eq!([pairs.draw(3), pairs.draw(4)].concat(), randn(7, 7));
}

#[test]
fn names_in_files_are_those_of_the_command_line() {
    for sampler in Sampler::ALL {
        let stored = serde_json::to_value(sampler).unwrap();
        assert_eq!(stored, sampler.name().replace('-', "_"));
    }
    for schedule in Schedule::ALL {
        let stored = serde_json::to_value(schedule).unwrap();
        assert_eq!(stored, schedule.name().replace('-', "_"));
    }
}
