//! The pipeline of copies and compute, played through in seconds without doing any of it.
//!
//! Three things work at once: the disk's reader, the copy thread on the link, and the device. Each does one
//! block at a time, in the order in which blocks are used, so a later block never delays an earlier one and a
//! single pass over the uses gives all times.

use std::collections::BTreeMap;

use super::{
    BlockFootprint, BlockPlan, BlockWork, Bound, Link, Machine, PartFootprint, Placement, Tier, Work,
};
use crate::precision::Format;

/// A stage counts as bound by what it waits for if it waits for more than this part of its time.
const NOTABLE_STALL: f64 = 0.05;
/// The longest pattern of walks that is looked for, and the walks tried before the mean is taken instead.
const LONGEST_PERIOD: usize = 4;
const MOST_WALKS: usize = 25;

/// What one block costs: its part of the footprint and of the workload, in the machine's seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCost {
    /// Seconds that one pass computes.
    pub seconds: f64,
    /// Bytes of its weights.
    pub bytes: u64,
    /// Bytes of its largest tensor.
    pub largest_tensor: u64,
    /// Bytes that are read from disk to have them.
    pub file_bytes: u64,
    /// Seconds that encoding them takes after each reading.
    pub encoding: f64,
    /// How often it is used in a run. Blocks that are used once run before the walks of the others.
    pub passes: u32,
    /// How often each of its tensors is read in one pass, if it comes tensor by tensor.
    pub reads: u32,
}

impl BlockCost {
    /// The cost of a block on a machine.
    pub fn new(block: &BlockFootprint, work: &BlockWork, machine: &Machine) -> Self {
        Self {
            seconds: machine.block_latency + work.operations / machine.operations_per_second.max(1.0),
            bytes: block.bytes,
            largest_tensor: block.largest_tensor.min(block.bytes),
            file_bytes: block.file_bytes,
            encoding: encoding_seconds(&block.encoded),
            passes: work.passes,
            reads: work.reads.max(1),
        }
    }

    /// Copies that bring the block up tensor by tensor: as many as its largest tensor goes into its bytes,
    /// which is the least there can be.
    fn tensors(&self) -> u64 {
        self.bytes.div_ceil(self.largest_tensor.max(1))
    }
}

/// Seconds that one thread takes to encode so many weights in each format.
fn encoding_seconds(encoded: &BTreeMap<Format, u64>) -> f64 {
    encoded.iter().map(|(format, weights)| *weights as f64 / format.encoded_per_second()).sum()
}

/// The costs of a part's blocks, in their order.
pub fn block_costs(part: &PartFootprint, work: &Work, machine: &Machine) -> Vec<BlockCost> {
    let unused = BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 1 };
    let works = work.blocks.iter().chain(std::iter::repeat(&unused));
    part.blocks.iter().zip(works).map(|(block, work)| BlockCost::new(block, work, machine)).collect()
}

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

/// What `seconds` depend on in which three parts are busy for so long.
fn bound(seconds: f64, busy: &Busy) -> Bound {
    if seconds - busy.compute <= NOTABLE_STALL * seconds {
        Bound::Compute
    } else if busy.disk > busy.link {
        Bound::Disk
    } else {
        Bound::Link
    }
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
    let walks = walks(costs);
    let mut pipeline = Pipeline::new(costs, blocks, slots, machine);
    pipeline.prologue(walks);
    let (mut seconds, steady) = pipeline.repeat(walks);
    let uneven = costs.iter().any(|cost| cost.passes > 1 && (cost.passes as usize) < walks);
    if uneven {
        let mut pipeline = Pipeline::new(costs, blocks, slots, machine);
        pipeline.prologue(walks);
        for walk in 0..walks {
            pipeline.walk(walk, walks, walk as u32);
        }
        seconds = pipeline.compute_free;
    }
    let mut times = totals(costs, blocks, machine, seconds, steady);
    times.bound = if walks > 1 {
        bound(steady, &pipeline.busy(walks))
    } else {
        bound(seconds, &Busy { compute: times.compute, link: times.link_busy, disk: times.disk_busy })
    };
    times
}

/// All uses of a run in their order, as [`simulate`] plays them.
pub fn trace(costs: &[BlockCost], blocks: &[BlockPlan], slots: u32, machine: &Machine) -> Vec<BlockUse> {
    let walks = walks(costs);
    let mut pipeline = Pipeline::new(costs, blocks, slots, machine);
    pipeline.log = Some(Vec::new());
    pipeline.prologue(walks);
    for walk in 0..walks {
        pipeline.walk(walk, walks, walk as u32);
    }
    pipeline.log.unwrap_or_default()
}

/// Walks through the blocks in a run.
pub fn walks(costs: &[BlockCost]) -> usize {
    costs.iter().map(|cost| cost.passes as usize).max().unwrap_or(0)
}

