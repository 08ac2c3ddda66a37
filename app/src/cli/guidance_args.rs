//! Guidance options besides the scale, and the step cache.

use sluice_engine::request::{GuidanceOptions, Interval};

/// Guidance options and the step cache.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct GuidanceArgs {
    /// Reduce the overexposure that high guidance causes: from 0 (off) to 1.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    guidance_rescale: f32,
    /// The steps that use guidance, as fractions of the run, such as 0.2..0.8; the other steps take half the time.
    #[arg(long, value_name = "FROM..TO", default_value_t = Interval::default())]
    guidance_interval: Interval,
    /// Classifier-free guidance for guidance-distilled models such as FLUX.1, so that they use the negative prompt.
    /// Above 1, each step takes twice as long.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    true_cfg: f32,
    /// Reuse the previous prediction while the estimated change stays below this threshold: faster, but the image
    /// changes slightly. Try 0.1; 0 turns it off.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    pub step_cache: f32,
}

impl GuidanceArgs {
    /// The guidance options, if any is given.
    pub fn options(&self) -> Option<GuidanceOptions> {
        let options = GuidanceOptions {
            rescale: self.guidance_rescale,
            interval: self.guidance_interval,
            true_cfg: self.true_cfg,
        };
        (options != GuidanceOptions::default()).then_some(options)
    }
}
