//! The record of a run: what was predicted, and what was measured.

use serde::{Deserialize, Serialize};

use super::Stage;
use crate::{
    precision::Storage,
    request::{ComputeDtype, Windows},
};

/// What was predicted for a run, and what was measured. Measured values are 0 where nothing was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What the model is called.
    pub model: String,
    /// What the run was of. Absent in older records, which correct no forecast.
    #[serde(default)]
    pub run: Option<RunIdentity>,
    /// What the device is called.
    pub device: String,
    /// Bytes at the device's peak.
    pub predicted_device: u64,
    /// Bytes at the device's peak.
    pub measured_device: u64,
    /// Bytes of activations in the stage that took most of what was predicted for it, as the formulas say before any
    /// correction; 0 if they were tried out instead, which says nothing about the formulas.
    pub predicted_activations: u64,
    /// Bytes of activations at the peak of that stage.
    pub measured_activations: u64,
    /// Seconds of a step after the first.
    pub predicted_step_seconds: f64,
    /// Seconds of a step after the first: their median.
    pub measured_step_seconds: f64,
    /// Floating-point operations a second in the denoiser's blocks.
    pub measured_operations_per_second: f64,
    /// Bytes a second over the link; from disk on a unified device.
    pub measured_link_bytes_per_second: f64,
    /// Bytes a second from disk, where the device has memory of its own.
    #[serde(default)]
    pub measured_disk_bytes_per_second: f64,
    /// The device's peak in each stage.
    #[serde(default)]
    pub stages: Vec<StagePeak>,
    /// The speeds of parts that [have their own](crate::checkpoint::Role::has_own_speed).
    #[serde(default)]
    pub speeds: Vec<PartSpeed>,
}

/// How fast a part computed, whatever model it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartSpeed {
    /// [`PartFootprint::identity`](super::PartFootprint::identity).
    pub part: String,
    /// Floating-point operations a second in its stage, without what the stage waited for weights.
    pub operations_per_second: f64,
}

/// Bytes of a device at its peak in a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagePeak {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// As predicted.
    pub predicted: u64,
    /// As measured.
    pub measured: u64,
}

/// What a run was of. Runs are compared with runs of the same model in the same formats, whatever its folder is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// [`Model::identity`](crate::models::Model::identity), without adapters.
    pub model: String,
    /// What it was computed in.
    pub dtype: ComputeDtype,
    /// How the matrices of the denoiser and of the text encoders were held.
    pub precisions: [Storage; 2],
    /// The size of the request.
    pub shape: RunShape,
}

/// The size of a request, as far as memory and the time of a step depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShape {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames; 1 for images.
    pub frames: u32,
    /// Images of the batch.
    pub batch: u32,
    /// Guidance branches.
    pub branches: u32,
    /// The windows of a long clip.
    #[serde(default)]
    pub windows: Option<Windows>,
    /// Pixels of the reference images that the network reads in their own sizes.
    #[serde(default)]
    pub references: u64,
    /// Width and height of a second pass over the enlarged image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enlarged: Option<[u32; 2]>,
    /// The number of detailers.
    #[serde(default, skip_serializing_if = "is_none")]
    pub detailers: u32,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl RunShape {
    /// Whether the images are alike, whatever is refined in them afterwards.
    pub fn differs_in_detailers_only(&self, other: &Self) -> bool {
        *self == Self { detailers: self.detailers, ..*other }
    }
}

impl RunIdentity {
    /// Whether both are of the same model in the same formats.
    pub fn differs_in_shape_only(&self, other: &Self) -> bool {
        *self == Self { shape: self.shape, ..other.clone() }
    }
}