fn totals(
    costs: &[BlockCost],
    blocks: &[BlockPlan],
    machine: &Machine,
    seconds: f64,
    steady: f64,
) -> Simulation {
    let mut sum = Simulation {
        seconds,
        steady,
        compute: 0.0,
        stall: 0.0,
        link_busy: 0.0,
        disk_busy: 0.0,
        link_bytes: 0,
        disk_bytes: 0,
        bound: Bound::Compute,
    };
    for (cost, block) in costs.iter().zip(blocks) {
        let Some(later) = cost.passes.checked_sub(1) else { continue };
        sum.compute += f64::from(cost.passes) * cost.seconds;
        for (traffic, times) in [
            (Traffic::new(cost, block, machine, true), 1),
            (Traffic::new(cost, block, machine, false), later),
        ] {
            sum.link_busy += f64::from(times) * traffic.link;
            sum.disk_busy += f64::from(times) * traffic.disk;
            sum.link_bytes += u64::from(times) * u64::from(traffic.link_times) * cost.bytes;
            sum.disk_bytes += u64::from(times) * u64::from(traffic.disk_times) * cost.file_bytes;
        }
    }
    sum.stall = (seconds - sum.compute).max(0.0);
    sum
}

/// What moves for one use of a block: seconds on the disk and on the link, and how often its bytes go over
/// each.
#[derive(Clone, Copy)]
struct Traffic {
    disk: f64,
    link: f64,
    disk_times: u32,
    link_times: u32,
}

impl Traffic {
    fn new(cost: &BlockCost, block: &BlockPlan, machine: &Machine, first: bool) -> Self {
        let (link_times, pieces) = match block.placement {
            Placement::Resident => (u32::from(first), 1),
            Placement::Streamed => (1, 1),
            Placement::Leaves => (cost.reads, cost.tensors()),
        };
        let hop = |link: &Link, pieces: u64, bytes: u64| {
            if bytes == 0 {
                return 0.0;
            }
            pieces as f64 * link.latency + bytes as f64 / link.bytes_per_second.max(1.0)
        };
        let read = |pieces: u64| hop(&machine.disk, pieces, cost.file_bytes) + cost.encoding;
        if machine.unified {
            let disk = f64::from(link_times) * read(pieces);
            return Self { disk, link: 0.0, disk_times: link_times, link_times: 0 };
        }
        let (disk_times, disk_pieces) = match (block.placement, block.home) {
            (Placement::Resident, _) | (_, Tier::Host | Tier::Device) => (u32::from(first), 1),
            (_, Tier::Disk) => (link_times, pieces),
        };
        Self {
            disk: f64::from(disk_times) * read(disk_pieces),
            link: f64::from(link_times) * hop(&machine.link, pieces, cost.bytes),
            disk_times,
            link_times,
        }
    }
}

/// When everything is free again, in seconds since the beginning.
struct Pipeline<'a> {
    costs: &'a [BlockCost],
    blocks: &'a [BlockPlan],
    machine: &'a Machine,
    compute_free: f64,
    link_free: f64,
    disk_free: f64,
    /// When each slot's last block was done with it, and the number of streamed uses so far.
    slots: Vec<f64>,
    streamed: usize,
    /// When each staging buffer was copied, and the number of reads through them so far.
    staging: Vec<f64>,
    read: usize,
    log: Option<Vec<BlockUse>>,
}

impl<'a> Pipeline<'a> {
    fn new(costs: &'a [BlockCost], blocks: &'a [BlockPlan], slots: u32, machine: &'a Machine) -> Self {
        let slots = vec![0.0; slots.max(1) as usize];
        Self {
            costs,
            blocks,
            machine,
            compute_free: 0.0,
            link_free: 0.0,
            disk_free: 0.0,
            staging: slots.clone(),
            slots,
            streamed: 0,
            read: 0,
            log: None,
        }
    }

    /// The blocks that are used once before the others are walked through.
    fn prologue(&mut self, walks: usize) {
        if walks > 1 {
            for block in 0..self.blocks.len().min(self.costs.len()) {
                if self.costs[block].passes == 1 {
                    self.use_block(block, true);
                }
            }
        }
    }

    /// One walk through the blocks that have more than `done` passes.
    fn walk(&mut self, walk: usize, walks: usize, done: u32) {
        for block in 0..self.blocks.len().min(self.costs.len()) {
            let passes = self.costs[block].passes;
            if passes > done && (passes > 1 || walks == 1) {
                self.use_block(block, walk == 0);
            }
        }
    }

