//! Why an item is broken, for a place that names the item already.

use std::path::{Path, PathBuf};

use crate::checkpoint::CheckpointError;

/// What the item is called.
const IT: &str = "it";

/// The message of an error of an item. The item is "it", and files in it or beside it are named from its folder.
pub fn reason(error: CheckpointError, item: &Path) -> String {
    let from_item = |path: &Path| match path == item {
        true => PathBuf::from(IT),
        false => path.strip_prefix(folder_of(item)).unwrap_or(path).to_owned(),
    };
    match error {
        CheckpointError::Header { path, reason } if path == item => {
            format!("its header is damaged: {reason}")
        }
        CheckpointError::Quantization { path, found } if path == item => {
            format!("its weights are stored as {found}, which Sluice does not support")
        }
        CheckpointError::MissingShard { index, shard } if index == item => {
            format!("{} belongs to it but is missing", from_item(&shard).display())
        }
        mut error => {
            for path in paths(&mut error) {
                *path = from_item(path);
            }
            error.to_string()
        }
    }
}

/// The folder from which files are named.
fn folder_of(item: &Path) -> &Path {
    if item.is_dir() { item } else { item.parent().unwrap_or(item) }
}

/// The paths in the message of an error that reading a header may have.
fn paths(error: &mut CheckpointError) -> Vec<&mut PathBuf> {
    match error {
        CheckpointError::NotFound { path }
        | CheckpointError::Io { path, .. }
        | CheckpointError::NoModel { path }
        | CheckpointError::NotAModelFile { path }
        | CheckpointError::NotSafetensors { path }
        | CheckpointError::Pickle { path }
        | CheckpointError::EmptyFile { path }
        | CheckpointError::HeaderPastEnd { path, .. }
        | CheckpointError::Header { path, .. }
        | CheckpointError::Truncated { path, .. }
        | CheckpointError::Json { path, .. }
        | CheckpointError::Quantization { path, .. } => vec![path],
        CheckpointError::MissingShard { index, shard } => vec![index, shard],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_not_named_and_what_is_in_it_is_named_from_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let item = folder.path().join("flux");
        std::fs::create_dir_all(item.join("unet")).unwrap();
        let weights = item.join("unet").join("a.safetensors");
        let inside = Path::new("unet").join("a.safetensors").display().to_string();
        for (error, expected) in [
            (CheckpointError::EmptyFile { path: weights.clone() }, format!("{inside} is empty")),
            (
                CheckpointError::MissingShard { index: item.join("index.json"), shard: weights },
                format!("{inside} is missing, but index.json refers to it"),
            ),
            (CheckpointError::NoModel { path: item.clone() }, "no model found in it".to_owned()),
            // The name of another item begins as that of this one.
            (
                CheckpointError::EmptyFile { path: folder.path().join("flux2") },
                format!("{} is empty", folder.path().join("flux2").display()),
            ),
        ] {
            assert_eq!(reason(error, &item), expected);
        }
    }

    #[test]
    fn the_other_files_of_numbered_ones_are_named() {
        let item = Path::new("models").join("a-00001-of-00002.gguf");
        let other = item.with_file_name("a-00002-of-00002.gguf");
        for (error, expected) in [
            (CheckpointError::EmptyFile { path: item.clone() }, "it is empty"),
            (CheckpointError::EmptyFile { path: other.clone() }, "a-00002-of-00002.gguf is empty"),
            (
                CheckpointError::Header { path: item.clone(), reason: "no end".to_owned() },
                "its header is damaged: no end",
            ),
            (
                CheckpointError::MissingShard { index: item.clone(), shard: other },
                "a-00002-of-00002.gguf belongs to it but is missing",
            ),
        ] {
            assert_eq!(reason(error, &item), expected);
        }
    }
}
