//! A part's blocks on a machine: everything about them that does not depend on where they are placed, and how each
//! comes to its uses in every place.

use super::{BlockCost, BlockPlan, Link, Machine, Placement, Tier};

/// A part's blocks on a machine.
pub(super) struct Part<'a> {
    pub costs: &'a [BlockCost],
    pub machine: &'a Machine,
    /// Whether its walks are denoising steps, so that the time of one counts besides that of the run.
    pub steps: bool,
    /// Walks through the blocks in a run.
    pub walks: usize,
    /// Whether some blocks take part in fewer walks than others.
    pub uneven: bool,
    /// Whether any block is encoded when it is read.
    pub encodes: bool,
    /// Bytes of all blocks that are used.
    pub bytes: u64,
    /// The blocks that are used once, before the others are walked through.
    pub prologue: Vec<usize>,
    /// The blocks that are walked through.
    pub walked: Vec<usize>,
    /// The first uses of all blocks.
    pub loading: Loading,
    /// How each block comes in each of [`PLACES`].
    uses: Vec<[Uses; PLACES.len()]>,
}

/// All places that a block may have.
const PLACES: [BlockPlan; 7] = [
    BlockPlan { placement: Placement::Resident, home: Tier::Host },
    BlockPlan { placement: Placement::Streamed, home: Tier::Host },
    BlockPlan { placement: Placement::Streamed, home: Tier::Disk },
    BlockPlan { placement: Placement::Leaves, home: Tier::Host },
    BlockPlan { placement: Placement::Leaves, home: Tier::Disk },
    BlockPlan { placement: Placement::SharedLeaves, home: Tier::Host },
    BlockPlan { placement: Placement::SharedLeaves, home: Tier::Disk },
];

/// A block's place in [`PLACES`]. Where blocks that stay have their copies makes no difference.
fn place(plan: BlockPlan) -> usize {
    match (plan.placement, plan.home) {
        (Placement::Resident, _) => 0,
        (Placement::Streamed, Tier::Host | Tier::Device) => 1,
        (Placement::Streamed, Tier::Disk) => 2,
        (Placement::Leaves, Tier::Host | Tier::Device) => 3,
        (Placement::Leaves, Tier::Disk) => 4,
        (Placement::SharedLeaves, Tier::Host | Tier::Device) => 5,
        (Placement::SharedLeaves, Tier::Disk) => 6,
    }
}

impl<'a> Part<'a> {
    pub fn new(costs: &'a [BlockCost], machine: &'a Machine, steps: bool) -> Self {
        let walks = costs.iter().map(|cost| cost.passes as usize).max().unwrap_or(0);
        let used = || (0..costs.len()).filter(|&block| costs[block].passes > 0);
        let (prologue, walked): (Vec<usize>, Vec<usize>) =
            used().partition(|&block| costs[block].passes == 1 && walks > 1);
        let uses = |cost| PLACES.map(|plan| Uses::new(cost, plan, machine));
        let uses: Vec<_> = costs.iter().map(uses).collect();
        let mut loading = Loading::default();
        prologue.iter().chain(&walked).for_each(|&block| loading.add(&uses[block][0].first));
        Self {
            costs,
            machine,
            steps,
            walks,
            uneven: costs.iter().any(|cost| cost.passes > 1 && (cost.passes as usize) < walks),
            encodes: used().any(|block| costs[block].encoding > 0.0),
            bytes: used().fold(0, |sum, block| sum.saturating_add(costs[block].bytes)),
            prologue,
            walked,
            loading,
            uses,
        }
    }

    /// The blocks that are used.
    pub fn used(&self) -> impl Iterator<Item = usize> {
        (0..self.costs.len()).filter(|&block| self.costs[block].passes > 0)
    }

    /// Whether a block is used once, before the others are walked through.
    pub fn is_prologue(&self, block: usize) -> bool {
        self.costs[block].passes == 1 && self.walks > 1
    }

    /// How a block comes to its uses where it is placed.
    pub fn uses(&self, block: usize, plan: BlockPlan) -> &Uses {
        &self.uses[block][place(plan)]
    }