    /// Seconds of `walks` walks through all blocks, and of one of them once they have settled.
    fn repeat(&mut self, walks: usize) -> (f64, f64) {
        if walks == 0 {
            return (0.0, 0.0);
        }
        let busy = self.busy(walks);
        let moves = busy.link > 0.0 || busy.disk > 0.0;
        self.walk(0, walks, 0);
        let mut finishes = vec![self.compute_free];
        if !moves {
            return (self.compute_free + (walks - 1) as f64 * busy.compute, busy.compute);
        }
        let least = busy.compute.max(busy.link).max(busy.disk);
        let mut states = vec![self.state(&busy)];
        while finishes.len() < walks.max(MOST_WALKS) {
            self.walk(finishes.len(), walks, 0);
            finishes.push(self.compute_free);
            let state = self.state(&busy);
            let tolerance = 1e-10 * (1.0 + least);
            let same = |earlier: &Vec<f64>| {
                earlier.iter().zip(&state).all(|(before, now)| (before - now).abs() <= tolerance)
            };
            let period = states.iter().rev().take(LONGEST_PERIOD).position(same).map(|back| back + 1);
            states.push(state);
            if let Some(period) = period {
                return extrapolate(&finishes, walks, period, least);
            }
        }
        let last = finishes.len() - 1;
        let window = last.min(3 * LONGEST_PERIOD);
        let steady = (finishes[last] - finishes[last - window]) / window as f64;
        (finishes[walks - 1], steady.max(least))
    }

    /// Seconds that device, link and disk are busy in a walk after the first.
    fn busy(&self, walks: usize) -> Busy {
        let mut busy = Busy { compute: 0.0, link: 0.0, disk: 0.0 };
        for (cost, block) in self.costs.iter().zip(self.blocks) {
            if cost.passes > 1 || (walks == 1 && cost.passes == 1) {
                let traffic = Traffic::new(cost, block, self.machine, false);
                busy.compute += cost.seconds;
                busy.link += traffic.link;
                busy.disk += traffic.disk;
            }
        }
        busy
    }

    /// Everything that later times depend on, seen from the end of the last pass.
    fn state(&self, busy: &Busy) -> Vec<f64> {
        let ring = |times: &[f64], next: usize| -> Vec<f64> {
            (0..times.len()).map(|offset| times[(next + offset) % times.len()]).collect()
        };
        let mut state = Vec::new();
        if self.streamed > 0 {
            state = ring(&self.slots, self.streamed);
        }
        if busy.link > 0.0 {
            state.push(self.link_free);
        }
        if busy.disk > 0.0 {
            state.push(self.disk_free);
        }
        if busy.disk > 0.0 && self.read > 0 {
            state.extend(ring(&self.staging, self.read));
        }
        state.iter().map(|time| time - self.compute_free).collect()
    }

    fn use_block(&mut self, block: usize, first: bool) {
        let (cost, plan) = (&self.costs[block], &self.blocks[block]);
        let traffic = Traffic::new(cost, plan, self.machine, first);
        let ready = match plan.placement {
            Placement::Resident if !first => 0.0,
            Placement::Resident => {
                let read = self.read_from_disk(traffic.disk, 0.0);
                self.copy(traffic.link, read)
            }
            Placement::Leaves => {
                let read = self.read_from_disk(traffic.disk, self.compute_free);
                self.copy(traffic.link, read)
            }
            Placement::Streamed => self.stream(traffic, plan.home == Tier::Disk),
        };
        let start = self.compute_free.max(ready);
        self.compute_free = start + cost.seconds;
        if plan.placement == Placement::Streamed {
            let slots = self.slots.len();
            self.slots[self.streamed % slots] = self.compute_free;
            self.streamed += 1;
        }
        if let Some(log) = &mut self.log {
            log.push(BlockUse { block, ready, start, finish: self.compute_free });
        }
    }

    /// Through a slot that is free, and through a staging buffer if there is no copy in the host's memory.
    fn stream(&mut self, traffic: Traffic, from_disk: bool) -> f64 {
        let slot = self.slots[self.streamed % self.slots.len()];
        if self.machine.unified {
            return self.read_from_disk(traffic.disk, slot);
        }
        if !from_disk {
            let read = self.read_from_disk(traffic.disk, 0.0);
            return self.copy(traffic.link, read.max(slot));
        }
        let buffer = self.read % self.staging.len();
        let read = self.read_from_disk(traffic.disk, self.staging[buffer]);
        let copied = self.copy(traffic.link, read.max(slot));
        self.staging[buffer] = copied;
        self.read += 1;
        copied
    }

    fn read_from_disk(&mut self, seconds: f64, after: f64) -> f64 {
        if seconds <= 0.0 {
            return after;
        }
        self.disk_free = self.disk_free.max(after) + seconds;
        self.disk_free
    }

    fn copy(&mut self, seconds: f64, after: f64) -> f64 {
        if seconds <= 0.0 {
            return after;
        }
        self.link_free = self.link_free.max(after) + seconds;
        self.link_free
    }
}

/// Seconds that each part is busy in a walk.
struct Busy {
    compute: f64,
    link: f64,
    disk: f64,
}

/// Goes on from walks whose last `period` will repeat.
fn extrapolate(finishes: &[f64], walks: usize, period: usize, least: f64) -> (f64, f64) {
    let last = finishes.len() - 1;
    let round = finishes[last] - finishes[last - period];
    let steady = (round / period as f64).max(least);
    if walks <= finishes.len() {
        return (finishes[walks - 1], steady);
    }
    let left = walks - finishes.len();
    let part = finishes[last - period + left % period] - finishes[last - period];
    (finishes[last] + (left / period) as f64 * round + part, steady)
}
