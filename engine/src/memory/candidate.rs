//! One way of placing a part's blocks in a stage, with what it takes.

use super::{BlockCost, BlockPlan, Machine, Placement, Residents, Simulation, Tier, simulate::simulate};

/// What is open to the placement of a part's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Technique {
    /// The fewest slots that streamed blocks may pass through.
    pub fewest_slots: u32,
    /// The most.
    pub most_slots: u32,
    /// Whether blocks may stay on the device.
    pub residents: bool,
    /// Which of them do.
    pub choice: Residents,
    /// Whether blocks may come tensor by tensor where not even one of them fits.
    pub leaves: bool,
}

/// More blocks on their way than this gain nothing.
const MOST_PREFETCH: u32 = 15;

impl Technique {
    /// Everything that the planner tries: up to three blocks on their way, or exactly as many as somebody
    /// wants.
    pub fn new(prefetch: Option<u32>) -> Self {
        let slots = prefetch.map(|prefetch| prefetch.min(MOST_PREFETCH) + 1);
        Self {
            fewest_slots: slots.unwrap_or(1),
            most_slots: slots.unwrap_or(4),
            residents: true,
            choice: Residents::Best,
            leaves: true,
        }
    }

    /// The same where others stay.
    pub fn with_choice(self, choice: Residents) -> Self {
        Self { choice, ..self }
    }

    /// The same without blocks that stay.
    pub fn without_residents(self) -> Self {
        Self { residents: false, ..self }
    }
}

/// Bytes of the host's memory that a part may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostRoom {
    /// For copies of its blocks.
    pub copies: u64,
    /// For buffers that blocks without a copy are read through.
    pub staging: u64,
}

/// A part's blocks in their places, and what that takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// One for each block. Blocks that are never used are `Streamed` and take nothing.
    pub blocks: Vec<BlockPlan>,
    /// Slots that streamed blocks pass through; 0 if none is streamed.
    pub slots: u32,
    /// Bytes of each slot.
    pub slot_bytes: u64,
    /// Bytes of weights on the device: blocks that stay, slots, and the largest tensor that comes alone.
    pub weights: u64,
    /// Bytes of copies in the host's memory.
    pub copies: u64,
    /// Bytes of buffers in the host's memory while the part is in use.
    pub staging: u64,
    /// Bytes that come up again with every walk.
    pub moved: u64,
    /// How unevenly streamed blocks are spread: the sum of the squares of the distances between them.
    pub unevenness: u64,
    /// The times.
    pub simulation: Simulation,
}

impl Candidate {
    /// All blocks that are used on the device; those whose bytes fit `copies` keep a copy in the host's
    /// memory.
    pub(super) fn whole(costs: &[BlockCost], machine: &Machine, copies: u64) -> Self {
        let placements = costs.iter().map(|cost| used(cost, Placement::Resident)).collect();
        let hosted = costs.iter().map(|cost| cost.passes > 0).collect();
        Self::new(costs, machine, placements, hosted, 0, copies)
    }

    /// The blocks that are `needed` in any of the part's stages on the device, without copies in the host's memory.
    pub(super) fn kept(costs: &[BlockCost], machine: &Machine, needed: &[bool]) -> Self {
        let placement = |&needed: &bool| if needed { Placement::Resident } else { Placement::Streamed };
        let homes = vec![Tier::Disk; costs.len()];
        Self::at(costs, machine, needed.iter().map(placement).collect(), homes, 0)
    }

    /// Blocks where `placements` says. As many of those that pass through keep a copy in the host's memory as
    /// fit `copies`, the others being spread evenly between them so that reads have time.
    pub(super) fn through(
        costs: &[BlockCost],
        machine: &Machine,
        placements: Vec<Placement>,
        slots: u32,
        copies: u64,
    ) -> Self {
        let passing = |(cost, placement): (&BlockCost, &Placement)| {
            cost.passes > 0 && *placement != Placement::Resident
        };
        let hosted = costs.iter().zip(&placements).map(passing).collect();
        Self::new(costs, machine, placements, hosted, slots, copies)
    }

    fn new(
        costs: &[BlockCost],
        machine: &Machine,
        placements: Vec<Placement>,
        hosted: Vec<bool>,
        slots: u32,
        copies: u64,
    ) -> Self {
        let room = if machine.unified { 0 } else { copies };
        let mut homes = homes(costs, &hosted, room);
        keep_encoded(costs, &mut homes, room);
        Self::at(costs, machine, placements, homes, slots)
    }

