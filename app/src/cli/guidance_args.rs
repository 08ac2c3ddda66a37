//! Guidance options besides the scale, and the step cache.

use sluice_engine::request::{GuidanceOptions, Interval};

/// Guidance options and the step cache.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct GuidanceArgs {
    /// Reduce the overexposure that high guidance causes: from 0 (off) to 1.
    #[arg(long, value_name = "NUMBER")]
    guidance_rescale: Option<f32>,
    /// The steps that use guidance, as fractions of the run, such as 0.2..0.8; the other steps take half the time. As in
    /// the preset, or else all of them.
    #[arg(long, value_name = "FROM..TO")]
    guidance_interval: Option<Interval>,
    /// Classifier-free guidance for guidance-distilled models such as FLUX.1, so that they use the negative prompt.
    /// Above 1, each step takes twice as long. As in the preset, or else 1.
    #[arg(long, value_name = "NUMBER")]
    true_cfg: Option<f32>,
    /// Reuse the previous prediction while the estimated change stays below this threshold: faster, but the image
    /// changes slightly. Try 0.1; 0 turns it off.
    #[arg(long, value_name = "NUMBER")]
    pub step_cache: Option<f32>,
}

impl GuidanceArgs {
    /// The guidance options; those that are not given are as usual.
    pub fn options(&self, usual: GuidanceOptions) -> GuidanceOptions {
        GuidanceOptions {
            rescale: self.guidance_rescale.unwrap_or(usual.rescale),
            interval: self.guidance_interval.unwrap_or(usual.interval),
            true_cfg: self.true_cfg.unwrap_or(usual.true_cfg),
        }
    }
}