    /// Seconds that the link takes for a block that passes through.
    pub fn copy(&self, block: usize) -> f64 {
        self.uses(block, PLACES[1]).first.link
    }

    /// The blocks that are used, with their places.
    pub fn used_blocks<'b>(
        &self,
        blocks: &'b [BlockPlan],
    ) -> impl Iterator<Item = (&'a BlockCost, &'b BlockPlan)> {
        self.costs.iter().zip(blocks).filter(|(cost, _)| cost.passes > 0)
    }

    /// Bytes over the link and bytes from disk in a run.
    pub fn moved(&self, blocks: &[BlockPlan]) -> (u64, u64) {
        let mut moved = (0, 0);
        for (cost, plan) in self.used_blocks(blocks) {
            let brought = match plan.placement {
                Placement::Resident => 1,
                placement => u64::from(cost.passes) * u64::from(cost.brought(placement)),
            };
            let from_disk = self.machine.unified || plan.home == Tier::Disk;
            moved.0 += if self.machine.unified { 0 } else { brought * cost.bytes };
            moved.1 += if from_disk { brought } else { 1 } * cost.file_bytes;
        }
        moved
    }
}

/// The first uses of all blocks as they would be with a slot and a buffer for each: when the last of them has been read,
/// copied and computed. No placement has them sooner.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loading {
    pub read: f64,
    pub copied: f64,
    pub computed: f64,
}

impl Loading {
    fn add(&mut self, block_use: &Use) {
        let &Use { disk, link, compute, .. } = block_use;
        self.read += disk;
        let read = if disk > 0.0 { self.read } else { 0.0 };
        let there = if link > 0.0 {
            self.copied = self.copied.max(read) + link;
            self.copied
        } else {
            read
        };
        self.computed = self.computed.max(there) + compute;
    }
}

/// How the weights of a block come to one of its uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// They are there.
    There,
    /// They come and stay.
    Loaded,
    /// They come tensor by tensor, once the device is free.
    Leaves,
    /// Through a slot, from a copy in the host's memory, which may have to be read first.
    Copied,
    /// Through a staging buffer and a slot.
    Staged,
    /// From disk into a slot, where the device computes in the host's memory.
    Read,
}

/// One use of a block, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub way: Way,
    /// That the device computes before it, on blocks that need not come.
    pub before: f64,
    /// Of its own pass.
    pub compute: f64,
    /// Of the disk, encoding included.
    pub disk: f64,
    /// Of the link.
    pub link: f64,
}

/// The first use of a block in a run, and each further one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uses {
    pub first: Use,
    pub later: Use,
}

impl Uses {
    fn new(cost: &BlockCost, plan: BlockPlan, machine: &Machine) -> Self {
        let hop = |link: &Link, pieces: u64, bytes: u64| {
            if bytes == 0 {
                return 0.0;
            }
            pieces as f64 * link.latency + bytes as f64 / link.bytes_per_second.max(1.0)
        };
        let read = |pieces: u64| hop(&machine.disk, pieces, cost.file_bytes) + cost.encoding;
        let copy = |pieces: u64| if machine.unified { 0.0 } else { hop(&machine.link, pieces, cost.bytes) };
        let from_disk = machine.unified || plan.home == Tier::Disk;
        let (way, times, pieces) = match plan.placement {
            Placement::Resident => (Way::Loaded, 1, 1),
            placement @ (Placement::Leaves | Placement::SharedLeaves) => {
                (Way::Leaves, cost.brought(placement), cost.tensors())
            }
            Placement::Streamed if machine.unified => (Way::Read, 1, 1),
            Placement::Streamed if from_disk => (Way::Staged, 1, 1),
            Placement::Streamed => (Way::Copied, 1, 1),
        };
        let link = f64::from(times) * copy(pieces);
        let disk = if from_disk { f64::from(times) * read(pieces) } else { read(1) };
        let first = Use { way, before: 0.0, compute: cost.seconds, disk, link };
        let later = match way {
            Way::Loaded => Use { way: Way::There, disk: 0.0, link: 0.0, ..first },
            _ if from_disk => first,
            _ => Use { disk: 0.0, ..first },
        };
        Self { first, later }
    }
}
