//! All candidates for a part's placement that are worth a look, whatever the budget, and the Pareto front of them.
//!
//! Which candidates there are does not depend on the budget, and a placement is chosen among those that fit. So more
//! memory can only add candidates, and is never slower.

use std::{cmp::Reverse, collections::BTreeSet, rc::Rc};

use super::{
    BlockCost, BlockPlan, Candidate, HostRoom, Machine, Placement, Residents, Technique, candidate::used,
    simulate::walks,
};

/// Sizes of blocks that are tried as the largest that passes through.
const MOST_SIZES: usize = 8;
/// Swaps that are tried for all candidates together.
const MOST_SWAPS: usize = 3000;
/// A step that is this near to what compute and copies take at the least cannot be improved.
const NEAR: f64 = 1.001;

/// The Pareto front: candidates in the order of their bytes on the device, each better than those before it: no slower in a
/// step and in a run, and faster in one of them, or equally fast with fewer bytes to move or more evenly
/// spread.
///
/// `steps` says whether the part's walks are denoising steps; otherwise the run alone counts.
pub(super) fn front(mut candidates: Vec<Rc<Candidate>>, steps: bool) -> Vec<Rc<Candidate>> {
    candidates.sort_by_cached_key(|candidate| (candidate.weights, rank(candidate, steps), candidate.slots));
    let mut kept: Vec<Rc<Candidate>> = Vec::new();
    for candidate in candidates {
        let better = kept.last().is_none_or(|best| {
            let (now, before) = (rank(&candidate, steps), rank(best, steps));
            now.0 <= before.0 && now.1 <= before.1 && now < before
        });
        if better {
            kept.push(candidate);
        }
    }
    kept
}

fn rank(candidate: &Candidate, steps: bool) -> (u64, u64, u64, u64) {
    let (step, run) = times(candidate, steps);
    (step, run, candidate.moved, candidate.unevenness)
}

/// Nanoseconds of a step, 0 if the part has none, and of a run. Whole numbers, so that rounding errors
/// of sums are no differences.
pub(super) fn times(candidate: &Candidate, steps: bool) -> (u64, u64) {
    let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
    let step = if steps { nanoseconds(candidate.simulation.steady) } else { 0 };
    (step, nanoseconds(candidate.simulation.seconds))
}

/// All candidates that get by with the host's memory.
pub(super) fn candidates(
    costs: &[BlockCost],
    machine: &Machine,
    technique: Technique,
    room: HostRoom,
    steps: bool,
) -> Vec<Rc<Candidate>> {
    let mut tried = Candidates { costs, machine, room, seen: BTreeSet::new(), found: Vec::new() };
    let leading = technique.residents && technique.choice == Residents::First;
    for slots in technique.fewest_slots..=technique.most_slots {
        if leading {
            tried.add_prefixes(slots);
        } else {
            tried.add_strides(slots, technique.residents);
        }
    }
    if technique.leaves {
        tried.add_leaves(technique.fewest_slots);
    }
    if technique.residents {
        tried.add(Candidate::whole(costs, machine, 0));
    }
    if technique.residents && !leading {
        tried.improve(steps);
        tried.grow(steps);
    }
    tried.found
}

struct Candidates<'a> {
    costs: &'a [BlockCost],
    machine: &'a Machine,
    room: HostRoom,
    seen: BTreeSet<(u32, Vec<bool>)>,
    found: Vec<Rc<Candidate>>,
}

