//! Configuration files next to weights.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;

use super::CheckpointError;

/// Reads a JSON file. Python also writes numbers that are not valid JSON, such as the `-Infinity` in some
/// schedulers' configurations; they are treated as absent.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    let without = |text: &str| {
        let numbers = [": -Infinity", ": Infinity", ": NaN"];
        numbers.into_iter().fold(text.to_owned(), |text, number| text.replace(number, ": null"))
    };
    serde_json::from_str(&text)
        .or_else(|error| serde_json::from_str(&without(&text)).map_err(|_| error))
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}

/// Reads a TOML file.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    toml::from_str(&text)
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}
