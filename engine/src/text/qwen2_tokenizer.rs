//! The byte-level tokenizer of the Qwen 2 and Qwen 3 language models.

use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use crate::checkpoint::{Checkpoint, CheckpointError, Part, Role};

const FILE: &str = "tokenizer.json";

/// Turns prompts into token ids.
#[derive(Debug)]
pub struct Qwen2Tokenizer {
    tokenizer: Tokenizer,
    path: PathBuf,
}

impl Qwen2Tokenizer {
    /// Loads the tokenizer that belongs to a text encoder: from the folder `tokenizer` of the model, or
    /// from beside the encoder's file.
    pub fn find(checkpoint: &Checkpoint, encoder: &Part) -> Result<Self, CheckpointError> {
        let beside = encoder.path.parent().unwrap_or(&checkpoint.root);
        let folders = [checkpoint.root.join("tokenizer"), beside.join("tokenizer"), beside.to_owned()];
        match folders.iter().find(|folder| folder.join(FILE).is_file()) {
            Some(folder) => Self::load(folder),
            None => Err(CheckpointError::MissingPart {
                model: checkpoint.path.clone(),
                role: Role::TextEncoder,
                expected: format!("its tokenizer is not there, put {FILE} into {}", folders[0].display()),
            }),
        }
    }

    /// Loads the `tokenizer.json` in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(CheckpointError::NotFound { path });
        }
        let mut tokenizer = Tokenizer::from_file(&path)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        // What a tokenizer.json says about padding and truncation is for training; callers decide here.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        Ok(Self { tokenizer, path })
    }

    /// The ids of a prompt as the user's turn of a chat that the model is about to answer, cut after
    /// `max_length` tokens.
    pub fn encode_chat(&self, prompt: &str, max_length: usize) -> Result<Vec<u32>, CheckpointError> {
        let chat = format!("<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n");
        let encoding = self
            .tokenizer
            .encode(chat, false)
            .map_err(|error| CheckpointError::Tokenizer { path: self.path.clone(), reason: error.to_string() })?;
        let mut ids = encoding.get_ids().to_vec();
        ids.truncate(max_length);
        Ok(ids)
    }
}
