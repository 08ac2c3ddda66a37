//! Files of settings beside weights.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;

use super::CheckpointError;

/// Reads a JSON file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    serde_json::from_str(&text)
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}

/// Reads a TOML file.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    toml::from_str(&text)
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}
