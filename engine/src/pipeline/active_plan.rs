//! The plan of a run, and how it changes during the run.

use std::{collections::BTreeMap, ops::Range};

use super::{LoadedModel, PipelineError, Resolved, RunOptions, estimate};
use crate::{
    checkpoint::Role,
    hardware::{OutOfMemory, Peaks, unmetered},
    memory::{
        self, BlockWork, Estimate, Footprint, Keep, Machine, Measured, MemoryPreferences, Outcome, PartSpeed,
        Plan, Residence, RunIdentity, StagePeak, StagePlan, Technique, UsePlan, Work, Workload, block_costs,
    },
    nn::Trace,
    residency::{BlockTimings, WeightStore},
    telemetry::{BlockMark, ComponentMark, PlanMark, StageMark},
    units,
};

/// The inputs of a run's planning, its plan, and the measurements.
pub struct ActivePlan {
    footprint: Footprint,
    workload: Workload,
    machine: Machine,
    preferences: MemoryPreferences,
    /// The placement of every block in every stage.
    pub plan: Plan,
    /// Peak memory of stages, by their indices.
    pub peaks: Vec<(usize, Peaks)>,
    /// The stage and the seconds of each step.
    pub steps: Vec<(usize, f64)>,
    activation_factor: f64,
    observed: Observed,
    /// What was learned of parts that have a speed of their own.
    speeds: Vec<PartSpeed>,
}

/// The times of the denoiser's blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Observed {
    operations: f64,
    compute: f64,
    /// What of both belongs to first steps, which also wait for memory that is touched for the first time.
    first_operations: f64,
    first_compute: f64,
    bytes: f64,
    load: f64,
    /// Bytes that all stores read from disk, and seconds.
    read: f64,
    reading: f64,
}

impl Observed {
    /// Adds the times of blocks and what they computed.
    fn add(&mut self, measured: &[BlockTimings], works: &[BlockWork]) {
        for (block, work) in measured.iter().zip(works) {
            self.operations += work.operations * f64::from(block.passes);
            self.compute += block.compute.as_secs_f64();
            self.bytes += block.bytes as f64;
            self.load += block.load.as_secs_f64();
        }
    }

    /// What was added since `before` belongs to the first step of a stage.
    fn was_first_since(&mut self, before: Self) {
        self.first_operations += self.operations - before.operations;
        self.first_compute += self.compute - before.compute;
    }

    /// Operations a second in the steps after the first ones, or else in all.
    fn operations_per_second(&self) -> f64 {
        let Self { operations, compute, first_operations, first_compute, .. } = *self;
        if operations > first_operations {
            return rate(operations - first_operations, compute - first_compute);
        }
        rate(operations, compute)
    }
}

/// Operations a second of blocks that computed for so many seconds, `latency` in each pass left out. `None` if blocks that
/// were planned did not pass, or passed more often than planned: what ran out of memory was done again.
fn own_speed(works: &[BlockWork], passed: &[BlockTimings], seconds: f64, latency: f64) -> Option<f64> {
    let blocks = || works.iter().zip(passed);
    let is_planned = |(work, block): (&BlockWork, &BlockTimings)| {
        block.passes <= work.passes && (block.passes > 0) == (work.passes > 0)
    };
    if !blocks().all(is_planned) {
        return None;
    }
    let operations: f64 = blocks().map(|(work, block)| work.operations * f64::from(block.passes)).sum();
    let passes: u32 = passed.iter().map(|block| block.passes).sum();
    let speed = rate(operations, seconds - latency * f64::from(passes));
    (speed > 0.0).then_some(speed)
}

