//! The meaning of a model's noise levels, and the levels of its own scheduler.

use std::borrow::Cow;

use candle_core::{Result as TensorResult, Tensor};

use super::{Cosine, Discrete, FlowShift, Levels, Mixing, mixing::blend};
use crate::request::Schedule;

/// How a model was trained to remove noise.
#[derive(Debug, Clone, PartialEq)]
pub enum Training {
    /// On straight lines from image to noise.
    Flow(FlowShift),
    /// On a table of noise levels.
    Discrete(Discrete),
    /// On levels that are a cosine of the time.
    Cosine(Cosine),
}

impl Training {
    /// How latents mix image and noise during sampling.
    pub fn mixing(&self) -> Mixing {
        match self {
            Self::Flow(_) => Mixing::Flow,
            Self::Discrete(_) | Self::Cosine(_) => Mixing::Exploding,
        }
    }

    /// The noise levels of `steps` steps, and the level where they end, for an image of this many tokens.
    pub fn sigmas(&self, schedule: Schedule, steps: usize, image_tokens: usize) -> Vec<f32> {
        match self {
            Self::Flow(shift) => match schedule {
                Schedule::Model => shift.own_sigmas(image_tokens, steps),
                Schedule::StaticShift => shift.sigmas(shift.constant(), steps),
                Schedule::DynamicShift => shift.sigmas(shift.dynamic(image_tokens), steps),
                other => Levels::Flow(shift.own(image_tokens, steps)).spaced(other, steps),
            },
            Self::Discrete(discrete) => match schedule {
                Schedule::Model | Schedule::StaticShift | Schedule::DynamicShift => discrete.sigmas(steps),
                Schedule::AlignYourSteps => discrete.aligned().sigmas(steps),
                other => Levels::Table(discrete.table().to_vec()).spaced(other, steps),
            },
            Self::Cosine(cosine) => match schedule {
                Schedule::Model | Schedule::StaticShift | Schedule::DynamicShift => cosine.sigmas(steps),
                other => Levels::Table(cosine.table()).spaced(other, steps),
            },
        }
    }

    /// With another shift, the same for every size of image; a table of levels has none.
    pub fn shifted(&self, shift: Option<f32>) -> Cow<'_, Self> {
        match (self, shift) {
            (Self::Flow(own), Some(shift)) => Cow::Owned(Self::Flow(own.with_constant(f64::from(shift)))),
            _ => Cow::Borrowed(self),
        }
    }

    /// Whether the model has levels for a schedule.
    pub fn has(&self, schedule: Schedule) -> bool {
        schedule != Schedule::AlignYourSteps || matches!(self, Self::Discrete(_))
    }

    /// The level at `share` times the timestep of `sigma`; for a table, rounded down to an entry.
    pub fn earlier(&self, sigma: f32, share: f64) -> f32 {
        let time = f64::from(self.timestep(sigma)) * share;
        match self {
            Self::Flow(_) => (time / 1000.0) as f32,
            Self::Discrete(discrete) => discrete.table()[time as usize].min(sigma),
            Self::Cosine(cosine) => cosine.level((time / 1000.0) as f32).min(sigma),
        }
    }

    /// How many initial steps of a run the strength of image to image skips, rounded as in diffusers'
    /// pipelines for each kind of model.
    pub fn skipped(&self, steps: usize, strength: f64) -> usize {
        let taken = (steps as f64 * strength).min(steps as f64);
        match self {
            Self::Flow(_) => (steps as f64 - taken) as usize,
            Self::Discrete(_) | Self::Cosine(_) => steps - taken as usize,
        }
    }

    /// Scales latents to the input of the network, whose variance does not grow with the noise.
    pub fn seen(&self, latents: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Flow(_) => Ok(latents.clone()),
            Self::Discrete(_) | Self::Cosine(_) => latents * variance_preserving(sigma),
        }
    }

    /// The timestep of a noise level, from 0 to 1000.
    pub fn timestep(&self, sigma: f32) -> f32 {
        match self {
            Self::Flow(_) => sigma * 1000.0,
            Self::Discrete(discrete) => discrete.timestep(sigma),
            Self::Cosine(cosine) => cosine.time(sigma) * 1000.0,
        }
    }

    /// Latents at a noise level, mixed from an image's latents and noise of unit variance. Without an image,
    /// the initial latents of a run from pure noise.
    pub fn noised(&self, picture: Option<&Tensor>, noise: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match (self, picture) {
            (Self::Flow(_), None) => Ok(noise.clone()),
            (Self::Discrete(discrete), None) => noise * discrete.first_noise(sigma),
            (Self::Cosine(_), None) => noise * f64::from(sigma).hypot(1.0),
            (_, Some(picture)) => {
                let sigma = f64::from(sigma);
                blend(&[(self.mixing().share(sigma), picture), (sigma, noise)])
            }
        }
    }

    /// Converts the latents at the end of a run, at noise level `sigma`, to the autoencoder's input.
    pub fn finished(&self, latents: Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Discrete(_) | Self::Cosine(_) if sigma > 0.0 => latents * variance_preserving(sigma),
            _ => Ok(latents),
        }
    }

    /// Whether a step that ends at a level adds new noise, in samplers that add any: not at the lowest level of a cosine,
    /// where runs end although it is not 0.
    pub fn renoises(&self, sigma: f32) -> bool {
        !matches!(self, Self::Cosine(cosine) if sigma <= cosine.lowest())
    }

    /// Latents as the model's own scheduler keeps them between steps.
    pub fn recorded(&self, latents: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Discrete(discrete) if discrete.preserves_variance() => latents * variance_preserving(sigma),
            Self::Cosine(_) => latents * variance_preserving(sigma),
            _ => Ok(latents.clone()),
        }
    }
}

/// The factor from latents `image + σ · noise` to variance-preserving ones.
pub fn variance_preserving(sigma: f32) -> f64 {
    (1.0 + f64::from(sigma).powi(2)).sqrt().recip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::PredictionType;

    /// Expected values of `get_timesteps` in diffusers 0.42.1: `t_start` for each number of steps and
    /// strength.
    #[test]
    fn strength_leaves_out_as_many_steps_as_in_diffusers() {
        let flow = Training::Flow(FlowShift::default());
        let discrete = Training::Discrete(Discrete::stable_diffusion(PredictionType::Epsilon));
        let cases = [
            (10, 0.6, 4, 4),
            (12, 0.6, 4, 5),
            (12, 1.0, 0, 0),
            (30, 0.3, 21, 21),
            (7, 0.5, 3, 4),
            (10, 0.05, 9, 10),
            (1, 1.0, 0, 0),
            (4, 0.2, 3, 4),
        ];
        for (steps, strength, of_flow, of_table) in cases {
            assert_eq!(flow.skipped(steps, strength), of_flow, "{steps} {strength}");
            assert_eq!(discrete.skipped(steps, strength), of_table, "{steps} {strength}");
        }
    }
}
