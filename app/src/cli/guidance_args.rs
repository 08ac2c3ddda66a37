//! What guidance does beside its scale, and which predictions are left out.

use sluice_engine::request::{GuidanceOptions, Interval};

/// Flags about guidance and the step cache.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Guidance and speed")]
pub(super) struct GuidanceArgs {
    /// How far the contrast of guided predictions is brought back to that of the prompt's own, 0 to 1.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    guidance_rescale: f32,
    /// The part of the steps that are guided, such as 0.2..0.8; the others take half the work.
    #[arg(long, value_name = "FROM..TO", default_value_t = Interval::default())]
    guidance_interval: Interval,
    /// Weight of the prompt against the negative prompt in models that are told the guidance, such as FLUX.1; above
    /// 1 each step takes twice the work.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    true_cfg: f32,
    /// Uses the last prediction again while the next is foretold to be this near, relative to its size: faster, and
    /// another picture. 0.1 is a start.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    pub step_cache: f32,
}

impl GuidanceArgs {
    /// What guidance does beside its scale.
    pub fn options(&self) -> GuidanceOptions {
        GuidanceOptions {
            rescale: self.guidance_rescale,
            interval: self.guidance_interval,
            true_cfg: self.true_cfg,
        }
    }
}
