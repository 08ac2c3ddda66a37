//! The weights of a block for as long as they are used.

use std::{sync::Arc, time::Duration};

use crossbeam_channel::Sender;

use super::OnDevice;
use crate::{
    memory::Tier,
    residency::{BlockWeights, Moment, RunError, Weights, copies::Slot},
};

/// The weights of one block for the duration of a forward pass.
#[derive(Debug)]
pub struct Lease {
    pub(super) kind: Kind,
    /// Where they came from: [`Tier::Device`] if they were already there.
    pub from: Tier,
    /// How long loading took.
    pub load: Duration,
    /// Index of the slot they are in, if any.
    pub slot: Option<u8>,
    pub(super) bytes: u64,
}

#[derive(Debug)]
pub(super) enum Kind {
    Resident(Arc<OnDevice>),
    Slot { weights: BlockWeights, slot: Option<Slot>, free: Option<Sender<Slot>> },
    Leaves(BlockWeights),
}

impl Lease {
    /// Ends the lease. The device reads the weights until `moment`.
    pub(in crate::residency) fn end(mut self, moment: &Arc<Moment>) {
        if let Kind::Slot { slot: Some(slot), .. } = &mut self.kind {
            slot.buffer.set_read_until(Some(Arc::clone(moment)));
        }
    }

    /// The weights.
    pub fn weights(&self) -> Weights<'_> {
        self.block().seen()
    }

    /// The error of the first tensor that failed to load, if any.
    pub(in crate::residency) fn take_failure(&self) -> Option<RunError> {
        self.block().take_failure()
    }

    fn block(&self) -> &BlockWeights {
        match &self.kind {
            Kind::Resident(block) => &block.weights,
            Kind::Slot { weights, .. } | Kind::Leaves(weights) => weights,
        }
    }

    /// Bytes moved to the device for it.
    pub fn moved_bytes(&self) -> u64 {
        self.bytes + self.block().moved_bytes()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Kind::Slot { slot, free: Some(free), .. } = &mut self.kind
            && let Some(slot) = slot.take()
        {
            // If the ring is gone, this frees the slot's memory.
            let _ = free.try_send(slot);
        }
    }
}
