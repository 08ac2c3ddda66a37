//! Planning for a card that need not be there.

use std::collections::BTreeMap;

use super::{Link, Machine};
use crate::hardware::CardProfile;

/// VRAM that CUDA's context and the libraries' workspaces take before the first tensor.
pub const CONTEXT_BYTES: u64 = 450 << 20;

/// What an NVMe disk on four lanes of PCIe 3 or better reads without effort.
pub const USUAL_DISK: Link = Link { bytes_per_second: 2.5e9, latency: 100e-6 };

/// Seconds that a pass through a block takes on a card however small it is: some twenty kernels of 5 µs each.
pub const CARD_BLOCK_LATENCY: f64 = 100e-6;

/// A machine with this card, of whose memory `host_budget` bytes may be taken for weights, and of whose VRAM
/// `min_free` bytes stay free. The disk is a usual one.
pub fn machine_of(card: &CardProfile, host_budget: u64, min_free: u64) -> Machine {
    Machine {
        device: card.name.clone(),
        unified: false,
        device_total: card.vram,
        device_budget: card.vram.saturating_sub(min_free).saturating_sub(CONTEXT_BYTES),
        host_budget,
        link: Link { bytes_per_second: card.link_bytes_per_second, latency: card.link_latency },
        disk: USUAL_DISK,
        disk_is_measured: false,
        operations_per_second: card.operations_per_second,
        block_latency: CARD_BLOCK_LATENCY,
        own_speeds: BTreeMap::new(),
    }
}

/// Seconds that a pass through a block takes on a GPU that shares the machine's memory: the engine waits for it after each
/// block, and the system takes one or two milliseconds to say that it is done.
pub const UNIFIED_BLOCK_LATENCY: f64 = 2e-3;

/// A machine whose GPU computes in the machine's own memory of `total` bytes, of which a run may take `budget`: weights are
/// there once, they come from a usual disk, and there is no link.
pub fn unified_machine(device: String, total: u64, budget: u64, operations_per_second: f64) -> Machine {
    Machine {
        device,
        unified: true,
        device_total: total,
        device_budget: budget.min(total),
        host_budget: 0,
        link: USUAL_DISK,
        disk: USUAL_DISK,
        disk_is_measured: false,
        operations_per_second,
        block_latency: UNIFIED_BLOCK_LATENCY,
        own_speeds: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::card;

    #[test]
    fn the_desktop_and_the_context_are_not_for_weights() {
        let machine = machine_of(card("rtx-3060").unwrap(), 1 << 34, 1 << 30);
        assert_eq!(machine.device_total, 12 << 30);
        assert_eq!(machine.device_budget, (11 << 30) - CONTEXT_BYTES);
        assert_eq!(machine.host_budget, 1 << 34);
        assert!(!machine.unified);
        assert_eq!(machine_of(card("rtx-3060").unwrap(), 0, 1 << 40).device_budget, 0);
    }
}
