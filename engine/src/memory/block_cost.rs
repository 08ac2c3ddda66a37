//! What blocks cost in a machine's seconds, before anything is placed.

use std::collections::BTreeMap;

use super::{BlockFootprint, BlockWork, BytesByDtype, Machine, PartFootprint, Placement, Work};
use crate::precision::Format;

/// What one block costs: its part of the footprint and of the workload, in the machine's seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCost {
    /// Seconds that one pass computes.
    pub seconds: f64,
    /// Bytes of its weights.
    pub bytes: u64,
    /// The same by dtype.
    pub by_dtype: BytesByDtype,
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
    /// The same if the guidance branches go through its tensors together; `None` if there is only one.
    pub shared: Option<SharedCost>,
}

/// What it costs that all guidance branches go through the tensors of a block together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedCost {
    /// How often each of its tensors is read in one pass.
    pub reads: u32,
    /// Bytes of activations beyond the peak of the part's work with branches one after the other.
    pub beyond: u64,
}

impl BlockCost {
    /// The cost of a block on a machine that does so many operations a second in its part. `peak`: bytes of activations that
    /// the part's blocks take at most beyond those that are carried.
    pub fn new(
        block: &BlockFootprint,
        work: &BlockWork,
        peak: u64,
        (machine, speed): (&Machine, f64),
    ) -> Self {
        let shared = work.shared.map(|shared| SharedCost {
            reads: shared.reads.max(1),
            beyond: shared.activations.saturating_sub(peak),
        });
        Self {
            seconds: machine.block_latency + work.operations / speed.max(1.0),
            bytes: block.bytes,
            by_dtype: block.by_dtype,
            largest_tensor: block.largest_tensor.min(block.bytes),
            file_bytes: block.file_bytes,
            encoding: encoding_seconds(&block.encoded),
            passes: work.passes,
            reads: work.reads.max(1),
            shared,
        }
    }

    /// How often each of its tensors is brought up in one pass where it is placed.
    pub(super) fn brought(&self, placement: Placement) -> u32 {
        match placement {
            Placement::Resident | Placement::Streamed => 1,
            Placement::Leaves => self.reads,
            Placement::SharedLeaves => self.shared.map_or(self.reads, |shared| shared.reads),
        }
    }

    /// Copies that bring the block up tensor by tensor: as many as its largest tensor goes into its bytes,
    /// which is the least there can be.
    pub(super) fn tensors(&self) -> u64 {
        self.bytes.div_ceil(self.largest_tensor.max(1))
    }
}

/// Seconds that one thread takes to encode so many weights in each format.
fn encoding_seconds(encoded: &BTreeMap<Format, u64>) -> f64 {
    encoded.iter().map(|(format, weights)| *weights as f64 / format.encoded_per_second()).sum()
}

/// The costs of a part's blocks, in their order.
pub fn block_costs(part: &PartFootprint, work: &Work, machine: &Machine) -> Vec<BlockCost> {
    let peak = work.peak_activations() - work.carried;
    let works = work.blocks.iter().chain(std::iter::repeat(&BlockWork::UNUSED));
    let on = (machine, machine.speed_of(&part.name));
    part.blocks.iter().zip(works).map(|(block, work)| BlockCost::new(block, work, peak, on)).collect()
}
