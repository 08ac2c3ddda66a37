//! What a run may take of a machine: the third input of the calculator.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where weights are computed with and where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// What the device is called, such as `RTX 3060` or `CPU`.
    pub device: String,
    /// Whether the device computes in the machine's own memory. Then there is no copy in the host's memory and no
    /// link: weights come from the disk, and `host_budget` means nothing.
    pub unified: bool,
    /// Bytes that the device has.
    pub device_total: u64,
    /// Bytes of the device that a run may take, weights and activations together.
    pub device_budget: u64,
    /// Bytes of memory that the host's copies of weights may take.
    pub host_budget: u64,
    /// From the host's memory to the device.
    pub link: Link,
    /// From the disk to memory.
    pub disk: Link,
    /// Whether past runs have measured the disk. It is assumed otherwise.
    #[serde(default)]
    pub disk_is_measured: bool,
    /// Floating-point operations a second that the device reaches in blocks of transformers.
    pub operations_per_second: f64,
    /// Seconds that a pass through a block takes however small it is.
    pub block_latency: f64,
    /// Operations a second of the parts of a model whose own speed past runs have measured, by their names.
    #[serde(default)]
    pub own_speeds: BTreeMap<String, f64>,
}

impl Machine {
    /// Operations a second that a part of a model reaches.
    pub fn speed_of(&self, part: &str) -> f64 {
        self.own_speeds.get(part).copied().unwrap_or(self.operations_per_second)
    }
}

/// A way for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Seconds until the first byte arrives.
    pub latency: f64,
}

impl Link {
    /// How long it takes to move this many bytes at once.
    pub fn seconds(&self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bytes_per_second
    }
}
