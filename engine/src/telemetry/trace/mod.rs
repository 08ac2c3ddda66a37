//! A trace for Perfetto and `chrome://tracing`, the format of `--trace FILE.json`.
//!
//! The file is the JSON object of Chrome's "Trace Event Format". Slices on one track must not overlap
//! (Perfetto drops those that do), so an overlapping slice is cut to start where the previous one ends.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    BlockRecord, MemorySample, PlanMark, Sink, StageMark, StepRecord, TelemetryError, TelemetryEvent,
    sink::GrowingFile,
};
use crate::memory::{Stage, Tier};

const PROCESS: u32 = 1;
const STAGES: u32 = 1;
const STEPS: u32 = 2;
const COMPUTE: u32 = 3;
const WAITING: u32 = 4;
const COPIES: u32 = 5;
/// The track of the first slot; the others follow.
const SLOTS: u32 = 6;

const TRACKS: [(u32, &str); 5] = [
    (STAGES, "stages"),
    (STEPS, "steps"),
    (COMPUTE, "compute"),
    (WAITING, "waiting for weights"),
    (COPIES, "copies without a slot"),
];

/// Completes the file as valid JSON.
const END: &str = "\n]}\n";

/// Writes a trace during the run. After every batch the file is valid JSON, so a program that is killed
/// leaves a trace that opens. (A pipe gets the end of the JSON only at the end of the run.)
pub struct TraceWriter {
    file: GrowingFile,
    rewrites_end: bool,
    ended: bool,
    latest: u64,
    /// The end of the last slice on each track.
    filled: BTreeMap<u32, u64>,
    stages: Vec<(Stage, u64)>,
    predicted: Vec<StageMark>,
    components: Vec<(String, Vec<String>)>,
    memory: Option<MemorySample>,
    copies: Copies,
}

