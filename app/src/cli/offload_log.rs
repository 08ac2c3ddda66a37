//! The offload log: where each block was loaded from, and how long the computation waited for it.

use std::collections::BTreeMap;

use sluice_engine::{
    memory::{Placement, Tier},
    telemetry::{BlockMark, BlockRecord, ComponentMark, MemorySample, StepRecord, TelemetryEvent},
    units,
};

use super::{
    progress::stage_name,
    table::{Align, table},
};

/// Sums up the events about blocks, and lists them in a table after each step and stage.
#[derive(Debug, Default)]
pub(super) struct OffloadLog {
    components: Vec<ComponentMark>,
    uses: BTreeMap<(u8, u16), Uses>,
    stage_began: u64,
    memory: Option<MemorySample>,
}

/// The uses of a block since the last table. Times in microseconds.
#[derive(Debug)]
struct Uses {
    count: u64,
    tier: Tier,
    bytes: u64,
    wait: u64,
    load: u64,
    compute: u64,
}

impl OffloadLog {
    /// The text to write after an event; mostly nothing.
    pub fn hear(&mut self, event: &TelemetryEvent) -> Option<String> {
        match event {
            TelemetryEvent::Plan(mark) => {
                self.components.clone_from(&mark.components);
                let budget = units::memory(mark.device_budget);
                Some(format!("plan for the {}: up to {budget} of its memory", mark.device))
            }
            TelemetryEvent::StageStarted { at, .. } => {
                self.stage_began = *at;
                None
            }
            TelemetryEvent::Block(record) => {
                self.add(record);
                None
            }
            TelemetryEvent::Memory(sample) => {
                self.memory = Some(*sample);
                None
            }
            TelemetryEvent::Step(StepRecord { step, steps, took, wait, bytes, reused, .. }) => {
                let reused = match reused {
                    0 => "",
                    _ => ", prediction reused",
                };
                let (took, wait) = (milliseconds(*took), milliseconds(*wait));
                let moved = units::memory(*bytes);
                self.table(&format!(
                    "step {step} of {steps}: {took}, {wait} of it waiting, {moved} moved{reused}"
                ))
            }
            TelemetryEvent::StageFinished { at, stage } => {
                let took = milliseconds(at.saturating_sub(self.stage_began));
                self.table(&format!("{}: {took}", stage_name(stage)))
            }
            TelemetryEvent::Note { text, .. } => Some(format!("note: {text}")),
        }
    }

    fn add(&mut self, record: &BlockRecord) {
        let &BlockRecord { component, block, wait, load, compute, bytes, tier, .. } = record;
        let none = Uses { count: 0, tier, bytes: 0, wait: 0, load: 0, compute: 0 };
        let uses = self.uses.entry((component, block)).or_insert(none);
        uses.count += 1;
        // A block that was loaded once stays; where it came from says more.
        uses.tier = uses.tier.min(tier);
        uses.bytes += bytes;
        uses.wait += wait;
        uses.load += load;
        uses.compute += compute;
    }

    /// The blocks that were used since the last table, if there were any.
    fn table(&mut self, heading: &str) -> Option<String> {
        let uses = std::mem::take(&mut self.uses);
        if uses.is_empty() {
            return None;
        }
        let rows: Vec<_> = uses.iter().map(|(&at, uses)| self.row(at, uses)).collect();
        let columns = [
            ("component", Align::Left),
            ("block", Align::Left),
            ("placement", Align::Left),
            ("from", Align::Left),
            ("size", Align::Right),
            ("moved", Align::Right),
            ("uses", Align::Right),
            ("wait", Align::Right),
            ("load", Align::Right),
            ("compute", Align::Right),
        ];
        let mut lines = vec![match &self.memory {
            Some(MemorySample { weights, activations, host, .. }) => format!(
                "{heading}; {} of weights and {} of activations on the device, {} in RAM",
                units::memory(*weights),
                units::memory(*activations),
                units::memory(*host)
            ),
            None => heading.to_owned(),
        }];
        lines.extend(table(columns, &rows).into_iter().map(|line| format!("  {line}")));
        Some(lines.join("\n"))
    }

