//! A prompt in tokens, as text encoders read it.

use serde::{Deserialize, Serialize};

use super::emphasis::{Piece, parse};
use crate::checkpoint::CheckpointError;

/// Weights are kept below this, where states multiplied by them are still numbers.
const LARGEST_WEIGHT: f64 = 1e6;

/// A sequence that a network reads at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sequence {
    /// Its tokens, with everything that the network is given around the prompt's.
    pub ids: Vec<u32>,
    /// For each token what its state is multiplied by.
    pub weights: Vec<f32>,
}

impl Sequence {
    /// Tokens of which none counts more than another.
    pub fn plain(ids: Vec<u32>) -> Self {
        let weights = vec![1.0; ids.len()];
        Self { ids, weights }
    }

    /// Adds a token.
    pub fn push(&mut self, (id, weight): (u32, f32)) {
        self.ids.push(id);
        self.weights.push(weight);
    }

    /// Cuts it or fills it up with a token.
    pub fn resize(&mut self, length: usize, padding: u32) {
        self.ids.resize(length, padding);
        self.weights.resize(length, 1.0);
    }

    /// Whether any token counts more or less than another.
    pub fn is_weighted(&self) -> bool {
        self.weights.iter().any(|&weight| weight != 1.0)
    }
}

/// How much of a prompt an encoder reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Tokens of the prompt; in chunks, with those that fill up all but the last one.
    pub tokens: usize,
    /// Tokens for which there is room without one more chunk.
    pub room: usize,
    /// Sequences that it is read in.
    pub chunks: usize,
    /// Tokens at its end that are not read.
    pub cut: usize,
}

impl Extent {
    /// A prompt of so many tokens in a single sequence with room for `room`.
    pub fn whole(tokens: usize, room: usize) -> Self {
        Self { tokens, room, chunks: 1, cut: tokens.saturating_sub(room) }
    }
}

/// A prompt as one text encoder reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens {
    /// What the network reads, one after the other.
    pub sequences: Vec<Sequence>,
    /// How much of the prompt that is.
    pub extent: Extent,
}

impl Tokens {
    /// A prompt in a single sequence.
    pub fn single(sequence: Sequence, extent: Extent) -> Self {
        Self { sequences: vec![sequence], extent }
    }

    /// The tokens of all sequences together.
    pub fn len(&self) -> usize {
        self.sequences.iter().map(|sequence| sequence.ids.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Something that a prompt in tokens consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Word {
    /// A token and its weight.
    Token(u32, f32),
    /// What follows begins a new chunk.
    Break,
}

/// A prompt in tokens: each part of one weight by itself, as A1111 does it.
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
