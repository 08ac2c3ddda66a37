//! Noise, noise levels and samplers against PyTorch and diffusers.

use std::collections::BTreeMap;

use candle_core::Tensor;
use sluice_engine::{
    request::Sampler,
    sampling::{self, FlowShift, Shift, Training, Walk, randn},
};
use sluice_tests::{
    checkpoint::{fixtures, load},
    golden::{MODULE, distance},
};

#[test]
fn noise_is_what_pytorch_draws() {
    let golden = load(&fixtures().join("noise.safetensors")).unwrap();
    assert!(golden.len() > 40);
    for (name, tensor) in golden {
        let seed: u64 = name.split_once('.').unwrap().0.parse().unwrap();
        let expected: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
        let found = randn(seed, expected.len());
        assert_eq!(found.len(), expected.len());
        for (index, (wanted, found)) in expected.iter().zip(&found).enumerate() {
            let difference = (wanted - found).abs();
            assert!(difference <= 2e-6, "number {index} of {name} is {found}, PyTorch's is {wanted}");
        }
    }
}

#[test]
fn seeds_differ() {
    let mut drawn: Vec<Vec<u32>> =
        (0..50).map(|seed| randn(seed, 40).iter().map(|value| value.to_bits()).collect()).collect();
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 50);
}

fn shift_of(kind: &str, amount: &str) -> Shift {
    match kind {
        "static" => FlowShift::fixed(amount.parse().unwrap()).constant(),
        "dynamic" => FlowShift::default().dynamic(amount.parse().unwrap()),
        other => panic!("no schedule {other}"),
    }
}

/// The levels are computed one by one in f32 as in the reference, so they agree to the last bits.
#[test]
fn noise_levels_are_those_of_diffusers() {
    let golden = load(&fixtures().join("schedules.safetensors")).unwrap();
    let mut checked = BTreeMap::new();
    for (name, tensor) in golden.iter().filter(|(name, _)| name.ends_with(".sigmas")) {
        let name = name.strip_suffix(".sigmas").unwrap();
        let (start, steps) = name.rsplit_once('.').unwrap();
        let (kind, amount) = start.split_once('.').unwrap();
        let expected: Vec<f32> = tensor.to_vec1().unwrap();
        let found = shift_of(kind, amount).sigmas(steps.parse().unwrap());
        assert_eq!(found.len(), expected.len(), "{name}");
        for (index, (wanted, found)) in expected.iter().zip(&found).enumerate() {
            let difference = (wanted - found).abs() / wanted.max(1e-3);
            assert!(difference <= 3e-7, "level {index} of {name} is {found}, diffusers' is {wanted}");
        }
        *checked.entry(kind.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(checked, BTreeMap::from([("dynamic".to_owned(), 24), ("static".to_owned(), 15)]));
}

/// A stand-in for the model: `0.5 · (W x) + 0.1 · sin(t / 100)` with `W` over the channels.
fn stand_in(matrix: &Tensor, x: &Tensor, sigma: f32) -> candle_core::Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let flat = x.reshape((channels, height * width))?;
    let mixed = matrix.matmul(&flat)?.reshape((batch, channels, height, width))?;
    (mixed * 0.5)? + 0.1 * f64::from((sigma * 1000.0 / 100.0).sin())
}

#[test]
fn samplers_step_as_those_of_diffusers() {
    let golden = load(&fixtures().join("samplers.safetensors")).unwrap();
    let sigmas = FlowShift::fixed(3.0).constant().sigmas(6);
    for (name, sampler) in [("euler", Sampler::Euler), ("heun", Sampler::Heun)] {
        let mut steps = Vec::new();
        let training = Training::Flow(FlowShift::fixed(3.0));
        let walk = Walk {
            sigmas: &sigmas,
            training: &training,
            model: &mut |x, sigma| -> candle_core::Result<Tensor> { stand_in(&golden["matrix"], x, sigma) },
            noise: &mut Tensor::zeros_like,
            after: &mut |step| {
                steps.push((step.index, step.latents.clone()));
                Ok(())
            },
        };
        sampling::walk(sampler, walk, golden["start"].clone()).unwrap();
        assert_eq!(steps.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        for (step, x) in &steps {
            let name = format!("{name}.{step}");
            let distance = distance(&name, &golden[&name], x, MODULE).unwrap();
            println!("{name}: {distance:.1e}");
        }
    }
}
