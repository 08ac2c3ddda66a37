//! What runs took, beside what they could have taken at the least.

use serde::Serialize;
use serde_json::Value;
use sluice_engine::{
    memory::{Outcome, Stage, StagePeak},
    telemetry::TelemetryEvent,
};
use sluice_tools::Ceilings;

use super::{
    run::{Ended, digest},
    way::Way,
};
use crate::cli::{
    table::{Align, table},
    units,
};

/// A way of placing weights within a budget, and what came of it.
pub(super) struct Row {
    pub way: Way,
    /// Bytes of the device.
    pub budget: Option<u64>,
    /// The run, or why there is none.
    pub run: Result<Run, String>,
}

/// What a run took. Times are seconds, amounts bytes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    first_step_seconds: f64,
    /// Of those after the first, the median.
    step_seconds: f64,
    predicted_step_seconds: f64,
    encode_seconds: f64,
    denoise_seconds: f64,
    decode_seconds: f64,
    /// The whole run.
    seconds: f64,
    /// On the device.
    peak: u64,
    predicted_peak: u64,
    /// The peak in each stage.
    stages: Vec<StagePeak>,
    /// Copies of weights in the host's memory.
    host_peak: u64,
    /// All memory of the process.
    process_peak: u64,
    /// Moved to the device in a step after the first: the median.
    step_bytes: u64,
    /// Moved in all steps.
    bytes: u64,
    /// How long blocks waited for weights in a step after the first: the median.
    step_stall_seconds: f64,
    /// In all steps.
    stall_seconds: f64,
    /// How long the blocks computed in a step after the first: the median.
    step_compute_seconds: f64,
    link_bytes_per_second: f64,
    operations_per_second: f64,
    /// Why it went on under other plans.
    replanned: Vec<String>,
    /// Digest of the latents after each step.
    latents: Option<String>,
    /// Digest of the pictures.
    pictures: String,
}

impl Run {
    /// From what the engine said and what telemetry has of it.
    pub fn new(ended: Ended, events: &[TelemetryEvent], latents: Option<String>) -> Self {
        let outcome = ended.outcome;
        let measured = |of: fn(&Outcome) -> f64| outcome.as_ref().map_or(0.0, of);
        let steps = steps(events);
        let later = &steps[steps.len().min(1)..];
        let stage = |wanted: Stage| {
            ended.stages.iter().filter(|(stage, _)| *stage == wanted).map(|(_, seconds)| seconds).sum()
        };
        let memory = |of: fn(&sluice_engine::telemetry::MemorySample) -> u64| {
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
            encode_seconds: stage(Stage::Encode),
            denoise_seconds: stage(Stage::Denoise),
            decode_seconds: stage(Stage::Decode),
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
            pictures: digest(ended.pictures.iter().map(|picture| picture.image.pixels.as_slice())),
        }
    }
}

struct Step {
    seconds: f64,
    stall: f64,
    compute: f64,
    bytes: u64,
}

/// What each step took. The blocks that were used since the step before it are its own.
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

/// All rows, and what a step takes at the least.
pub(super) struct Table {
    rows: Vec<Row>,
    /// Seconds that a step computes.
    compute: f64,
    /// Bytes a second over the link; that of each row where the device has none.
    link: Option<f64>,
}

impl Table {
    /// A step computes as long as it takes where everything stays, or as the blocks of the fastest row did where nothing
    /// of that kind was run.
    pub fn new(rows: Vec<Row>, ceilings: &Ceilings) -> Self {
        let runs = || rows.iter().filter_map(|row| Some((row.way, row.run.as_ref().ok()?)));
        let resident = runs().find(|(way, _)| *way == Way::Resident).map(|(_, run)| run.step_seconds);
        let computed = runs().map(|(_, run)| run.step_compute_seconds).reduce(f64::min);
        let compute = resident.filter(|seconds| *seconds > 0.0).or(computed).unwrap_or(0.0);
        let link = (!ceilings.unified).then_some(ceilings.pinned_bytes_per_second);
        Self { rows, compute, link }
    }

    /// The least seconds of a step that moves as many bytes.
    fn floor(&self, run: &Run) -> f64 {
        let link = self.link.unwrap_or(run.link_bytes_per_second);
        if run.step_bytes == 0 || link <= 0.0 {
            return self.compute;
        }
        self.compute.max(run.step_bytes as f64 / link)
    }

    /// Whether the latents of all runs are the same; nothing where they were not compared.
    pub fn exact(&self) -> Option<bool> {
        let runs = self.rows.iter().filter_map(|row| row.run.as_ref().ok());
        let latents: Vec<&String> = runs.filter_map(|run| run.latents.as_ref()).collect();
        let (first, others) = latents.split_first()?;
        (!others.is_empty()).then(|| others.iter().all(|other| other == first))
    }

    /// The rows with their floors.
    pub fn json(&self) -> Vec<Value> {
        let row = |row: &Row| {
            let mut described = match &row.run {
                Ok(run) => {
                    let floor = self.floor(run);
                    let mut described = serde_json::to_value(run).unwrap_or_default();
                    described["floor_seconds"] = floor.into();
                    described["over_floor"] = (run.step_seconds / floor).into();
                    described
                }
                Err(failure) => serde_json::json!({ "failure": failure }),
            };
            described["way"] = row.way.name().into();
            described["budget"] = row.budget.into();
            described
        };
        self.rows.iter().map(row).collect()
    }

