//! All candidates for a part's placement that are worth a look, whatever the budget, and the Pareto front of them.
//!
//! Which candidates there are does not depend on the budget, and a placement is chosen among those that fit. So more
//! memory can only add candidates, and is never slower.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
    ops::RangeInclusive,
    rc::Rc,
};

use super::{
    BlockCost, Candidate, HostRoom, Placement, Residents, Technique,
    candidate::{Layout, used},
    part::Part,
    simulate::{Floor, Player, floor},
};

/// Sizes of blocks that are tried as the largest that passes through.
const MOST_SIZES: usize = 8;
/// Swaps that are tried for all candidates together.
const MOST_SWAPS: usize = 3000;
/// Times that are this near to the least there can be count as that.
const NEAR: f64 = 1.001;

/// The Pareto front of all candidates that get by with the host's memory, in the order of their bytes on the
/// device: each is no slower in a step and in a run than those before it, and faster in one of them, or equally
/// fast with fewer bytes to move or more evenly spread.
///
/// Steps count only where the part's walks are denoising steps.
pub(super) fn placements(part: &Part<'_>, technique: Technique, room: HostRoom) -> Vec<Rc<Candidate>> {
    let has_weights = |&block: &usize| part.costs[block].bytes > 0;
    let mut search = Candidates {
        part,
        technique,
        room,
        moving: part.used().filter(has_weights).collect(),
        seen: HashSet::new(),
        drafts: Vec::new(),
        found: Vec::new(),
        player: Player::default(),
    };
    let leading = technique.residents && technique.choice == Residents::First;
    if leading {
        search.add_prefixes();
    } else if technique.residents {
        search.add_strides();
    } else {
        search.add_residents(&vec![false; part.costs.len()]);
    }
    if technique.leaves {
        search.add_leaves();
    }
    if technique.residents {
        search.add(Layout::whole(part, room.copies, technique.keeps), 0);
    }
    search.play();
    // In a single walk every block moves once, whether it stays or not.
    if technique.residents && !leading && (part.walks > 1 || part.steps) {
        search.improve();
        search.grow();
    }
    front(search.found, part.steps)
}

fn front(mut candidates: Vec<Rc<Candidate>>, steps: bool) -> Vec<Rc<Candidate>> {
    candidates.sort_by_cached_key(|candidate| (candidate.device(), rank(candidate, steps), candidate.slots));
    let mut kept: Vec<Rc<Candidate>> = Vec::new();
    for candidate in candidates {
        if kept.last().is_none_or(|best| is_better(&candidate, best, steps)) {
            kept.push(candidate);
        }
    }
    kept
}

/// Whether a candidate is worth more bytes than another.
fn is_better(candidate: &Candidate, other: &Candidate, steps: bool) -> bool {
    let (now, before) = (rank(candidate, steps), rank(other, steps));
    now.0 <= before.0 && now.1 <= before.1 && now < before
}

fn rank(candidate: &Candidate, steps: bool) -> (u64, u64, u64, u64) {
    let (step, run) = times(candidate, steps);
    (step, run, candidate.moved, candidate.unevenness)
}

/// Nanoseconds of a step, 0 if the part has none, and of a run. Whole numbers, so that rounding errors
/// of sums are no differences.
pub(super) fn times(candidate: &Candidate, steps: bool) -> (u64, u64) {
    let step = if steps { nanoseconds(candidate.simulation.steady) } else { 0 };
    (step, nanoseconds(candidate.simulation.seconds))
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// A candidate whose times are not known yet.
struct Draft {
    layout: Rc<Layout>,
    slots: u32,
    device: u64,
    /// Nanoseconds of a step and of a run that it takes at the least.
    least: (u64, u64),
}

struct Candidates<'a> {
    part: &'a Part<'a>,
    technique: Technique,
    room: HostRoom,
    /// Blocks that are used and have weights.
    moving: Vec<usize>,
    /// Which blocks stay in the layouts so far, one bit for each.
    seen: HashSet<Vec<u64>>,
    drafts: Vec<Draft>,
    found: Vec<Rc<Candidate>>,
    player: Player,
}

