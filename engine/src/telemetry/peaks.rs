//! The most that memory held.

use serde::{Deserialize, Serialize};

use super::MemorySample;

/// The most that memory held in any sample, in bytes. What came and went between two samples is not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPeaks {
    /// Weights and activations on the device together: what a forecast is compared with.
    pub device: u64,
    /// Weights on the device, slots included.
    pub weights: u64,
    /// Activations on the device.
    pub activations: u64,
    /// On the device, what other programs hold included.
    pub device_total: u64,
    /// Copies of weights in the host's memory, and buffers that they are read through.
    pub host: u64,
    /// Those of `host` that are pinned for a card.
    pub pinned: u64,
    /// All memory of this process.
    pub process: u64,
}

impl MemoryPeaks {
    /// Takes a sample in.
    pub fn include(&mut self, sample: &MemorySample) {
        let own = sample.weights.saturating_add(sample.activations);
        self.device = self.device.max(own);
        self.weights = self.weights.max(sample.weights);
        self.activations = self.activations.max(sample.activations);
        self.device_total = self.device_total.max(own.saturating_add(sample.others));
        self.host = self.host.max(sample.host);
        self.pinned = self.pinned.max(sample.pinned);
        self.process = self.process.max(sample.process);
    }
}