    /// The rows for people.
    pub fn lines(&self) -> Vec<String> {
        let columns = [
            ("way", Align::Left),
            ("budget", Align::Right),
            ("step", Align::Right),
            ("floor", Align::Right),
            ("step / floor", Align::Right),
            ("predicted", Align::Right),
            ("peak", Align::Right),
            ("predicted", Align::Right),
            ("RAM", Align::Right),
            ("moved a step", Align::Right),
            ("stall a step", Align::Right),
            ("link", Align::Right),
            ("total", Align::Right),
            ("latents", Align::Left),
        ];
        let cells = |row: &Row| {
            let budget = row.budget.map_or_else(|| "all".to_owned(), units::memory);
            let mut cells = [const { String::new() }; 14];
            cells[0] = row.way.name().to_owned();
            cells[1] = budget;
            let Ok(run) = &row.run else {
                cells[13] = "not run".to_owned();
                return cells;
            };
            let floor = self.floor(run);
            cells[2] = units::seconds(run.step_seconds);
            cells[3] = units::seconds(floor);
            cells[4] = format!("{:.3}", run.step_seconds / floor);
            cells[5] = units::seconds(run.predicted_step_seconds);
            cells[6] = units::memory(run.peak);
            cells[7] = units::memory(run.predicted_peak);
            cells[8] = units::memory(run.process_peak);
            cells[9] = units::memory(run.step_bytes);
            cells[10] = units::seconds(run.step_stall_seconds);
            if run.step_bytes > 0 {
                cells[11] = format!("{:.1} GB/s", run.link_bytes_per_second / 1e9);
            }
            cells[12] = units::seconds(run.seconds);
            cells[13] = run.latents.as_ref().map_or_else(String::new, |latents| latents[..8].to_owned());
            cells
        };
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        let mut lines = table(columns, &rows);
        for row in &self.rows {
            if let Err(failure) = &row.run {
                let budget = row
                    .budget
                    .map_or_else(String::new, |budget| format!(" within {}", units::memory(budget)));
                lines.push(format!("{}{budget}: {failure}", row.way.name()));
            }
        }
        match self.exact() {
            Some(true) => lines.push("The latents of all runs are the same to the last bit.".to_owned()),
            Some(false) => {
                lines.push("The latents DIFFER: where weights are must not change them.".to_owned())
            }
            None => {}
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        memory::Tier,
        telemetry::{BlockRecord, StepRecord},
    };

    use super::*;

    fn run(step_seconds: f64, step_bytes: u64, latents: &str) -> Run {
        let run = Run::new(Ended::default(), &[], Some(latents.to_owned()));
        Run { step_seconds, step_bytes, ..run }
    }

    fn ceilings() -> Ceilings {
        Ceilings {
            device: "card".to_owned(),
            unified: false,
            transfer_bytes: 1,
            pinned_bytes_per_second: 1e9,
            pageable_bytes_per_second: 5e8,
            dtype: "bf16".to_owned(),
            matrix_side: 1,
            operations_per_second: 1.0,
        }
    }

    #[test]
    fn the_floor_is_the_larger_of_computing_and_moving() {
        let row = |way, run| Row { way, budget: None, run: Ok(run) };
        let rows = vec![
            row(Way::Resident, run(2.0, 0, "a0000000")),
            row(Way::Streamed, run(2.2, 1_000_000_000, "a0000000")),
            row(Way::Prefix, run(4.5, 4_000_000_000, "a0000000")),
        ];
        let table = Table::new(rows, &ceilings());
        let floors: Vec<f64> =
            table.json().iter().map(|row| row["floor_seconds"].as_f64().unwrap()).collect();
        assert_eq!(floors, [2.0, 2.0, 4.0]);
        assert_eq!(table.exact(), Some(true));
        assert!(table.lines()[2].contains("1.100"), "{:?}", table.lines());
    }

    #[test]
    fn latents_that_differ_are_said_to() {
        let row = |latents: &str| Row { way: Way::Auto, budget: None, run: Ok(run(1.0, 0, latents)) };
        let failed = Row { way: Way::Prefix, budget: Some(1), run: Err("too little".to_owned()) };
        let table = Table::new(vec![row("a0000000"), failed, row("b0000000")], &ceilings());
        assert_eq!(table.exact(), Some(false));
        assert!(table.lines().last().unwrap().contains("DIFFER"));
        assert!(table.lines()[2].ends_with("not run"), "{:?}", table.lines());
        assert!(
            table.lines().contains(&"prefix within 0.1 MB: too little".to_owned()),
            "{:?}",
            table.lines()
        );
        assert_eq!(Table::new(vec![row("a0000000")], &ceilings()).exact(), None);
    }

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
        let stage = TelemetryEvent::StageStarted { at: 0, stage: Stage::Denoise };
        let events =
            [block.clone(), stage, block.clone(), step(3_000_000), block.clone(), block, step(4_000_000)];
        let run = Run::new(Ended::default(), &events, None);
        assert_eq!((run.first_step_seconds, run.step_seconds), (3.0, 4.0));
        assert_eq!((run.step_compute_seconds, run.step_stall_seconds), (2.0, 0.5));
        assert_eq!((run.step_bytes, run.bytes), (7, 14));
    }
}
