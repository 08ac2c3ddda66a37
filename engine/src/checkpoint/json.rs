//! Configuration files next to weights.

use std::{fs, io, path::Path};

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

/// Reads a TOML file. None if there is none: a file that cannot be read is not taken for one that is not there.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, CheckpointError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(CheckpointError::Io { path: path.to_owned(), source }),
    };
    toml::from_str(&text)
        .map(Some)
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}
