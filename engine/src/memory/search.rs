//! Placements of whole models: what each component can do within which bytes, and the best for all together.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    BlockCost, Bound, ComponentPlan, Footprint, HostRoom, Machine, MemoryPreferences, OffloadMode, Placed,
    Plan, Residence, Simulation, Stage, StagePlan, Technique, Work, Workload, block_costs,
    family::{ladder, members, times},
};

/// All stages, in their order.
pub(super) const STAGES: [Stage; 3] = [Stage::Encode, Stage::Denoise, Stage::Decode];

/// Slots that buffers are reserved for in the host's memory when nobody says how many.
const USUAL_SLOTS: u64 = 2;

/// How each component is placed, in the footprint's order.
pub(super) type Row = Vec<Residence>;

/// Bytes that may be taken on the device in each stage.
pub(super) type Limits = [u64; 3];

/// The same bytes in all stages.
pub(super) fn everywhere(bytes: u64) -> Limits {
    [bytes; 3]
}

/// A row of residences, and a level of ways: 0 for the largest tiles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub row: Row,
    pub level: usize,
}

/// Nanoseconds of a step and of a run, and bytes that move again with every walk.
pub(super) type Merit = (u64, u64, u64);

/// A placement of all components.
pub(super) struct Solution {
    pub shape: Shape,
    pub placed: Vec<Rc<Placed>>,
}

type Key = (usize, Residence, usize, HostRoom, Technique);

