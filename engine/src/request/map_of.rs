//! A map of an image, made by a network.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::checkpoint::MapKind;

/// An image, and the kind of map that is made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapOf {
    /// The kind of map.
    pub kind: MapKind,
    /// The image.
    pub image: PathBuf,
}
