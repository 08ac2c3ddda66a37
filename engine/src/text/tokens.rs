//! Tokenized prompts.

use serde::{Deserialize, Serialize};

use super::emphasis::{Piece, parse};
use crate::checkpoint::CheckpointError;

/// Weights are limited to this, so that states multiplied by them stay finite.
const LARGEST_WEIGHT: f64 = 1e6;

/// A sequence that a network reads in one pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sequence {
    /// Token ids, including special tokens and padding.
    pub ids: Vec<u32>,
    /// Weight of each token, which multiplies its state.
    pub weights: Vec<f32>,
}

impl Sequence {
    /// Tokens of equal weight.
    pub fn plain(ids: Vec<u32>) -> Self {
        let weights = vec![1.0; ids.len()];
        Self { ids, weights }
    }

    /// Adds a token.
    pub fn push(&mut self, (id, weight): (u32, f32)) {
        self.ids.push(id);
        self.weights.push(weight);
    }

    /// Truncates or pads it with a token.
    pub fn resize(&mut self, length: usize, padding: u32) {
        self.ids.resize(length, padding);
        self.weights.resize(length, 1.0);
    }

    /// Whether any token has a weight other than 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.iter().any(|&weight| weight != 1.0)
    }
}

/// How much of a prompt an encoder reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Tokens of the prompt; in chunks, including the padding of all but the last chunk.
    pub tokens: usize,
    /// Tokens that would fit without another chunk.
    pub room: usize,
    /// Number of sequences.
    pub chunks: usize,
    /// Tokens truncated at the end.
    pub cut: usize,
}

impl Extent {
    /// A prompt of `tokens` tokens in a single sequence with room for `room`.
    pub fn whole(tokens: usize, room: usize) -> Self {
        Self { tokens, room, chunks: 1, cut: tokens.saturating_sub(room) }
    }

    /// A prompt in a single sequence of at most `longest` tokens. Of `all` tokens, `around` stand around every prompt.
    pub fn within(all: usize, around: usize, longest: usize) -> Self {
        Self::whole(all.saturating_sub(around), longest.saturating_sub(around))
    }
}

/// A prompt, tokenized for one text encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens {
    /// The sequences that the network reads.
    pub sequences: Vec<Sequence>,
    /// How much of the prompt they contain.
    pub extent: Extent,
}

impl Tokens {
    /// A prompt in a single sequence.
    pub fn single(sequence: Sequence, extent: Extent) -> Self {
        Self { sequences: vec![sequence], extent }
    }

    /// Total number of tokens in all sequences.
    pub fn len(&self) -> usize {
        self.sequences.iter().map(|sequence| sequence.ids.len()).sum()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An element of a tokenized prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Word {
    /// A token and its weight.
    Token(u32, f32),
    /// Starts a new chunk.
    Break,
}

/// Tokenizes a prompt. Like A1111, tokenizes each part of one weight separately.
pub fn words(
    prompt: &str,
    tokenize: impl Fn(&str) -> Result<Vec<u32>, CheckpointError>,
) -> Result<Vec<Word>, CheckpointError> {
    let mut words = Vec::new();
    for piece in parse(prompt) {
        match piece {
            Piece::Text { text, weight } => {
                let weight = weight.clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT) as f32;
                words.extend(tokenize(&text)?.into_iter().map(|id| Word::Token(id, weight)));
            }
            Piece::Break => words.push(Word::Break),
        }
    }
    Ok(words)
}