/// An amount a second, or 0 if no time was measured.
fn rate(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

impl ActivePlan {
    /// Plans a request.
    ///
    /// # Errors
    /// When it does not fit in any way that the preferences allow.
    pub fn new(
        loaded: &LoadedModel,
        resolved: &Resolved,
        options: &RunOptions<'_>,
    ) -> Result<Self, PipelineError> {
        let model = &loaded.model;
        let mut machine = options.target.machine.clone();
        let workload = match options.memory.estimate {
            Estimate::Formula => unmetered(|| {
                let trace = Trace::new(options.target.computes());
                estimate::workload(model, resolved, &trace)
            })?
            .scaled(options.activation_factor),
            Estimate::Dryrun => {
                let trace = Trace::dry(options.target.computes(), loaded.dry_run());
                let workload = estimate::workload(model, resolved, &trace)?;
                if let Some(rate) = trace.tried_rate() {
                    machine.operations_per_second = rate;
                }
                workload
            }
        };
        let footprint = unmetered(|| loaded.footprint());
        let preferences = options.memory.clone();
        let plan =
            unmetered(|| memory::plan(&footprint, &workload, &machine, &preferences)).map_err(|error| {
                let least = memory::least_device_budget(&footprint, &workload, &machine, &preferences);
                let advice = memory::remedy(&machine, &error, least, preferences.mode);
                PipelineError::DoesNotFit { error: Box::new(error), advice }
            })?;
        Ok(Self {
            footprint,
            workload,
            machine,
            preferences,
            plan,
            peaks: Vec::new(),
            steps: Vec::new(),
            activation_factor: options.activation_factor,
            observed: Observed::default(),
            speeds: Vec::new(),
        })
    }

    /// The work of a part in a stage under the plan.
    fn work(&self, stage: usize, part: usize) -> Option<&Work> {
        let own = self.workload.stages.get(stage)?.uses.iter().find(|part_use| part_use.part == part)?;
        own.ways.get(self.plan.stages.get(stage)?.use_of(part)?.way)
    }

    /// Whether all windows of a long clip go through each block of a denoiser before the next one is loaded.
    pub fn takes_windows_together(&self, stage: usize, part: usize) -> bool {
        let uses = self.workload.stages.get(stage).map(|stage| stage.uses.as_slice()).unwrap_or_default();
        let ways = uses.iter().find(|part_use| part_use.part == part).map_or(0, |own| own.ways.len());
        let chosen = self.plan.stages.get(stage).and_then(|stage| stage.use_of(part));
        ways > 1 && chosen.is_some_and(|chosen| chosen.way == 0)
    }

    /// Bytes of activations that the plan reserves for the blocks of a part in a stage and that are free
    /// between two passes through them.
    pub fn free_between_walks(&self, stage: usize, part: usize) -> u64 {
        self.work(stage, part).map_or(0, |work| work.peak_activations().saturating_sub(work.carried))
    }

    /// The parts that stay on the device and are first used after this stage, with the blocks that they need.
    pub fn residents_of_later_stages(&self, stage: usize) -> Vec<(usize, Range<usize>)> {
        let uses_of = |part: usize| {
            let stages = self.plan.stages.iter().enumerate();
            stages.filter(move |(_, plan)| plan.use_of(part).is_some()).map(|(number, _)| number)
        };
        let parts = self.plan.parts.iter().enumerate();
        let residents = parts.filter(|(_, part)| part.residence == Residence::Resident);
        let later = residents.filter_map(|(part, _)| {
            let first = uses_of(part).next().filter(|&first| first > stage)?;
            Some((part, self.blocks_used(first, part)?))
        });
        later.collect()
    }

    /// The parts that a stage uses, with the blocks that it needs, in order.
    pub fn parts_used(&self, stage: usize) -> Vec<(usize, Range<usize>)> {
        let uses = self.plan.stages.get(stage).map(|stage| stage.uses.as_slice()).unwrap_or_default();
        uses.iter().filter_map(|own| Some((own.part, self.blocks_used(stage, own.part)?))).collect()
    }

    /// From the first to the last block of a part that a stage needs.
    fn blocks_used(&self, stage: usize, part: usize) -> Option<Range<usize>> {
        let is_used = |block: &BlockWork| block.passes > 0;
        let blocks = &self.work(stage, part)?.blocks;
        Some(blocks.iter().position(is_used)?..blocks.iter().rposition(is_used)? + 1)
    }

    /// Bytes of files that may wait in the system's cache until the run needs them. What it reads of them into RAM takes as
    /// much again.
    pub fn room_ahead(&self) -> u64 {
        let Machine { unified, device_budget, host_budget, .. } = self.machine;
        if unified { device_budget / 2 } else { host_budget / 2 }
    }

    /// Replans after memory ran out in stage `stage`, so that it needs less. Returns a description of the
    /// change.
    ///
    /// # Errors
    /// When nothing more can be saved.
    pub fn step_down(&mut self, stage: usize, error: OutOfMemory) -> Result<String, PipelineError> {
        // The refused allocation is the first that did not fit, rarely the last.
        let short_by = error.needed.saturating_sub(error.budget).max(error.budget / 50);
        let (footprint, workload) = (&self.footprint, &self.workload);
        let lower = memory::step_down(footprint, workload, &self.machine, &self.plan, stage, short_by);
        let Some(lower) = lower else { return Err(PipelineError::OutOfMemory(error)) };
        let reason = changes(&self.plan, &lower, error);
        self.plan = lower;
        Ok(reason)
    }

    /// Places the blocks of a denoising stage's part again, using the timings of its first step. Returns a
    /// description of the change.
    pub fn refit(&mut self, stage: usize, part: usize, store: &WeightStore) -> Option<String> {
        let before = self.observed;
        let measured = self.observe(stage, part, store);
        self.observed.was_first_since(before);
        let costs = block_costs(&self.footprint.parts[part], self.work(stage, part)?, &self.machine);
        let current = self.plan.stages[stage].use_of(part)?;
        let seconds: Vec<f64> = measured
            .iter()
            .map(|block| block.compute.as_secs_f64() / f64::from(block.passes.max(1)))
            .collect();
        let bytes_per_second = self.observed.bytes / self.observed.load;
        let technique = Technique::new(self.preferences.prefetch)
            .with_choice(self.preferences.residents)
            .with_keeps(self.plan.parts[part].keep != Keep::None);
        let technique = match self.plan.residence(current) {
            Residence::OnDemand => technique.without_residents(),
            _ => technique,
        };
        let measured = Measured { seconds: &seconds, bytes_per_second };
        let better = memory::refit(&costs, &self.machine, technique, current, measured)?;
        let moved =
            current.blocks.iter().zip(&better.blocks).filter(|(before, after)| before != after).count();
        self.plan.stages[stage].uses.iter_mut().filter(|own| own.part == part).for_each(|own| {
            own.clone_from(&better);
        });
        let blocks = if moved == 1 { "1 block".to_owned() } else { format!("{moved} blocks") };
        Some(format!("The timings of the first step changed the placement of {blocks}"))
    }

    /// Records the block timings of a denoising stage's part since the last call.
    pub fn observe(&mut self, stage: usize, part: usize, store: &WeightStore) -> Vec<BlockTimings> {
        let measured = store.take_measured();
        let mut observed = self.observed;
        observed.add(&measured, self.work(stage, part).map_or(&[], |work| &work.blocks));
        self.observed = observed;
        measured
    }

    /// Bytes a second over the link so far and as planned, if it is clearly slower.
    pub fn slow_link(&self) -> Option<[f64; 2]> {
        /// Seconds that copies must have taken to say something, and what they reach otherwise.
        const ENOUGH: f64 = 0.2;
        const USUAL: f64 = 0.8;
        let Observed { bytes, load, .. } = self.observed;
        let planned = self.machine.link.bytes_per_second;
        let is_slow = !self.machine.unified && load > ENOUGH && bytes / load < USUAL * planned;
        is_slow.then(|| [bytes / load, planned])
    }

    /// Records what the stores have read from disk since the last call.
    pub fn observe_reads(&mut self, stores: &[WeightStore]) {
        for read in stores.iter().map(WeightStore::take_read) {
            self.observed.read += read.bytes as f64;
            self.observed.reading += read.time.as_secs_f64();
        }
    }

    /// The part whose own speed a stage shows: it uses no other.
    pub fn part_to_learn(&self, stage: usize) -> Option<usize> {
        let [own] = self.plan.stages.get(stage)?.uses.as_slice() else { return None };
        self.footprint.parts[own.part].role.has_own_speed().then_some(own.part)
    }

    /// Records the speed of a part whose blocks passed in a stage, which took so many seconds without those that it waited
    /// for weights.
    pub fn learn(&mut self, stage: usize, part: usize, passed: &[BlockTimings], seconds: f64) {
        let Some(work) = self.work(stage, part) else { return };
        let Some(speed) = own_speed(&work.blocks, passed, seconds, self.machine.block_latency) else {
            return;
        };
        let part = self.footprint.parts[part].identity();
        self.speeds.push(PartSpeed { part, operations_per_second: speed });
    }

    /// The predicted and measured figures of `run`.
    pub fn outcome(&self, run: RunIdentity) -> Outcome {
        let [predicted_activations, measured_activations] = self.activations();
        let measured_device = self.peaks.iter().map(|(_, peaks)| peaks.device).max().unwrap_or(0);
        let Observed { bytes, load, read, reading, .. } = self.observed;
        Outcome {
            model: self.footprint.model.clone(),
            run: Some(run),
            device: self.machine.device.clone(),
            predicted_device: self.plan.peak_device(),
            measured_device,
            predicted_activations: match self.preferences.estimate {
                Estimate::Formula => (predicted_activations as f64 / self.activation_factor) as u64,
                Estimate::Dryrun => 0,
            },
            measured_activations,
            predicted_step_seconds: self.plan.seconds_per_step,
            measured_step_seconds: usual_step(&self.steps),
            measured_operations_per_second: self.observed.operations_per_second(),
            measured_link_bytes_per_second: rate(bytes, load),
            measured_disk_bytes_per_second: if self.machine.unified { 0.0 } else { rate(read, reading) },
            stages: self.stage_peaks(),
            speeds: self.speeds.clone(),
        }
    }

    /// What a run tells that ended without its images: how long its steps took, if there were some. It may not have reached its
    /// peak of memory.
    pub fn outcome_of_steps(&self, run: RunIdentity) -> Option<Outcome> {
        let outcome = Outcome {
            predicted_device: 0,
            measured_device: 0,
            predicted_activations: 0,
            measured_activations: 0,
            stages: Vec::new(),
            ..self.outcome(run)
        };
        (outcome.measured_step_seconds > 0.0).then_some(outcome)
    }

    /// Predicted and measured activations of the stage with the highest ratio of measured to predicted, so
    /// that the factor for the next prediction is enough for all stages. Stages that need little compared
    /// with others do not count.
    fn activations(&self) -> [u64; 2] {
        let largest = self.plan.stages.iter().map(|stage| stage.activations).max().unwrap_or(0);
        let counted = self.plan.stages.iter().filter(|stage| stage.activations >= largest / 4);
        let pairs = counted.map(|stage| [stage.activations, self.peak(stage, |peaks| peaks.activations)]);
        let part = |[predicted, measured]: [u64; 2]| measured as f64 / predicted.max(1) as f64;
        pairs.max_by(|one, other| part(*one).total_cmp(&part(*other))).unwrap_or_default()
    }

    /// The maximum of a peak in a stage.
    fn peak(&self, stage: &StagePlan, of: fn(&Peaks) -> u64) -> u64 {
        let own = self.peaks.iter().filter(|(measured, _)| *measured == stage.stage.number);
        own.map(|(_, peaks)| of(peaks)).max().unwrap_or(0)
    }

    fn stage_peaks(&self) -> Vec<StagePeak> {
        let stages = self.plan.stages.iter().map(|stage| StagePeak {
            stage: stage.stage.clone(),
            predicted: stage.device(),
            measured: self.peak(stage, |peaks| peaks.device),
        });
        stages.collect()
    }

    /// The plan for telemetry, to which later events refer.
    pub fn mark(&self, at: u64) -> PlanMark {
        let stages = self.plan.stages.iter();
        let stage_mark =
            |stage: &StagePlan| StageMark { stage: stage.stage.clone(), predicted: stage.device() };
        PlanMark {
            at,
            device: self.machine.device.clone(),
            device_total: self.machine.device_total,
            device_budget: self.machine.device_budget,
            stages: stages.clone().map(stage_mark).collect(),
            components: stages
                .flat_map(|stage| stage.uses.iter().map(|part_use| self.component_mark(stage, part_use)))
                .collect(),
        }
    }

    fn component_mark(&self, stage: &StagePlan, part_use: &UsePlan) -> ComponentMark {
        let part = &self.footprint.parts[part_use.part];
        let blocks = part.blocks.iter().zip(&part_use.blocks);
        ComponentMark {
            part: part.name.clone(),
            role: part.role,
            stage: stage.stage.clone(),
            blocks: blocks
                .map(|(block, plan)| BlockMark {
                    name: block.name.clone(),
                    bytes: block.bytes,
                    placement: plan.placement,
                })
                .collect(),
        }
    }
}

/// Seconds of a usual step after the first: the median, or the mean of the medians of several stages, by their steps.
fn usual_step(steps: &[(usize, f64)]) -> f64 {
    let mut stages: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (stage, seconds) in steps.iter().skip(1) {
        stages.entry(*stage).or_default().push(*seconds);
    }
    let (mut sum, mut count) = (0.0, 0);
    for mut seconds in stages.into_values() {
        seconds.sort_by(f64::total_cmp);
        sum += seconds[seconds.len() / 2] * seconds.len() as f64;
        count += seconds.len();
    }
    rate(sum, count as f64)
}

fn changes(before: &Plan, after: &Plan, error: OutOfMemory) -> String {
    let mut words = Vec::new();
    let roles = before.uses().map(|part_use| before.parts[part_use.part].role);
    for ((was, is), role) in before.uses().zip(after.uses()).zip(roles) {
        let resident = |plan: &UsePlan| {
            plan.blocks.iter().filter(|block| block.placement == memory::Placement::Resident).count()
        };
        let (stayed, stay) = (resident(was), resident(is));
        if stay < stayed {
            words.push(format!("{stay} instead of {stayed} {role} blocks stay on the device"));
        }
        if was.tile != is.tile
            && let Some(tile) = is.tile
        {
            words.push(match role {
                Role::Upscaler => format!("the image is enlarged in tiles of {tile}×{tile} pixels"),
                Role::Interpolator => format!("frames are interpolated in tiles of {tile}×{tile} pixels"),
                _ => format!("the image is decoded in tiles of {tile}×{tile} latents"),
            });
        }
        if was.way != is.way && is.tile.is_none() && role == Role::Denoiser {
            words.push("the windows of the clip are computed one after the other".to_owned());
        }
        if is.slots < was.slots && is.slots > 0 {
            words.push(format!("blocks are streamed through {} instead of {} slots", is.slots, was.slots));
        }
    }
    if words.is_empty() {
        words.push("weights are loaded in smaller pieces".to_owned());
    }
    let (needed, budget) = (units::memory_needed(error.needed), units::memory(error.budget));
    format!("Ran out of memory ({needed} needed, {budget} allowed). Now {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A step of two blocks that each compute `operations` in this time.
    fn step(observed: &mut Observed, operations: f64, millis: u64) {
        let block = BlockTimings {
            passes: 2,
            compute: Duration::from_millis(millis),
            bytes: 10,
            load: Duration::from_millis(1),
        };
        let work = BlockWork { operations: operations / 2.0, ..BlockWork::UNUSED };
        observed.add(&[block; 2], &[work; 2]);
    }

    #[test]
    fn the_usual_step_of_several_stages_is_their_mean() {
        assert_eq!(usual_step(&[]), 0.0);
        assert_eq!(usual_step(&[(1, 9.0)]), 0.0);
        assert_eq!(usual_step(&[(1, 9.0), (1, 1.0), (1, 5.0), (1, 2.0)]), 2.0);
        assert_eq!(usual_step(&[(1, 9.0), (1, 1.0), (1, 1.0), (1, 1.0), (5, 9.0)]), 3.0);
    }

    #[test]
    fn a_part_is_as_fast_as_its_stage_was() {
        let works = [3, 0, 1].map(|passes| BlockWork { passes, operations: 1e9, ..BlockWork::UNUSED });
        let passed =
            |passes: [u32; 3]| passes.map(|passes| BlockTimings { passes, ..BlockTimings::default() });
        let speed = |passes, seconds| own_speed(&works, &passed(passes), seconds, 0.5);
        assert_eq!(speed([3, 0, 1], 4.0), Some(2e9));
        assert_eq!(speed([2, 0, 1], 4.5), Some(1e9), "frames at a cut are not interpolated");
        assert_eq!(speed([0, 0, 1], 4.0), None, "the image was seen before");
        assert_eq!(speed([4, 0, 1], 4.0), None, "a tile was done again");
        assert_eq!(speed([3, 0, 1], 1.0), None, "no time is left");
    }

    #[test]
    fn first_steps_are_left_out_of_the_learned_rate() {
        let mut observed = Observed::default();
        assert_eq!(observed.operations_per_second(), 0.0);
        // Each of two stages has a first step that takes ten times as long.
        for _ in 0..2 {
            let before = observed;
            step(&mut observed, 1e9, 1000);
            observed.was_first_since(before);
            if observed.bytes < 30.0 {
                assert_eq!(observed.operations_per_second(), 1e9, "there is no other step yet");
            }
            step(&mut observed, 1e9, 100);
            step(&mut observed, 1e9, 100);
            assert!((observed.operations_per_second() / 1e10 - 1.0).abs() < 1e-12);
        }
        let is_near = (observed.load - 0.012).abs() < 1e-12;
        assert!(observed.bytes == 120.0 && is_near, "loading is learned from all of them: {observed:?}");
    }
}
