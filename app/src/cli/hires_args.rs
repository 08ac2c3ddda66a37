//! Options of hires fix.

use sluice_engine::request::{Enlarger, Hires};

/// A second pass over the enlarged image.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct HiresArgs {
    /// Enlarge the image this many times, from 1 to 4, and denoise it again: for images larger than the model was trained
    /// for. Width and height are those before that.
    #[arg(long, value_name = "SCALE")]
    hires: Option<f32>,
    /// How much the second pass changes, above 0 and at most 1; 0.5 if left out.
    #[arg(long, value_name = "NUMBER", requires = "hires")]
    hires_strength: Option<f64>,
    /// Steps of the second pass, of which the strength leaves some out. As many as in the first pass by default.
    #[arg(long, value_name = "COUNT", requires = "hires")]
    hires_steps: Option<u32>,
    /// What enlarges the image: the file of an upscaler, `upscaler` for the one that comes with the program, or `latent`,
    /// which needs a strength of about 0.5 or more. `upscaler` if left out.
    #[arg(long, value_name = "MODEL", requires = "hires")]
    hires_upscaler: Option<Enlarger>,
}

impl HiresArgs {
    /// The second pass, if one is asked for or usual. What is not given is as usual.
    pub fn hires(&self, usual: Option<Hires>) -> Option<Hires> {
        let Some(scale) = self.hires else { return usual };
        let usual = usual.unwrap_or_default();
        Some(Hires {
            scale,
            strength: self.hires_strength.unwrap_or(usual.strength),
            steps: self.hires_steps.or(usual.steps),
            enlarger: self.hires_upscaler.clone().unwrap_or(usual.enlarger),
        })
    }
}