impl TraceWriter {
    /// Creates the file and writes its beginning; replaces an existing file.
    pub fn create(path: &Path) -> Result<Self, TelemetryError> {
        let mut file = GrowingFile::create(path)?;
        let rewrites_end = file.can_step_back();
        let mut writer = Self {
            file,
            rewrites_end,
            ended: false,
            latest: 0,
            filled: BTreeMap::new(),
            stages: Vec::new(),
            predicted: Vec::new(),
            components: Vec::new(),
            memory: None,
            copies: Copies::default(),
        };
        writer.file.text("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
        writer.file.json(&metadata("process_name", 0, json!({ "name": "sluice" })))?;
        for (track, name) in TRACKS {
            writer.name_track(track, name)?;
        }
        writer.end()?;
        Ok(writer)
    }

    fn end(&mut self) -> Result<(), TelemetryError> {
        if self.rewrites_end {
            self.file.text(END)?;
            self.file.flush()?;
            self.ended = true;
        }
        Ok(())
    }

    fn go_on(&mut self) -> Result<(), TelemetryError> {
        if self.ended {
            self.file.step_back(END.len())?;
            self.ended = false;
        }
        Ok(())
    }

    fn event(&mut self, event: &TelemetryEvent) -> Result<(), TelemetryError> {
        match event {
            TelemetryEvent::Plan(plan) => self.plan(plan),
            TelemetryEvent::StageStarted { at, stage } => self.stage_started(*at, stage),
            TelemetryEvent::StageFinished { at, stage } => self.stage_finished(*at, stage),
            TelemetryEvent::Step(step) => self.step(step),
            TelemetryEvent::Block(record) => self.block(record),
            TelemetryEvent::Memory(sample) => self.sample(sample),
            TelemetryEvent::Note { at, text } => self.instant(*at, text, json!({})),
        }
    }

    fn plan(&mut self, plan: &PlanMark) -> Result<(), TelemetryError> {
        self.predicted.clone_from(&plan.stages);
        self.components = plan
            .components
            .iter()
            .map(|component| {
                (component.part.clone(), component.blocks.iter().map(|block| block.name.clone()).collect())
            })
            .collect();
        let args = json!({ "device": plan.device, "total": plan.device_total, "budget": plan.device_budget });
        self.instant(plan.at, "plan", args)
    }

    fn stage_started(&mut self, at: u64, stage: &Stage) -> Result<(), TelemetryError> {
        self.latest = self.latest.max(at);
        if self.stages.iter().all(|(open, _)| open != stage) {
            self.stages.push((stage.clone(), at));
        }
        let predicted =
            self.predicted.iter().find(|mark| mark.stage == *stage).map_or(0, |mark| mark.predicted);
        self.counter(at, "predicted peak", json!({ "bytes": predicted }))
    }

    fn stage_finished(&mut self, at: u64, stage: &Stage) -> Result<(), TelemetryError> {
        let Some(index) = self.stages.iter().position(|(open, _)| open == stage) else { return Ok(()) };
        let (_, start) = self.stages.remove(index);
        self.slice(STAGES, &stage.name.to_lowercase(), start, at, json!({}))?;
        self.counter(at, "predicted peak", json!({ "bytes": 0 }))
    }

    fn step(&mut self, step: &StepRecord) -> Result<(), TelemetryError> {
        let mut args =
            json!({ "step": step.step, "steps": step.steps, "wait": step.wait, "bytes": step.bytes });
        if step.reused > 0 {
            args["reused"] = step.reused.into();
        }
        let name = format!("step {}", step.step);
        self.slice(STEPS, &name, step.at.saturating_sub(step.took), step.at, args)
    }

    fn block(&mut self, record: &BlockRecord) -> Result<(), TelemetryError> {
        let (part, name) = self.name_of(record);
        let ready = record.at.saturating_add(record.wait);
        let done = ready.saturating_add(record.compute);
        let args = || json!({ "component": part, "walk": record.walk });
        if record.wait > 0 {
            self.slice(WAITING, &name, record.at, ready, args())?;
        }
        let mut of_use = args();
        of_use["wait"] = record.wait.into();
        of_use["evict"] = record.evict.into();
        of_use["tier"] = tier_name(record.tier).into();
        self.slice(COMPUTE, &name, ready, done, of_use)?;
        if record.load > 0 {
            let (start, end) = self.copies.place(record);
            let track = match record.slot {
                Some(slot) => self.slot_track(slot)?,
                None => COPIES,
            };
            let mut of_copy = args();
            of_copy["load"] = record.load.into();
            of_copy["bytes"] = record.bytes.into();
            of_copy["tier"] = tier_name(record.tier).into();
            self.slice(track, &name, start, end, of_copy)?;
        }
        Ok(())
    }

    /// Counters are written only when they change.
    fn sample(&mut self, sample: &MemorySample) -> Result<(), TelemetryError> {
        let device = |sample: &MemorySample| (sample.weights, sample.activations, sample.others);
        let host = |sample: &MemorySample| (sample.host, sample.pinned);
        let before = self.memory.replace(*sample);
        if before.as_ref().map(device) != Some(device(sample)) {
            let (weights, activations, others) = device(sample);
            let args = json!({ "weights": weights, "activations": activations, "others": others });
            self.counter(sample.at, "device memory", args)?;
        }
        if before.as_ref().map(host) != Some(host(sample)) {
            let pageable = sample.host.saturating_sub(sample.pinned);
            self.counter(sample.at, "host memory", json!({ "pinned": sample.pinned, "pageable": pageable }))?;
        }
        if before.map(|before| before.process) != Some(sample.process) {
            self.counter(sample.at, "process memory", json!({ "bytes": sample.process }))?;
        }
        Ok(())
    }

    fn name_of(&self, record: &BlockRecord) -> (String, String) {
        let component = self.components.get(usize::from(record.component));
        let part =
            component.map_or_else(|| format!("component {}", record.component), |(part, _)| part.clone());
        let name = component
            .and_then(|(_, blocks)| blocks.get(usize::from(record.block)).cloned())
            .unwrap_or_else(|| format!("block {}", record.block));
        (part, name)
    }

    fn slot_track(&mut self, slot: u8) -> Result<u32, TelemetryError> {
        let track = SLOTS + u32::from(slot);
        if !self.filled.contains_key(&track) {
            self.name_track(track, &format!("slot {slot}"))?;
        }
        Ok(track)
    }

    fn name_track(&mut self, track: u32, name: &str) -> Result<(), TelemetryError> {
        self.add(&metadata("thread_name", track, json!({ "name": name })))?;
        self.add(&metadata("thread_sort_index", track, json!({ "sort_index": track })))
    }

    fn slice(
        &mut self,
        track: u32,
        name: &str,
        start: u64,
        end: u64,
        args: Value,
    ) -> Result<(), TelemetryError> {
        let filled = self.filled.entry(track).or_default();
        let start = start.max(*filled);
        let end = end.max(start);
        *filled = end;
        self.latest = self.latest.max(end);
        let dur = Some(end - start);
        self.add(&TraceEvent { name, ph: "X", ts: start, dur, pid: PROCESS, tid: track, s: None, args })
    }

    fn instant(&mut self, at: u64, name: &str, args: Value) -> Result<(), TelemetryError> {
        self.latest = self.latest.max(at);
        let s = Some("p");
        self.add(&TraceEvent { name, ph: "i", ts: at, dur: None, pid: PROCESS, tid: STAGES, s, args })
    }

    fn counter(&mut self, at: u64, name: &str, args: Value) -> Result<(), TelemetryError> {
        self.latest = self.latest.max(at);
        self.add(&TraceEvent { name, ph: "C", ts: at, dur: None, pid: PROCESS, tid: 0, s: None, args })
    }

    fn add(&mut self, event: &TraceEvent<'_>) -> Result<(), TelemetryError> {
        self.file.text(",\n")?;
        self.file.json(event)
    }
}

impl Sink for TraceWriter {
    fn write(&mut self, events: &[TelemetryEvent]) -> Result<(), TelemetryError> {
        if events.is_empty() {
            return Ok(());
        }
        self.go_on()?;
        events.iter().try_for_each(|event| self.event(event))?;
        self.end()
    }

