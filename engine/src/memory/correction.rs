//! Past runs correct the next forecast.

use std::collections::BTreeMap;

use super::{Accuracy, ErrorSpread, Machine, Outcome, PartFootprint, PartSpeed, RunIdentity};

/// Runs that are taken into account, the last ones.
const RUNS: usize = 8;
/// Runs of the same shape that are enough without those of other shapes.
const ENOUGH: usize = 3;
/// Runs that speeds are taken from, the last ones: what else a machine does changes them, and more runs tell less about now.
const RUNS_FOR_SPEED: usize = 3;
/// A correction of activations never goes further than this and its inverse, whatever was measured.
const FURTHEST: f64 = 2.0;

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

/// Corrects a machine and the activations of a model by past [runs](RunIdentity) of the same model, computed and held in
/// the same formats on the same device.
///
/// Speeds are those of the last three runs of the same shape, or else of the same but for detailers, or else of any shape:
/// their median, so that a single odd run changes little. The disk behind a GPU is as fast as in the last runs of any model.
///
/// Memory is a promise, so activations are multiplied by the highest of measured over predicted in the last eight runs
/// where that differs by 3% or more, and the next prediction is enough. With three or more runs of the same shape, only
/// those count. It goes no further than twice or half. Runs that were stopped tell their speed only.
///
/// `machine` has the speeds that hold without any run, so that corrections do not add up. Without a run (a published
/// model that is not on this machine) nothing but the disk is corrected.
pub fn correct(outcomes: &[Outcome], run: Option<&RunIdentity>, machine: &Machine) -> Correction {
    let (alike, others) = run.map_or_else(Default::default, |run| comparable(outcomes, run, &machine.device));
    let speed = |of: fn(&Outcome) -> f64| {
        let measured = |runs: &[&Outcome]| {
            let speeds = runs.iter().map(|outcome| of(outcome)).filter(|speed| is_measured(*speed));
            median(speeds.take(RUNS_FOR_SPEED))
        };
        let near = others.iter().copied().filter(|outcome| {
            let shapes = outcome.run.as_ref().zip(run).map(|(own, run)| [own.shape, run.shape]);
            shapes.is_some_and(|[own, wanted]| own.differs_in_detailers_only(&wanted))
        });
        let near: Vec<&Outcome> = near.collect();
        measured(&alike).or_else(|| measured(&near)).or_else(|| measured(&others))
    };
    let mut corrected = machine.clone();
    if let Some(operations) = speed(|outcome| outcome.measured_operations_per_second) {
        corrected.operations_per_second = operations;
    }
    let own = speed(|outcome| outcome.measured_link_bytes_per_second);
    let (link, disk) = if machine.unified { (None, own) } else { (own, disk_of(outcomes)) };
    if let Some(speed) = link {
        corrected.link.bytes_per_second = speed;
    }
    if let Some(speed) = disk {
        corrected.disk.bytes_per_second = speed;
        corrected.disk_is_measured = true;
    }
    let last = last(alike, others);
    let activations = highest(
        last.iter().map(|outcome| outcome.measured_activations as f64 / outcome.predicted_activations as f64),
    );
    Correction {
        machine: corrected,
        activation_factor: settled(clamped(activations)),
        accuracy: accuracy(&last),
    }
}

