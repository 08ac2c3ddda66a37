//! Recognizes networks that interpolate frames, and finds their tensors.

use std::{path::Path, sync::Arc};

use super::{Ifnet, shape::Shape};
use crate::checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable};

/// What programs have put before all names.
const PREFIXES: [&str; 2] = ["module.", "flownet."];
/// What a file of another kind has, by part of a name.
const OTHERS: [(&str, &str); 3] = [
    ("extract.extract_sublevels", "it is FILM, which is not supported"),
    (".convblock0.", "it is RIFE 3 or older; use version 4"),
    ("feat_ext.", "it is GMFSS or a relative of it, which is not supported"),
];

/// A network and the location of its weights.
pub struct Opened {
    /// The network.
    pub network: Arc<Ifnet>,
    /// Location of its weights.
    pub component: Component,
}

/// The error for a file that cannot be used.
pub(super) fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Interpolator { path: path.to_owned(), reason: reason.into() }
}

/// Whether a checkpoint is a network of RIFE 4, of a supported version or not.
pub fn is_interpolator(checkpoint: &Checkpoint) -> bool {
    let own = checkpoint.parts.iter().filter(|part| part.path == checkpoint.path);
    own.map(plain).any(|tensors| is_rife(&tensors))
}

fn is_rife(tensors: &TensorTable) -> bool {
    let is_there = |name: &str| tensors.contains_key(name);
    is_there("block0.conv0.0.0.weight")
        && is_there("block0.conv0.1.0.weight")
        && is_there("block3.conv0.0.0.weight")
}

/// Opens the network in a checkpoint. Reads no weights.
///
/// # Errors
/// When it has none of a supported version, or a tensor is missing or has another shape.
pub fn open(checkpoint: &Checkpoint) -> Result<Opened, CheckpointError> {
    let path = &checkpoint.path;
    let own = checkpoint.parts.iter().find(|part| part.path == *path);
    let tensors = own.map(plain).unwrap_or_default();
    if !is_rife(&tensors) {
        return Err(refused(path, stranger(&tensors)));
    }
    let shape = Shape::of(path, &tensors)?;
    let (architecture, specs) = (shape.version(), shape.blueprint());
    let original = |name: &str| StoredName::whole(name);
    let component = Component::bind(Role::Interpolator, architecture, &specs, &tensors, original, path)?;
    Ok(Opened { network: Arc::new(Ifnet::new(shape)), component })
}

/// The tensors of a part under the names of RIFE's first code: ComfyUI numbers the blocks as `blocks.0`.
fn plain(part: &Part) -> TensorTable {
    let renamed = |name: &str| {
        let name = PREFIXES.iter().fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
        match name.strip_prefix("blocks.") {
            Some(rest) => format!("block{rest}"),
            None => name.to_owned(),
        }
    };
    part.tensors.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

fn stranger(tensors: &TensorTable) -> String {
    let has = |word: &str| tensors.keys().any(|name| name.contains(word));
    let known = OTHERS.iter().find(|(word, _)| has(word));
    known.map_or("it is no RIFE 4", |(_, what)| what).to_owned()
}
