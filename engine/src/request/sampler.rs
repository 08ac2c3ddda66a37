//! Sampling methods.

use serde::{Deserialize, Serialize};

/// The sampling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Sampler {
    /// One step along the predicted direction.
    #[default]
    #[serde(rename = "euler")]
    Euler,
    /// Euler steps with new noise in each.
    #[serde(rename = "euler_ancestral")]
    EulerAncestral,
    /// Follows the mean of two predictions per step: slower, more accurate.
    #[serde(rename = "heun")]
    Heun,
    /// Two predictions per step, the second at the midpoint.
    #[serde(rename = "dpm2")]
    Dpm2,
    /// Two predictions of the clean image per step, and new noise.
    #[serde(rename = "dpmpp_2s_ancestral")]
    Dpmpp2sAncestral,
    /// Two predictions of the clean image per step, the second with half of the noise that the step adds.
    #[serde(rename = "dpmpp_sde")]
    DpmppSde,
    /// Extrapolates the last two predictions.
    #[serde(rename = "dpmpp_2m")]
    Dpmpp2m,
    /// The same with new noise in each step.
    #[serde(rename = "dpmpp_2m_sde")]
    Dpmpp2mSde,
    /// Extrapolates the last three predictions, with new noise in each step.
    #[serde(rename = "dpmpp_3m_sde")]
    Dpmpp3mSde,
    /// Mixes the predicted clean image and the predicted noise again for the next level.
    #[serde(rename = "ddim")]
    Ddim,
    /// Extrapolates the last four directions, for uneven steps.
    #[serde(rename = "lms")]
    Lms,
    /// Extrapolates the last four directions, as if steps were even.
    #[serde(rename = "ipndm")]
    Ipndm,
    /// Extrapolates two predictions, and corrects each step with the next prediction.
    #[serde(rename = "uni_pc")]
    UniPc,
    /// For consistency models: mixes the predicted clean image with new noise.
    #[serde(rename = "lcm")]
    Lcm,
    /// Extrapolates the last three predictions, and adds new noise in each step.
    #[serde(rename = "er_sde")]
    ErSde,
    /// Extrapolates the last two predictions exponentially.
    #[serde(rename = "res_multistep")]
    ResMultistep,
    /// For trajectory consistency models: goes below each level and comes back up with new noise.
    #[serde(rename = "tcd")]
    Tcd,
}

impl Sampler {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 17] = [
        Self::Euler,
        Self::EulerAncestral,
        Self::Heun,
        Self::Dpm2,
        Self::Dpmpp2sAncestral,
        Self::DpmppSde,
        Self::Dpmpp2m,
        Self::Dpmpp2mSde,
        Self::Dpmpp3mSde,
        Self::Ddim,
        Self::Lms,
        Self::Ipndm,
        Self::UniPc,
        Self::Lcm,
        Self::ErSde,
        Self::ResMultistep,
        Self::Tcd,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euler => "euler",
            Self::EulerAncestral => "euler-ancestral",
            Self::Heun => "heun",
            Self::Dpm2 => "dpm2",
            Self::Dpmpp2sAncestral => "dpmpp-2s-ancestral",
            Self::DpmppSde => "dpmpp-sde",
            Self::Dpmpp2m => "dpmpp-2m",
            Self::Dpmpp2mSde => "dpmpp-2m-sde",
            Self::Dpmpp3mSde => "dpmpp-3m-sde",
            Self::Ddim => "ddim",
            Self::Lms => "lms",
            Self::Ipndm => "ipndm",
            Self::UniPc => "uni-pc",
            Self::Lcm => "lcm",
            Self::ErSde => "er-sde",
            Self::ResMultistep => "res-multistep",
            Self::Tcd => "tcd",
        }
    }

    /// The display name: that of AUTOMATIC1111's web UI where it has the sampler.
    pub fn title(self) -> &'static str {
        match self {
            Self::Euler => "Euler",
            Self::EulerAncestral => "Euler a",
            Self::Heun => "Heun",
            Self::Dpm2 => "DPM2",
            Self::Dpmpp2sAncestral => "DPM++ 2S a",
            Self::DpmppSde => "DPM++ SDE",
            Self::Dpmpp2m => "DPM++ 2M",
            Self::Dpmpp2mSde => "DPM++ 2M SDE",
            Self::Dpmpp3mSde => "DPM++ 3M SDE",
            Self::Ddim => "DDIM",
            Self::Lms => "LMS",
            Self::Ipndm => "IPNDM",
            Self::UniPc => "UniPC",
            Self::Lcm => "LCM",
            Self::ErSde => "ER SDE",
            Self::ResMultistep => "RES multistep",
            Self::Tcd => "TCD",
        }
    }

    /// Number of predictions for this many steps, the last of which ends at noise level 0.
    pub fn calls(self, steps: usize) -> usize {
        match self {
            Self::Heun | Self::Dpm2 | Self::Dpmpp2sAncestral | Self::DpmppSde => {
                (2 * steps).saturating_sub(1)
            }
            _ => steps,
        }
    }

    /// Number of noise levels at which this many steps call the model.
    pub fn levels(self, steps: usize) -> usize {
        match self {
            Self::Heun => steps,
            _ => self.calls(steps),
        }
    }

    /// Number of f32 tensors of the latents' shape that the sampler holds while the model is called, besides the
    /// latents and the last prediction.
    pub fn held(self) -> usize {
        match self {
            Self::Euler | Self::Heun => 0,
            Self::EulerAncestral | Self::Dpm2 | Self::Ddim | Self::Lcm | Self::Tcd => 1,
            Self::Dpmpp2m | Self::Dpmpp2sAncestral | Self::DpmppSde | Self::ResMultistep => 2,
            Self::Dpmpp2mSde | Self::UniPc => 3,
            Self::Dpmpp3mSde | Self::Lms | Self::Ipndm | Self::ErSde => 4,
        }
    }
}
