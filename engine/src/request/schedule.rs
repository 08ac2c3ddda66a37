//! Noise schedules.

use serde::{Deserialize, Serialize};

/// The noise schedule: how the noise levels of the steps are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The one in the model's scheduler configuration.
    #[default]
    Model,
    /// Even steps, shifted by the model's constant.
    StaticShift,
    /// Even steps, shifted by an amount that grows with the size of the image.
    DynamicShift,
    /// Even steps in the model's own time, both ends included.
    Normal,
    /// Even steps in the seventh root of the noise level.
    Karras,
    /// Even steps in the logarithm of the noise level.
    Exponential,
    /// Even steps in the model's own time, the last of which would end at its lowest level.
    SgmUniform,
    /// Every n-th of the model's noise levels.
    Simple,
    /// Denser at both ends, by the beta distribution.
    Beta,
    /// Tiny even steps first, then longer and longer ones.
    LinearQuadratic,
    /// Even steps in the arc tangent of the noise level.
    KlOptimal,
    /// Noise levels that were optimized for the model family.
    AlignYourSteps,
}

impl Schedule {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
        Self::Model,
        Self::StaticShift,
        Self::DynamicShift,
        Self::Normal,
        Self::Karras,
        Self::Exponential,
        Self::SgmUniform,
        Self::Simple,
        Self::Beta,
        Self::LinearQuadratic,
        Self::KlOptimal,
        Self::AlignYourSteps,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::StaticShift => "static-shift",
            Self::DynamicShift => "dynamic-shift",
            Self::Normal => "normal",
            Self::Karras => "karras",
            Self::Exponential => "exponential",
            Self::SgmUniform => "sgm-uniform",
            Self::Simple => "simple",
            Self::Beta => "beta",
            Self::LinearQuadratic => "linear-quadratic",
            Self::KlOptimal => "kl-optimal",
            Self::AlignYourSteps => "align-your-steps",
        }
    }

    /// The display name: that of AUTOMATIC1111's web UI where it has the schedule.
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "Model default",
            Self::StaticShift => "Static shift",
            Self::DynamicShift => "Dynamic shift",
            Self::Normal => "Normal",
            Self::Karras => "Karras",
            Self::Exponential => "Exponential",
            Self::SgmUniform => "SGM Uniform",
            Self::Simple => "Simple",
            Self::Beta => "Beta",
            Self::LinearQuadratic => "Linear quadratic",
            Self::KlOptimal => "KL Optimal",
            Self::AlignYourSteps => "Align Your Steps",
        }
    }
}
