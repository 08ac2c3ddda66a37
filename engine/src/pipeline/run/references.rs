//! Encodes reference images that the network reads in their own sizes.

use candle_core::Device;

use super::{Dump, PipelineError, Run, source::sample};
use crate::{
    models::Used,
    output::Image,
    pipeline::Resolved,
    residency::Blocks,
    source::{scaled, tensor_of},
    vae::Autoencoder,
};

/// Reads the reference images, scaled to the sizes in which the network reads them.
pub(super) fn open(resolved: &Resolved) -> Result<Vec<Image>, PipelineError> {
    let images = resolved.request.references.iter().zip(&resolved.references);
    images.map(|(path, size)| Ok(scaled(path, *size)?)).collect()
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
}
