//! The input image of a run, as latents.

use candle_core::{DType, Device, Tensor};

use super::{Dump, PipelineError, Run, noise::ImageNoise};
use crate::{
    hardware::unmetered,
    models::{ClipFrames, GivenFrames, SourceImages, Task, Used},
    nn,
    pipeline::dump::aside,
    residency::Blocks,
    sampling::{Inpaint, Kept, Training},
    source::{GivenClip, LoadedSource, normalized},
    text::{CLIP_SPREAD, ClipVision},
    vae::{Autoencoder, Reel, Tiling},
};

/// Latents in the scale of diffusion from the mean and log variance of what was encoded: a sample with this noise, or
/// the mean.
pub(super) fn sample(
    autoencoder: &dyn Autoencoder,
    (mean, log_variance): (Tensor, Tensor),
    noise: Option<&Tensor>,
) -> nn::Result<Tensor> {
    let mean = mean.to_dtype(DType::F32)?;
    let sample = match noise {
        Some(noise) => {
            let spread = (log_variance.to_dtype(DType::F32)? * 0.5)?.exp()?;
            mean.broadcast_add(&spread.broadcast_mul(noise)?)?
        }
        None => mean,
    };
    autoencoder.rescale(&sample.into())?.into_computed()
}

/// A mask for each of the `step` frames of a latent frame, `[1, step, frames, height, width]`: 1 where a frame is given. The
/// first latent frame stands for one frame.
fn beside_masks(clip: ClipFrames, encoded: &[usize], step: usize) -> candle_core::Result<Tensor> {
    let [frames, height, width] = [2, 3, 4].map(|at| encoded[at]);
    let is_given = |frame: usize| frame < clip.given || (clip.last && frame + 1 == clip.count);
    let number = |inner: usize, latent: usize| if latent == 0 { 0 } else { 1 + (latent - 1) * step + inner };
    let places = (0..step).flat_map(|inner| (0..frames).map(move |latent| (inner, latent)));
    let values = places.map(|(inner, latent)| if is_given(number(inner, latent)) { 1.0_f32 } else { 0.0 });
    let masks = Tensor::from_vec(values.collect(), (1, step, frames, 1, 1), &Device::Cpu)?;
    masks.broadcast_as((1, step, frames, height, width))?.contiguous()
}

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
    /// How the network sees the rest.
    kept: Kept,
}

impl Original {
    /// What a network reads beside the latents.
    pub fn beside(beside: Tensor) -> Self {
        Self { beside: Some(beside), ..Self::default() }
    }

    /// Latents to which noise is added.
    pub fn of_latents(latents: Tensor) -> Self {
        Self { latents: Some(latents), ..Self::default() }
    }

    /// The same, with its tensors beside what is counted as memory of the run.
    pub fn aside(self) -> candle_core::Result<Self> {
        let aside = |tensor: Option<Tensor>| tensor.as_ref().map(aside).transpose();
        let [latents, mask, beside] = [self.latents, self.mask, self.beside].map(aside);
        Ok(Self { latents: latents?, mask: mask?, beside: beside?, ..self })
    }

    /// The latents of the image, to which noise is added.
    pub fn start(&self) -> Option<&Tensor> {
        self.latents.as_ref().filter(|_| !self.is_forgotten)
    }

