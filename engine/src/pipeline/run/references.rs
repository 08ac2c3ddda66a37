//! Encodes reference images that the network reads in their own sizes.

use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};

use super::{Dump, PipelineError, Run, source::sample};
use crate::{
    hardware::unmetered,
    models::{Model, Used},
    output::Image,
    pipeline::Resolved,
    residency::Blocks,
    source::{cropped, normalized, scaled, scaled_further, size_of, tensor_of},
    text::VisionTower,
    vae::Autoencoder,
};

/// Reads the reference images, scaled to the sizes in which the network reads them.
pub(super) fn open(model: &Model, resolved: &Resolved) -> Result<Vec<Image>, PipelineError> {
    let (takes, side) = (model.references(), resolved.request.reference_side);
    let images = resolved.request.references.iter().zip(&resolved.references);
    let image = |(path, size): (&PathBuf, &[u32; 2])| {
        let whole = match &takes {
            Some(takes) => takes.cropped_from(size_of(path)?, side),
            None => None,
        };
        Ok(match whole {
            Some(whole) => cropped(path, whole, *size)?,
            None => scaled(path, *size)?,
        })
    };
    images.map(image).collect()
}

impl Run<'_> {
    /// Encodes each image once for the whole batch.
    pub(super) fn encode_references(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        for (number, image) in self.references.iter().enumerate() {
            let image = tensor_of(image, |_| true)?;
            let (store, executor) = self.enter(stage, *part);
            let (mean, spread) = self.within_memory(stage, || {
                let image = image.to_device(store.device())?.into();
                let blocks = Blocks::stored(&executor, store);
                let (mean, spread) = autoencoder.encode(blocks, &image, self.tiling(stage, *part))?;
                let here = |tensor: crate::nn::Tensor| tensor.computed()?.to_device(&Device::Cpu);
                Ok((here(mean)?, here(spread)?))
            })?;
            dump.add(format!("vae.encode.reference.{number}.in"), &image)?;
            dump.add(format!("vae.encode.reference.{number}.mean"), &mean)?;
            let latents = sample(autoencoder.as_ref(), (mean, spread), None)?;
            self.reference_latents.borrow_mut().push(latents);
        }
        Ok(())
    }

    /// The tokens `[rows, columns, width]` of the images that the text encoder sees, in RAM.
    pub(super) fn see(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn VisionTower>,
        dump: &mut Dump,
    ) -> Result<Vec<Tensor>, PipelineError> {
        let images = self.resolved.prompts.first().map_or(&[][..], |prompt| &prompt.images);
        let read = unmetered(|| -> Result<Vec<_>, PipelineError> {
            let read = images.iter().map(|image| {
                let sizes = image.size.before.into_iter().chain([image.size.scaled]);
                let scaled = scaled_further(image.file.path(), sizes, image.size.read)?;
                let values = normalized(&[scaled], network.spread())?;
                let (_, _, height, width) = values.dims4()?;
                Ok(([height, width], values.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?))
            });
            read.collect()
        })?;
        let grids: Vec<[usize; 2]> = images.iter().map(|image| image.size.grid).collect();
        let (store, executor) = self.enter(stage, *part);
        let seen = self.within_memory(stage, || {
            let blocks = Blocks::stored(&executor, store);
            let patches = network.patches().read(&read, blocks.dtype())?.to_device(store.device())?.into();
            let seen = network.encode(blocks, patches, &grids)?;
            let here = |tokens: &crate::nn::Tensor| tokens.computed()?.to_device(&Device::Cpu);
            Ok(seen.iter().map(here).collect::<candle_core::Result<Vec<_>>>()?)
        })?;
        for (number, tokens) in seen.iter().enumerate() {
            dump.add(format!("vision.{number}"), &tokens.flatten_to(1)?)?;
        }
        Ok(seen)
    }
}
