//! What blocks cost in a machine's seconds, before anything is placed.

use std::collections::BTreeMap;

use super::{BlockFootprint, BlockWork, BytesByDtype, Machine, PartFootprint, Work};
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
}

impl BlockCost {
    /// The cost of a block on a machine.
    pub fn new(block: &BlockFootprint, work: &BlockWork, machine: &Machine) -> Self {
        Self {
            seconds: machine.block_latency + work.operations / machine.operations_per_second.max(1.0),
            bytes: block.bytes,
            by_dtype: block.by_dtype,
            largest_tensor: block.largest_tensor.min(block.bytes),
            file_bytes: block.file_bytes,
            encoding: encoding_seconds(&block.encoded),
            passes: work.passes,
            reads: work.reads.max(1),
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
    let unused = BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 1 };
    let works = work.blocks.iter().chain(std::iter::repeat(&unused));
    part.blocks.iter().zip(works).map(|(block, work)| BlockCost::new(block, work, machine)).collect()
}