    /// What every step needs: the latents of the area to keep, if the network does not keep it by itself, and
    /// extra channels for the network.
    pub fn in_steps(self, training: &Training, noise: Tensor) -> (Option<Inpaint<'_>>, Option<Tensor>) {
        let kept = match (self.latents, self.mask) {
            (Some(latents), Some(mask)) => Some(Inpaint::new(training, latents, noise, mask, self.kept)),
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
        let given = self.given.borrow();
        if let (Some(clip), Some(given)) = (self.resolved.clip(), given.as_ref()) {
            if clip.shown == GivenFrames::Controlling {
                return self.encode_control(stage, autoencoder, (clip, given), dump);
            }
            return self.encode_given(stage, autoencoder, (clip, given), noise, dump);
        }
        let (Some(wanted), Some(source)) = (&self.request.source, &self.source) else {
            return Ok(Original::default());
        };
        let images = self.resolved.stages.iter().find_map(|task| match task {
            Task::EncodeImage { images, .. } => Some(*images),
            _ => None,
        });
        let Some(images) = images else { return Ok(Original::default()) };
        self.encode_picture(stage, autoencoder, (source, images, wanted.strength), noise, dump)
    }

    /// Encodes what a model reads of an image: the whole one, the one without the masked area, or both.
    pub(super) fn encode_picture(
        &self,
        stage: usize,
        autoencoder: &Used<dyn Autoencoder>,
        (source, images, strength): (&LoadedSource, SourceImages, f64),
        noise: &ImageNoise,
        dump: &mut Dump,
    ) -> Result<Original, PipelineError> {
        let encode = |image, noise: &Option<Tensor>, number, dump: &mut Dump| {
            self.encode_image(stage, autoencoder, image, noise.as_ref(), number, dump)
        };
        let mask = source.mask()?;
        let is_forgotten = mask.is_some() && strength >= 1.0;
        let latents = match images.whole {
            true => Some(encode(source.picture()?, &noise.whole, 0, dump)?),
            false => None,
        };
        let beside = match &mask {
            Some(mask) if images.masked => {
                let masked = encode(source.masked_picture()?, &noise.masked, 1, dump)?;
                let (batch, _, height, width) = masked.dims4()?;
                let for_all = |mask: &Tensor| mask.broadcast_as((batch, mask.dim(1)?, height, width));
                let fills_in =
                    self.resolved.denoises().any(|(_, own)| own.denoiser.network.denoiser.fills_in());
                Some(match source.mask_in_pixels()?.filter(|_| fills_in) {
                    Some(pixels) => Tensor::cat(&[masked, for_all(&pixels)?], 1)?,
                    None => Tensor::cat(&[for_all(mask)?, masked], 1)?,
                })
            }
            _ => None,
        };
        if let Some(latents) = &latents {
            dump.add("source.latents", latents)?;
        }
        if let Some(mask) = &mask {
            dump.add("source.mask", mask)?;
        }
        let mask = mask.filter(|_| beside.is_none());
        Ok(Original { latents, mask, is_forgotten, beside, kept: Kept::Noised })
    }

    /// Encodes the frames of a clip that are given, once for the whole batch.
    fn encode_given(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        (clip, given): (ClipFrames, &GivenClip),
        noise: &ImageNoise,
        dump: &mut Dump,
    ) -> Result<Original, PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        let [height, width] = [self.request.height, self.request.width].map(|side| side as usize);
        let frame = |index: usize| Ok(given.frame(index)?.to_device(store.device())?.into());
        let mut encoded = Vec::new();
        for (image, noise) in given.later().zip(&noise.later) {
            let image = image?;
            let moments = self.within_memory(stage, || {
                let image: nn::Tensor = image.to_device(store.device())?.into();
                let blocks = Blocks::stored(&executor, store);
                let (mean, spread) = autoencoder.encode(blocks, &image, self.tiling(stage, *part))?;
                let moment = |moment: nn::Tensor| moment.computed()?.to_device(&Device::Cpu)?.unsqueeze(2);
                Ok((moment(mean)?, moment(spread)?))
            })?;
            encoded.push(sample(autoencoder.as_ref(), moments, Some(noise))?);
        }
        if clip.count > 0 {
            let moments = self.within_memory(stage, || {
                let reel = Reel { count: clip.count, height, width, frame: &frame };
                let blocks = Blocks::stored(&executor, store);
                let (mean, spread) = autoencoder.encode_clip(blocks, &reel, self.tiling(stage, *part))?;
                Ok((mean.computed()?.to_device(&Device::Cpu)?, spread.computed()?.to_device(&Device::Cpu)?))
            })?;
            encoded.push(sample(autoencoder.as_ref(), moments, noise.clip.as_ref())?);
        }
        let encoded = Tensor::cat(&encoded, 2)?;
        dump.add("source.latents", &encoded)?;
        let batch = self.request.batch as usize;
        let spread_out = |tensor: &Tensor| -> candle_core::Result<Tensor> {
            let dims = tensor.dims();
            tensor.broadcast_as([&[batch], &dims[1..]].concat())?.contiguous()
        };
        if !clip.keeps_frames() {
            return Ok(Original { latents: Some(spread_out(&encoded)?), ..Original::default() });
        }
        if clip.shown == GivenFrames::Beside {
            let masks = beside_masks(clip, encoded.dims(), autoencoder.frames_per_latent())?;
            let beside = spread_out(&Tensor::cat(&[masks, encoded], 1)?)?;
            dump.add("source.beside", &beside)?;
            return Ok(Original::beside(beside));
        }
        let frames = self.resolved.latents(stage).map_or(0, |latents| latents.frames);
        let (_, channels, _, height, width) = encoded.dims5()?;
        let zeros = |channels, frames| {
            Tensor::zeros((encoded.dim(0)?, channels, frames, height, width), DType::F32, &Device::Cpu)
        };
        let known = clip.later + clip.latents;
        let rest = frames - known;
        let encoded = encoded.narrow(2, 0, known)?;
        let latents = spread_out(&Tensor::cat(&[&encoded, &zeros(channels, rest)?], 2)?)?;
        let mask = Tensor::cat(&[zeros(1, known)?, zeros(1, rest)?.affine(1.0, 1.0)?], 2)?;
        let mask = mask.narrow(0, 0, 1)?.contiguous()?;
        let kept = match clip.shown {
            GivenFrames::Clean => Kept::Clean,
            GivenFrames::Renoised => Kept::Renoised,
            GivenFrames::Noised | GivenFrames::Beside | GivenFrames::Controlling => Kept::Noised,
        };
        Ok(Original { latents: Some(latents), mask: Some(mask), is_forgotten: true, kept, beside: None })
    }

