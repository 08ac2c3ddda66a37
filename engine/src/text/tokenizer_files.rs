//! Where tokenizers are, and what all of them do.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::checkpoint::{Checkpoint, CheckpointError, Part, Role, read_json};

/// The folder of a tokenizer, which is there if `complete` says so of it: `name` in the model's folder or beside
/// the encoder, a folder of the name of the encoder's file, or the folder that this file is in.
pub fn find_folder(
    checkpoint: &Checkpoint,
    encoder: &Part,
    name: &str,
    complete: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let beside = encoder.path.parent().unwrap_or(&checkpoint.root);
    let own = encoder.path.with_extension("");
    let folders = [checkpoint.root.join(name), beside.join(name), own, beside.to_owned()];
    folders.into_iter().find(|folder| complete(folder))
}

/// A model without the tokenizer `name`, which consists of `files`.
pub fn missing(checkpoint: &Checkpoint, name: &str, files: &str) -> CheckpointError {
    let folder = checkpoint.root.join(name);
    CheckpointError::MissingPart {
        model: checkpoint.path.clone(),
        role: Role::TextEncoder,
        expected: format!("its tokenizer is not there, put {files} into {}", folder.display()),
    }
}

/// Refuses a tokenizer with more tokens than an encoder has embeddings.
pub fn check_size(path: &Path, tokens: usize, embeddings: usize) -> Result<(), CheckpointError> {
    if tokens <= embeddings {
        return Ok(());
    }
    let reason = format!("it has {tokens} tokens, the text encoder has embeddings for {embeddings}");
    Err(CheckpointError::Tokenizer { path: path.to_owned(), reason })
}

/// The ids of a text, with nothing around it, by the tokenizer that was read from `path`.
pub fn ids(tokenizer: &Tokenizer, path: &Path, text: &str) -> Result<Vec<u32>, CheckpointError> {
    let encoding = tokenizer
        .encode(text, false)
        .map_err(|error| CheckpointError::Tokenizer { path: path.to_owned(), reason: error.to_string() })?;
    Ok(encoding.get_ids().to_vec())
}

/// The token that prompts are filled up with, as the files beside a tokenizer say.
pub fn padding_token(folder: &Path) -> Result<Option<String>, CheckpointError> {
    for file in ["tokenizer_config.json", "special_tokens_map.json"] {
        let path = folder.join(file);
        if !path.is_file() {
            continue;
        }
        let content: Value = read_json(&path)?;
        let token = &content["pad_token"];
        if let Some(token) = token.as_str().or_else(|| token["content"].as_str()) {
            return Ok(Some(token.to_owned()));
        }
    }
    Ok(None)
}
