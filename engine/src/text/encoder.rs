//! What all text encoders have in common.

use std::fmt;

use candle_core::Tensor;

use crate::{
    checkpoint::CheckpointError,
    memory::Work,
    residency::{Executor, RunError, WeightStore},
};

/// What an encoder makes of one prompt.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// A row for each token, `[tokens, width]`.
    pub states: Tensor,
    /// One row `[width]` for the whole prompt, from encoders that have it.
    pub pooled: Option<Tensor>,
}

/// A tokenizer and the shape of the network behind it, whose weights come from a store.
pub trait TextEncoder: fmt::Debug + Send + Sync {
    /// The ids of a prompt with everything that the network is given around it, `longest` at most.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Vec<u32>, CheckpointError>;

    /// What the network makes of each prompt. Every block of weights is leased once for all of them.
    fn encode(
        &self,
        executor: &Executor,
        store: &WeightStore,
        prompts: &[&[u32]],
    ) -> Result<Vec<Encoded>, RunError>;

    /// What the blocks have to do for prompts of these numbers of tokens.
    fn work(&self, prompts: &[usize], value_bytes: usize) -> Work;
}
