//! Reads the headers of safetensors and GGUF files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{CheckpointError, FileKind, TensorTable, gguf, safetensors, weight_file::WeightFile};

/// Reads the header of a safetensors or GGUF file. Takes no more memory than the size of the header.
///
/// # Errors
/// Fails if the file cannot be read, is truncated, is of another kind or has an invalid header.
pub fn read_header(path: &Path) -> Result<TensorTable, CheckpointError> {
    read_headers(&[path.to_owned()])
}

/// Reads the headers of the files of one set of weights.
///
/// # Errors
/// As [`read_header`].
pub fn read_headers(paths: &[PathBuf]) -> Result<TensorTable, CheckpointError> {
    let mut files = Vec::with_capacity(paths.len());
    let mut is_gguf = false;
    for path in paths {
        let file = WeightFile::open(path)?;
        match file.kind()? {
            FileKind::Gguf => is_gguf = true,
            FileKind::Pickle => return Err(CheckpointError::Pickle { path: path.clone() }),
            FileKind::Safetensors | FileKind::Other => {}
        }
        files.push(Arc::new(file));
    }
    if is_gguf { gguf::read(&files) } else { safetensors::read(&files) }
}

/// The metadata in the header of a safetensors file; empty for other files.
///
/// # Errors
/// As [`read_header`].
pub fn read_notes(path: &Path) -> Result<BTreeMap<String, String>, CheckpointError> {
    let file = WeightFile::open(path)?;
    match file.kind()? {
        FileKind::Safetensors => safetensors::notes(&file),
        FileKind::Gguf | FileKind::Pickle | FileKind::Other => Ok(BTreeMap::new()),
    }
}
