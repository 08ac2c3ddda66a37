//! What a request asks of a model: the second input of the calculator.

use serde::{Deserialize, Serialize};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Prompt to embeddings.
    Encode,
    /// Noise to latents.
    Denoise,
    /// Latents to picture.
    Decode,
}

/// The operations and activations of a run, block by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Pictures of the batch.
    pub pictures: u32,
    /// Denoising steps.
    pub steps: u32,
    /// One for each component of the footprint, in its order.
    pub components: Vec<ComponentWork>,
}

/// What one component has to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentWork {
    /// When.
    pub stage: Stage,
    /// An earlier stage that it is used in, too: the autoencoder encodes the picture that a run starts from.
    #[serde(default)]
    pub also: Option<Stage>,
    /// How it can be done: one way, except for the autoencoder, which has one for each size of tiles, the
    /// largest first. Never empty.
    pub ways: Vec<Work>,
}

/// One way of doing a component's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Side of the tiles in latents; whole if absent.
    pub tile: Option<u32>,
    /// Bytes of activations that are there during the whole stage, whichever block runs.
    pub carried: u64,
    /// One for each block of the component, in its order.
    pub blocks: Vec<BlockWork>,
}

/// What one block has to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockWork {
    /// How often the block is leased in a run; 0 if this run has no use for it. One call serves all guidance
    /// branches and all pictures of the batch.
    pub passes: u32,
    /// Floating-point operations of one pass.
    pub operations: f64,
    /// The most bytes of activations while it runs, beyond those that are carried.
    pub activations: u64,
    /// How often each of its tensors is read in one pass: the number of guidance branches, for those who bring
    /// them up tensor by tensor.
    pub reads: u32,
}

impl BlockWork {
    /// That of a block that a run has no use for.
    pub const UNUSED: Self = Self { passes: 0, operations: 0.0, activations: 0, reads: 0 };

    /// Adds further passes: operations become the mean of all, activations the most.
    pub fn join(&mut self, other: &Self) {
        let all = self.passes + other.passes;
        if all > 0 {
            let of = |work: &Self| work.operations * f64::from(work.passes);
            self.operations = (of(self) + of(other)) / f64::from(all);
        }
        self.passes = all;
        self.activations = self.activations.max(other.activations);
        self.reads = self.reads.max(other.reads);
    }
}

impl Workload {
    /// The same work with activations `factor` times as large.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.components.iter_mut().for_each(|component| component.scale(factor));
        self
    }
}

impl ComponentWork {
    /// Makes activations `factor` times as large.
    pub fn scale(&mut self, factor: f64) {
        let scale = |bytes: &mut u64| *bytes = (*bytes as f64 * factor).ceil() as u64;
        for way in &mut self.ways {
            scale(&mut way.carried);
            way.blocks.iter_mut().for_each(|block| scale(&mut block.activations));
        }
    }
}

impl Work {
    /// The most bytes of activations at any moment.
    pub fn peak_activations(&self) -> u64 {
        let used = self.blocks.iter().filter(|block| block.passes > 0);
        self.carried + used.map(|block| block.activations).max().unwrap_or(0)
    }
}
