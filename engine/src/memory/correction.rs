//! Past runs correct the next forecast.

use serde::{Deserialize, Serialize};

use super::{Accuracy, Footprint, Machine, Stage};
use crate::request::ComputeDtype;

/// Runs that are taken into account, the last ones.
const RUNS: usize = 8;
/// A correction never goes further than this and its inverse, whatever was measured.
const FURTHEST: f64 = 2.0;

/// What was predicted for a run, and what was measured. Measured values are 0 where nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What the model is called.
    pub model: String,
    /// What it was computed in.
    pub dtype: ComputeDtype,
    /// What the device is called.
    pub device: String,
    /// Bytes at the device's peak.
    pub predicted_device: u64,
    /// Bytes at the device's peak.
    pub measured_device: u64,
    /// Bytes of activations in the stage that took most of what was predicted for it, as the formulas say before any
    /// correction; 0 if they were tried out instead, which says nothing about the formulas.
    pub predicted_activations: u64,
    /// Bytes of activations at the peak of that stage.
    pub measured_activations: u64,
    /// Seconds of a step after the first.
    pub predicted_step_seconds: f64,
    /// Seconds of a step after the first: their median.
    pub measured_step_seconds: f64,
    /// Floating-point operations a second in the denoiser's blocks.
    pub measured_operations_per_second: f64,
    /// Bytes a second over the link; from disk on a unified device.
    pub measured_link_bytes_per_second: f64,
    /// The device's peak in each stage.
    #[serde(default)]
    pub stages: Vec<StagePeak>,
}

/// Bytes of a device at its peak in a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagePeak {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// As foretold.
    pub predicted: u64,
    /// As measured.
    pub measured: u64,
}

/// A machine as past runs have shown it to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Correction {
    /// The machine with the speeds that were measured.
    pub machine: Machine,
    /// What activations are to be multiplied by.
    pub activation_factor: f64,
    /// How good past forecasts were; absent if there were none.
    pub accuracy: Option<Accuracy>,
}

/// Corrects a machine and the activations of a model by the last eight runs of the same model in the same precision
/// on the same device.
///
/// Each speed becomes the median of what was measured, so that a single odd run changes little. Activations are
/// multiplied by the highest of measured over predicted where that differs by 3 % or more, because what is
/// foretold of memory is a promise. None of them goes beyond twice or half. `machine` has the speeds that hold without
/// any run, so that corrections do not add up.
pub fn correct(outcomes: &[Outcome], footprint: &Footprint, machine: &Machine) -> Correction {
    let Footprint { model, dtype, .. } = footprint;
    let matching = |outcome: &&Outcome| {
        outcome.model == *model && outcome.dtype == *dtype && outcome.device == machine.device
    };
    let last: Vec<&Outcome> = outcomes.iter().rev().filter(matching).take(RUNS).collect();
    let scale = |of: fn(&Outcome) -> f64, by: f64| median(last.iter().map(|outcome| of(outcome) / by));
    let mut corrected = machine.clone();
    let operations = scale(|outcome| outcome.measured_operations_per_second, machine.operations_per_second);
    let way = if machine.unified { &mut corrected.disk } else { &mut corrected.link };
    let link = scale(|outcome| outcome.measured_link_bytes_per_second, way.bytes_per_second);
    way.bytes_per_second *= clamped(link);
    let activations = highest(
        last.iter().map(|outcome| outcome.measured_activations as f64 / outcome.predicted_activations as f64),
    );
    corrected.operations_per_second *= clamped(operations);
    Correction {
        machine: corrected,
        activation_factor: settled(clamped(activations)),
        accuracy: accuracy(&last),
    }
}

/// A factor that differs so little from 1 that following it would only move plans about.
fn settled(factor: f64) -> f64 {
    const NOISE: f64 = 0.03;
    if (factor - 1.0).abs() < NOISE { 1.0 } else { factor }
}

fn accuracy(outcomes: &[&Outcome]) -> Option<Accuracy> {
    let memory = mean(
        outcomes.iter().map(|outcome| error(outcome.predicted_device as f64, outcome.measured_device as f64)),
    )?;
    let time = mean(
        outcomes.iter().map(|outcome| error(outcome.predicted_step_seconds, outcome.measured_step_seconds)),
    );
    Some(Accuracy { runs: outcomes.len() as u32, memory_error: memory, time_error: time.unwrap_or(0.0) })
}

fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured
}

fn clamped(factor: Option<f64>) -> f64 {
    factor.map_or(1.0, |factor| factor.clamp(1.0 / FURTHEST, FURTHEST))
}

/// The highest of what was measured. As what is foretold of memory is a promise, a few runs that took less than
/// foretold do not lower it.
fn highest(values: impl Iterator<Item = f64>) -> Option<f64> {
    const ENOUGH: usize = 3;
    let values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
    let highest = values.iter().copied().reduce(f64::max)?;
    Some(if values.len() < ENOUGH { highest.max(1.0) } else { highest })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle of what was measured; 0 and what is no number was not.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Link;

    fn machine() -> Machine {
        Machine {
            device: "CPU".to_owned(),
            unified: false,
            device_total: 0,
            device_budget: 0,
            host_budget: 0,
            link: Link { bytes_per_second: 10e9, latency: 0.0 },
            disk: Link { bytes_per_second: 1e9, latency: 0.0 },
            operations_per_second: 1e12,
            block_latency: 0.0,
        }
    }

    fn model() -> Footprint {
        Footprint { model: "model".to_owned(), dtype: ComputeDtype::F32, parts: Vec::new() }
    }

    fn outcome(operations: f64, activations: u64) -> Outcome {
        Outcome {
            model: "model".to_owned(),
            dtype: ComputeDtype::F32,
            device: "CPU".to_owned(),
            predicted_device: 1100,
            measured_device: 1000,
            predicted_activations: 100,
            measured_activations: activations,
            predicted_step_seconds: 0.8,
            measured_step_seconds: 1.0,
            measured_operations_per_second: operations,
            measured_link_bytes_per_second: 0.0,
            stages: Vec::new(),
        }
    }

    #[test]
    fn without_runs_nothing_changes() {
        let another = Outcome { model: "another".to_owned(), ..outcome(9e12, 300) };
        let rounded = Outcome { dtype: ComputeDtype::Bf16, ..outcome(9e12, 300) };
        let correction = correct(&[another, rounded], &model(), &machine());
        assert_eq!(correction, Correction { machine: machine(), activation_factor: 1.0, accuracy: None });
    }

    #[test]
    fn a_single_odd_run_changes_no_speed_but_is_believed_about_memory() {
        let mut outcomes = vec![outcome(1.2e12, 110); 7];
        outcomes.push(outcome(1e15, 130));
        let correction = correct(&outcomes, &model(), &machine());
        assert!((correction.machine.operations_per_second - 1.2e12).abs() < 1.0);
        assert!((correction.activation_factor - 1.3).abs() < 1e-9);
        assert_eq!(correction.machine.link, machine().link);
    }

    #[test]
    fn a_run_or_two_that_took_less_lower_nothing() {
        for (runs, factor) in [(1, 1.0), (2, 1.0), (3, 0.8)] {
            let correction = correct(&vec![outcome(1e12, 80); runs], &model(), &machine());
            assert!((correction.activation_factor - factor).abs() < 1e-9);
        }
        assert_eq!(correct(&[outcome(1e12, 102)], &model(), &machine()).activation_factor, 1.0);
    }

    #[test]
    fn runs_that_were_tried_out_say_nothing_about_the_formulas() {
        let tried = Outcome { predicted_activations: 0, ..outcome(1e12, 300) };
        assert_eq!(correct(&vec![tried; 8], &model(), &machine()).activation_factor, 1.0);
    }

    #[test]
    fn only_the_last_eight_runs_count_and_never_beyond_twice() {
        let mut outcomes = vec![outcome(0.7e12, 80); 20];
        outcomes.extend(vec![outcome(5e12, 10); 8]);
        let correction = correct(&outcomes, &model(), &machine());
        assert!((correction.machine.operations_per_second - 2e12).abs() < 1.0);
        assert!((correction.activation_factor - 0.5).abs() < 1e-9);
        let accuracy = correction.accuracy.unwrap();
        assert_eq!(accuracy.runs, 8);
        assert!((accuracy.memory_error - 0.1).abs() < 1e-9 && (accuracy.time_error - 0.2).abs() < 1e-9);
    }
}
