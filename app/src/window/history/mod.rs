//! The window's record of a run: bounded in size, and without its own clock.

mod blocks;
mod decimated;
mod memory;
mod rate;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use blocks::{BlockHistory, BlockState, Totals, block_states};
pub use memory::MemoryPoint;

use sluice_engine::{
    checkpoint::Role,
    memory::Stage,
    telemetry::{BlockRecord, ComponentMark, MemoryPeaks, PlanMark, StepRecord, TelemetryEvent},
};

use decimated::Decimated;
use rate::LinkRate;

const MEMORY_POINTS: usize = 4096;
const STEP_POINTS: usize = 2048;
const STAGE_BANDS: usize = 256;
const NOTES: usize = 64;
/// The device of a plan without a GPU.
const CPU: &str = "CPU";

/// A stage from start to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageBand {
    /// The stage.
    pub stage: Stage,
    /// Start in microseconds.
    pub start: u64,
    /// End in microseconds; `None` while it runs.
    pub finish: Option<u64>,
    /// Peak memory during the stage.
    pub peaks: MemoryPeaks,
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Time in microseconds.
    pub at: u64,
    /// The text.
    pub text: String,
}

/// One run as far as it is known. Each run has its own history.
#[derive(Debug, Clone)]
pub struct History {
    plan: Option<PlanMark>,
    latest: u64,
    stages: VecDeque<StageBand>,
    notes: VecDeque<Note>,
    memory: Decimated<MemoryPoint>,
    peaks: MemoryPeaks,
    steps: Decimated<StepRecord>,
    last_step: Option<StepRecord>,
    components: Vec<ComponentHistory>,
    totals: Totals,
    step_totals: Totals,
    since_step: Totals,
    link: LinkRate,
}

#[derive(Debug, Clone, Default)]
struct ComponentHistory {
    blocks: Vec<BlockHistory>,
    last: Option<BlockRecord>,
    slots: usize,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// An empty history.
    pub fn new() -> Self {
        Self {
            plan: None,
            latest: 0,
            stages: VecDeque::new(),
            notes: VecDeque::new(),
            memory: Decimated::new(MEMORY_POINTS),
            peaks: MemoryPeaks::default(),
            steps: Decimated::new(STEP_POINTS),
            last_step: None,
            components: Vec::new(),
            totals: Totals::default(),
            step_totals: Totals::default(),
            since_step: Totals::default(),
            link: LinkRate::default(),
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: &TelemetryEvent) {
        match event {
            TelemetryEvent::Plan(plan) => self.push_plan(plan),
            TelemetryEvent::StageStarted { at, stage } => {
                self.see(*at);
                self.since_step = Totals::default();
                let peaks = MemoryPeaks::default();
                let band = StageBand { stage: stage.clone(), start: *at, finish: None, peaks };
                push_bounded(&mut self.stages, band, STAGE_BANDS);
            }
            TelemetryEvent::StageFinished { at, stage } => {
                self.see(*at);
                if let Some(band) = self.open_band(stage) {
                    band.finish = Some(*at);
                }
            }
            TelemetryEvent::Step(step) => {
                self.see(step.at);
                self.steps.push(*step);
                self.last_step = Some(*step);
                self.step_totals = std::mem::take(&mut self.since_step);
            }
            TelemetryEvent::Block(record) => self.push_block(record),
            TelemetryEvent::Memory(sample) => {
                self.see(sample.at);
                self.peaks.include(sample);
                self.memory.push(MemoryPoint::new(*sample));
                for band in self.stages.iter_mut().filter(|band| band.finish.is_none()) {
                    band.peaks.include(sample);
                }
            }
            TelemetryEvent::Note { at, text } => {
                self.see(*at);
                push_bounded(&mut self.notes, Note { at: *at, text: text.clone() }, NOTES);
            }
        }
    }

    /// Adds events, in the order in which they were observed.
    pub fn extend<'a>(&mut self, events: impl IntoIterator<Item = &'a TelemetryEvent>) {
        events.into_iter().for_each(|event| self.push(event));
    }

    /// Blocks keep their history when the plan changes; their placement is that of the new plan.
    fn push_plan(&mut self, plan: &PlanMark) {
        self.see(plan.at);
        let before = self.plan.take();
        let known = |index: usize, mark: &ComponentMark| {
            before
                .as_ref()
                .and_then(|plan| plan.components.get(index))
                .is_some_and(|known| same_blocks(known, mark))
        };
        let mut components = std::mem::take(&mut self.components).into_iter();
        self.components = plan
            .components
            .iter()
            .enumerate()
            .map(|(index, mark)| {
                let kept = components.next().filter(|_| known(index, mark)).unwrap_or_default();
                let mut blocks = kept.blocks;
                blocks.resize_with(mark.blocks.len(), BlockHistory::default);
                ComponentHistory { blocks, last: kept.last, slots: 0 }
            })
            .collect();
        self.plan = Some(plan.clone());
    }

