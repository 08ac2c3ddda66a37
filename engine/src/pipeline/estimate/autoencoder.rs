//! What it takes to encode images and to decode latents.

use super::{Estimator, LISTS, PipelineError};
use crate::{
    memory::{BlockWork, PartUse, Work},
    models::{ClipFrames, EncodedMap, LatentShape, SourceImages, Used},
    nn::{DType, Tensor},
    pipeline::image_work::{decode_work, encode_clip_work, encode_image_work, tilings},
    vae::Autoencoder,
};

impl Estimator<'_> {
    /// The ways of decoding the images of the batch: whole, then in ever smaller tiles.
    pub(super) fn decode(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn Autoencoder>,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let (Some(shape), batch) = (self.resolved.shown_latents(stage), self.resolved.request.batch as usize)
        else {
            return Ok(Vec::new());
        };
        let ways = tilings(network.as_ref(), shape, self.resolved.tile).into_iter().map(|tiling| {
            let blocks = self.blocks(*part);
            let work = decode_work(network.as_ref(), &blocks, batch, shape, tiling, self.trace)?;
            Ok(Work { carried: work.carried + LISTS, ..work })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }

    /// The ways of encoding the images that a request starts from.
    pub(super) fn encode_image(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn Autoencoder>,
        images: SourceImages,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let Some(shape) = self.resolved.next_latents(stage) else { return Ok(Vec::new()) };
        // Encoders have no tiles of some frames.
        let still = LatentShape { frames: 1, ..shape };
        let mut alone = self.reference_shapes(network.as_ref());
        for map in self.resolved.encoded_maps() {
            alone.extend(std::iter::repeat_n(map_shape(&map, network.as_ref()), map.images()));
        }
        let widest = |one: LatentShape, other: &LatentShape| LatentShape {
            height: one.height.max(other.height),
            width: one.width.max(other.width),
            ..one
        };
        let largest = alone.iter().fold(still, widest);
        let carried = LISTS + self.noise_while_encoding(network.as_ref(), images, shape);
        let ways = tilings(network.as_ref(), largest, self.resolved.tile).into_iter().map(|tiling| {
            let blocks = self.blocks(*part);
            let mut blocks = match images.clip {
                Some(ClipFrames { count: 0, .. }) => Vec::new(),
                Some(clip) => encode_clip_work(network.as_ref(), &blocks, (shape, clip), tiling, self.trace)?,
                None if images.count() == 0 => Vec::new(),
                None => encode_image_work(network.as_ref(), &blocks, shape, tiling, self.trace)?,
            };
            blocks.iter_mut().for_each(|block| block.passes *= images.count() as u32);
            if let Some(before) = images.clip.map(|clip| clip.before() as u32).filter(|count| *count > 0) {
                let each =
                    encode_image_work(network.as_ref(), &self.blocks(*part), still, tiling, self.trace)?;
                blocks.resize(each.len(), BlockWork::UNUSED);
                for (block, each) in blocks.iter_mut().zip(each) {
                    block.join(&BlockWork { passes: each.passes * before, ..each });
                }
            }
            for shape in &alone {
                let each =
                    encode_image_work(network.as_ref(), &self.blocks(*part), *shape, tiling, self.trace)?;
                blocks.resize(each.len(), BlockWork::UNUSED);
                blocks.iter_mut().zip(&each).for_each(|(block, each)| block.join(each));
            }
            Ok(Work { tile: tiling.map(|tiling| tiling.tile as u32), carried, blocks })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }

    /// The ways of encoding enlarged images for the next pass, one after the other. The noise of the pass waits, and the
    /// latents of images are kept until all are there; both are in RAM, which is the device of a processor.
    pub(super) fn encode_enlarged(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn Autoencoder>,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let (Some(shape), batch) = (self.resolved.next_latents(stage), self.resolved.request.batch as usize)
        else {
            return Ok(Vec::new());
        };
        let kept = if network.is_sampled() { 3 } else { 2 };
        let values: usize = shape.dims(batch).iter().product();
        let kept = if self.trace.computes().is_processor() { kept * values * size_of::<f32>() } else { 0 };
        let ways = tilings(network.as_ref(), shape, self.resolved.tile).into_iter().map(|tiling| {
            let blocks = self.blocks(*part);
            let each = encode_image_work(network.as_ref(), &blocks, shape, tiling, self.trace)?.into_iter();
            let blocks = each.map(|block| BlockWork { passes: block.passes * batch as u32, ..block });
            let tile = tiling.map(|tiling| tiling.tile as u32);
            Ok(Work { tile, carried: LISTS + kept as u64, blocks: blocks.collect() })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }

    /// Bytes of the noise that waits while an input image is encoded: that of the run, and that of each sample. It is in RAM,
    /// which is the device of a processor.
    fn noise_while_encoding(
        &self,
        autoencoder: &dyn Autoencoder,
        images: SourceImages,
        shape: LatentShape,
    ) -> u64 {
        let is_here = self.trace.computes().is_processor() && images.clip.is_none();
        if !is_here || images.count() == 0 {
            return 0;
        }
        let samples = if autoencoder.is_sampled() { images.count() } else { 0 };
        let values: usize = shape.dims(self.resolved.request.batch as usize).iter().product();
        ((1 + samples) * values * size_of::<f32>()) as u64
    }

    /// The maps that ControlNets read as latents.
    pub(super) fn maps(&self, autoencoder: &dyn Autoencoder) -> Vec<(EncodedMap, Tensor)> {
        let latents = |map: EncodedMap| {
            let shape = map_shape(&map, autoencoder);
            let channels = map.form.channels(shape.channels);
            (map, self.trace.tensor(&shape.with_channels(channels).dims(1), DType::F32))
        };
        self.resolved.encoded_maps().into_iter().map(latents).collect()
    }

    /// The latents of reference images that the network reads in their own sizes.
    pub(super) fn references(&self, autoencoder: &dyn Autoencoder) -> Vec<Tensor> {
        let shapes = self.reference_shapes(autoencoder).into_iter();
        shapes.map(|shape| self.trace.tensor(&shape.dims(1), DType::F32)).collect()
    }

    fn reference_shapes(&self, autoencoder: &dyn Autoencoder) -> Vec<LatentShape> {
        let (channels, scale) = (autoencoder.latent_channels(), autoencoder.scale());
        let shape = |&[width, height]: &[u32; 2]| {
            LatentShape::image(channels, height as usize / scale, width as usize / scale)
        };
        self.resolved.references.iter().map(shape).collect()
    }
}

/// The shape of the latents of a map.
fn map_shape(map: &EncodedMap, autoencoder: &dyn Autoencoder) -> LatentShape {
    let [width, height] = map.size.map(|side| side as usize / autoencoder.scale());
    LatentShape::image(autoencoder.latent_channels(), height, width)
}