    /// Blocks with all their places given.
    pub(super) fn at(
        costs: &[BlockCost],
        machine: &Machine,
        placements: Vec<Placement>,
        homes: Vec<Tier>,
        slots: u32,
    ) -> Self {
        let blocks: Vec<BlockPlan> = placements
            .into_iter()
            .zip(homes)
            .map(|(placement, home)| BlockPlan { placement, home })
            .collect();
        let of = |wanted: fn(&BlockPlan) -> bool| {
            costs.iter().zip(&blocks).filter(move |(cost, block)| cost.passes > 0 && wanted(block))
        };
        let streamed = |block: &BlockPlan| block.placement == Placement::Streamed;
        let slots = slots.max(1).min(of(streamed).count() as u32);
        let slot_bytes = of(streamed).map(|(cost, _)| cost.bytes).max().unwrap_or(0);
        let resident = sum(of(|block| block.placement == Placement::Resident).map(|(cost, _)| cost.bytes));
        let leaf =
            of(|block| block.placement == Placement::Leaves).map(|(cost, _)| cost.largest_tensor).max();
        let read = of(|block| block.placement == Placement::Streamed && block.home == Tier::Disk);
        let read_leaf = of(|block| block.placement == Placement::Leaves && block.home == Tier::Disk);
        let buffers = read.map(|(cost, _)| cost.bytes).max().unwrap_or(0).saturating_mul(slots.into());
        let leaf_buffer = read_leaf.map(|(cost, _)| cost.largest_tensor).max().unwrap_or(0);
        let staging = if machine.unified { 0 } else { buffers.saturating_add(leaf_buffer) };
        let copies = sum(of(|block| block.home == Tier::Host).map(|(cost, _)| cost.bytes));
        let again = |(cost, block): (&BlockCost, &BlockPlan)| match block.placement {
            Placement::Leaves => cost.bytes.saturating_mul(cost.reads.into()),
            _ => cost.bytes,
        };
        let moved = sum(of(|block| block.placement != Placement::Resident).map(again));
        let weights = resident
            .saturating_add(slot_bytes.saturating_mul(slots.into()))
            .saturating_add(leaf.unwrap_or(0));
        let simulation = simulate(costs, &blocks, slots, machine);
        let unevenness = unevenness(costs, &blocks);
        Self { blocks, slots, slot_bytes, weights, copies, staging, moved, unevenness, simulation }
    }

    /// Whether it gets by with this much of the host's memory.
    pub(super) fn fits_host(&self, room: HostRoom) -> bool {
        self.copies <= room.copies && self.staging <= room.staging
    }
}

/// A block that is never used passes through and takes nothing.
pub(super) fn used(cost: &BlockCost, placement: Placement) -> Placement {
    if cost.passes > 0 { placement } else { Placement::Streamed }
}

/// Which of the blocks that want a copy in the host's memory get one. Where there is not room for all, they
/// are spread evenly.
fn homes(costs: &[BlockCost], wanted: &[bool], room: u64) -> Vec<Tier> {
    let bytes = |block: usize| u128::from(costs[block].bytes);
    let wanting: Vec<usize> = (0..costs.len()).filter(|&block| wanted[block]).collect();
    let total: u128 = wanting.iter().map(|&block| bytes(block)).sum();
    let mut homes = vec![Tier::Disk; costs.len()];
    let (room, mut taken, mut seen) = (u128::from(room), 0, 0);
    for &block in &wanting {
        seen += bytes(block);
        let share = if total <= room { seen } else { seen * room / total };
        if taken + bytes(block) <= share && bytes(block) > 0 {
            homes[block] = Tier::Host;
            taken += bytes(block);
        }
    }
    for &block in &wanting {
        if homes[block] == Tier::Disk && bytes(block) > 0 && taken + bytes(block) <= room {
            homes[block] = Tier::Host;
            taken += bytes(block);
        }
    }
    homes
}

/// Gives blocks that were encoded a copy in the room that the others leave, so that it is done once although the
/// device's own goes after the run.
fn keep_encoded(costs: &[BlockCost], homes: &mut [Tier], room: u64) {
    let taken =
        costs.iter().zip(&*homes).filter(|(_, home)| **home == Tier::Host).map(|(cost, _)| cost.bytes);
    let mut left = room.saturating_sub(sum(taken));
    for (cost, home) in costs.iter().zip(homes) {
        let wants = *home == Tier::Disk && cost.passes > 0 && cost.encoding > 0.0;
        if wants && cost.bytes <= left {
            *home = Tier::Host;
            left -= cost.bytes;
        }
    }
}

fn unevenness(costs: &[BlockCost], blocks: &[BlockPlan]) -> u64 {
    let walked = costs.iter().zip(blocks).filter(|(cost, _)| cost.passes > 0);
    let passing: Vec<bool> = walked.map(|(_, block)| block.placement != Placement::Resident).collect();
    let places: Vec<usize> = (0..passing.len()).filter(|&place| passing[place]).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return 0 };
    let wrap = passing.len() - last + first;
    let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).chain([wrap]);
    gaps.map(|gap| (gap * gap) as u64).sum()
}

fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}
