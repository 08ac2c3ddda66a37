//! The tokenizer of T5: pieces of words by their probability.

use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use super::{
    tokenizer_files::{check_size, find_folder, ids, missing},
    tokens::{Extent, Sequence, Tokens, Word, words},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part};

const FILE: &str = "tokenizer.json";
const END: &str = "</s>";
const PADDING: &str = "<pad>";

/// Turns prompts into the ids of a T5 encoder.
#[derive(Debug)]
pub struct T5Tokenizer {
    tokenizer: Tokenizer,
    path: PathBuf,
    end: u32,
    padding: u32,
}

impl T5Tokenizer {
    /// Loads the tokenizer in the folder `name` of a model, or from beside the encoder's file, for an encoder of this
    /// many embeddings.
    pub fn find(
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        let folder = find_folder(checkpoint, encoder, name, |folder| folder.join(FILE).is_file())
            .ok_or_else(|| missing(checkpoint, name, FILE))?;
        let tokenizer = Self::load(&folder)?;
        check_size(&tokenizer.path, tokenizer.tokenizer.get_vocab_size(true), vocab_size)?;
        Ok(tokenizer)
    }

    /// Loads the `tokenizer.json` in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(FILE);
        let wrong = |reason: String| CheckpointError::Tokenizer { path: path.clone(), reason };
        let mut tokenizer = Tokenizer::from_file(&path).map_err(|error| wrong(error.to_string()))?;
        tokenizer.with_padding(None).with_truncation(None).map_err(|error| wrong(error.to_string()))?;
        let id = |token: &str| {
            tokenizer.token_to_id(token).ok_or_else(|| wrong(format!("it has no token {token}")))
        };
        let (end, padding) = (id(END)?, id(PADDING)?);
        Ok(Self { tokenizer, path, end, padding })
    }

    /// A prompt with the token of its end, cut or filled up to `length`. `BREAK` is left out: there are no chunks.
    pub fn tokens(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let room = length.saturating_sub(1);
        let (mut sequence, mut count) = (Sequence::default(), 0);
        for word in words(prompt, |text| ids(&self.tokenizer, &self.path, text))? {
            let Word::Token(id, weight) = word else { continue };
            count += 1;
            if count <= room {
                sequence.push((id, weight));
            }
        }
        sequence.push((self.end, 1.0));
        sequence.resize(length, self.padding);
        Ok(Tokens::single(sequence, Extent::whole(count, room)))
    }
}
