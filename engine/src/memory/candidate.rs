//! One way of placing a part's blocks in a stage, with what it takes.

use super::{
    BlockCost, BlockPlan, BytesByDtype, Placement, Residents, Simulation, Tier, footprint::most_of_each,
    part::Part, simulate::Player,
};

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
    /// Whether all blocks keep copies in the host's memory for the next run if there is room, or only those that come
    /// again in this one.
    pub keeps: bool,
}

/// More slots than this gain nothing. A power of two.
pub(super) const MOST_SLOTS: usize = 16;

impl Technique {
    /// Everything that the planner tries: up to three blocks on their way, or exactly `prefetch`.
    pub fn new(prefetch: Option<u32>) -> Self {
        let slots = prefetch.map(|prefetch| prefetch.saturating_add(1).min(MOST_SLOTS as u32));
        Self {
            fewest_slots: slots.unwrap_or(1),
            most_slots: slots.unwrap_or(4),
            residents: true,
            choice: Residents::Best,
            leaves: true,
            keeps: true,
        }
    }

    /// The same where others stay.
    pub fn with_choice(self, choice: Residents) -> Self {
        Self { choice, ..self }
    }

    /// The same where blocks keep copies for the next run, or not.
    pub fn with_keeps(self, keeps: bool) -> Self {
        Self { keeps, ..self }
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
    /// Bytes of activations beyond those of the part's work, because guidance branches go through blocks together.
    pub beyond: u64,
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
    /// Bytes on the device: its weights, and the activations beyond those of the part's work.
    pub fn device(&self) -> u64 {
        self.weights.saturating_add(self.beyond)
    }
}

/// A part's blocks in their places, and what that takes whatever the number of slots.
#[derive(Clone)]
pub(super) struct Layout {
    pub blocks: Vec<BlockPlan>,
    /// Blocks that pass through slots.
    pub streamed: u32,
    slot_bytes: u64,
    /// Bytes of the blocks that stay, and the largest tensor that comes alone.
    staying: u64,
    beyond: u64,
    /// Bytes of a buffer that blocks are read through, and of the largest tensor that is.
    read: u64,
    read_leaf: u64,
    copies: u64,
    pub moved: u64,
    pub unevenness: u64,
}

impl Layout {
    /// All blocks that are used on the device. If they keep copies for the next run, those do whose bytes fit `copies`.
    pub fn whole(part: &Part<'_>, copies: u64, keeps: bool) -> Self {
        let mut blocks = on_disk(part.costs.iter().map(|cost| used(cost, Placement::Resident)));
        if keeps {
            give_copies(part, &mut blocks, (copies, true), |_, _| true);
        }
        Self::at(part, blocks)
    }

    /// The blocks that are `needed` in any of the part's stages on the device, without copies in the host's memory.
    pub fn kept(part: &Part<'_>, needed: &[bool]) -> Self {
        let placement = |&needed: &bool| if needed { Placement::Resident } else { Placement::Streamed };
        Self::at(part, on_disk(needed.iter().map(placement)))
    }

    /// Blocks where `placements` says. As many of those that pass through keep a copy in the host's memory as
    /// fit `copies`, the others being spread evenly between them so that reads have time. If copies are kept for the
    /// next run, the blocks that stay have those that fit beside.
    pub fn through(
        part: &Part<'_>,
        placements: impl Iterator<Item = Placement>,
        copies: u64,
        keeps: bool,
    ) -> Self {
        let mut blocks = on_disk(placements);
        let comes_again = |cost: &BlockCost| cost.passes > 1 || cost.reads > 1;
        give_copies(part, &mut blocks, (copies, keeps), |cost, plan| match plan.placement {
            Placement::Resident => keeps && part.bytes <= copies,
            _ => keeps || comes_again(cost),
        });
        if keeps && part.bytes > copies {
            give_rest(part, &mut blocks, copies);
        }
        Self::at(part, blocks)
    }

    /// Blocks with all their places given.
    pub fn at(part: &Part<'_>, blocks: Vec<BlockPlan>) -> Self {
        let (mut streamed, mut staying, mut copies, mut moved) = (0, 0u64, 0u64, 0u64);
        let (mut slot, mut read) = (BytesByDtype::default(), BytesByDtype::default());
        let (mut leaf, mut read_leaf, mut beyond) = (0, 0, 0);
        let mut gaps = Gaps::default();
        for (place, (cost, plan)) in part.used_blocks(&blocks).enumerate() {
            let from_disk = plan.home == Tier::Disk && !part.machine.unified;
            if plan.home == Tier::Host {
                copies = copies.saturating_add(cost.bytes);
            }
            match plan.placement {
                Placement::Resident => staying = staying.saturating_add(cost.bytes),
                Placement::Streamed => {
                    streamed += 1;
                    slot = most_of_each(slot, cost.by_dtype);
                    read = if from_disk { most_of_each(read, cost.by_dtype) } else { read };
                    moved = moved.saturating_add(cost.bytes);
                }
                placement @ (Placement::Leaves | Placement::SharedLeaves) => {
                    leaf = cost.largest_tensor.max(leaf);
                    read_leaf = if from_disk { cost.largest_tensor.max(read_leaf) } else { read_leaf };
                    moved = moved.saturating_add(cost.bytes.saturating_mul(cost.brought(placement).into()));
                    if let Some(shared) = cost.shared.filter(|_| placement == Placement::SharedLeaves) {
                        beyond = shared.beyond.max(beyond);
                    }
                }
            }
            gaps.add(place, plan.placement != Placement::Resident);
        }
        let (staying, unevenness) = (staying.saturating_add(leaf), gaps.squares());
        let [slot_bytes, read] = [slot, read].map(|by_dtype| by_dtype.iter().sum());
        Self { blocks, streamed, slot_bytes, staying, beyond, read, read_leaf, copies, moved, unevenness }
    }

