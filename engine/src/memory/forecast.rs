//! What the person sees before a run.

use serde::{Deserialize, Serialize};

use super::{AttentionBytes, Machine, MemoryPreferences, Plan, PlanError};
use crate::{precision::Storage, request::ComputeDtype};

/// A recommendation, what else there is, and how good past forecasts were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// What to call the model.
    pub model: String,
    /// What it is computed in.
    pub dtype: ComputeDtype,
    /// What it was made for.
    pub machine: Machine,
    /// What will be done, or why nothing can be.
    pub plan: Result<Plan, PlanError>,
    /// The recommendation in one sentence: what is done, why, and what it takes; or what would make it fit.
    pub sentence: String,
    /// The smallest `device_budget` with which the preferences can be followed; absent where none can be.
    pub least_device: Option<u64>,
    /// The automatic mode's plans for each thing that people wish for: the fastest, the balanced one and the one that
    /// takes the least memory. Those that do not fit say by how much.
    pub choices: Vec<Alternative>,
    /// Every strategy with what it would take.
    pub alternatives: Vec<Alternative>,
    /// What the largest attention of the run takes with each way of computing it.
    #[serde(default)]
    pub attention: AttentionBytes,
    /// How good past forecasts for this model on this device were.
    pub accuracy: Option<Accuracy>,
    /// For a simulated card, seconds that the run takes on the CPU that computes in its place.
    #[serde(default)]
    pub seconds_here: Option<f64>,
    /// For what does not fit the device, the most pixels of the same shape that would: width and height.
    #[serde(default)]
    pub fitting_size: Option<[u32; 2]>,
    /// For a clip that does not fit the device, the most frames that would.
    #[serde(default)]
    pub fitting_frames: Option<u32>,
}

/// One strategy and what it would take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Identifier, such as `model_offload`.
    pub id: String,
    /// In words, such as `Model offload`.
    pub name: String,
    /// Bytes on the device at its peak.
    pub device: u64,
    /// Bytes in the host's memory at its peak.
    pub host: u64,
    /// Seconds of a denoising step.
    pub seconds_per_step: f64,
    /// Seconds of an image, loading included.
    pub seconds_per_image: f64,
    /// How near the images are to those of the stored weights.
    pub quality: Quality,
    /// What the weights lose, where that was measured: the root of the mean square, relative to theirs.
    #[serde(default)]
    pub error: Option<f64>,
    /// By how many bytes it does not fit the device; 0 if it does.
    pub device_short: u64,
    /// By how many bytes it does not fit the host's memory; 0 if it does.
    pub host_short: u64,
    /// Whether this program can do it. What it cannot do is shown for comparison.
    pub available: bool,
    /// Whether it is what the wish picks.
    pub recommended: bool,
    /// The preferences that choose it, where it can be chosen.
    pub preferences: Option<MemoryPreferences>,
}

/// How near images are to those of the stored weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// The same bytes.
    Exact,
    /// The same weights, but tiles of the decoder blend.
    Blended,
    /// Weights of eight bits: differences that are hard to see.
    EightBit,
    /// Weights of four bits: differences that can be seen.
    FourBit,
}

impl Quality {
    /// What a storage of weights makes of it.
    pub fn of(storage: Storage) -> Self {
        match storage.bits() {
            None => Self::Exact,
            Some(8) => Self::EightBit,
            Some(_) => Self::FourBit,
        }
    }
}

/// How good past forecasts were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Runs that were compared.
    pub runs: u32,
    /// Of the device's peak.
    pub memory: ErrorSpread,
    /// Of the seconds of a step; absent if no run had a second step.
    pub time: Option<ErrorSpread>,
}

/// |predicted − measured| / measured over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorSpread {
    /// Half of the runs were no further off.
    pub median: f64,
    /// The run that was furthest off.
    pub worst: f64,
}