/// Operations a second of those `parts` that [have a speed of their own](crate::checkpoint::Role::has_own_speed) and were
/// measured on a device, by their names. Runs of any model that had the part count, if they computed in the same dtype: the
/// median of the last three of the same shape, or else of any shape.
pub fn own_speeds(
    outcomes: &[Outcome],
    run: &RunIdentity,
    parts: &[PartFootprint],
    device: &str,
) -> BTreeMap<String, f64> {
    let on_device = outcomes.iter().rev().filter(|outcome| outcome.device == device);
    let runs = on_device.filter_map(|outcome| Some((outcome.run.as_ref()?, &outcome.speeds)));
    let runs = runs.filter(|(own, _)| own.dtype == run.dtype);
    let (alike, others): (Vec<_>, Vec<_>) = runs.partition(|(own, _)| own.shape == run.shape);
    let speed = |part: &PartFootprint| {
        let identity = part.identity();
        let measured = |runs: &[(&RunIdentity, &Vec<PartSpeed>)]| {
            let speeds = runs.iter().flat_map(|(_, speeds)| speeds.iter());
            let own = speeds.filter(|speed| speed.part == identity);
            let own = own.map(|speed| speed.operations_per_second).filter(|speed| is_measured(*speed));
            median(own.take(RUNS_FOR_SPEED))
        };
        Some((part.name.clone(), measured(&alike).or_else(|| measured(&others))?))
    };
    parts.iter().filter(|part| part.role.has_own_speed()).filter_map(speed).collect()
}

/// Bytes a second from disk in the last runs of any model: the median.
fn disk_of(outcomes: &[Outcome]) -> Option<f64> {
    let measured = outcomes.iter().rev().map(|outcome| outcome.measured_disk_bytes_per_second);
    median(measured.filter(|speed| is_measured(*speed)).take(RUNS))
}

/// A speed of 0 was not measured.
fn is_measured(speed: f64) -> bool {
    speed.is_finite() && speed > 0.0
}

/// The runs on a device that say something about another run, the last ones first: those of the same shape, and the
/// others.
fn comparable<'a>(
    outcomes: &'a [Outcome],
    run: &RunIdentity,
    device: &str,
) -> (Vec<&'a Outcome>, Vec<&'a Outcome>) {
    let on_device = outcomes.iter().rev().filter(|outcome| outcome.device == device);
    let own = |outcome: &&Outcome| outcome.run.as_ref().is_some_and(|own| own.differs_in_shape_only(run));
    on_device.filter(own).partition(|outcome| outcome.run.as_ref().is_some_and(|own| own.shape == run.shape))
}

/// The last runs that measured memory, those of the same shape first, and alone if they are enough.
fn last<'a>(mut alike: Vec<&'a Outcome>, mut others: Vec<&'a Outcome>) -> Vec<&'a Outcome> {
    let has_memory = |outcome: &&Outcome| outcome.measured_device > 0;
    alike.retain(has_memory);
    others.retain(has_memory);
    let others = if alike.len() < ENOUGH { others } else { Vec::new() };
    alike.into_iter().chain(others).take(RUNS).collect()
}

/// A factor that differs so little from 1 that following it would only move plans about.
fn settled(factor: f64) -> f64 {
    const NOISE: f64 = 0.03;
    if (factor - 1.0).abs() < NOISE { 1.0 } else { factor }
}

fn accuracy(outcomes: &[&Outcome]) -> Option<Accuracy> {
    let memory = spread(
        outcomes.iter().map(|outcome| error(outcome.predicted_device as f64, outcome.measured_device as f64)),
    )?;
    let time = spread(
        outcomes.iter().map(|outcome| error(outcome.predicted_step_seconds, outcome.measured_step_seconds)),
    );
    Some(Accuracy { runs: outcomes.len() as u32, memory, time })
}

fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured
}

fn clamped(factor: Option<f64>) -> f64 {
    factor.map_or(1.0, |factor| factor.clamp(1.0 / FURTHEST, FURTHEST))
}

/// The highest of what was measured. Predicted memory is a promise, so a few runs that took less do not lower it.
fn highest(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
    let highest = values.iter().copied().reduce(f64::max)?;
    Some(if values.len() < ENOUGH { highest.max(1.0) } else { highest })
}

