//! Finds tokenizer files, and functions that all tokenizers share.

use std::{
    fs::File,
    io::Read,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use flate2::read::GzDecoder;
use serde_json::Value;
use tokenizers::{Tokenizer, models::bpe::Merges};

use crate::checkpoint::{Checkpoint, CheckpointError, Layout, Part, Role, asset, read_json};

/// The folder with the tokenizer of a model that sees images, together with what prepares those.
const PROCESSOR: &str = "processor";

/// The first folder that is `complete`: `name` in the model's folder, next to the encoder or one folder
/// above; a folder with the name of the encoder's file; the folder of that file; or that of the processor. A hollow checkpoint has no
/// folders.
pub fn find_folder(
    checkpoint: &Checkpoint,
    encoder: &Part,
    name: &str,
    complete: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    if encoder.is_hollow() {
        return None;
    }
    let beside = encoder.path.parent().unwrap_or(&checkpoint.root);
    let own = encoder.path.with_extension("");
    let above = beside.parent().unwrap_or(beside).join(name);
    let processor = checkpoint.root.join(PROCESSOR);
    let folders = [checkpoint.root.join(name), beside.join(name), above, own, beside.to_owned(), processor];
    // The encoder of another folder from the hub has a tokenizer there.
    let is_elsewhere = checkpoint.layout == Layout::Diffusers && !encoder.path.starts_with(&checkpoint.root);
    let first = is_elsewhere.then(|| beside.join(name));
    first.into_iter().chain(folders).find(|folder| complete(folder))
}

/// The error for a missing tokenizer `name`, which consists of `files`.
pub fn missing(checkpoint: &Checkpoint, name: &str, files: &str) -> CheckpointError {
    let folder = checkpoint.root.join(name);
    let expected = format!("its tokenizer is missing; put {files} into {}", folder.display());
    let (model, role) = (checkpoint.path.clone(), Role::TextEncoder);
    CheckpointError::MissingPart { model, role, expected, looked: Vec::new(), unreadable: Vec::new() }
}

/// Reads a `tokenizer.json`.
///
/// # Errors
/// When it is damaged.
pub fn from_file(path: &Path) -> tokenizers::Result<Tokenizer> {
    caught(|| Tokenizer::from_file(path))
}

/// What the library makes of a file, also if that is damaged in a way in which it panics.
///
/// # Errors
/// When it is damaged.
pub fn caught<T>(make: impl FnOnce() -> tokenizers::Result<T>) -> tokenizers::Result<T> {
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err("it is damaged".into()))
}

/// A tokenizer that was made of what `path` has.
pub fn built(tokenizer: tokenizers::Result<Tokenizer>, path: &Path) -> Result<Tokenizer, CheckpointError> {
    tokenizer.map_err(|error| CheckpointError::Tokenizer { path: path.to_owned(), reason: error.to_string() })
}

/// The two pieces on each line, separated by a space; skips other lines.
pub fn pairs<'a>(lines: impl Iterator<Item = &'a str>) -> Merges {
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.map(|(first, second)| (first.to_owned(), second.to_owned())).collect()
}

/// A published tokenizer, which takes tens of megabytes: models share it, and it is freed after the last of them.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

impl<T> Shared<T> {
    /// Nobody has it yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// The one that is there, or a new one.
    ///
    /// # Errors
    /// That of `build`.
    pub fn get<E>(&self, build: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // Threads that ask at once wait for the first: it would be built several times otherwise.
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = held.upgrade() {
            return Ok(there);
        }
        let built = Arc::new(build()?);
        *held = Arc::downgrade(&built);
        Ok(built)
    }
}

/// Path and contents of a published tokenizer, from the program's compressed assets.
pub fn published(name: &str) -> Result<(PathBuf, Vec<u8>), CheckpointError> {
    let path = asset(name)?;
    let mut bytes = Vec::new();
    match File::open(&path).and_then(|file| GzDecoder::new(file).read_to_end(&mut bytes)) {
        Ok(_) => Ok((path, bytes)),
        Err(source) => Err(CheckpointError::Io { path, source }),
    }
}

/// The same for a tokenizer of lines of text.
pub fn published_lines(name: &str) -> Result<(PathBuf, String), CheckpointError> {
    let (path, bytes) = published(name)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((path, text)),
        Err(error) => Err(CheckpointError::Tokenizer { path, reason: error.to_string() }),
    }
}

/// Rejects a tokenizer with more tokens than the encoder has embeddings.
pub fn check_size(path: &Path, tokens: usize, embeddings: usize) -> Result<(), CheckpointError> {
    if tokens <= embeddings {
        return Ok(());
    }
    let reason = format!("it has {tokens} tokens, but the text encoder has embeddings for only {embeddings}");
    Err(CheckpointError::Tokenizer { path: path.to_owned(), reason })
}

/// The token ids of a text without special tokens, by the tokenizer read from `path`.
///
/// # Errors
/// When the tokenizer is damaged: the library reads some of its tables only now.
pub fn ids(tokenizer: &Tokenizer, path: &Path, text: &str) -> Result<Vec<u32>, CheckpointError> {
    let encoding = caught(|| tokenizer.encode(text, false))
        .map_err(|error| CheckpointError::Tokenizer { path: path.to_owned(), reason: error.to_string() })?;
    Ok(encoding.get_ids().to_vec())
}

/// The padding token, according to the files next to a tokenizer.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{ClipTokenizer, T5Tokenizer};

    #[test]
    fn a_table_of_letters_that_the_library_cannot_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        let text =
            r#"{"version": "1.0", "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AA=="}}"#;
        std::fs::write(&path, text).unwrap();
        assert_eq!(from_file(&path).unwrap_err().to_string(), "it is damaged");
    }

    #[test]
    fn a_table_of_letters_without_a_first_entry_is_an_error_when_a_prompt_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        let text = r#"{
            "version": "1.0",
            "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="},
            "model": {"type": "WordLevel", "vocab": {"<pad>": 0, "</s>": 1}, "unk_token": "<pad>"}
        }"#;
        std::fs::write(&path, text).unwrap();
        let tokenizer = T5Tokenizer::load(folder.path(), 32).unwrap();
        let error = tokenizer.padded("a fox", 8).unwrap_err();
        assert!(
            matches!(&error, CheckpointError::Tokenizer { path: named, reason }
                if *named == path && reason == "it is damaged"),
            "{error}"
        );
    }

    #[test]
    fn a_merge_that_is_longer_than_all_tokens_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("vocab.json"), r#"{"ab": 0, "cd": 1}"#).unwrap();
        std::fs::write(folder.path().join("merges.txt"), "ab cd\n").unwrap();
        let error = ClipTokenizer::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("it is damaged"), "{error}");
    }

    #[test]
    fn what_is_shared_is_built_once_and_freed_after_its_last_use() {
        let shared = Shared::new();
        let refused: Result<Arc<u32>, &str> = shared.get(|| Err("no"));
        assert_eq!(refused, Err("no"));
        let first: Arc<u32> = shared.get(|| Ok::<_, &str>(1)).unwrap();
        let second = shared.get(|| Ok::<_, &str>(2)).unwrap();
        assert!(Arc::ptr_eq(&first, &second) && *second == 1);
        drop((first, second));
        assert_eq!(*shared.get(|| Ok::<_, &str>(3)).unwrap(), 3);
    }
}
