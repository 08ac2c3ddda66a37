//! Inpainting with a network for whole images: a part of the latents stays as it was (Avrahami et al. 2022,
//! arXiv:2206.02779, as in diffusers' inpainting pipelines).

use std::cell::RefCell;

use candle_core::{Result, Tensor};

use super::Training;

/// Share of the noise that [`Kept::Renoised`] adds at noise level 1; it falls with the square of the level.
const RENOISED: f64 = 0.15;

/// How a network sees what is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kept {
    /// At the noise level of the rest.
    #[default]
    Noised,
    /// Without noise.
    Clean,
    /// With a little noise, new for each prediction, as in diffusers' `LTXConditionPipeline`. What the last prediction saw
    /// stays.
    Renoised,
}

/// An image whose masked part is inpainted.
///
/// Outside the mask, the sampler's result is discarded. Before each prediction the original is restored
/// there, at the noise level of the prediction and with the run's initial noise. Samplers see the original as
/// the prediction there, so that none drifts away from it.
#[derive(Debug)]
pub struct Inpaint<'a> {
    /// The meaning of noise levels.
    pub training: &'a Training,
    /// The image's latents `[batch, channels, height, width]`.
    pub latents: Tensor,
    /// The initial noise of the run, in the same shape.
    pub noise: Tensor,
    /// The mask `[1, 1, height, width]`, of clips `[1, 1, frames, height, width]`: 1 where the image is inpainted, 0
    /// elsewhere.
    pub mask: Tensor,
    /// How the network sees the original.
    pub kept: Kept,
    /// What the network saw of an original that is renoised.
    seen: RefCell<Option<Tensor>>,
}

impl<'a> Inpaint<'a> {
    /// See the fields.
    pub fn new(training: &'a Training, latents: Tensor, noise: Tensor, mask: Tensor, kept: Kept) -> Self {
        Self { training, latents, noise, mask, kept, seen: RefCell::default() }
    }

    /// Gives an original that is renoised the noise of the next prediction, in the shape of its latents.
    pub fn renoise(&self, noise: &Tensor, sigma: f32) -> Result<()> {
        let noised = (&self.latents + (noise * (RENOISED * f64::from(sigma).powi(2)))?)?;
        *self.seen.borrow_mut() = Some(noised);
        Ok(())
    }

    /// `x`, latents at a noise level, with the original restored outside the mask as the network sees it.
    pub fn shown(&self, x: &Tensor, sigma: f32) -> Result<Tensor> {
        if self.kept != Kept::Noised {
            return self.clean(x);
        }
        self.join(x, &self.training.noised(Some(&self.latents), &self.noise, sigma)?)
    }

    /// Latents without noise, with the original restored outside the mask.
    pub fn clean(&self, x: &Tensor) -> Result<Tensor> {
        self.join(x, self.seen.borrow().as_ref().unwrap_or(&self.latents))
    }

    /// A prediction for `x` that leads to the original outside the mask.
    pub fn direction(&self, x: &Tensor, direction: &Tensor, sigma: f32) -> Result<Tensor> {
        self.join(direction, &((x - &self.latents)? / f64::from(sigma))?)
    }

    fn join(&self, new: &Tensor, rest: &Tensor) -> Result<Tensor> {
        let stays = self.mask.affine(-1.0, 1.0)?;
        new.broadcast_mul(&self.mask)? + rest.broadcast_mul(&stays)?
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;
    use crate::sampling::{Discrete, FlowShift, PredictionType};

    fn row(values: [f32; 4]) -> Tensor {
        Tensor::new(&values, &Device::Cpu).unwrap().reshape((1, 1, 2, 2)).unwrap()
    }

    fn values(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn one_step_along_the_direction_leads_the_rest_to_the_picture() {
        let trainings = [
            Training::Flow(FlowShift::default()),
            Training::Discrete(Discrete::stable_diffusion(PredictionType::Epsilon)),
        ];
        for training in &trainings {
            let [latents, noise] = [[1.0, 2.0, 3.0, 4.0], [0.5, -0.5, 1.5, -1.5]].map(row);
            let mask = row([1.0, 0.0, 1.0, 0.0]);
            let kept = Inpaint::new(training, latents, noise, mask, Kept::Noised);
            let strange = row([7.0, 8.0, 9.0, 10.0]);
            let sigma = 0.5;
            let share = if matches!(training, Training::Flow(_)) { 0.5 } else { 1.0 };
            let x = kept.shown(&strange, sigma).unwrap();
            assert_eq!(values(&x), [7.0, 2.0 * share - 0.25, 9.0, 4.0 * share - 0.75]);
            let direction = kept.direction(&strange, &row([0.25; 4]), sigma).unwrap();
            let picture = (strange - (direction * f64::from(sigma)).unwrap()).unwrap();
            assert_eq!(values(&picture), [6.875, 2.0, 8.875, 4.0]);
            assert_eq!(values(&kept.clean(&picture).unwrap()), [6.875, 2.0, 8.875, 4.0]);
        }
    }
}