impl Candidates<'_> {
    fn add(&mut self, layout: Layout, slots: u32) {
        self.add_all(layout, slots..=slots);
    }

    fn add_all(&mut self, layout: Layout, slots: RangeInclusive<u32>) {
        let floor = floor(self.part, &layout.blocks);
        let (least, layout) = (least(floor, self.part.steps), Rc::new(layout));
        let mut last = None;
        for slots in slots.map(|slots| layout.slots(slots)) {
            if last != Some(slots) && layout.fits_host(slots, self.room) {
                let device = layout.device(slots);
                self.drafts.push(Draft { layout: Rc::clone(&layout), slots, device, least });
            }
            last = Some(slots);
        }
    }

    /// Blocks above a size stay, and of the others every number, those first that cost most bytes for their compute,
    /// or evenly among all of them.
    fn add_strides(&mut self) {
        let mut stays = vec![false; self.part.costs.len()];
        for limit in self.sizes() {
            let (small, large): (Vec<usize>, Vec<usize>) =
                self.moving.iter().partition(|&&block| self.part.costs[block].bytes <= limit);
            for classes in [self.by_density(&small), self.by_walks(&small)] {
                // Which blocks stay that are used once makes no difference: all or none.
                let walked = small.iter().filter(|&&block| !self.part.is_prologue(block)).count();
                for count in 0..=walked.min(small.len() - 1) {
                    stays.fill(false);
                    large.iter().for_each(|&block| stays[block] = true);
                    pick(&classes, count, |block| stays[block] = true);
                    self.add_residents(&stays);
                }
            }
        }
    }

    /// The first blocks stay.
    fn add_prefixes(&mut self) {
        let mut stays = vec![false; self.part.costs.len()];
        for place in 0..self.moving.len() {
            self.add_residents(&stays);
            stays[self.moving[place]] = true;
        }
    }

    fn add_residents(&mut self, stays: &[bool]) {
        let bits = |stays: &[bool]| stays.iter().rev().fold(0, |bits, &stays| bits << 1 | u64::from(stays));
        if self.seen.insert(stays.chunks(64).map(bits).collect()) {
            self.add_all(self.with_residents(stays), self.technique.fewest_slots..=self.technique.most_slots);
        }
    }

    fn with_residents(&self, stays: &[bool]) -> Layout {
        let placement = |(cost, &stays): (&BlockCost, &bool)| {
            let resident = stays || cost.bytes == 0;
            used(cost, if resident { Placement::Resident } else { Placement::Streamed })
        };
        let placements = self.part.costs.iter().zip(stays).map(placement);
        Layout::through(self.part, placements, self.room.copies, self.technique.keeps)
    }

    /// The candidates for devices that not even the slots fit: blocks above a size come tensor by tensor, for each
    /// guidance branch or for all of them together.
    fn add_leaves(&mut self) {
        self.add_leaves_as(Placement::Leaves);
        if self.part.costs.iter().any(|cost| cost.shared.is_some()) {
            self.add_leaves_as(Placement::SharedLeaves);
        }
    }

    fn add_leaves_as(&mut self, leaves: Placement) {
        let below = self.sizes().into_iter().skip(1).chain([0]);
        for limit in below {
            let placement = |cost: &BlockCost| match cost.bytes {
                0 => used(cost, Placement::Resident),
                bytes if bytes <= limit => Placement::Streamed,
                _ => used(cost, leaves),
            };
            let placements = self.part.costs.iter().map(placement);
            let layout = Layout::through(self.part, placements, self.room.copies, self.technique.keeps);
            self.add(layout, self.technique.fewest_slots);
        }
    }

    /// Plays the drafts from the fewest bytes to the most, without those that can be no better than one that
    /// is known and takes no more.
    fn play(&mut self) {
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.sort_by_key(|draft| {
            (draft.device, draft.least, draft.layout.moved, draft.layout.unevenness, draft.slots)
        });
        let mut best: Option<Rc<Candidate>> = None;
        for draft in drafts {
            if best.as_ref().is_some_and(|best| self.is_hopeless(&draft, best)) {
                continue;
            }
            let simulation = self.player.play(self.part, &draft.layout.blocks, draft.slots);
            let layout = Rc::unwrap_or_clone(draft.layout);
            let candidate = Rc::new(layout.with(draft.slots, simulation));
            if best.as_ref().is_none_or(|best| is_better(&candidate, best, self.part.steps)) {
                best = Some(Rc::clone(&candidate));
            }
            self.found.push(candidate);
        }
    }

    /// Whether a draft is slower than a candidate with fewer bytes, or hardly faster with no fewer bytes to move.
    fn is_hopeless(&self, draft: &Draft, best: &Candidate) -> bool {
        let (now, least) = (times(best, self.part.steps), draft.least);
        let slower = least.0 > now.0 || least.1 > now.1;
        let near = is_near(now.0, least.0) && is_near(now.1, least.1);
        slower || (near && best.moved <= draft.layout.moved)
    }

    /// Swaps blocks that stay with neighbours that pass through where that makes the step shorter without
    /// taking more memory.
    fn improve(&mut self) {
        let mut tries = MOST_SWAPS;
        for start in front(self.found.clone(), self.part.steps) {
            let mut best = Rc::clone(&start);
            while tries > 0 && best.slots > 0 && !self.is_near_best(&best) {
                let Some(better) = self.swap(&best, &mut tries) else { break };
                best = better;
            }
            if !Rc::ptr_eq(&best, &start) {
                self.found.push(best);
            }
        }
    }

    /// Lets one more block stay, whichever serves best, again and again from the smallest candidate on: what
    /// swaps have gained at few blocks is not lost at more. Candidates that cannot be faster are left out.
    fn grow(&mut self) {
        let mut known = front(self.found.clone(), self.part.steps);
        known.retain(|candidate| candidate.blocks.iter().all(|plan| !plan.placement.is_by_tensor()));
        let mut current = known.first().cloned();
        for _ in 0..2 * self.part.costs.len() {
            let Some(candidate) = current else { return };
            if self.is_near_best(&candidate) {
                let mut heavier = known.iter().filter(|known| known.weights > candidate.weights);
                current = heavier.find(|known| !self.is_near_best(known)).cloned();
                continue;
            }
            let next = self.larger(&candidate).map(Rc::new);
            self.found.extend(next.clone());
            current = next.map(|next| {
                let rival = known.iter().rfind(|known| known.weights <= next.weights);
                let better =
                    rival.filter(|rival| rank(rival, self.part.steps) < rank(&next, self.part.steps));
                better.filter(|better| better.weights > candidate.weights).cloned().unwrap_or(next)
            });
        }
    }

    /// The best candidate in which one more block stays.
    fn larger(&mut self, candidate: &Candidate) -> Option<Candidate> {
        let mut stays = stays(candidate);
        let mut best: Option<Candidate> = None;
        let mut sizes = BTreeSet::new();
        for place in 0..self.moving.len() {
            let block = self.moving[place];
            if candidate.blocks[block].placement != Placement::Streamed {
                continue;
            }
            // Of blocks that are used once and have the same size, any is as good as the others.
            if self.part.is_prologue(block) && !sizes.insert(self.part.costs[block].bytes) {
                continue;
            }
            stays[block] = true;
            let better = self.try_out(&stays, candidate.slots, |_, least| {
                best.as_ref().is_none_or(|best| least <= times(best, self.part.steps))
            });
            stays[block] = false;
            let better = better.filter(|larger| {
                best.as_ref().is_none_or(|best| rank(larger, self.part.steps) < rank(best, self.part.steps))
            });
            best = better.or(best);
        }
        best
    }

    /// The candidate in which these blocks stay, if what it takes at the least is `promising`.
    fn try_out(
        &mut self,
        stays: &[bool],
        slots: u32,
        promising: impl Fn(&Layout, (u64, u64)) -> bool,
    ) -> Option<Candidate> {
        let layout = self.with_residents(stays);
        if !layout.fits_host(slots, self.room) {
            return None;
        }
        let floor = floor(self.part, &layout.blocks);
        if !promising(&layout, least(floor, self.part.steps)) {
            return None;
        }
        let simulation = self.player.play(self.part, &layout.blocks, layout.slots(slots));
        Some(layout.with(slots, simulation))
    }

    fn is_near_best(&self, candidate: &Candidate) -> bool {
        let floor = floor(self.part, &candidate.blocks);
        let ((step, run), now) = (least(floor, self.part.steps), times(candidate, self.part.steps));
        if self.part.steps { is_near(now.0, step) } else { is_near(now.1, run) }
    }

    fn swap(&mut self, candidate: &Candidate, tries: &mut usize) -> Option<Rc<Candidate>> {
        let mut stays = stays(candidate);
        let was = times(candidate, self.part.steps);
        let bytes = |block: usize| self.part.costs[block].bytes;
        // Blocks that are smaller than a slot leave the slots as large as they are.
        let heavier = |block, other| bytes(block) > bytes(other) && bytes(block) < candidate.slot_bytes;
        let copy = |block: usize| if self.part.is_prologue(block) { 0.0 } else { self.part.copy(block) };
        let passing = self.moving.iter().filter(|&&block| !stays[block]);
        let copies: f64 = passing.map(|&block| copy(block)).sum();
        for place in 0..self.moving.len() {
            let block = self.moving[place];
            if stays[block] {
                continue;
            }
            let before = self.moving[..place].iter().rev().find(|&&other| stays[other]).copied();
            let after = self.moving[place + 1..].iter().find(|&&other| stays[other]).copied();
            for other in before.into_iter().chain(after) {
                if *tries == 0 {
                    return None;
                }
                *tries -= 1;
                let slower = self.part.steps && certain(copies - copy(block) + copy(other)) > was.0;
                if slower || heavier(block, other) {
                    continue;
                }
                stays.swap(block, other);
                let swapped = self.try_out(&stays, candidate.slots, |layout, least| {
                    let faster = least.0 <= was.0 && least.1 <= was.1 && least < was;
                    faster && layout.weights(candidate.slots) <= candidate.weights
                });
                stays.swap(block, other);
                let better = swapped.filter(|swapped| {
                    let now = times(swapped, self.part.steps);
                    now.0 <= was.0 && now.1 <= was.1 && now < was
                });
                if better.is_some() {
                    return better.map(Rc::new);
                }
            }
        }
        None
    }

    /// Different sizes of blocks, the largest first; some of them if there are many.
    fn sizes(&self) -> Vec<u64> {
        let sizes: BTreeSet<u64> = self.moving.iter().map(|&block| self.part.costs[block].bytes).collect();
        let sizes: Vec<u64> = sizes.into_iter().rev().collect();
        let count = sizes.len().min(MOST_SIZES);
        (0..count).map(|index| sizes[index * sizes.len() / count]).collect()
    }

    /// Blocks in classes of equal bytes for their compute, the most bytes first. Blocks that are used once
    /// come last: it saves nothing to keep them.
    fn by_density(&self, blocks: &[usize]) -> Vec<Vec<usize>> {
        let density = |block: usize| {
            let cost = &self.part.costs[block];
            let reuse = cost.passes > 1 || self.part.walks == 1;
            if reuse { (cost.bytes as f64 / cost.seconds.max(1e-9)).round() as u64 } else { 0 }
        };
        classes(blocks, |block| Reverse(density(block)))
    }

    /// Blocks of all walks, then those that are used once before them.
    fn by_walks(&self, blocks: &[usize]) -> Vec<Vec<usize>> {
        classes(blocks, |block| self.part.costs[block].passes == 1)
    }
}

