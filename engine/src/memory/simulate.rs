//! The pipeline of copies and compute, played through in seconds without doing any of it.
//!
//! Three things work at once: the disk's reader, the copy thread on the link, and the device. Each does one
//! block at a time, in the order in which blocks are used, so a later block never delays an earlier one and a
//! single pass over the uses gives all times.

use super::{
    BlockCost, BlockPlan, Bound, Machine,
    flow::{Flow, Queue},
    part::{Loading, Part, Use},
};

/// A stage counts as bound by what it waits for if it waits for more than this part of its time.
const NOTABLE_STALL: f64 = 0.05;
/// The longest pattern of walks that is looked for, and the walks tried before the mean is taken instead.
const LONGEST_PERIOD: usize = 4;
const MOST_WALKS: usize = 25;

/// What a use of a part takes in a run that begins with nothing in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Seconds of the run, loading included.
    pub seconds: f64,
    /// Seconds of one walk through the blocks once everything has settled.
    pub steady: f64,
    /// Seconds that the device computes in the run.
    pub compute: f64,
    /// Seconds that the device waits in the run.
    pub stall: f64,
    /// Seconds that the link is busy in the run.
    pub link_busy: f64,
    /// Seconds that the disk is busy in the run.
    pub disk_busy: f64,
    /// Bytes over the link in the run.
    pub link_bytes: u64,
    /// Bytes read from disk in the run.
    pub disk_bytes: u64,
    /// What a walk's time depends on; if there is only one, the loading of it.
    pub bound: Bound,
}

/// One use of one block; times are seconds since the part's first use was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockUse {
    /// Number of the block.
    pub block: usize,
    /// When its weights were there.
    pub ready: f64,
    /// When its pass began.
    pub start: f64,
    /// When its pass was over.
    pub finish: f64,
}

/// Plays a part through: `blocks` says how each of the `costs` comes, `slots` how many streamed blocks
/// are on the device at most.
///
/// The first use of every block comes from disk, as nothing is in memory yet.
pub fn simulate(costs: &[BlockCost], blocks: &[BlockPlan], slots: u32, machine: &Machine) -> Simulation {
    let part = Part::new(costs, machine, true);
    Player::default().play(&part, blocks, slots)
}

/// All uses of a run in their order, as [`simulate`] plays them.
pub fn trace(costs: &[BlockCost], blocks: &[BlockPlan], slots: u32, machine: &Machine) -> Vec<BlockUse> {
    let part = Part::new(costs, machine, true);
    let mut log = Vec::new();
    let mut flow = Flow::default();
    flow.reset(slots);
    each_use(&part, blocks, |block, block_use| {
        let before = flow.compute_free;
        let ready = flow.pass(block_use);
        log.push(BlockUse { block, ready, start: before.max(ready), finish: flow.compute_free });
    });
    log
}

/// All uses of a run, one after the other: the blocks that are used once, then the walks through the others.
fn each_use(part: &Part<'_>, blocks: &[BlockPlan], mut act: impl FnMut(usize, &Use)) {
    for &block in &part.prologue {
        act(block, &part.uses(block, blocks[block]).first);
    }
    for walk in 0..part.walks {
        for &block in part.walked.iter().filter(|&&block| part.costs[block].passes as usize > walk) {
            let uses = part.uses(block, blocks[block]);
            act(block, if walk == 0 { &uses.first } else { &uses.later });
        }
    }
}

/// Seconds below which a placement cannot get, however well copies and compute overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// Of one walk once everything has settled.
    pub steady: f64,
    /// Of the run.
    pub seconds: f64,
}

/// What a placement takes at the least, with any number of slots.
pub(super) fn floor(part: &Part<'_>, blocks: &[BlockPlan]) -> Floor {
    let Loading { read, copied, computed } = part.loading;
    let (mut walk, mut further) = (Busy::default(), Busy::default());
    for &block in &part.walked {
        let again = &part.uses(block, blocks[block]).later;
        walk.add(again, 1);
        further.add(again, part.costs[block].passes - 1);
    }
    // Further walks read, copy and compute nothing before the first has.
    let seconds = (read + further.disk).max(copied + further.link).max(computed + further.compute);
    Floor { steady: walk.most(), seconds }
}

/// Plays placements through, one after the other in the same buffers.
#[derive(Default)]
pub(super) struct Player {
    /// The uses up to the end of the first walk, and those of each further one.
    first: Queue,
    later: Queue,
    /// What is busy for how long in a further walk, and in the whole run.
    walk: Busy,
    run: Busy,
    flow: Flow,
    finishes: Vec<f64>,
    states: Vec<f64>,
}

