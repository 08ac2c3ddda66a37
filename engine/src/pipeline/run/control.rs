//! Encodes what controls a clip.

use candle_core::{DType, Device, Tensor};

use super::{
    Dump, PipelineError, Run,
    source::{Original, sample},
};
use crate::{
    hardware::unmetered,
    models::{ClipFrames, Used},
    nn,
    residency::Blocks,
    source::{GivenClip, Pixels},
    vae::{Autoencoder, Reel},
};

impl Run<'_> {
    /// Encodes the pixels of a clip that stay, those that only control, and reference images: what the network reads
    /// beside the latents. References come first, the last of them before the others, each as a latent frame.
    pub(super) fn encode_control(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        (clip, given): (ClipFrames, &GivenClip),
        dump: &mut Dump,
    ) -> Result<Original, PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        let [height, width] = [self.request.height, self.request.width].map(|side| side as usize);
        let tiling = || self.tiling(stage, *part);
        let encoded = |pixels: Pixels| -> Result<Tensor, PipelineError> {
            let frame = |index: usize| Ok(given.pixels(index, pixels)?.to_device(store.device())?.into());
            let moments = self.within_memory(stage, || {
                let reel = Reel { count: clip.count, height, width, frame: &frame };
                let (mean, spread) =
                    autoencoder.encode_clip(Blocks::stored(&executor, store), &reel, tiling())?;
                Ok((mean.computed()?.to_device(&Device::Cpu)?, spread.computed()?.to_device(&Device::Cpu)?))
            })?;
            Ok(sample(autoencoder.as_ref(), moments, None)?)
        };
        let [kept, generated] = [encoded(Pixels::Kept)?, encoded(Pixels::Generated)?];
        let mut latents = Tensor::cat(&[kept, generated], 1)?;
        for reference in given.references()? {
            let moments = self.within_memory(stage, || {
                let image: nn::Tensor = reference.to_device(store.device())?.into();
                let (mean, spread) =
                    autoencoder.encode(Blocks::stored(&executor, store), &image, tiling())?;
                Ok((mean.computed()?.to_device(&Device::Cpu)?, spread.computed()?.to_device(&Device::Cpu)?))
            })?;
            let image = sample(autoencoder.as_ref(), moments, None)?.unsqueeze(2)?;
            let image = Tensor::cat(&[&image, &image.zeros_like()?], 1)?;
            latents = Tensor::cat(&[image, latents], 2)?;
        }
        let masks = unmetered(|| self.masks((clip, given), autoencoder.scale(), latents.dims()))?;
        let beside = Tensor::cat(&[latents, masks], 1)?;
        let beside = if self.request.frames == 1 { beside.squeeze(2)? } else { beside };
        let batch = self.request.batch as usize;
        let dims = [&[batch], &beside.dims()[1..]].concat();
        let beside = beside.broadcast_as(dims)?.contiguous()?;
        dump.add("source.beside", &beside)?;
        Ok(Original::beside(beside))
    }

    /// A channel for each of the `side` by `side` pixels of a latent, `[1, side · side, frames, height, width]`: how far
    /// the pixel is generated in the frame that the latent frame stands for. References are not.
    fn masks(
        &self,
        (clip, given): (ClipFrames, &GivenClip),
        side: usize,
        latents: &[usize],
    ) -> candle_core::Result<Tensor> {
        let [frames, height, width] = [2, 3, 4].map(|at| latents[at]);
        let (references, count) = (clip.references, self.request.frames as usize);
        let own = frames - references;
        let mut values = vec![0.0_f32; side * side * frames * height * width];
        for latent in 0..own {
            // The frame in the middle of its time, as torch's `nearest-exact` takes it.
            let frame = ((latent as f32 + 0.5) * (count as f32 / own as f32)) as usize;
            let mask = given.mask(frame.min(count - 1));
            for (channel, plane) in values.chunks_mut(frames * height * width).enumerate() {
                let (row, column) = (channel / side, channel % side);
                let plane = &mut plane[(references + latent) * height * width..][..height * width];
                for (place, value) in plane.iter_mut().enumerate() {
                    let (y, x) = (place / width * side + row, place % width * side + column);
                    *value = mask.at(y * width * side + x);
                }
            }
        }
        Tensor::from_vec(values, (1, side * side, frames, height, width), &Device::Cpu)?.to_dtype(DType::F32)
    }
}
