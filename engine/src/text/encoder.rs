//! What all text encoders have in common.

use std::fmt;

use super::tokens::Tokens;
use crate::{
    checkpoint::CheckpointError,
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// What an encoder makes of one prompt, or of one sequence of it.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// A row for each token, `[tokens, width]`.
    pub states: Tensor,
    /// One row `[width]` for the whole prompt, from encoders that have it.
    pub pooled: Option<Tensor>,
}

/// How an encoder reads prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Sequences of one length, as many as it takes. Clip skip says which layer's states are taken.
    Chunks,
    /// One sequence, cut at its end.
    Whole,
    /// One sequence, of which the pooled row alone is used.
    Summary,
}

/// A tokenizer and the shape of the network behind it, whose weights come from a store.
pub trait TextEncoder: fmt::Debug + Send + Sync {
    /// How prompts are read.
    fn manner(&self) -> Manner {
        Manner::Whole
    }

    /// Values of a row of states.
    fn width(&self) -> usize;

    /// A prompt with everything that the network is given around it. Encoders that read a single sequence cut it after
    /// `longest` tokens.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError>;

    /// Adds empty chunks until there are `chunks`, in encoders that read in chunks.
    fn fill(&self, _tokens: &mut Tokens, _chunks: usize) {}

    /// What the network makes of each sequence. Every block of weights is leased once for all of them. `clip_skip` is
    /// that of the request.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        clip_skip: u32,
    ) -> Result<Vec<Encoded>, RunError>;
}
