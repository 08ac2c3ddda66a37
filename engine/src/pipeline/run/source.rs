//! The input image of a run, as latents.

use candle_core::{DType, Device, Tensor};

use super::{Dump, PipelineError, Run, noise::ImageNoise};
use crate::{
    models::Used,
    residency::Blocks,
    sampling::{Inpaint, Training},
    vae::{Autoencoder, Tiling},
};

/// What a run uses of the request's input image.
#[derive(Clone, Default)]
pub(super) struct Original {
    /// Its latents `[batch, channels, height, width]`, f32, in the scale of diffusion.
    latents: Option<Tensor>,
    /// The area to inpaint, `[1, 1, height, width]`, if the rest is restored after each step.
    mask: Option<Tensor>,
    /// Whether the initial latents contain nothing of the image.
    is_forgotten: bool,
    /// Extra channels for the network, `[batch, channels, height, width]`, f32.
    beside: Option<Tensor>,
}

impl Original {
    /// The latents of the image, to which noise is added.
    pub fn start(&self) -> Option<&Tensor> {
        self.latents.as_ref().filter(|_| !self.is_forgotten)
    }

    /// What every step needs: the latents of the area to keep, if the network does not keep it by itself, and
    /// extra channels for the network.
    pub fn in_steps(self, training: &Training, noise: Tensor) -> (Option<Inpaint<'_>>, Option<Tensor>) {
        let kept = match (self.latents, self.mask) {
            (Some(latents), Some(mask)) => Some(Inpaint { training, latents, noise, mask }),
            _ => None,
        };
        (kept, self.beside)
    }
}

impl Run<'_> {
    /// Encodes the request's input image, once for the whole batch; each image of the batch gets its own
    /// noise.
    pub(super) fn encode_source(
        &self,
        stage: usize,
        autoencoder: &Used<dyn Autoencoder>,
        noise: &ImageNoise,
        dump: &mut Dump,
    ) -> Result<Original, PipelineError> {
        let (Some(wanted), Some(source)) = (&self.request.source, &self.source) else {
            return Ok(Original::default());
        };
        let encode = |image, noise, number, dump: &mut Dump| {
            self.encode_image(stage, autoencoder, image, noise, number, dump)
        };
        let mask = source.mask()?;
        let is_forgotten = mask.is_some() && wanted.strength >= 1.0;
        let latents = match &noise.whole {
            Some(noise) => Some(encode(source.picture()?, noise, 0, dump)?),
            None => None,
        };
        let beside = match (&noise.masked, &mask) {
            (Some(noise), Some(mask)) => {
                let masked = encode(source.masked_picture()?, noise, 1, dump)?;
                let (batch, _, height, width) = masked.dims4()?;
                Some(Tensor::cat(&[mask.broadcast_as((batch, 1, height, width))?, masked], 1)?)
            }
            _ => None,
        };
        if let Some(latents) = &latents {
            dump.add("source.latents", latents)?;
        }
        if let Some(mask) = &mask {
            dump.add("source.mask", mask)?;
        }
        Ok(Original { latents, mask: mask.filter(|_| beside.is_none()), is_forgotten, beside })
    }

    /// A sample of the latents of an image `[1, 3, height, width]` in −1…1, in the scale of diffusion.
    fn encode_image(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        image: Tensor,
        noise: &Tensor,
        number: usize,
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        let (mean, log_variance) = self.within_memory(stage, || {
            let image = image.to_device(store.device())?.into();
            let blocks = Blocks::stored(&executor, store);
            let (mean, spread) = autoencoder.encode(blocks, &image, self.tiling(stage, *part))?;
            Ok((mean.computed()?.to_device(&Device::Cpu)?, spread.computed()?.to_device(&Device::Cpu)?))
        })?;
        dump.add(format!("vae.encode.{number}.in"), &image)?;
        dump.add(format!("vae.encode.{number}.mean"), &mean)?;
        drop(image);
        let spread = (log_variance.to_dtype(DType::F32)? * 0.5)?.exp()?;
        let sample = mean.to_dtype(DType::F32)?.broadcast_add(&spread.broadcast_mul(noise)?)?;
        Ok(autoencoder.rescale(&sample.into())?.into_computed()?)
    }

    /// The tiling of an autoencoder's work in a stage under the plan.
    pub(super) fn tiling(&self, stage: usize, part: usize) -> Option<Tiling> {
        let plan = &self.plan.borrow().plan;
        let tile = plan.stages[stage].use_of(part)?.tile;
        tile.map(|tile| Tiling::with_tile(tile as usize))
    }
}