    /// Embeds the input images, or of a clip that is extended the first frame that is seen.
    pub(super) fn embed_images(
        &self,
        stage: usize,
        Used { part, network }: &Used<ClipVision>,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        let given = self.given.borrow();
        let Some(given) = given.as_ref() else { return Ok(()) };
        let side = network.config().image_size as u32;
        let images = normalized(&unmetered(|| given.squares(self.request, side))?, CLIP_SPREAD)?;
        dump.add("vision.in", &images)?;
        let (store, executor) = self.enter(stage, *part);
        let embedded = self.within_memory(stage, || {
            let images = images.to_device(store.device())?.into();
            let embedded = network.encode(Blocks::stored(&executor, store), &images)?;
            Ok(embedded.computed()?.to_device(&Device::Cpu)?)
        })?;
        dump.add("vision.out", &embedded)?;
        *self.image.borrow_mut() = Some(embedded);
        Ok(())
    }

    /// A sample of the latents of an image `[1, 3, height, width]` in −1…1, in the scale of diffusion.
    fn encode_image(
        &self,
        stage: usize,
        used: &Used<dyn Autoencoder>,
        image: Tensor,
        noise: Option<&Tensor>,
        number: usize,
        dump: &mut Dump,
    ) -> Result<Tensor, PipelineError> {
        let moments = self.moments(stage, used, &image)?;
        dump.add(format!("vae.encode.{number}.in"), &image)?;
        dump.add(format!("vae.encode.{number}.mean"), &moments.0)?;
        drop(image);
        let latents = sample(used.network.as_ref(), moments, noise)?;
        let (_, channels, height, width) = latents.dims4()?;
        let batch = self.request.batch as usize;
        Ok(latents.broadcast_as((batch, channels, height, width))?.contiguous()?)
    }

    /// Mean and log variance of the latents of an image `[1, 3, height, width]` in −1…1, in RAM.
    pub(super) fn moments(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        image: &Tensor,
    ) -> Result<(Tensor, Tensor), PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        self.within_memory(stage, || {
            let image = image.to_device(store.device())?.into();
            let blocks = Blocks::stored(&executor, store);
            let (mean, spread) = autoencoder.encode(blocks, &image, self.tiling(stage, *part))?;
            Ok((mean.computed()?.to_device(&Device::Cpu)?, spread.computed()?.to_device(&Device::Cpu)?))
        })
    }

    /// The tiling of an autoencoder's work in a stage under the plan.
    pub(super) fn tiling(&self, stage: usize, part: usize) -> Option<Tiling> {
        let plan = &self.plan.borrow().plan;
        let tile = plan.stages[stage].use_of(part)?.tile;
        tile.map(|tile| Tiling::with_tile(tile as usize))
    }
}
