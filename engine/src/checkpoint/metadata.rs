//! Metadata of a model: what its files contain besides weights.

use std::fs;

use super::{CheckpointError, Part, StoredTensor, read_notes};

/// Larger files are not configurations.
const LONGEST_SETTINGS: u64 = 1 << 20;

impl Part {
    /// Whether its file has a tensor of this name. Some programs mark a property by the mere presence of a
    /// tensor.
    pub fn is_marked(&self, name: &str) -> bool {
        self.tensors.contains_key(name) || self.loose.contains(name)
    }

    /// Whether it has shapes and no values, in a [hollow checkpoint](super::Checkpoint::hollow).
    pub fn is_hollow(&self) -> bool {
        self.tensors.values().any(StoredTensor::is_hollow)
    }

    /// The entry of this name in the metadata of its file's header; `None` for folders.
    ///
    /// # Errors
    /// Fails if the file is no longer readable.
    pub fn note(&self, name: &str) -> Result<Option<String>, CheckpointError> {
        if self.path.is_dir() || self.is_hollow() {
            return Ok(None);
        }
        Ok(read_notes(&self.path)?.remove(name))
    }

    /// The value of a key in the configuration next to its file, `NAME.yaml` as written by the original
    /// authors and read by A1111. Only keys with a single value are supported.
    ///
    /// # Errors
    /// Fails if there is such a file and it cannot be read.
    pub fn setting(&self, key: &str) -> Result<Option<String>, CheckpointError> {
        let path = self.path.with_extension("yaml");
        let is_one = fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() <= LONGEST_SETTINGS);
        if self.path.is_dir() || self.is_hollow() || !is_one {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|source| CheckpointError::Io { path, source })?;
        Ok(value(&text, key).map(str::to_owned))
    }
}

/// The value of a key, without quotes and comments.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))?;
    let value = rest.split('#').next().unwrap_or(rest);
    Some(value.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_their_keys() {
        let text = "model:\n  params:\n    parameterization: \"v\" # not eps\n    scale_factor: 0.18215\n";
        assert_eq!(value(text, "parameterization"), Some("v"));
        assert_eq!(value(text, "scale_factor"), Some("0.18215"));
        assert_eq!(value(text, "scale"), None);
    }
}
