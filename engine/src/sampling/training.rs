//! What the noise levels of a model mean, and which of them its own scheduler walks along.

use candle_core::{Result as TensorResult, Tensor};

use super::{Discrete, FlowShift, Levels, Mixing, mixing::blend};
use crate::request::Schedule;

/// How a model was trained to see noise.
#[derive(Debug, Clone, PartialEq)]
pub enum Training {
    /// On straight lines from image to noise.
    Flow(FlowShift),
    /// On a table of noise levels.
    Discrete(Discrete),
}

impl Training {
    /// How latents are mixed of image and noise while they are walked with.
    pub fn mixing(&self) -> Mixing {
        match self {
            Self::Flow(_) => Mixing::Flow,
            Self::Discrete(_) => Mixing::Exploding,
        }
    }

    /// The noise levels of `steps` steps for an image of this many image tokens, and the one they end at.
    pub fn sigmas(&self, schedule: Schedule, steps: usize, image_tokens: usize) -> Vec<f32> {
        match self {
            Self::Flow(shift) => match schedule {
                Schedule::Model => shift.sigmas(shift.own(image_tokens), steps),
                Schedule::StaticShift => shift.sigmas(shift.constant(), steps),
                Schedule::DynamicShift => shift.sigmas(shift.dynamic(image_tokens), steps),
                other => Levels::Flow(shift.own(image_tokens)).spaced(other, steps),
            },
            Self::Discrete(discrete) => match schedule {
                Schedule::Model | Schedule::StaticShift | Schedule::DynamicShift => discrete.sigmas(steps),
                Schedule::AlignYourSteps => discrete.aligned().sigmas(steps),
                other => Levels::Table(discrete.table().to_vec()).spaced(other, steps),
            },
        }
    }

    /// Whether the model has levels for a schedule.
    pub fn has(&self, schedule: Schedule) -> bool {
        schedule != Schedule::AlignYourSteps || matches!(self, Self::Discrete(_))
    }

    /// The level whose time is this share of another's; of a table, the entry below that.
    pub fn earlier(&self, sigma: f32, share: f64) -> f32 {
        let time = f64::from(self.timestep(sigma)) * share;
        match self {
            Self::Flow(_) => (time / 1000.0) as f32,
            Self::Discrete(discrete) => discrete.table()[time as usize].min(sigma),
        }
    }

    /// How many of a run's first steps an image's strength leaves out; diffusers rounds so in the pipelines of
    /// each kind of model.
    pub fn skipped(&self, steps: usize, strength: f64) -> usize {
        let taken = (steps as f64 * strength).min(steps as f64);
        match self {
            Self::Flow(_) => (steps as f64 - taken) as usize,
            Self::Discrete(_) => steps - taken as usize,
        }
    }

    /// Latents as the network is given them: with a variance that does not grow with the noise.
    pub fn seen(&self, latents: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Flow(_) => Ok(latents.clone()),
            Self::Discrete(_) => latents * variance_preserving(sigma),
        }
    }

    /// The time that stands for a noise level, from 0 to 1000.
    pub fn timestep(&self, sigma: f32) -> f32 {
        match self {
            Self::Flow(_) => sigma * 1000.0,
            Self::Discrete(discrete) => discrete.timestep(sigma),
        }
    }

    /// Latents at a noise level, made of an image's latents and of noise of unit variance. Without an image, the
    /// latents that a walk from nothing but noise starts from.
    pub fn noised(&self, picture: Option<&Tensor>, noise: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match (self, picture) {
            (Self::Flow(_), None) => Ok(noise.clone()),
            (Self::Discrete(discrete), None) => noise * discrete.first_noise(sigma),
            (_, Some(picture)) => {
                let sigma = f64::from(sigma);
                blend(&[(self.mixing().share(sigma), picture), (sigma, noise)])
            }
        }
    }

    /// What a walk that ended at a noise level gives to the autoencoder.
    pub fn finished(&self, latents: Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Discrete(_) if sigma > 0.0 => latents * variance_preserving(sigma),
            _ => Ok(latents),
        }
    }

    /// Latents as the model's own scheduler keeps them between steps.
    pub fn recorded(&self, latents: &Tensor, sigma: f32) -> TensorResult<Tensor> {
        match self {
            Self::Discrete(discrete) if discrete.preserves_variance() => latents * variance_preserving(sigma),
            _ => Ok(latents.clone()),
        }
    }
}

/// The factor from latents `picture + σ · noise` to those whose variance does not grow with `σ`.
pub fn variance_preserving(sigma: f32) -> f64 {
    (1.0 + f64::from(sigma).powi(2)).sqrt().recip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::PredictionType;

    /// The numbers are those of `get_timesteps` in diffusers 0.42.1: `t_start` for each number of steps and strength.
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