/// Which blocks stay.
fn stays(candidate: &Candidate) -> Vec<bool> {
    candidate.blocks.iter().map(|plan| plan.placement == Placement::Resident).collect()
}

/// The nanoseconds of a step and of a run that are certain.
fn least(floor: Floor, steps: bool) -> (u64, u64) {
    (if steps { certain(floor.steady) } else { 0 }, certain(floor.seconds))
}

/// The same in nanoseconds, whatever was lost to rounding.
fn certain(seconds: f64) -> u64 {
    (seconds * (1e9 - 1.0)) as u64
}

fn is_near(nanoseconds: u64, least: u64) -> bool {
    nanoseconds as f64 <= least as f64 * NEAR
}

fn classes<K: Ord + Copy>(blocks: &[usize], key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut sorted = blocks.to_vec();
    sorted.sort_by_key(|&block| (key(block), block));
    sorted.chunk_by(|&a, &b| key(a) == key(b)).map(<[usize]>::to_vec).collect()
}

/// `count` blocks: whole classes first, and of the last one evenly spread.
fn pick(classes: &[Vec<usize>], mut count: usize, mut picked: impl FnMut(usize)) {
    for class in classes {
        let (wanted, of) = (count.min(class.len()), class.len());
        let spread = (0..of).filter(|place| (place + 1) * wanted / of > place * wanted / of);
        spread.for_each(|place| picked(class[place]));
        count -= wanted;
    }
}
