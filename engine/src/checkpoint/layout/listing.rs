//! Lists the files of a folder by extension.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::checkpoint::CheckpointError;

/// Extensions of weight files.
pub const WEIGHTS: [&str; 3] = ["safetensors", "sft", "gguf"];
/// Extensions of pickles, which may execute code.
pub const PICKLES: [&str; 5] = ["ckpt", "pt", "pth", "bin", "pkl"];

/// Whether a path has one of these extensions, ignoring case.
pub fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|wanted| own.eq_ignore_ascii_case(wanted)))
}

/// The files of a folder with one of these extensions, sorted by name.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn files_with_extension(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, CheckpointError> {
    let io = |source| CheckpointError::Io { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if has_extension(&path, extensions) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