    /// Unfinished stages end with the last event.
    fn finish(&mut self) -> Result<(), TelemetryError> {
        self.go_on()?;
        let latest = self.latest;
        for (stage, start) in std::mem::take(&mut self.stages) {
            self.slice(STAGES, &stage.name.to_lowercase(), start, latest, json!({ "finished": false }))?;
        }
        self.file.text(END)?;
        self.ended = self.rewrites_end;
        self.file.finish()
    }
}

#[derive(Serialize)]
struct TraceEvent<'a> {
    name: &'a str,
    ph: &'static str,
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: Value,
}

fn metadata(name: &'static str, track: u32, args: Value) -> TraceEvent<'static> {
    TraceEvent { name, ph: "M", ts: 0, dur: None, pid: PROCESS, tid: track, s: None, args }
}

/// Reconstructs when copies took place. A record has the duration of a copy, not its start. But a link moves
/// one block at a time, a slot is refilled only after its previous block is done, and a block that was waited
/// for arrived when the wait ended.
#[derive(Default)]
struct Copies {
    link_free: u64,
    slot_free: BTreeMap<u8, u64>,
}

impl Copies {
    /// Start and end of the copy for a record.
    fn place(&mut self, record: &BlockRecord) -> (u64, u64) {
        let ready = record.at.saturating_add(record.wait);
        let slot_free = record.slot.and_then(|slot| self.slot_free.get(&slot).copied()).unwrap_or(0);
        let end = if record.wait > 0 {
            ready
        } else {
            self.link_free.max(slot_free).saturating_add(record.load).min(ready)
        };
        self.link_free = end;
        if let Some(slot) = record.slot {
            let released = ready.saturating_add(record.compute).saturating_add(record.evict);
            self.slot_free.insert(slot, released);
        }
        (end.saturating_sub(record.load), end)
    }
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Disk => "disk",
        Tier::Host => "host",
        Tier::Device => "device",
    }
}