impl Player {
    /// Plays a placement through with so many slots.
    pub fn play(&mut self, part: &Part<'_>, blocks: &[BlockPlan], slots: u32) -> Simulation {
        self.load(part, blocks);
        let (mut seconds, steady) = self.repeat(part, slots);
        if part.uneven {
            self.flow.reset(slots);
            each_use(part, blocks, |_, block_use| {
                self.flow.pass(block_use);
            });
            seconds = self.flow.compute_free;
        }
        let (link_bytes, disk_bytes) = part.moved(blocks);
        Simulation {
            seconds,
            steady,
            compute: self.run.compute,
            stall: (seconds - self.run.compute).max(0.0),
            link_busy: self.run.link,
            disk_busy: self.run.disk,
            link_bytes,
            disk_bytes,
            bound: if part.walks > 1 { self.walk.bound(steady) } else { self.run.bound(seconds) },
        }
    }

    /// Lays out the uses of a placement.
    fn load(&mut self, part: &Part<'_>, blocks: &[BlockPlan]) {
        self.first.clear();
        self.later.clear();
        (self.walk, self.run) = (Busy::default(), Busy::default());
        for &block in &part.prologue {
            let once = &part.uses(block, blocks[block]).first;
            self.first.push(once);
            self.run.add(once, 1);
        }
        for &block in &part.walked {
            let uses = part.uses(block, blocks[block]);
            self.first.push(&uses.first);
            self.later.push(&uses.later);
            self.run.add(&uses.first, 1);
            self.run.add(&uses.later, part.costs[block].passes - 1);
            self.walk.add(&uses.later, 1);
        }
    }

    /// Seconds of all walks, and of one of them once they have settled. A single walk that is no step has none after
    /// it to settle in.
    fn repeat(&mut self, part: &Part<'_>, slots: u32) -> (f64, f64) {
        let walks = part.walks;
        self.flow.reset(slots);
        self.flow.pass_all(&self.first);
        let first = self.flow.compute_free;
        if walks == 0 || (walks == 1 && !part.steps) {
            return (first, first);
        }
        if !self.later.move_bytes() {
            return (first + (walks - 1) as f64 * self.walk.compute, self.walk.compute);
        }
        let least = self.walk.most();
        let tolerance = 1e-10 * (1.0 + least);
        self.finishes.clear();
        self.finishes.push(first);
        self.states.clear();
        self.flow.add_state(&self.later, &mut self.states);
        let length = self.states.len();
        while self.finishes.len() < walks.max(MOST_WALKS) {
            self.flow.pass_all(&self.later);
            self.finishes.push(self.flow.compute_free);
            self.flow.add_state(&self.later, &mut self.states);
            let (before, now) = self.states.split_at(self.states.len() - length);
            let same = |earlier: &[f64]| {
                earlier.iter().zip(now).all(|(before, now)| (before - now).abs() <= tolerance)
            };
            let period = before.rchunks(length).take(LONGEST_PERIOD).position(same);
            if let Some(period) = period {
                let (seconds, steady) = extrapolate(&self.finishes, walks, period + 1);
                return (seconds, if steady <= least + tolerance { least } else { steady });
            }
        }
        let last = self.finishes.len() - 1;
        let window = last.min(3 * LONGEST_PERIOD);
        let steady = (self.finishes[last] - self.finishes[last - window]) / window as f64;
        (self.finishes[walks - 1], steady.max(least))
    }
}

/// Seconds that each of the three is busy.
#[derive(Debug, Clone, Copy, Default)]
struct Busy {
    compute: f64,
    link: f64,
    disk: f64,
}

impl Busy {
    fn add(&mut self, block_use: &Use, times: u32) {
        let times = f64::from(times);
        self.compute += times * block_use.compute;
        self.link += times * block_use.link;
        self.disk += times * block_use.disk;
    }

    fn most(&self) -> f64 {
        self.compute.max(self.link).max(self.disk)
    }

    /// What so many seconds depend on.
    fn bound(&self, seconds: f64) -> Bound {
        if seconds - self.compute <= NOTABLE_STALL * seconds {
            Bound::Compute
        } else if self.disk > self.link {
            Bound::Disk
        } else {
            Bound::Link
        }
    }
}

/// Goes on from walks whose last `period` will repeat.
fn extrapolate(finishes: &[f64], walks: usize, period: usize) -> (f64, f64) {
    let last = finishes.len() - 1;
    let round = finishes[last] - finishes[last - period];
    let steady = round / period as f64;
    if walks <= finishes.len() {
        return (finishes[walks - 1], steady);
    }
    let left = walks - finishes.len();
    let part = finishes[last - period + left % period] - finishes[last - period];
    (finishes[last] + (left / period) as f64 * round + part, steady)
}
