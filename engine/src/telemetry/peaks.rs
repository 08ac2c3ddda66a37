//! Peak memory use.

use serde::{Deserialize, Serialize};

use super::MemorySample;

/// The maximum of all memory samples, in bytes. It misses what was allocated and freed between two samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPeaks {
    /// Weights and activations on the device together, to be compared with the predicted peak.
    pub device: u64,
    /// Weights on the device, including slots.
    pub weights: u64,
    /// Activations on the device.
    pub activations: u64,
    /// Everything on the device, including other programs.
    pub device_total: u64,
    /// Copies of weights in host memory, and staging buffers.
    pub host: u64,
    /// The part of `host` that is pinned.
    pub pinned: u64,
    /// Total memory of this process.
    pub process: u64,
}

impl MemoryPeaks {
    /// Adds a sample.
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