/// The search over one model, one request and one machine. It remembers what it worked out.
pub(super) struct Search<'a> {
    footprint: &'a Footprint,
    workload: &'a Workload,
    machine: &'a Machine,
    tile: Option<u32>,
    host_budget: u64,
    ladders: RefCell<HashMap<Key, Rc<Vec<Rc<Placed>>>>>,
    nothing: Work,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        footprint: &'a Footprint,
        workload: &'a Workload,
        machine: &'a Machine,
        preferences: &MemoryPreferences,
    ) -> Self {
        Self {
            footprint,
            workload,
            machine,
            tile: preferences.tile,
            host_budget: if machine.unified { u64::MAX } else { machine.host_budget },
            ladders: RefCell::default(),
            nothing: Work { tile: None, carried: 0, blocks: Vec::new() },
        }
    }

    /// The same search with other memory in the host.
    pub(super) fn with_host_budget(&self, host_budget: u64) -> Self {
        Self { host_budget, ladders: RefCell::default(), nothing: self.nothing.clone(), ..*self }
    }

    pub(super) fn footprint(&self) -> &'a Footprint {
        self.footprint
    }

    pub(super) fn machine(&self) -> &'a Machine {
        self.machine
    }

    pub(super) fn components(&self) -> std::ops::Range<usize> {
        0..self.footprint.components.len().min(self.workload.components.len())
    }

    /// The number of levels of ways, at least one.
    pub(super) fn levels(&self) -> usize {
        if self.tile.is_some() {
            return 1;
        }
        self.components().map(|index| self.workload.components[index].ways.len()).max().unwrap_or(1).max(1)
    }

    /// Which way a component takes at a level. A wanted size of tiles decides alone: the largest way whose
    /// tiles are not larger, or the smallest there is.
    pub(super) fn way(&self, component: usize, level: usize) -> usize {
        let ways = &self.workload.components[component].ways;
        let last = ways.len().saturating_sub(1);
        match self.tile {
            Some(side) => {
                let fits = |way: &Work| way.tile.is_some_and(|tile| tile <= side);
                ways.iter().position(fits).unwrap_or(last)
            }
            None => level.min(last),
        }
    }

    pub(super) fn work(&self, component: usize, level: usize) -> &Work {
        let way = self.way(component, level);
        self.workload.components[component].ways.get(way).unwrap_or(&self.nothing)
    }

    /// Whether nothing is tiled at a level.
    pub(super) fn is_whole(&self, level: usize) -> bool {
        self.components().all(|index| self.work(index, level).tile.is_none())
    }

    pub(super) fn stage(&self, component: usize) -> Stage {
        self.workload.components[component].stage
    }

    /// Bytes of activations in a stage at a level.
    pub(super) fn activations(&self, stage: Stage, level: usize) -> u64 {
        let own = self.components().filter(|&index| self.stage(index) == stage);
        own.map(|index| self.work(index, level).peak_activations()).max().unwrap_or(0)
    }

    pub(super) fn costs(&self, component: usize, level: usize) -> Vec<BlockCost> {
        block_costs(&self.footprint.components[component], self.work(component, level), self.machine)
    }

    /// Every placement of a component that is worth its bytes, from the fewest bytes to the most.
    pub(super) fn ladder(
        &self,
        component: usize,
        shape: &Shape,
        room: HostRoom,
        technique: Technique,
    ) -> Rc<Vec<Rc<Placed>>> {
        let residence = shape.row[component];
        let key = (component, residence, self.way(component, shape.level), room, technique);
        if let Some(known) = self.ladders.borrow().get(&key) {
            return Rc::clone(known);
        }
        let costs = self.costs(component, shape.level);
        let steps = self.stage(component) == Stage::Denoise;
        let technique = match residence {
            Residence::OnDemand => technique.without_residents(),
            _ => technique,
        };
        let room = match residence {
            Residence::OnDemand => HostRoom { copies: 0, ..room },
            _ => room,
        };
        let found = match residence {
            Residence::Resident => vec![Rc::new(Placed::whole(&costs, self.machine, 0))],
            Residence::Staged => vec![Rc::new(Placed::whole(&costs, self.machine, room.copies))],
            Residence::Streamed | Residence::OnDemand => {
                ladder(members(&costs, self.machine, technique, room, steps), steps)
            }
        };
        let found = Rc::new(found);
        self.ladders.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    /// The ladders of all components under a shape.
    pub(super) fn ladders(&self, shape: &Shape, technique: Technique) -> Vec<Rc<Vec<Rc<Placed>>>> {
        let rooms = self.host_rooms(shape, technique);
        self.components().map(|index| self.ladder(index, shape, rooms[index], technique)).collect()
    }

    /// Each component's part of the host's memory. It depends on what they are made of alone and not on the
    /// device, so that their placements can be chosen one by one: those with the most walks first, what they
    /// would take if all their blocks had copies.
    pub(super) fn host_rooms(&self, shape: &Shape, technique: Technique) -> Vec<HostRoom> {
        let used = |index: usize| -> Vec<u64> {
            let costs = self.costs(index, shape.level);
            costs.iter().filter(|cost| cost.passes > 0).map(|cost| cost.bytes).collect()
        };
        let wants = |index: usize| match shape.row[index] {
            Residence::Staged | Residence::Streamed => {
                used(index).into_iter().fold(0u64, u64::saturating_add)
            }
            Residence::Resident | Residence::OnDemand => 0,
        };
        let slots = if technique.fewest_slots == technique.most_slots {
            u64::from(technique.fewest_slots)
        } else {
            USUAL_SLOTS
        };
        let buffers = |residences: &[Residence]| {
            let passing = self.components().filter(|&index| residences.contains(&shape.row[index]));
            let largest = passing.flat_map(used).max().unwrap_or(0);
            largest.saturating_mul(slots).min(self.host_budget)
        };
        let wanted: Vec<u64> = self.components().map(wants).collect();
        let all = wanted.iter().copied().fold(0, u64::saturating_add);
        let enough =
            all.checked_add(buffers(&[Residence::OnDemand])).is_some_and(|all| all <= self.host_budget);
        let reserve = if enough { 0 } else { buffers(&[Residence::Streamed, Residence::OnDemand]) };
        let mut order: Vec<usize> = self.components().collect();
        order.sort_by_key(|&index| {
            let costs = self.costs(index, shape.level);
            std::cmp::Reverse(costs.iter().map(|cost| cost.passes).max())
        });
        let mut left = self.host_budget - reserve;
        let mut copies = vec![0; wanted.len()];
        for index in order {
            copies[index] = wanted[index].min(left);
            left -= copies[index];
        }
        let staging = left.saturating_add(reserve).min(self.host_budget);
        let room = |(index, copies): (usize, u64)| {
            let passes = match shape.row[index] {
                Residence::Streamed => copies < wanted[index],
                Residence::OnDemand => true,
                Residence::Resident | Residence::Staged => false,
            };
            let largest = used(index).into_iter().max().unwrap_or(0);
            let most = largest.saturating_mul(u64::from(technique.most_slots) + 1);
            // Rooms that make no difference are made the same, so that their placements are found once.
            let staging = if passes && staging < most { staging } else { u64::MAX };
            HostRoom { copies, staging }
        };
        copies.into_iter().enumerate().map(room).collect()
    }

    /// Bytes on the device that stay in all stages.
    fn held(&self, shape: &Shape, ladders: &[Rc<Vec<Rc<Placed>>>]) -> u64 {
        let resident = self.components().filter(|&index| shape.row[index] == Residence::Resident);
        resident
            .filter_map(|index| ladders[index].first())
            .fold(0, |sum, placed| sum.saturating_add(placed.weights))
    }

    /// Bytes of a stage besides the weights of the component in use, for each stage.
    pub(super) fn base(&self, shape: &Shape, ladders: &[Rc<Vec<Rc<Placed>>>]) -> Limits {
        let held = self.held(shape, ladders);
        STAGES.map(|stage| held.saturating_add(self.activations(stage, shape.level)))
    }

    /// The fewest bytes that a shape takes in each stage; `None` if the host's memory does not allow it.
    pub(super) fn least(&self, shape: &Shape, technique: Technique) -> Option<Limits> {
        let ladders = self.ladders(shape, technique);
        let base = self.base(shape, &ladders);
        let mut least = base;
        let mut present = [false; 3];
        for index in self.components() {
            let stage = self.stage(index) as usize;
            let weights = ladders[index].first()?.weights;
            present[stage] = true;
            if shape.row[index] != Residence::Resident {
                least[stage] = least[stage].max(base[stage].saturating_add(weights));
            }
        }
        // A stage that no component is used in does not take place.
        (0..3).filter(|&stage| !present[stage]).for_each(|stage| least[stage] = 0);
        Some(least)
    }

    /// The best placement of each component within the limits; `None` if they do not fit.
    pub(super) fn choose(
        &self,
        shape: &Shape,
        ladders: &[Rc<Vec<Rc<Placed>>>],
        base: &Limits,
        limits: &Limits,
    ) -> Option<Vec<Rc<Placed>>> {
        self.components()
            .map(|index| {
                let stage = self.stage(index) as usize;
                let room = limits[stage].checked_sub(base[stage])?;
                let ladder = &ladders[index];
                if shape.row[index] == Residence::Resident {
                    return ladder.first().cloned();
                }
                let fitting = ladder.partition_point(|placed| placed.weights <= room);
                ladder.get(fitting.checked_sub(1)?).cloned()
            })
            .collect()
    }

    /// [`choose`](Self::choose) for one shape alone.
    pub(super) fn solve(&self, shape: &Shape, limits: &Limits, technique: Technique) -> Option<Solution> {
        let ladders = self.ladders(shape, technique);
        let base = self.base(shape, &ladders);
        let placed = self.choose(shape, &ladders, &base, limits)?;
        Some(Solution { shape: shape.clone(), placed })
    }

    /// How good placements are; less is better.
    pub(super) fn merit(&self, placed: &[Rc<Placed>]) -> Merit {
        let mut merit = (0u64, 0u64, 0u64);
        for (index, placed) in placed.iter().enumerate() {
            let (step, run) = times(placed, self.stage(index) == Stage::Denoise);
            merit.0 = merit.0.saturating_add(step);
            merit.1 = merit.1.saturating_add(run);
            merit.2 = merit.2.saturating_add(placed.moved);
        }
        merit
    }

    /// The plan that follows a solution.
    pub(super) fn plan(&self, solution: &Solution, mode: OffloadMode) -> Plan {
        let components = self.components().map(|index| {
            let placed = &solution.placed[index];
            ComponentPlan {
                role: self.footprint.components[index].role,
                stage: self.stage(index),
                residence: solution.shape.row[index],
                blocks: placed.blocks.clone(),
                slots: placed.slots,
                slot_bytes: placed.slot_bytes,
                way: self.way(index, solution.shape.level),
                tile: self.work(index, solution.shape.level).tile,
            }
        });
        let stages: Vec<StagePlan> =
            STAGES.iter().filter_map(|&stage| self.stage_plan(solution, stage)).collect();
        Plan {
            mode,
            device_budget: self.machine.device_budget,
            host_budget: self.machine.host_budget,
            components: components.collect(),
            seconds_per_step: self.seconds_per_step(solution),
            seconds: stages.iter().map(|stage| stage.seconds).sum(),
            stages,
        }
    }

    fn stage_plan(&self, solution: &Solution, stage: Stage) -> Option<StagePlan> {
        let own: Vec<usize> = self.components().filter(|&index| self.stage(index) == stage).collect();
        if own.is_empty() {
            return None;
        }
        let row = &solution.shape.row;
        let placed = |index: &usize| &solution.placed[*index];
        let level = solution.shape.level;
        let early: Vec<usize> =
            self.components().filter(|&index| self.workload.components[index].also == Some(stage)).collect();
        let present = || own.iter().chain(&early);
        let held = self.components().filter(|&index| row[index] == Residence::Resident);
        let held = held.fold(0u64, |sum, index| sum.saturating_add(solution.placed[index].weights));
        let passing = present().filter(|&&index| row[index] != Residence::Resident);
        let weights = held.saturating_add(passing.map(|index| placed(index).weights).max().unwrap_or(0));
        let copies = solution.placed.iter().fold(0u64, |sum, placed| sum.saturating_add(placed.copies));
        let times: Vec<&Simulation> = own.iter().map(|index| &placed(index).simulation).collect();
        let longest = times.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Some(StagePlan {
            stage,
            weights,
            activations: present()
                .map(|&index| self.work(index, level).peak_activations())
                .max()
                .unwrap_or(0),
            host: copies.saturating_add(present().map(|index| placed(index).staging).max().unwrap_or(0)),
            link_bytes: times.iter().map(|times| times.link_bytes).sum(),
            disk_bytes: times.iter().map(|times| times.disk_bytes).sum(),
            seconds: times.iter().map(|times| times.seconds).sum(),
            bound: longest.map_or(Bound::Compute, |times| times.bound),
        })
    }

    /// Walks are not steps: some samplers walk twice a step.
    fn seconds_per_step(&self, solution: &Solution) -> f64 {
        if self.workload.steps == 0 {
            return 0.0;
        }
        let denoisers = self.components().filter(|&index| self.stage(index) == Stage::Denoise);
        let walks = |index: usize| {
            let blocks = &self.work(index, solution.shape.level).blocks;
            blocks.iter().map(|block| block.passes).max().unwrap_or(0)
        };
        let seconds = |index: usize| solution.placed[index].simulation.steady * f64::from(walks(index));
        denoisers.map(seconds).sum::<f64>() / f64::from(self.workload.steps)
    }
}