    fn row(&self, (component, block): (u8, u16), uses: &Uses) -> [String; 10] {
        let mark = self.components.get(usize::from(component));
        let role = mark.map_or_else(|| component.to_string(), |mark| mark.role.to_string());
        let (name, placement, size) = match mark.and_then(|mark| mark.blocks.get(usize::from(block))) {
            Some(BlockMark { name, bytes, placement }) => {
                (name.clone(), placement_name(*placement), units::memory(*bytes))
            }
            None => (block.to_string(), "", String::new()),
        };
        [
            role,
            name,
            placement.to_owned(),
            tier_name(uses.tier).to_owned(),
            size,
            units::memory(uses.bytes),
            uses.count.to_string(),
            milliseconds(uses.wait / uses.count),
            milliseconds(uses.load / uses.count),
            milliseconds(uses.compute / uses.count),
        ]
    }
}

fn placement_name(placement: Placement) -> &'static str {
    match placement {
        Placement::Resident => "resident",
        Placement::Streamed => "streamed",
        Placement::Leaves | Placement::SharedLeaves => "by tensor",
    }
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Disk => "disk",
        Tier::Host => "RAM",
        Tier::Device => "device",
    }
}

fn milliseconds(microseconds: u64) -> String {
    format!("{:.1} ms", microseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        checkpoint::Role,
        memory::{Stage, StageKind},
        telemetry::PlanMark,
    };

    use super::*;

    fn used(block: u16, tier: Tier, wait: u64) -> TelemetryEvent {
        let (load, bytes) = if tier == Tier::Device { (0, 0) } else { (4000, 3 << 20) };
        TelemetryEvent::Block(BlockRecord {
            at: 0,
            component: 0,
            block,
            walk: 0,
            wait,
            load,
            compute: 5000,
            evict: 0,
            bytes,
            tier,
            slot: None,
        })
    }

    fn plan() -> TelemetryEvent {
        let block = |name: &str, placement| BlockMark { name: name.to_owned(), bytes: 3 << 20, placement };
        let blocks = vec![block("layers.0", Placement::Resident), block("layers.1", Placement::Streamed)];
        TelemetryEvent::Plan(PlanMark {
            at: 0,
            device: "RTX 3060".to_owned(),
            device_total: 12 << 30,
            device_budget: 11 << 30,
            stages: Vec::new(),
            components: vec![ComponentMark {
                part: "denoiser".to_owned(),
                role: Role::Denoiser,
                stage: Stage::new(1, StageKind::Denoise),
                blocks,
            }],
        })
    }

    #[test]
    fn a_step_lists_the_means_of_its_blocks() {
        let mut log = OffloadLog::default();
        assert_eq!(log.hear(&plan()).unwrap(), "plan for the RTX 3060: up to 11.0 GB of its memory");
        for (block, tier, wait) in
            [(0, Tier::Host, 4000), (1, Tier::Host, 100), (0, Tier::Device, 0), (1, Tier::Host, 300)]
        {
            assert_eq!(log.hear(&used(block, tier, wait)), None);
        }
        let step =
            StepRecord { at: 25_000, step: 1, steps: 8, took: 25_000, wait: 4400, bytes: 9 << 20, reused: 0 };
        let expected = "\
step 1 of 8: 25.0 ms, 4.4 ms of it waiting, 9.0 MB moved
  component  block     placement  from    size   moved  uses    wait    load  compute
  denoiser   layers.0  resident   RAM   3.0 MB  3.0 MB     2  2.0 ms  2.0 ms   5.0 ms
  denoiser   layers.1  streamed   RAM   3.0 MB  6.0 MB     2  0.2 ms  4.0 ms   5.0 ms";
        assert_eq!(log.hear(&TelemetryEvent::Step(step)).unwrap(), expected);
        let finished = TelemetryEvent::StageFinished { at: 25_000, stage: Stage::new(1, StageKind::Denoise) };
        assert_eq!(log.hear(&finished), None, "every block was in the table of its step");
    }

    #[test]
    fn a_stage_says_what_memory_held() {
        let mut log = OffloadLog::default();
        log.hear(&plan());
        log.hear(&TelemetryEvent::StageStarted { at: 1000, stage: Stage::new(0, StageKind::EncodePrompt) });
        log.hear(&used(1, Tier::Disk, 0));
        let sample = MemorySample { weights: 1 << 30, activations: 5 << 20, ..MemorySample::default() };
        log.hear(&TelemetryEvent::Memory(sample));
        let text = log
            .hear(&TelemetryEvent::StageFinished { at: 3500, stage: Stage::new(0, StageKind::EncodePrompt) })
            .unwrap();
        let heading =
            "encode: 2.5 ms; 1.0 GB of weights and 5.0 MB of activations on the device, 0 MB in RAM";
        assert_eq!(text.lines().next(), Some(heading));
        assert!(text.contains("layers.1  streamed   disk"), "{text}");
    }
}
