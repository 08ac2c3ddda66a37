//! Prompts as tokens.

use std::collections::BTreeMap;

use super::{Model, Used};
use crate::{
    checkpoint::{CheckpointError, FileStamp},
    text::{SeenSize, TextEncoder, Tokens},
};

/// A tokenized prompt, with everything else that determines the text encoders' outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Tokens for the text encoders, by the indices of their parts.
    pub parts: BTreeMap<usize, Tokens>,
    /// The request's clip skip; 0 in models where it has no effect.
    pub clip_skip: u32,
    /// Images that a text encoder sees.
    pub images: Vec<SeenImage>,
}

/// An image that a text encoder sees.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenImage {
    /// Its file.
    pub file: FileStamp,
    /// In which sizes it is read.
    pub size: SeenSize,
    /// How strongly it counts; 1 unless it is read through Redux.
    pub strength: f32,
}

impl Prompt {
    /// The number of tokens for each text encoder, over all chunks.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.values().map(Tokens::len).collect()
    }
}

impl Model {
    /// Tokenizes prompts. Text encoders that do not read chunks truncate at `longest` tokens. Empty chunks
    /// are added until all prompts have as many as the longest one has in any encoder.
    pub fn tokenize(
        &self,
        prompts: &[&str],
        longest: usize,
        clip_skip: u32,
    ) -> Result<Vec<Prompt>, CheckpointError> {
        self.tokenize_seeing(prompts, longest, clip_skip, &[])
    }

    /// The same for prompts about images, which a text encoder with a vision tower sees.
    ///
    /// # Errors
    /// When a tokenizer fails.
    pub fn tokenize_seeing(
        &self,
        prompts: &[&str],
        longest: usize,
        clip_skip: u32,
        images: &[SeenImage],
    ) -> Result<Vec<Prompt>, CheckpointError> {
        let grids: Vec<[usize; 2]> = images.iter().map(|image| image.size.grid).collect();
        let encoders: Vec<_> = self.text_encoders().collect();
        let clip_skip = if self.reads_clip_skip() { clip_skip } else { 0 };
        let mut read = Vec::new();
        for prompt in prompts {
            let tokens = |encoder: &Used<dyn TextEncoder>| -> Result<_, CheckpointError> {
                Ok((encoder.part, encoder.network.tokenize_seeing(prompt, longest, &grids)?))
            };
            let parts = encoders.iter().map(tokens);
            let parts = parts.collect::<Result<_, _>>()?;
            read.push(Prompt { parts, clip_skip, images: images.to_vec() });
        }
        let chunks = read.iter().flat_map(|prompt| prompt.parts.values()).map(|part| part.sequences.len());
        let most = chunks.max().unwrap_or(0);
        for prompt in &mut read {
            for (encoder, tokens) in encoders.iter().zip(prompt.parts.values_mut()) {
                encoder.network.fill(tokens, most);
            }
        }
        Ok(read)
    }
}