    /// How many of so many slots are used.
    pub fn slots(&self, slots: u32) -> u32 {
        slots.max(1).min(self.streamed)
    }

    /// Bytes of weights on the device with so many slots.
    pub fn weights(&self, slots: u32) -> u64 {
        self.staying.saturating_add(self.slot_bytes.saturating_mul(self.slots(slots).into()))
    }

    /// Bytes on the device with so many slots, and the activations beyond those of the part's work.
    pub fn device(&self, slots: u32) -> u64 {
        self.weights(slots).saturating_add(self.beyond)
    }

    fn staging(&self, slots: u32) -> u64 {
        self.read.saturating_mul(self.slots(slots).into()).saturating_add(self.read_leaf)
    }

    /// Whether it gets by with this much of the host's memory.
    pub fn fits_host(&self, slots: u32, room: HostRoom) -> bool {
        self.copies <= room.copies && self.staging(slots) <= room.staging
    }

    /// The candidate with so many slots.
    pub fn played(self, part: &Part<'_>, slots: u32) -> Candidate {
        let simulation = Player::default().play(part, &self.blocks, self.slots(slots));
        self.with(slots, simulation)
    }

    /// The same with times that are known.
    pub fn with(self, slots: u32, simulation: Simulation) -> Candidate {
        Candidate {
            slots: self.slots(slots),
            slot_bytes: self.slot_bytes,
            weights: self.weights(slots),
            beyond: self.beyond,
            copies: self.copies,
            staging: self.staging(slots),
            moved: self.moved,
            unevenness: self.unevenness,
            simulation,
            blocks: self.blocks,
        }
    }
}

/// A block that is never used passes through and takes nothing.
pub(super) fn used(cost: &BlockCost, placement: Placement) -> Placement {
    if cost.passes > 0 { placement } else { Placement::Streamed }
}

/// Blocks without copies in the host's memory.
fn on_disk(placements: impl Iterator<Item = Placement>) -> Vec<BlockPlan> {
    placements.map(|placement| BlockPlan { placement, home: Tier::Disk }).collect()
}

/// Gives those of the used blocks that are `wanted` a copy in the host's memory. Where there is not room for all, they
/// are spread evenly.
///
/// If copies are kept for the next run, what room is left goes to blocks that were encoded, so that it is done once
/// although the device's own goes after the run.
fn give_copies(
    part: &Part<'_>,
    blocks: &mut [BlockPlan],
    (room, keeps): (u64, bool),
    wanted: impl Fn(&BlockCost, &BlockPlan) -> bool,
) {
    let room = if part.machine.unified { 0 } else { room };
    let wants = |cost: &BlockCost, plan: &BlockPlan| cost.passes > 0 && cost.bytes > 0 && wanted(cost, plan);
    if part.bytes <= room && !part.encodes {
        for (cost, plan) in part.costs.iter().zip(blocks) {
            if wants(cost, plan) {
                plan.home = Tier::Host;
            }
        }
        return;
    }
    let wanting = part.costs.iter().zip(&*blocks).filter(|(cost, plan)| wants(cost, plan));
    let total: u128 = wanting.map(|(cost, _)| u128::from(cost.bytes)).sum();
    let (all, mut taken, mut seen) = (u128::from(room), 0, 0);
    for (cost, plan) in part.costs.iter().zip(&mut *blocks).filter(|(cost, plan)| wants(cost, plan)) {
        let bytes = u128::from(cost.bytes);
        seen += bytes;
        if total <= all || (taken + bytes) * total <= seen * all {
            plan.home = Tier::Host;
            taken += bytes;
        }
    }
    let mut left = room - u64::try_from(taken).unwrap_or(room);
    let mut fill = |wants: &dyn Fn(&BlockCost, &BlockPlan) -> bool| {
        for (cost, plan) in part.costs.iter().zip(&mut *blocks) {
            if plan.home == Tier::Disk && cost.bytes <= left && wants(cost, plan) {
                plan.home = Tier::Host;
                left -= cost.bytes;
            }
        }
    };
    if total > all {
        fill(&wants);
    }
    if part.encodes && keeps {
        fill(&|cost, _| cost.passes > 0 && cost.encoding > 0.0);
    }
}

/// Gives blocks that stay copies in what room the others have left.
fn give_rest(part: &Part<'_>, blocks: &mut [BlockPlan], room: u64) {
    let room = if part.machine.unified { 0 } else { room };
    let copied = part.used_blocks(blocks).filter(|(_, plan)| plan.home == Tier::Host);
    let mut left = room.saturating_sub(copied.map(|(cost, _)| cost.bytes).sum());
    for (cost, plan) in part.costs.iter().zip(blocks) {
        let wants = cost.passes > 0 && cost.bytes > 0 && plan.home == Tier::Disk;
        if wants && cost.bytes <= left {
            plan.home = Tier::Host;
            left -= cost.bytes;
        }
    }
}

/// The distances between blocks that pass through, around the end of a walk.
#[derive(Default)]
struct Gaps {
    first: Option<usize>,
    last: usize,
    places: usize,
    squares: usize,
}

impl Gaps {
    fn add(&mut self, place: usize, passes: bool) {
        self.places = place + 1;
        if passes {
            let gap = self.first.map_or(0, |_| place - self.last);
            self.squares += gap * gap;
            self.first = self.first.or(Some(place));
            self.last = place;
        }
    }

    fn squares(&self) -> u64 {
        let wrap = self.first.map_or(0, |first| self.places - self.last + first);
        (self.squares + wrap * wrap) as u64
    }
}