impl Candidates<'_> {
    fn add(&mut self, candidate: Candidate) {
        if candidate.fits_host(self.room) {
            self.found.push(Rc::new(candidate));
        }
    }

    /// The candidates with this many slots: blocks above a size stay, and of the others every number, those
    /// first that cost most bytes for their compute, or evenly among all of them.
    fn add_strides(&mut self, slots: u32, residents: bool) {
        let moving = self.moving();
        if !residents {
            self.add_residents(slots, &[]);
            return;
        }
        for limit in self.sizes() {
            let (small, large): (Vec<usize>, Vec<usize>) =
                moving.iter().partition(|&&block| self.costs[block].bytes <= limit);
            for classes in [self.by_density(&small), self.by_walks(&small)] {
                for count in 0..small.len() {
                    let mut resident = large.clone();
                    resident.extend(pick(&classes, count));
                    self.add_residents(slots, &resident);
                }
            }
        }
    }

    /// The candidates with this many slots of which the first blocks stay.
    fn add_prefixes(&mut self, slots: u32) {
        let moving = self.moving();
        for count in 0..moving.len() {
            self.add_residents(slots, &moving[..count]);
        }
    }

    fn add_residents(&mut self, slots: u32, resident: &[usize]) {
        let mut stays = vec![false; self.costs.len()];
        resident.iter().for_each(|&block| stays[block] = true);
        let slots = slots.min((self.moving().len() - resident.len()) as u32);
        if self.seen.insert((slots, stays.clone())) {
            let candidate = self.with_residents(slots, &stays);
            self.add(candidate);
        }
    }

    fn with_residents(&self, slots: u32, stays: &[bool]) -> Candidate {
        let placement = |(cost, &stays): (&BlockCost, &bool)| {
            let resident = stays || cost.bytes == 0;
            used(cost, if resident { Placement::Resident } else { Placement::Streamed })
        };
        let placements = self.costs.iter().zip(stays).map(placement).collect();
        Candidate::through(self.costs, self.machine, placements, slots, self.room.copies)
    }

    /// The candidates for devices that not even the slots fit: blocks above a size come tensor by tensor.
    fn add_leaves(&mut self, slots: u32) {
        let below = self.sizes().into_iter().skip(1).chain([0]);
        for limit in below {
            let placement = |cost: &BlockCost| match cost.bytes {
                0 => used(cost, Placement::Resident),
                bytes if bytes <= limit => Placement::Streamed,
                _ => used(cost, Placement::Leaves),
            };
            let placements = self.costs.iter().map(placement).collect();
            self.add(Candidate::through(self.costs, self.machine, placements, slots, self.room.copies));
        }
    }

    /// Swaps blocks that stay with neighbours that pass through where that makes the step shorter without
    /// taking more memory.
    fn improve(&mut self, steps: bool) {
        let mut tries = MOST_SWAPS;
        for start in front(self.found.clone(), steps) {
            let mut best = Rc::clone(&start);
            while tries > 0 && best.slots > 0 && !self.is_near_best(&best) {
                let Some(better) = self.swap(&best, steps, &mut tries) else { break };
                best = better;
            }
            if !Rc::ptr_eq(&best, &start) {
                self.found.push(best);
            }
        }
    }

    /// Lets one more block stay, whichever serves best, again and again from the smallest candidate on: what
    /// swaps have gained at few blocks is not lost at more.
    fn grow(&mut self, steps: bool) {
        let known = front(self.found.clone(), steps);
        let comes_alone = |candidate: &&Rc<Candidate>| {
            candidate.blocks.iter().any(|block| block.placement == Placement::Leaves)
        };
        let mut current = known.iter().find(|candidate| !comes_alone(candidate)).cloned();
        for _ in 0..2 * self.costs.len() {
            let Some(candidate) = current else { return };
            let streamed = self.moving().into_iter();
            let streamed = streamed.filter(|&block| candidate.blocks[block].placement == Placement::Streamed);
            let larger = streamed.map(|block| {
                let stays = |(index, plan): (usize, &BlockPlan)| {
                    index == block || plan.placement == Placement::Resident
                };
                let stays: Vec<bool> = candidate.blocks.iter().enumerate().map(stays).collect();
                Rc::new(self.with_residents(candidate.slots, &stays))
            });
            let larger = larger.filter(|larger| larger.fits_host(self.room));
            let next = larger.min_by_key(|candidate| rank(candidate, steps));
            self.found.extend(next.clone());
            current = next.map(|next| {
                let rival = known.iter().rfind(|known| known.weights <= next.weights);
                let better = rival.filter(|rival| rank(rival, steps) < rank(&next, steps));
                better.filter(|better| better.weights > candidate.weights).cloned().unwrap_or(next)
            });
        }
    }

    fn is_near_best(&self, candidate: &Candidate) -> bool {
        let walked = || {
            let single = walks(self.costs) == 1;
            let walked = move |cost: &BlockCost| cost.passes > 1 || (single && cost.passes == 1);
            self.costs.iter().zip(&candidate.blocks).filter(move |(cost, _)| walked(cost))
        };
        let compute: f64 = walked().map(|(cost, _)| cost.seconds).sum();
        let way = if self.machine.unified { &self.machine.disk } else { &self.machine.link };
        let passing = walked().filter(|(_, block)| block.placement == Placement::Streamed);
        let copies: f64 = passing.map(|(cost, _)| way.seconds(cost.bytes)).sum();
        candidate.simulation.steady <= compute.max(copies) * NEAR
    }

    fn swap(&self, candidate: &Candidate, steps: bool, tries: &mut usize) -> Option<Rc<Candidate>> {
        let moving = self.moving();
        let stays: Vec<bool> =
            candidate.blocks.iter().map(|block| block.placement == Placement::Resident).collect();
        for (place, &block) in moving.iter().enumerate().filter(|&(_, &block)| !stays[block]) {
            let before = moving[..place].iter().rev().find(|&&other| stays[other]);
            let after = moving[place + 1..].iter().find(|&&other| stays[other]);
            for &other in before.into_iter().chain(after) {
                if *tries == 0 {
                    return None;
                }
                *tries -= 1;
                let mut swapped = stays.clone();
                swapped.swap(block, other);
                let swapped = self.with_residents(candidate.slots, &swapped);
                let fits = swapped.weights <= candidate.weights && swapped.fits_host(self.room);
                let (now, was) = (times(&swapped, steps), times(candidate, steps));
                if fits && now.0 <= was.0 && now.1 <= was.1 && now < was {
                    return Some(Rc::new(swapped));
                }
            }
        }
        None
    }

    /// Blocks that are used and have weights.
    fn moving(&self) -> Vec<usize> {
        let moves = |&block: &usize| self.costs[block].passes > 0 && self.costs[block].bytes > 0;
        (0..self.costs.len()).filter(moves).collect()
    }

    /// Different sizes of blocks, the largest first; some of them if there are many.
    fn sizes(&self) -> Vec<u64> {
        let sizes: BTreeSet<u64> = self.moving().iter().map(|&block| self.costs[block].bytes).collect();
        let sizes: Vec<u64> = sizes.into_iter().rev().collect();
        let count = sizes.len().min(MOST_SIZES);
        (0..count).map(|index| sizes[index * sizes.len() / count]).collect()
    }

    /// Blocks in classes of equal bytes for their compute, the most bytes first. Blocks that are used once
    /// come last: it saves nothing to keep them.
    fn by_density(&self, blocks: &[usize]) -> Vec<Vec<usize>> {
        let density = |block: usize| {
            let cost = &self.costs[block];
            let reuse = cost.passes > 1 || walks(self.costs) == 1;
            if reuse { (cost.bytes as f64 / cost.seconds.max(1e-9)).round() as u64 } else { 0 }
        };
        classes(blocks, |block| Reverse(density(block)))
    }

    /// Blocks of all walks, then those that are used once before them.
    fn by_walks(&self, blocks: &[usize]) -> Vec<Vec<usize>> {
        classes(blocks, |block| self.costs[block].passes == 1)
    }
}

fn classes<K: Ord + Copy>(blocks: &[usize], key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut sorted = blocks.to_vec();
    sorted.sort_by_key(|&block| (key(block), block));
    sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[usize]>::to_vec).collect()
}

/// `count` blocks: whole classes first, and of the last one evenly spread.
fn pick(classes: &[Vec<usize>], mut count: usize) -> Vec<usize> {
    let mut picked = Vec::new();
    for class in classes {
        let (wanted, of) = (count.min(class.len()), class.len());
        let spread = (0..of).filter(|place| (place + 1) * wanted / of > place * wanted / of);
        picked.extend(spread.map(|place| class[place]));
        count -= wanted;
    }
    picked
}
