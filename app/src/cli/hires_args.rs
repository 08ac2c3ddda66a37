//! Options of hires fix.

use sluice_engine::request::{Enlarger, Hires};

use super::exit::refuse;

/// A second pass over the enlarged image.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct HiresArgs {
    /// Enlarge the image this many times, from 1 to 4, and denoise it again: for images larger than the model was trained
    /// for. Width and height are those before that.
    #[arg(long, value_name = "SCALE")]
    hires: Option<f32>,
    /// How much the second pass changes, above 0 and at most 1. As in the preset, or else 0.5.
    #[arg(long, value_name = "NUMBER")]
    hires_strength: Option<f64>,
    /// Steps of the second pass, of which the strength leaves some out. As in the preset, or else as many as in the first
    /// pass.
    #[arg(long, value_name = "COUNT")]
    hires_steps: Option<u32>,
    /// What enlarges the image: the file of an upscaler, `upscaler` for the one that comes with the program, or `latent`,
    /// which needs a strength of about 0.5 or more. As in the preset, or else `upscaler`.
    #[arg(long, value_name = "MODEL")]
    hires_upscaler: Option<Enlarger>,
}

impl HiresArgs {
    /// The second pass, if one is asked for or usual. What is not given is as usual.
    ///
    /// # Errors
    /// When there is none, and something is given for it.
    pub fn hires(&self, usual: Option<Hires>) -> anyhow::Result<Option<Hires>> {
        let scale = self.hires.or(usual.as_ref().map(|usual| usual.scale));
        let Some(scale) = scale else {
            return match self.detail() {
                Some(option) => Err(refuse(
                    format!("{option} is given, and there is no hires fix"),
                    "Give --hires <SCALE>, too, or a preset with hires fix.".to_owned(),
                )),
                None => Ok(None),
            };
        };
        let usual = usual.unwrap_or_default();
        Ok(Some(Hires {
            scale,
            strength: self.hires_strength.unwrap_or(usual.strength),
            steps: self.hires_steps.or(usual.steps),
            enlarger: self.hires_upscaler.clone().unwrap_or(usual.enlarger),
        }))
    }

    /// An option that is given and says nothing without hires fix.
    fn detail(&self) -> Option<&'static str> {
        let given = [
            self.hires_strength.map(|_| "--hires-strength"),
            self.hires_steps.map(|_| "--hires-steps"),
            self.hires_upscaler.as_ref().map(|_| "--hires-upscaler"),
        ];
        given.into_iter().flatten().next()
    }
}
