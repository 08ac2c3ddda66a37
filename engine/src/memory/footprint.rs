//! What a model is made of, in bytes: the first input of the calculator.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Role;

/// The blocks of a model and what they take. Measured from headers or computed from configurations, never
/// guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// What to call the model.
    pub model: String,
    /// Its components, in the order in which a run uses them.
    pub components: Vec<ComponentFootprint>,
}

/// The blocks of one component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentFootprint {
    /// What it does.
    pub role: Role,
    /// The architecture in words.
    pub architecture: String,
    /// In the order in which they run.
    pub blocks: Vec<BlockFootprint>,
}

/// One unit of weights that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFootprint {
    /// Its name.
    pub name: String,
    /// Bytes as they are held on the device, in a slot and in the host's copy.
    pub bytes: u64,
    /// Bytes of its largest tensor.
    pub largest_tensor: u64,
    /// Number of weights.
    pub parameters: u64,
    /// Those of `parameters` in matrices and kernels: what fp8 casting and quantisation take hold of. Norms,
    /// biases and embeddings are left alone.
    pub matrix_parameters: u64,
    /// Those of `bytes` that hold `matrix_parameters`.
    pub matrix_bytes: u64,
}

impl Footprint {
    /// `S_total`: bytes of all components.
    pub fn total(&self) -> u64 {
        self.components.iter().map(ComponentFootprint::bytes).sum()
    }

    /// `S_max`: bytes of the largest component.
    pub fn largest_component(&self) -> u64 {
        self.components.iter().map(ComponentFootprint::bytes).max().unwrap_or(0)
    }

    /// `S_block`: bytes of the largest block.
    pub fn largest_block(&self) -> u64 {
        self.components.iter().map(ComponentFootprint::largest_block).max().unwrap_or(0)
    }

    /// `S_leaf`: bytes of the largest tensor.
    pub fn largest_tensor(&self) -> u64 {
        let blocks = self.components.iter().flat_map(|component| &component.blocks);
        blocks.map(|block| block.largest_tensor).max().unwrap_or(0)
    }
}

impl ComponentFootprint {
    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes).sum()
    }

    /// Bytes of the largest block.
    pub fn largest_block(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes).max().unwrap_or(0)
    }
}
