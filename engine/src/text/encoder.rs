//! The interface of all text encoders.

use std::fmt;

use super::tokens::Tokens;
use crate::{
    checkpoint::CheckpointError,
    nn::{self, Tensor},
    residency::{Blocks, RunError},
};

/// The output of an encoder for one prompt, or for one sequence of it.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// One row per token, `[tokens, width]`.
    pub states: Tensor,
    /// One row `[width]` for the whole prompt, if the encoder has a pooled output.
    pub pooled: Option<Tensor>,
    /// For each image that the prompt is about, the number of rows before it, in encoders that leave out the rows of images.
    pub images: Vec<usize>,
}

impl Encoded {
    /// States alone.
    pub fn new(states: Tensor) -> Self {
        Self { states, pooled: None, images: Vec::new() }
    }

    /// The states `[tokens, width]` of all but the first tokens.
    pub(super) fn without_first(states: Tensor, tokens: usize) -> Result<Self, RunError> {
        let (all, _) = states.dims2()?;
        let first = tokens.min(all);
        Ok(Self::new(states.narrow(0, first, all - first)?))
    }

    /// The states `[tokens, width]` with this row so many times more: that of padding, which is computed once.
    pub(super) fn with_repeated(states: Tensor, row: usize, more: usize) -> nn::Result<Self> {
        if more == 0 {
            return Ok(Self::new(states));
        }
        let (all, width) = states.dims2()?;
        let mut parts = vec![states.narrow(0, 0, row + 1)?];
        parts.push(states.narrow(0, row, 1)?.broadcast_as((more, width))?);
        if row + 1 < all {
            parts.push(states.narrow(0, row + 1, all - row - 1)?);
        }
        Ok(Self::new(Tensor::cat(&parts, 0)?))
    }
}

/// What an encoder may read besides tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The request's, for encoders whose layers it selects.
    pub clip_skip: u32,
    /// The images `[rows, columns, width]` that the prompts are about.
    pub images: &'a [Tensor],
    /// For each prompt, the states of the encoder before this one.
    pub states: &'a [Tensor],
}

/// How an encoder reads prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As many sequences of one length as needed. Clip skip selects the layer of the states.
    Chunks,
    /// One sequence, truncated at its end.
    Whole,
    /// One sequence, of which only the pooled output is used.
    Summary,
}

/// A tokenizer and the shape of its network. The weights come from a store.
pub trait TextEncoder: fmt::Debug + Send + Sync {
    /// How prompts are read.
    fn manner(&self) -> Manner {
        Manner::Whole
    }

    /// Width of the states.
    fn width(&self) -> usize;

    /// Tokenizes a prompt and adds special tokens and padding. Encoders that read a single sequence truncate
    /// it to `longest` tokens.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError>;

    /// Tokenizes a prompt about images, which encoders that see images get as these rows and columns of tokens.
    ///
    /// # Errors
    /// As [`tokenize`](Self::tokenize).
    fn tokenize_seeing(
        &self,
        prompt: &str,
        longest: usize,
        _grids: &[[usize; 2]],
    ) -> Result<Tokens, CheckpointError> {
        self.tokenize(prompt, longest)
    }

    /// Adds empty chunks up to `chunks`, in encoders that read chunks.
    fn fill(&self, _tokens: &mut Tokens, _chunks: usize) {}

    /// Encodes each sequence. Every block of weights is leased once for all of them.
    ///
    /// # Errors
    /// When a block cannot be loaded or computed, and when something that the encoder reads is not given.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        given: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError>;
}
