//! Noise levels of flow matching.

use serde::Deserialize;

use crate::checkpoint::{Checkpoint, CheckpointError, Layout, read_json};

/// How a model's noise levels are shifted towards noise (Esser et al. 2024, arXiv:2403.03206, section 5.3.2).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct FlowShift {
    /// The constant shift.
    pub shift: f64,
    /// Whether the model's own schedule depends on the size of the picture.
    pub use_dynamic_shifting: bool,
    /// Shift exponent at the smaller picture.
    pub base_shift: f64,
    /// Shift exponent at the larger picture.
    pub max_shift: f64,
    /// Image tokens of the smaller picture.
    pub base_image_seq_len: usize,
    /// Image tokens of the larger picture.
    pub max_image_seq_len: usize,
}

/// A shift with its amount decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shift {
    /// `shift · σ / (1 + (shift − 1) · σ)`.
    Static(f64),
    /// `eᵘ / (eᵘ + 1/σ − 1)` with this `µ`.
    Exponential(f64),
}

impl Default for FlowShift {
    fn default() -> Self {
        Self {
            shift: 1.0,
            use_dynamic_shifting: false,
            base_shift: 0.5,
            max_shift: 1.15,
            base_image_seq_len: 256,
            max_image_seq_len: 4096,
        }
    }
}

impl FlowShift {
    /// A constant shift.
    pub fn fixed(shift: f64) -> Self {
        Self { shift, ..Self::default() }
    }

    /// As a diffusers folder says; `otherwise` where the layout says nothing.
    pub fn open(checkpoint: &Checkpoint, otherwise: Self) -> Result<Self, CheckpointError> {
        let path = checkpoint.root.join("scheduler").join("scheduler_config.json");
        if checkpoint.layout != Layout::Diffusers || !path.is_file() {
            return Ok(otherwise);
        }
        let shift: Self = read_json(&path)?;
        if shift.shift.is_finite() && shift.shift > 0.0 {
            return Ok(shift);
        }
        let reason = "a shift is a positive number".to_owned();
        Err(CheckpointError::Config { path, field: "shift", value: shift.shift.to_string(), reason })
    }

    /// The constant shift.
    pub fn constant(&self) -> Shift {
        Shift::Static(self.shift)
    }

    /// The shift for a picture of this many image tokens: its exponent grows linearly with them.
    pub fn dynamic(&self, image_tokens: usize) -> Shift {
        let span = self.max_image_seq_len as f64 - self.base_image_seq_len as f64;
        let slope = (self.max_shift - self.base_shift) / span;
        Shift::Exponential(
            image_tokens as f64 * slope + (self.base_shift - slope * self.base_image_seq_len as f64),
        )
    }

    /// What the model's own configuration uses.
    pub fn own(&self, image_tokens: usize) -> Shift {
        if self.use_dynamic_shifting { self.dynamic(image_tokens) } else { self.constant() }
    }
}

impl Shift {
    /// A level, shifted.
    pub(super) fn at(self, sigma: f64) -> f64 {
        match self {
            Self::Static(shift) => shift * sigma / (1.0 + (shift - 1.0) * sigma),
            Self::Exponential(mu) => mu.exp() / (mu.exp() + (1.0 / sigma - 1.0)),
        }
    }

    /// The noise levels of `steps` steps, from 1 to 0, `steps + 1` numbers: evenly spaced between 1 and
    /// `1 / steps`, shifted, then 0.
    pub fn sigmas(self, steps: usize) -> Vec<f32> {
        let even = |index: usize| linspace(1.0, 1.0 / steps as f64, steps, index);
        let shifted = |sigma: f32| match self {
            Self::Static(shift) => {
                let shift = shift as f32;
                shift * sigma / (1.0 + (shift - 1.0) * sigma)
            }
            Self::Exponential(mu) => {
                let power = mu.exp() as f32;
                power / (power + (1.0 / sigma - 1.0))
            }
        };
        (0..steps).map(|index| shifted(even(index))).chain([0.0]).collect()
    }
}

/// Number `index` of `count` even steps from `start` to `end`, rounded as PyTorch does: counted from the
/// nearer end.
pub(super) fn linspace(start: f64, end: f64, count: usize, index: usize) -> f32 {
    let (start, end) = (start as f32, end as f32);
    if count == 1 {
        return start;
    }
    let step = (end - start) / (count - 1) as f32;
    if index < count / 2 { start + step * index as f32 } else { end - step * (count - 1 - index) as f32 }
}
