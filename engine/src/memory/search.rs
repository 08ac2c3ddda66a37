//! Placements of whole models: what each use of a part can do within which bytes, and the best for all together.

use std::{cell::RefCell, cmp::Reverse, collections::HashMap, ops::Range, rc::Rc};

use super::{
    BlockCost, Bound, BytesByDtype, Candidate, Footprint, HostRoom, Keep, Machine, MemoryPreferences,
    OffloadMode, PartPlan, PartUse, Plan, Residence, Simulation, Stage, StageKind, StagePlan, Technique,
    Tier, UsePlan, Work, Workload, block_costs,
    candidate::Layout,
    footprint::most_of_each,
    pareto::{placements, times},
    part::Part,
};

/// Slots that host buffers are reserved for unless their number is chosen.
const USUAL_SLOTS: u64 = 2;

/// How each part is placed, in the footprint's order.
pub(super) type Row = Vec<Residence>;

/// A row of residences, and a level of ways: 0 for the largest tiles and all windows of a clip together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub row: Row,
    pub level: usize,
}

/// Nanoseconds of a step and of a run, and bytes that move again with every walk.
pub(super) type Merit = (u64, u64, u64);

/// What can be done in one use of a part.
pub(super) type Front = Rc<Vec<Rc<Candidate>>>;

/// A placement for every use of a part.
pub(super) struct Solution {
    pub shape: Shape,
    pub chosen: Vec<Rc<Candidate>>,
}

/// A use of a part: where it stands in the workload.
#[derive(Debug, Clone, Copy)]
struct Use<'a> {
    stage: usize,
    work: &'a PartUse,
}

type Key = (usize, Residence, usize, HostRoom, Technique);

