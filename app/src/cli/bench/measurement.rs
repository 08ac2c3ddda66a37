//! Measurements of a run, from the engine's events and telemetry.

use serde::Serialize;
use sluice_engine::{
    memory::{Outcome, Stage, StageKind, StagePeak},
    session::Picture,
    telemetry::{MemorySample, TelemetryEvent},
};

use super::digest::digest;

/// The engine's reports on a run.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub stages: Vec<(Stage, f64)>,
    /// Why the plan changed.
    pub replanned: Vec<String>,
    pub outcome: Option<Outcome>,
    pub seconds: f64,
    pub pictures: Vec<Picture>,
}

/// The measurements of a run, in seconds and bytes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub first_step_seconds: f64,
    /// The median of the steps after the first.
    pub step_seconds: f64,
    pub predicted_step_seconds: f64,
    pub encode_seconds: f64,
    pub denoise_seconds: f64,
    pub decode_seconds: f64,
    /// Duration of the whole run.
    pub seconds: f64,
    /// Peak bytes on the device.
    pub peak: u64,
    pub predicted_peak: u64,
    /// The peak in each stage.
    pub stages: Vec<StagePeak>,
    /// Peak bytes of weight copies in RAM.
    pub host_peak: u64,
    /// Peak bytes of the process.
    pub process_peak: u64,
    /// Bytes moved to the device per step: the median of the steps after the first.
    pub step_bytes: u64,
    /// Bytes moved by all steps.
    pub bytes: u64,
    /// Time a step waits for weights: the median of the steps after the first.
    pub step_stall_seconds: f64,
    /// Time all steps waited for weights.
    pub stall_seconds: f64,
    /// Time the blocks of a step compute: the median of the steps after the first.
    pub step_compute_seconds: f64,
    pub link_bytes_per_second: f64,
    pub operations_per_second: f64,
    /// Why the plan changed.
    pub replanned: Vec<String>,
    /// Digest of the latents after each step.
    pub latents: Option<String>,
    /// Digest of the images.
    pub pictures: String,
}

impl Run {
    /// Combines the engine's events and the telemetry.
    pub fn new(ended: Ended, events: &[TelemetryEvent], latents: Option<String>) -> Self {
        let outcome = ended.outcome;
        let measured = |of: fn(&Outcome) -> f64| outcome.as_ref().map_or(0.0, of);
        let steps = steps(events);
        let later = &steps[steps.len().min(1)..];
        let stage = |wanted: StageKind| {
            let of_kind = ended.stages.iter().filter(|(stage, _)| stage.kind == wanted);
            of_kind.map(|(_, seconds)| seconds).sum::<f64>()
        };
        let frames = ended.pictures.iter().flat_map(|picture| picture.media.frames());
        let pixels = frames.map(|frame| frame.pixels.as_slice());
        let memory = |of: fn(&MemorySample) -> u64| {
            let samples = events.iter().filter_map(|event| match event {
                TelemetryEvent::Memory(sample) => Some(of(sample)),
                _ => None,
            });
            samples.max().unwrap_or(0)
        };
        Self {
            first_step_seconds: steps.first().map_or(0.0, |step| step.seconds),
            step_seconds: median(later, |step| step.seconds),
            predicted_step_seconds: measured(|outcome| outcome.predicted_step_seconds),
            encode_seconds: stage(StageKind::EncodeImage) + stage(StageKind::EncodePrompt),
            denoise_seconds: stage(StageKind::Denoise),
            decode_seconds: stage(StageKind::Decode),
            seconds: ended.seconds,
            peak: outcome.as_ref().map_or(0, |outcome| outcome.measured_device),
            predicted_peak: outcome.as_ref().map_or(0, |outcome| outcome.predicted_device),
            stages: outcome.as_ref().map_or_else(Vec::new, |outcome| outcome.stages.clone()),
            host_peak: memory(|sample| sample.host),
            process_peak: memory(|sample| sample.process),
            step_bytes: median(later, |step| step.bytes as f64) as u64,
            bytes: steps.iter().map(|step| step.bytes).sum(),
            step_stall_seconds: median(later, |step| step.stall),
            stall_seconds: steps.iter().map(|step| step.stall).sum(),
            step_compute_seconds: median(later, |step| step.compute),
            link_bytes_per_second: measured(|outcome| outcome.measured_link_bytes_per_second),
            operations_per_second: measured(|outcome| outcome.measured_operations_per_second),
            replanned: ended.replanned,
            latents,
            pictures: digest(pixels),
        }
    }
}

struct Step {
    pub seconds: f64,
    stall: f64,
    compute: f64,
    bytes: u64,
}

/// The measurements of each step. Blocks used since the previous step belong to it.
fn steps(events: &[TelemetryEvent]) -> Vec<Step> {
    let seconds = |micros: u64| micros as f64 / 1e6;
    let (mut steps, mut compute) = (Vec::new(), 0);
    for event in events {
        match event {
            TelemetryEvent::StageStarted { .. } => compute = 0,
            TelemetryEvent::Block(block) => compute += block.compute,
            TelemetryEvent::Step(step) => {
                steps.push(Step {
                    seconds: seconds(step.took),
                    stall: seconds(step.wait),
                    compute: seconds(compute),
                    bytes: step.bytes,
                });
                compute = 0;
            }
            _ => {}
        }
    }
    steps
}

fn median(steps: &[Step], of: impl Fn(&Step) -> f64) -> f64 {
    let mut values: Vec<f64> = steps.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        memory::Tier,
        telemetry::{BlockRecord, StepRecord},
    };

    use super::*;

    #[test]
    fn a_step_has_the_blocks_since_the_last_one() {
        let block = TelemetryEvent::Block(BlockRecord {
            at: 0,
            component: 1,
            block: 0,
            walk: 0,
            wait: 10,
            load: 20,
            compute: 1_000_000,
            evict: 0,
            bytes: 5,
            tier: Tier::Host,
            slot: None,
        });
        let step = |took| {
            let record = StepRecord { at: 0, step: 1, steps: 2, took, wait: 500_000, bytes: 7, reused: 0 };
            TelemetryEvent::Step(record)
        };
        let stage = TelemetryEvent::StageStarted { at: 0, stage: Stage::new(1, StageKind::Denoise) };
        let events =
            [block.clone(), stage, block.clone(), step(3_000_000), block.clone(), block, step(4_000_000)];
        let run = Run::new(Ended::default(), &events, None);
        assert_eq!((run.first_step_seconds, run.step_seconds), (3.0, 4.0));
        assert_eq!((run.step_compute_seconds, run.step_stall_seconds), (2.0, 0.5));
        assert_eq!((run.step_bytes, run.bytes), (7, 14));
    }
}