    fn push_block(&mut self, record: &BlockRecord) {
        self.see(blocks::end(record));
        self.totals.add(record);
        self.since_step.add(record);
        self.link.add(record);
        let Some(component) = self.components.get_mut(usize::from(record.component)) else { return };
        let Some(block) = component.blocks.get_mut(usize::from(record.block)) else { return };
        block.latest = Some(*record);
        block.totals.add(record);
        component.last = Some(*record);
        if let Some(slot) = record.slot {
            component.slots = component.slots.max(usize::from(slot) + 1);
        }
    }

    fn see(&mut self, at: u64) {
        self.latest = self.latest.max(at);
    }

    fn open_band(&mut self, stage: &Stage) -> Option<&mut StageBand> {
        self.stages.iter_mut().rev().find(|band| band.stage == *stage && band.finish.is_none())
    }

    /// Whether the run is planned for the CPU, which has no memory of its own.
    pub fn is_on_cpu(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.device == CPU)
    }

    /// The current plan.
    pub fn plan(&self) -> Option<&PlanMark> {
        self.plan.as_ref()
    }

    /// The time of the latest observation in microseconds: the end of the time axis.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// The stages in the order in which they began, at most the last 256.
    pub fn stages(&self) -> impl DoubleEndedIterator<Item = &StageBand> + ExactSizeIterator {
        self.stages.iter()
    }

    /// The current stage.
    pub fn stage(&self) -> Option<&Stage> {
        self.stages.iter().rev().find(|band| band.finish.is_none()).map(|band| &band.stage)
    }

    /// The messages for the user, at most the last 64.
    pub fn notes(&self) -> impl DoubleEndedIterator<Item = &Note> + ExactSizeIterator {
        self.notes.iter()
    }

    /// Memory use over time, at most 4096 points.
    pub fn memory(&self) -> &[MemoryPoint] {
        self.memory.points()
    }

    /// Number of samples per point of [`History::memory`].
    pub fn samples_a_point(&self) -> u64 {
        self.memory.stride()
    }

    /// The maximum of all samples.
    pub fn peaks(&self) -> MemoryPeaks {
        self.peaks
    }

    /// Denoising steps, at most 2048 entries; each is the slowest of the steps it represents.
    pub fn steps(&self) -> &[StepRecord] {
        self.steps.points()
    }

    /// The latest step.
    pub fn last_step(&self) -> Option<StepRecord> {
        self.last_step
    }

    /// The histories of a component's blocks, in order; empty if the plan has no such component.
    pub fn blocks(&self, component: usize) -> &[BlockHistory] {
        self.components.get(component).map_or(&[], |component| &component.blocks)
    }

    /// The component used last in the running stage, or else its first one.
    pub fn component_in_use(&self) -> Option<usize> {
        let stage = self.stage()?;
        let of_stage = |(index, mark): (usize, &ComponentMark)| (mark.stage == *stage).then_some(index);
        let used = |index: &usize| self.components[*index].last.map(|last| blocks::end(&last));
        let marks = &self.plan.as_ref()?.components;
        let indices = || marks.iter().enumerate().filter_map(of_stage);
        indices().filter(|index| used(index).is_some()).max_by_key(used).or_else(|| indices().next())
    }

    /// The estimated states of a component's blocks at the latest observation; see [`block_states`]. Blocks
    /// of an inactive component are idle: residency in a plan applies during a stage, not between stages.
    pub fn states(&self, component: usize) -> Vec<BlockState> {
        let mark = self.plan.as_ref().and_then(|plan| plan.components.get(component));
        let (Some(mark), Some(known)) = (mark, self.components.get(component)) else { return Vec::new() };
        if self.component_in_use() != Some(component) {
            return vec![BlockState::Idle; mark.blocks.len()];
        }
        block_states(mark, &known.blocks, known.last.as_ref(), known.slots, self.latest)
    }

    /// Index of the denoiser among the plan's components.
    pub fn denoiser(&self) -> Option<usize> {
        self.plan.as_ref()?.components.iter().position(|component| component.role == Role::Denoiser)
    }

    /// Totals over all uses of blocks in this run.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Totals over the uses of blocks in the last denoising step.
    pub fn step_totals(&self) -> Totals {
        self.step_totals
    }

    /// Bytes per second to the device over the last second. A copy becomes known when its block was used, so
    /// the second ends with the latest known copy; 0 when copying has stopped.
    pub fn link_bytes_per_second(&self) -> f64 {
        self.link.bytes_per_second(self.latest)
    }
}

fn same_blocks(a: &ComponentMark, b: &ComponentMark) -> bool {
    a.part == b.part
        && a.stage == b.stage
        && a.blocks.iter().map(|block| &block.name).eq(b.blocks.iter().map(|block| &block.name))
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, bound: usize) {
    if queue.len() == bound {
        queue.pop_front();
    }
    queue.push_back(item);
}
