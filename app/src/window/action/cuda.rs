//! What a person does with the engine for NVIDIA GPUs.

use std::path::PathBuf;

/// A step with the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CudaAction {
    /// Ask the releases what there is.
    LookUp,
    /// Look what an archive on this computer has.
    LookInto(PathBuf),
    /// Install what is offered.
    Install,
    /// Install it no longer, and remove what has arrived.
    Cancel,
    /// Remove it.
    Remove,
}