/// The search over one model, one request and one machine. It remembers what it worked out.
pub(super) struct Search<'a> {
    footprint: &'a Footprint,
    workload: &'a Workload,
    machine: &'a Machine,
    tile: Option<u32>,
    host_budget: u64,
    /// What stays of each part for the next run.
    keep: Rc<[Keep]>,
    /// In the workload's order; everywhere else they are known by their numbers in this list.
    uses: Rc<[Use<'a>]>,
    fronts: RefCell<HashMap<Key, Front>>,
    nothing: Work,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        footprint: &'a Footprint,
        workload: &'a Workload,
        machine: &'a Machine,
        preferences: &MemoryPreferences,
    ) -> Self {
        let of_stage = |(stage, work): (usize, &'a super::StageWork)| {
            let known = work.uses.iter().filter(|work| work.part < footprint.parts.len());
            known.map(move |work| Use { stage, work })
        };
        Self {
            footprint,
            workload,
            machine,
            tile: preferences.tile,
            host_budget: if machine.unified { u64::MAX } else { machine.host_budget },
            keep: footprint.parts.iter().map(|part| preferences.keep(part)).collect(),
            uses: workload.stages.iter().enumerate().flat_map(of_stage).collect(),
            fronts: RefCell::default(),
            nothing: Work { tile: None, carried: 0, blocks: Vec::new() },
        }
    }

    /// The same search where parts keep for the next run what they keep under a plan.
    pub(super) fn keeping_as(self, plan: &Plan) -> Self {
        Self { keep: plan.parts.iter().map(|part| part.keep).collect(), ..self }
    }

    /// The same search with other memory in the host.
    pub(super) fn with_host_budget(&self, host_budget: u64) -> Self {
        Self {
            host_budget,
            keep: Rc::clone(&self.keep),
            uses: Rc::clone(&self.uses),
            fronts: RefCell::default(),
            nothing: self.nothing.clone(),
            ..*self
        }
    }

    pub(super) fn footprint(&self) -> &'a Footprint {
        self.footprint
    }

    pub(super) fn machine(&self) -> &'a Machine {
        self.machine
    }

    pub(super) fn stages(&self) -> Range<usize> {
        0..self.workload.stages.len()
    }

    pub(super) fn parts(&self) -> Range<usize> {
        0..self.footprint.parts.len()
    }

    pub(super) fn uses(&self) -> Range<usize> {
        0..self.uses.len()
    }

    /// The uses of parts in a stage.
    pub(super) fn uses_in(&self, stage: usize) -> impl Iterator<Item = usize> {
        self.uses().filter(move |&number| self.uses[number].stage == stage)
    }

    /// The uses of a part in all stages.
    fn uses_of(&self, part: usize) -> impl Iterator<Item = usize> {
        self.uses().filter(move |&number| self.part(number) == part)
    }

    /// The part that is used.
    pub(super) fn part(&self, number: usize) -> usize {
        self.uses[number].work.part
    }

    /// The stage that it is used in.
    pub(super) fn stage(&self, number: usize) -> usize {
        self.uses[number].stage
    }

    /// The name of a stage in sentences.
    pub(super) fn stage_name(&self, stage: usize) -> String {
        self.workload.stages[stage].name.to_lowercase()
    }

    /// Whether its walks are denoising steps.
    pub(super) fn denoises(&self, number: usize) -> bool {
        self.workload.stages[self.stage(number)].kind == StageKind::Denoise
    }

    /// The number of levels of ways, at least one: all sizes of tiles, for each way of denoising.
    pub(super) fn levels(&self) -> usize {
        self.tilings() * self.most_ways(true)
    }

    /// The number of levels that differ in their tiles.
    fn tilings(&self) -> usize {
        if self.tile.is_some() { 1 } else { self.most_ways(false) }
    }

    /// The most ways of a use that denoises, or of one that does not.
    fn most_ways(&self, denoising: bool) -> usize {
        let uses = self.uses().filter(|&number| self.denoises(number) == denoising);
        uses.map(|number| self.uses[number].work.ways.len()).max().unwrap_or(1).max(1)
    }

    /// The level of a plan with these uses.
    pub(super) fn level_of(&self, uses: &[&UsePlan]) -> usize {
        let way = |denoising: bool| {
            let own = uses.iter().enumerate().filter(|(number, _)| self.denoises(*number) == denoising);
            own.map(|(_, part_use)| part_use.way).max().unwrap_or(0)
        };
        way(true) * self.tilings() + way(false).min(self.tilings() - 1)
    }

    /// The levels that take less memory than a level, with tiles that are not larger.
    pub(super) fn levels_below(&self, level: usize) -> impl Iterator<Item = usize> {
        let tilings = self.tilings();
        (level + 1..self.levels()).filter(move |below| below % tilings >= level % tilings)
    }

    /// Which way a part takes at a level. A wanted size of tiles decides alone for parts that have tiles: the largest way
    /// whose tiles are not larger, or the smallest there is.
    pub(super) fn way(&self, number: usize, level: usize) -> usize {
        let ways = &self.uses[number].work.ways;
        let last = ways.len().saturating_sub(1);
        if self.denoises(number) {
            return (level / self.tilings()).min(last);
        }
        match self.tile {
            Some(side) => {
                let fits = |way: &Work| way.tile.is_some_and(|tile| tile <= side);
                ways.iter().position(fits).unwrap_or(last)
            }
            None => (level % self.tilings()).min(last),
        }
    }

    pub(super) fn work(&self, number: usize, level: usize) -> &Work {
        self.uses[number].work.ways.get(self.way(number, level)).unwrap_or(&self.nothing)
    }

    /// Whether nothing is tiled at a level.
    pub(super) fn is_whole(&self, level: usize) -> bool {
        self.uses().all(|number| self.work(number, level).tile.is_none())
    }

    /// Bytes of activations in a stage at a level.
    pub(super) fn activations(&self, stage: usize, level: usize) -> u64 {
        self.uses_in(stage).map(|number| self.work(number, level).peak_activations()).max().unwrap_or(0)
    }

    pub(super) fn costs(&self, number: usize, level: usize) -> Vec<BlockCost> {
        let part = &self.footprint.parts[self.part(number)];
        block_costs(part, self.work(number, level), self.machine)
    }

    /// Which of a part's blocks any stage has use for.
    fn needed(&self, part: usize, level: usize) -> Vec<bool> {
        let mut needed = vec![false; self.footprint.parts[part].blocks.len()];
        for number in self.uses_of(part) {
            for (needed, work) in needed.iter_mut().zip(&self.work(number, level).blocks) {
                *needed |= work.passes > 0;
            }
        }
        needed
    }

    /// Bytes of those blocks.
    fn needed_bytes(&self, part: usize, level: usize) -> Vec<u64> {
        let blocks = self.footprint.parts[part].blocks.iter().zip(self.needed(part, level));
        blocks.filter(|(_, needed)| *needed).map(|(block, _)| block.bytes).collect()
    }

    /// Bytes of a slot for any of those blocks.
    fn slot_bytes(&self, part: usize, level: usize) -> u64 {
        let blocks = self.footprint.parts[part].blocks.iter().zip(self.needed(part, level));
        let needed = blocks.filter(|(_, needed)| *needed).map(|(block, _)| block.by_dtype);
        needed.fold(BytesByDtype::default(), most_of_each).iter().sum()
    }

    /// Whether the part that is used keeps copies in the host's memory for the next run.
    pub(super) fn keeps_copies(&self, number: usize) -> bool {
        self.keep[self.part(number)] != Keep::None
    }

    /// Every placement of a use that is worth its bytes, from the fewest bytes to the most.
    pub(super) fn front(&self, number: usize, shape: &Shape, room: HostRoom, technique: Technique) -> Front {
        let residence = shape.row[self.part(number)];
        let technique = technique.with_keeps(self.keeps_copies(number));
        let key = (number, residence, self.way(number, shape.level), room, technique);
        if let Some(known) = self.fronts.borrow().get(&key) {
            return Rc::clone(known);
        }
        let costs = self.costs(number, shape.level);
        let part = Part::new(&costs, self.machine, self.denoises(number));
        let found = match residence {
            Residence::Resident => {
                let needed = self.needed(self.part(number), shape.level);
                vec![Rc::new(Layout::kept(&part, &needed).played(&part, 0))]
            }
            Residence::Staged => {
                vec![Rc::new(Layout::whole(&part, room.copies, technique.keeps).played(&part, 0))]
            }
            Residence::Streamed => placements(&part, technique, room),
            Residence::OnDemand => {
                placements(&part, technique.without_residents(), HostRoom { copies: 0, ..room })
            }
        };
        let found = Rc::new(found);
        self.fronts.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    /// The fronts of all uses under a shape.
    pub(super) fn fronts(&self, shape: &Shape, technique: Technique) -> Vec<Front> {
        let rooms = self.host_rooms(shape, technique);
        self.uses().map(|number| self.front(number, shape, rooms[number], technique)).collect()
    }

    /// What each use of a part may take of the host's memory. It depends on what the parts are made of alone and not on
    /// the device, so that placements can be chosen one by one: parts with the most walks first, what they would take
    /// if all their blocks had copies. A part that gets less shares it out among the stages that it is used in.
    pub(super) fn host_rooms(&self, shape: &Shape, technique: Technique) -> Vec<HostRoom> {
        let needed: Vec<Vec<u64>> = self.parts().map(|part| self.needed_bytes(part, shape.level)).collect();
        let wants = |part: usize| match shape.row[part] {
            Residence::Staged | Residence::Streamed => {
                needed[part].iter().copied().fold(0, u64::saturating_add)
            }
            Residence::Resident | Residence::OnDemand => 0,
        };
        let slots = if technique.fewest_slots == technique.most_slots {
            u64::from(technique.fewest_slots)
        } else {
            USUAL_SLOTS
        };
        let buffers = |residences: &[Residence]| {
            let passing = self.parts().filter(|&part| residences.contains(&shape.row[part]));
            let largest = passing.map(|part| self.slot_bytes(part, shape.level)).max().unwrap_or(0);
            largest.saturating_mul(slots).min(self.host_budget)
        };
        let wanted: Vec<u64> = self.parts().map(wants).collect();
        let all = wanted.iter().copied().fold(0, u64::saturating_add);
        let enough =
            all.checked_add(buffers(&[Residence::OnDemand])).is_some_and(|all| all <= self.host_budget);
        let reserve = if enough { 0 } else { buffers(&[Residence::Streamed, Residence::OnDemand]) };
        let mut order: Vec<usize> = self.parts().collect();
        order.sort_by_key(|&part| {
            let works = self.uses_of(part).flat_map(|number| &self.work(number, shape.level).blocks);
            Reverse(works.map(|work| work.passes).max())
        });
        let mut left = self.host_budget - reserve;
        let mut copies = vec![0; wanted.len()];
        for part in order {
            copies[part] = wanted[part].min(left);
            left -= copies[part];
        }
        let staging = left.saturating_add(reserve).min(self.host_budget);
        let room = |number: usize| {
            let part = self.part(number);
            let short = copies[part] < wanted[part];
            let passes = match shape.row[part] {
                Residence::Streamed => short,
                Residence::OnDemand => true,
                Residence::Resident | Residence::Staged => false,
            };
            let largest = self.slot_bytes(part, shape.level);
            let most = largest.saturating_mul(u64::from(technique.most_slots) + 1);
            // Rooms that make no difference are made the same, so that their placements are found once.
            let staging = if passes && staging < most { staging } else { u64::MAX };
            let shares = if short { self.uses_of(part).count() as u64 } else { 1 };
            HostRoom { copies: copies[part] / shares, staging }
        };
        self.uses().map(room).collect()
    }

    /// Bytes on the device that stay in all stages.
    pub(super) fn held(&self, shape: &Shape) -> u64 {
        let resident = self.parts().filter(|&part| shape.row[part] == Residence::Resident);
        resident.flat_map(|part| self.needed_bytes(part, shape.level)).fold(0, u64::saturating_add)
    }

    /// Bytes of each stage besides the weights of the part in use.
    pub(super) fn base(&self, shape: &Shape) -> Vec<u64> {
        let held = self.held(shape);
        self.stages().map(|stage| held.saturating_add(self.activations(stage, shape.level))).collect()
    }

    /// The fewest bytes that a shape takes in each stage; `None` if the host's memory does not allow it.
    pub(super) fn least(&self, shape: &Shape, technique: Technique) -> Option<Vec<u64>> {
        let base = self.base(shape);
        let mut least = base.clone();
        for (number, front) in self.uses().zip(self.fronts(shape, technique)) {
            let (stage, weights) = (self.stage(number), front.first()?.device());
            if shape.row[self.part(number)] != Residence::Resident {
                least[stage] = least[stage].max(base[stage].saturating_add(weights));
            }
        }
        Some(least)
    }

    /// The best placement of each use within so many bytes of the device; `None` if they do not fit.
    pub(super) fn choose(
        &self,
        shape: &Shape,
        fronts: &[Front],
        base: &[u64],
        limit: u64,
    ) -> Option<Vec<Rc<Candidate>>> {
        let best = |number: usize| {
            let room = limit.checked_sub(base[self.stage(number)])?;
            let front = &fronts[number];
            if shape.row[self.part(number)] == Residence::Resident {
                return front.first().cloned();
            }
            let fitting = front.partition_point(|candidate| candidate.device() <= room);
            front.get(fitting.checked_sub(1)?).cloned()
        };
        self.uses().map(best).collect()
    }

    /// [`choose`](Self::choose) for one shape alone.
    pub(super) fn solve(&self, shape: &Shape, limit: u64, technique: Technique) -> Option<Solution> {
        let fronts = self.fronts(shape, technique);
        let chosen = self.choose(shape, &fronts, &self.base(shape), limit)?;
        Some(Solution { shape: shape.clone(), chosen })
    }

    /// How good placements are; less is better.
    pub(super) fn merit(&self, chosen: &[Rc<Candidate>]) -> Merit {
        let mut merit = (0u64, 0u64, 0u64);
        for (number, candidate) in chosen.iter().enumerate() {
            let (step, run) = times(candidate, self.denoises(number));
            merit.0 = merit.0.saturating_add(step);
            merit.1 = merit.1.saturating_add(run);
            merit.2 = merit.2.saturating_add(candidate.moved);
        }
        merit
    }

    /// The plan that follows a solution.
    pub(super) fn plan(&self, solution: &Solution, mode: OffloadMode) -> Plan {
        let parts = self.footprint.parts.iter().zip(&solution.shape.row).zip(&*self.keep);
        let parts = parts.map(|((part, &residence), &keep)| PartPlan {
            name: part.name.clone(),
            role: part.role,
            residence,
            keep,
        });
        let stages: Vec<StagePlan> = self.stages().map(|stage| self.stage_plan(solution, stage)).collect();
        Plan {
            mode,
            device_budget: self.machine.device_budget,
            host_budget: self.machine.host_budget,
            parts: parts.collect(),
            seconds_per_step: self.seconds_per_step(solution),
            seconds: stages.iter().map(|stage| stage.seconds).sum(),
            stages,
        }
    }

    fn stage_plan(&self, solution: &Solution, stage: usize) -> StagePlan {
        let Solution { shape, chosen } = solution;
        let work = &self.workload.stages[stage];
        let uses = || self.uses_in(stage);
        let passing = uses().filter(|&number| shape.row[self.part(number)] != Residence::Resident);
        let passing: Vec<&Candidate> = passing.map(|number| &*chosen[number]).collect();
        let weights = passing.iter().map(|candidate| candidate.weights).max().unwrap_or(0);
        let device = passing.iter().map(|candidate| candidate.device()).max().unwrap_or(0);
        let staging = uses().map(|number| chosen[number].staging).max().unwrap_or(0);
        let times: Vec<&Simulation> = uses().map(|number| &chosen[number].simulation).collect();
        let longest = times.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        StagePlan {
            stage: Stage { number: stage, kind: work.kind, name: work.name.clone() },
            uses: uses().map(|number| self.use_plan(solution, number)).collect(),
            weights: self.held(shape).saturating_add(weights),
            kept: 0,
            activations: self.activations(stage, shape.level).saturating_add(device - weights),
            host: self.copies(chosen).saturating_add(staging),
            link_bytes: times.iter().map(|times| times.link_bytes).sum(),
            disk_bytes: times.iter().map(|times| times.disk_bytes).sum(),
            seconds: times.iter().map(|times| times.seconds).sum(),
            bound: longest.map_or(Bound::Compute, |times| times.bound),
        }
    }

    fn use_plan(&self, Solution { shape, chosen }: &Solution, number: usize) -> UsePlan {
        let candidate = &chosen[number];
        UsePlan {
            part: self.part(number),
            blocks: candidate.blocks.clone(),
            slots: candidate.slots,
            slot_bytes: candidate.slot_bytes,
            way: self.way(number, shape.level),
            tile: self.work(number, shape.level).tile,
        }
    }

    /// Bytes of copies in the host's memory; a block that has one in several stages has one.
    fn copies(&self, chosen: &[Rc<Candidate>]) -> u64 {
        let of_part = |part: usize| {
            let blocks = self.footprint.parts[part].blocks.iter().enumerate();
            let has_copy = |block: usize| {
                self.uses_of(part).any(|number| {
                    chosen[number].blocks.get(block).is_some_and(|plan| plan.home == Tier::Host)
                })
            };
            blocks
                .filter(|(index, _)| has_copy(*index))
                .map(|(_, block)| block.bytes)
                .fold(0, u64::saturating_add)
        };
        self.parts().map(of_part).fold(0, u64::saturating_add)
    }

    /// Walks are not steps: some samplers walk twice a step.
    fn seconds_per_step(&self, Solution { shape, chosen }: &Solution) -> f64 {
        if self.workload.steps == 0 {
            return 0.0;
        }
        let walks = |number: usize| {
            let blocks = &self.work(number, shape.level).blocks;
            blocks.iter().map(|block| block.passes).max().unwrap_or(0)
        };
        let seconds = |number: usize| chosen[number].simulation.steady * f64::from(walks(number));
        let denoising = self.uses().filter(|&number| self.denoises(number));
        denoising.map(seconds).sum::<f64>() / f64::from(self.workload.steps)
    }
}
