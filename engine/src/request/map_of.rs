//! Maps of an image or of the frames of a clip, made by a network.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::checkpoint::MapKind;

/// An image or a clip, and the kind of map that is made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapOf {
    /// The kind of map.
    pub kind: MapKind,
    /// The image, or the clip of which each frame becomes a map.
    pub image: PathBuf,
}
