//! The kinds of maps that networks make of images.

use serde::{Deserialize, Serialize};

/// A kind of map that a network makes of an image, for ControlNets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapKind {
    /// White what is near and black what is far.
    Depth,
    /// The joints of persons, and lines between them, in the colours of OpenPose.
    Pose,
    /// What is where, as areas in the colours of ADE20K.
    Segments,
    /// Soft edges, white on black.
    SoftEdge,
}

impl MapKind {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Depth, Self::Pose, Self::Segments, Self::SoftEdge];

    /// The identifier in machine-readable output and in names of parts.
    pub fn id(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Pose => "pose",
            Self::Segments => "segments",
            Self::SoftEdge => "soft_edge",
        }
    }

    /// What people call such maps.
    pub fn maps(self) -> &'static str {
        match self {
            Self::Depth => "depth maps",
            Self::Pose => "poses",
            Self::Segments => "segments",
            Self::SoftEdge => "soft edges",
        }
    }

    /// The networks that make them here.
    pub fn networks(self) -> &'static str {
        match self {
            Self::Depth => "Depth Anything V2",
            Self::Pose => "YOLOv8-pose",
            Self::Segments => "SegFormer",
            Self::SoftEdge => "HED",
        }
    }
}
