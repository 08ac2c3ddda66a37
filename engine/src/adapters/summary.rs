//! Short descriptions of adapters.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{AdapterFile, names::target};

/// A summary of an adapter's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterSummary {
    /// Its file.
    pub path: PathBuf,
    /// The name for prompts: the file name without extension.
    pub name: String,
    /// Its kind, such as `LoRA` or `LoHa and difference`.
    pub kind: String,
    /// Lowest and highest rank, if it has ranks.
    pub ranks: Option<[usize; 2]>,
    /// The model family it seems to be for.
    pub family: Option<String>,
    /// Changed component → number of layers.
    pub targets: BTreeMap<String, usize>,
    /// Number of keys.
    pub keys: usize,
    /// Keys that belong to no known kind of adapter.
    pub unknown: Vec<String>,
    /// Bytes of its tensors.
    pub bytes: u64,
}

impl AdapterSummary {
    /// Summarizes a file; `family` is the one it seems to be for.
    pub fn new(file: &AdapterFile, family: Option<&str>) -> Self {
        let mut targets = BTreeMap::new();
        for layer in &file.layers {
            *targets.entry(target(&layer.name)).or_default() += 1;
        }
        let tensors = file.layers.iter().flat_map(|layer| {
            let own = layer.content.iter().flat_map(|content| content.tensors());
            own.chain(&layer.magnitude).chain(&layer.bias)
        });
        Self {
            path: file.path.clone(),
            name: file.name(),
            kind: file.kind(),
            ranks: file.ranks(),
            family: family.map(str::to_owned),
            targets,
            keys: file.keys(),
            unknown: file.unknown.clone(),
            bytes: tensors.map(|tensor| tensor.stored_bytes()).sum(),
        }
    }
}

/// Formats ranks, such as `16` or `4 to 64`.
pub fn rank_in_words([low, high]: [usize; 2]) -> String {
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}