fn spread(errors: impl Iterator<Item = f64>) -> Option<ErrorSpread> {
    let errors: Vec<f64> = errors.filter(|error| error.is_finite()).collect();
    let worst = errors.iter().copied().reduce(f64::max)?;
    Some(ErrorSpread { median: median(errors.into_iter())?, worst })
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
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
    use crate::{
        checkpoint::{Errors, Role},
        memory::{BlockFootprint, Link, PublishedBlocks, RunShape},
        precision::Storage,
        request::ComputeDtype,
    };

    fn machine() -> Machine {
        Machine {
            device: "CPU".to_owned(),
            unified: false,
            device_total: 0,
            device_budget: 0,
            host_budget: 0,
            link: Link { bytes_per_second: 10e9, latency: 0.0 },
            disk: Link { bytes_per_second: 1e9, latency: 0.0 },
            disk_is_measured: false,
            operations_per_second: 1e12,
            block_latency: 0.0,
            own_speeds: BTreeMap::new(),
        }
    }

    fn run() -> RunIdentity {
        RunIdentity {
            model: "0badcafe".to_owned(),
            dtype: ComputeDtype::F32,
            precisions: [Storage::Stored; 2],
            shape: RunShape {
                width: 512,
                height: 512,
                frames: 1,
                batch: 1,
                branches: 2,
                windows: None,
                references: 0,
                enlarged: None,
                detailers: 0,
            },
        }
    }

    fn outcome(operations: f64, activations: u64) -> Outcome {
        Outcome {
            model: "model".to_owned(),
            run: Some(run()),
            device: "CPU".to_owned(),
            predicted_device: 1100,
            measured_device: 1000,
            predicted_activations: 100,
            measured_activations: activations,
            predicted_step_seconds: 0.8,
            measured_step_seconds: 1.0,
            measured_operations_per_second: operations,
            measured_link_bytes_per_second: 0.0,
            measured_disk_bytes_per_second: 0.0,
            stages: Vec::new(),
            speeds: Vec::new(),
        }
    }

    fn outcome_of(run: RunIdentity) -> Outcome {
        Outcome { run: Some(run), ..outcome(9e12, 300) }
    }

    fn block(bytes: u64) -> BlockFootprint {
        BlockFootprint {
            name: "block".to_owned(),
            bytes,
            by_dtype: [bytes, 0, 0, 0],
            largest_tensor: bytes,
            file_bytes: bytes,
            parameters: bytes / 4,
            encoded: BTreeMap::new(),
            smaller: BTreeMap::new(),
        }
    }

    fn corrected(outcomes: &[Outcome]) -> Correction {
        correct(outcomes, Some(&run()), &machine())
    }

    #[test]
    fn without_runs_of_the_same_model_formats_and_device_nothing_changes() {
        let outcomes = [
            outcome_of(RunIdentity { model: "12345678".to_owned(), ..run() }),
            outcome_of(RunIdentity { dtype: ComputeDtype::Bf16, ..run() }),
            outcome_of(RunIdentity { precisions: [Storage::Nf4, Storage::Stored], ..run() }),
            Outcome { device: "GPU".to_owned(), ..outcome(9e12, 300) },
            Outcome { run: None, ..outcome(9e12, 300) },
        ];
        let unchanged = Correction { machine: machine(), activation_factor: 1.0, accuracy: None };
        assert_eq!(corrected(&outcomes), unchanged);
        assert_eq!(correct(&[outcome(9e12, 300)], None, &machine()), unchanged);
    }

    #[test]
    fn the_disk_is_as_fast_as_in_the_last_runs_of_any_model() {
        let read = |rate| Outcome { measured_disk_bytes_per_second: rate, run: None, ..outcome(0.0, 0) };
        let outcomes = [read(7e9), read(0.0), read(2e8), read(3e8)];
        let corrected = correct(&outcomes, None, &machine()).machine;
        assert!((corrected.disk.bytes_per_second - 3e8).abs() < 1.0 && corrected.disk_is_measured);
        let unified = Machine { unified: true, ..machine() };
        assert_eq!(correct(&outcomes, None, &unified).machine, unified);
    }

    #[test]
    fn a_run_of_the_same_shape_says_how_fast_the_next_one_is() {
        let large = RunIdentity { shape: RunShape { width: 1024, ..run().shape }, ..run() };
        let other = Outcome { measured_operations_per_second: 9e12, ..outcome_of(large) };
        let speed = |outcomes: &[Outcome]| corrected(outcomes).machine.operations_per_second;
        assert!(
            (speed(std::slice::from_ref(&other)) - 9e12).abs() < 1.0,
            "another shape is better than a guess"
        );
        let mut outcomes = vec![outcome(2e11, 100)];
        outcomes.extend(vec![other; 8]);
        assert!((speed(&outcomes) - 2e11).abs() < 1.0, "however far it is from the guess");
        outcomes.extend([4e11, 8e11, 5e11].map(|speed| outcome(speed, 100)));
        assert!((speed(&outcomes) - 5e11).abs() < 1.0, "the last three of them");
    }

    #[test]
    fn a_first_run_with_a_detailer_is_as_fast_as_those_without() {
        let with = RunIdentity { shape: RunShape { detailers: 1, ..run().shape }, ..run() };
        let large = RunIdentity { shape: RunShape { width: 1024, ..run().shape }, ..run() };
        let mut outcomes = vec![outcome(2e11, 100)];
        outcomes.extend(vec![outcome_of(large); 8]);
        let speed =
            |outcomes: &[Outcome]| correct(outcomes, Some(&with), &machine()).machine.operations_per_second;
        assert!((speed(&outcomes) - 2e11).abs() < 1.0, "whatever larger images took");
        outcomes.push(Outcome { measured_operations_per_second: 3e11, ..outcome_of(with.clone()) });
        assert!((speed(&outcomes) - 3e11).abs() < 1.0, "its own come first");
    }

    #[test]
    fn runs_of_the_same_shape_come_first() {
        let large = RunIdentity { shape: RunShape { width: 1024, ..run().shape }, ..run() };
        let mut outcomes = vec![outcome(1.5e12, 110); 2];
        outcomes.extend(vec![outcome_of(large); 8]);
        let mixed = corrected(&outcomes);
        assert_eq!(mixed.activation_factor, 2.0);
        assert_eq!(mixed.accuracy.unwrap().runs, 8);
        outcomes.insert(0, outcome(1.5e12, 110));
        let own = corrected(&outcomes);
        assert!((own.machine.operations_per_second - 1.5e12).abs() < 1.0);
        assert!((own.activation_factor - 1.1).abs() < 1e-9);
        assert_eq!(own.accuracy.unwrap().runs, 3);
    }

    #[test]
    fn a_part_is_as_fast_as_in_the_last_runs_of_any_model_that_had_it() {
        let part = |name: &str, role, blocks: &[u64]| PartFootprint {
            name: name.to_owned(),
            role,
            architecture: "network".to_owned(),
            blocks: blocks.iter().map(|bytes| block(*bytes)).collect(),
            published: PublishedBlocks::default(),
            errors: Errors::default(),
        };
        let parts = [
            part("upscaler", Role::Upscaler, &[8]),
            part("upscaler_2", Role::Upscaler, &[9]),
            part("denoiser", Role::Denoiser, &[8]),
        ];
        let ran = |speed: f64, run: RunIdentity| Outcome {
            speeds: parts[..1]
                .iter()
                .chain(&parts[2..])
                .map(|part| PartSpeed { part: part.identity(), operations_per_second: speed })
                .collect(),
            ..outcome_of(run)
        };
        let alone = || RunIdentity { model: "12345678".to_owned(), ..run() };
        let large = || RunIdentity { shape: RunShape { width: 1024, ..run().shape }, ..alone() };
        let speeds = |outcomes: &[Outcome]| own_speeds(outcomes, &run(), &parts, "CPU");
        let of_upscaler = |speed: f64| BTreeMap::from([("upscaler".to_owned(), speed)]);
        assert_eq!(speeds(&[ran(2e9, large())]), of_upscaler(2e9), "of any shape");
        assert_eq!(speeds(&[ran(3e9, alone()), ran(2e9, large())]), of_upscaler(3e9), "the same shape");
        let others = [
            Outcome { device: "GPU".to_owned(), ..ran(2e9, alone()) },
            ran(2e9, RunIdentity { dtype: ComputeDtype::Bf16, ..alone() }),
            ran(0.0, alone()),
        ];
        assert_eq!(speeds(&others), BTreeMap::new());
        let named = PartFootprint { name: "other".to_owned(), ..parts[0].clone() };
        assert_eq!(named.identity(), parts[0].identity());
    }

    #[test]
    fn an_outcome_from_before_identities_is_read_and_corrects_nothing() {
        let mut line = serde_json::to_value(outcome(9e12, 300)).unwrap();
        line.as_object_mut().unwrap().remove("run");
        let old: Outcome = serde_json::from_value(line).unwrap();
        assert_eq!(old.run, None);
        assert_eq!(corrected(&[old]).accuracy, None);
    }

    #[test]
    fn a_single_odd_run_changes_no_speed_but_is_believed_about_memory() {
        let mut outcomes = vec![outcome(1.2e12, 110); 7];
        outcomes.push(outcome(1e15, 130));
        let correction = corrected(&outcomes);
        assert!((correction.machine.operations_per_second - 1.2e12).abs() < 1.0);
        assert!((correction.activation_factor - 1.3).abs() < 1e-9);
        assert_eq!(correction.machine.link, machine().link);
    }

    #[test]
    fn a_run_or_two_that_took_less_lower_nothing() {
        for (runs, factor) in [(1, 1.0), (2, 1.0), (3, 0.8)] {
            let correction = corrected(&vec![outcome(1e12, 80); runs]);
            assert!((correction.activation_factor - factor).abs() < 1e-9);
        }
        assert_eq!(corrected(&[outcome(1e12, 102)]).activation_factor, 1.0);
    }

    #[test]
    fn stopped_runs_do_not_push_out_what_was_learned_of_memory() {
        let stopped = Outcome {
            predicted_device: 0,
            measured_device: 0,
            predicted_activations: 0,
            measured_activations: 0,
            ..outcome(2e12, 0)
        };
        let large = RunIdentity { shape: RunShape { width: 1024, ..run().shape }, ..run() };
        for finished in [outcome(1e12, 150), Outcome { run: Some(large), ..outcome(1e12, 150) }] {
            let mut outcomes = vec![finished];
            outcomes.extend(vec![stopped.clone(); 8]);
            let correction = corrected(&outcomes);
            assert!((correction.activation_factor - 1.5).abs() < 1e-9);
            assert_eq!(correction.accuracy.unwrap().runs, 1);
            assert!((correction.machine.operations_per_second - 2e12).abs() < 1.0, "speeds are those of all");
        }
        assert_eq!(corrected(&vec![stopped; 8]).accuracy, None);
    }

    #[test]
    fn runs_that_were_tried_out_say_nothing_about_the_formulas() {
        let tried = Outcome { predicted_activations: 0, ..outcome(1e12, 300) };
        assert_eq!(corrected(&vec![tried; 8]).activation_factor, 1.0);
    }

    #[test]
    fn only_the_last_eight_runs_count_and_activations_never_change_beyond_half() {
        let mut outcomes = vec![outcome(0.7e12, 80); 20];
        outcomes.extend(vec![outcome(5e12, 10); 7]);
        outcomes.push(Outcome { measured_device: 880, measured_step_seconds: 0.5, ..outcome(5e12, 10) });
        let correction = corrected(&outcomes);
        assert!((correction.machine.operations_per_second - 5e12).abs() < 1.0);
        assert!((correction.activation_factor - 0.5).abs() < 1e-9);
        let Accuracy { runs, memory, time } = correction.accuracy.unwrap();
        let time = time.unwrap();
        assert_eq!(runs, 8);
        assert!((memory.median - 0.1).abs() < 1e-9 && (memory.worst - 0.25).abs() < 1e-9);
        assert!((time.median - 0.2).abs() < 1e-9 && (time.worst - 0.6).abs() < 1e-9);
    }
}
