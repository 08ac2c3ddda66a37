//! Where tokenizers are, and what all of them do.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use serde_json::Value;
use tokenizers::{Tokenizer, models::bpe::Merges};

use crate::checkpoint::{Checkpoint, CheckpointError, Part, Role, asset, read_json};

/// The folder of a tokenizer, which is there if `complete` says so of it: `name` in the model's folder, beside the
/// encoder or beside its folder, a folder of the name of the encoder's file, or the folder that this file is in.
pub fn find_folder(
    checkpoint: &Checkpoint,
    encoder: &Part,
    name: &str,
    complete: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let beside = encoder.path.parent().unwrap_or(&checkpoint.root);
    let own = encoder.path.with_extension("");
    let above = beside.parent().unwrap_or(beside).join(name);
    let folders = [checkpoint.root.join(name), beside.join(name), above, own, beside.to_owned()];
    folders.into_iter().find(|folder| complete(folder))
}

/// A model without the tokenizer `name`, which consists of `files`.
pub fn missing(checkpoint: &Checkpoint, name: &str, files: &str) -> CheckpointError {
    let folder = checkpoint.root.join(name);
    let expected = format!("its tokenizer is missing, put {files} into {}", folder.display());
    let (model, role) = (checkpoint.path.clone(), Role::TextEncoder);
    CheckpointError::MissingPart { model, role, expected, looked: Vec::new(), unreadable: Vec::new() }
}

/// The two pieces of each line, which have a space between them; other lines are passed over.
pub fn pairs<'a>(lines: impl Iterator<Item = &'a str>) -> Merges {
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.map(|(first, second)| (first.to_owned(), second.to_owned())).collect()
}

/// A file of a published tokenizer, among the compressed assets of the program: where it is, and what is in it.
pub fn published(name: &str) -> Result<(PathBuf, Vec<u8>), CheckpointError> {
    let path = asset(name)?;
    let mut bytes = Vec::new();
    match File::open(&path).and_then(|file| GzDecoder::new(file).read_to_end(&mut bytes)) {
        Ok(_) => Ok((path, bytes)),
        Err(source) => Err(CheckpointError::Io { path, source }),
    }
}

/// Refuses a tokenizer with more tokens than an encoder has embeddings.
pub fn check_size(path: &Path, tokens: usize, embeddings: usize) -> Result<(), CheckpointError> {
    if tokens <= embeddings {
        return Ok(());
    }
    let reason = format!("it has {tokens} tokens, but the text encoder has embeddings for only {embeddings}");
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
