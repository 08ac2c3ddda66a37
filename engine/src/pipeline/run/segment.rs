//! Makes masks of what points and boxes show.

use candle_core::{DType, Device, Tensor};

use super::{PipelineError, Run};
use crate::{
    aids::{MASK_SIDE, Segmenter},
    checkpoint::FileStamp,
    hardware::unmetered,
    models::Used,
    nn,
    output::{Image, Media},
    pipeline::estimate::prompt_of,
    residency::{Blocks, RunError},
    source::{normalized, read, resized},
};

impl Run<'_> {
    /// Makes the mask that the request asks for, in the size of its image. An image that the segmenter has seen last is not
    /// embedded again.
    pub(super) fn mask(
        &self,
        stage: usize,
        Used { part, network }: &Used<Segmenter>,
    ) -> Result<Vec<Media>, PipelineError> {
        let Some(wanted) = &self.request.mask_of else { return Ok(Vec::new()) };
        let [width, height] = [self.request.width, self.request.height];
        let seen = Segmenter::sees([height, width]);
        let prompt = prompt_of(wanted, [height, width]);
        let stamp = FileStamp::of(&wanted.image);
        let known = self.loaded.embedded(&stamp);
        let small = match &known {
            Some(_) => None,
            None => {
                let image = unmetered(|| read(&wanted.image))?;
                Some(unmetered(|| resized(image, [seen[1], seen[0]])))
            }
        };
        let (store, executor) = self.enter(stage, *part);
        let blocks = Blocks::stored(&executor, store);
        let values = self.within_memory(stage, || {
            let embedding: nn::Tensor = match (&known, &small) {
                (Some(embedding), _) => embedding.to_device(store.device())?.into(),
                (None, image) => {
                    let image = padded(image.as_slice())?.to_device(store.device())?.into();
                    let embedding = network.embed(blocks, &image)?;
                    self.loaded.keep_embedded(stamp.clone(), &embedding)?;
                    embedding
                }
            };
            let best = network.masks(blocks, &embedding, &prompt)?.best(&prompt)?.into_computed()?;
            Ok::<_, RunError>(best.to_device(&Device::Cpu)?.to_dtype(DType::F32)?)
        })?;
        let mask = unmetered(|| shown(&values, seen, [height, width]))?;
        Ok(vec![Media::Image(mask.ok_or(PipelineError::NotFinite { dtype: "f32" })?)])
    }
}

/// An image as the network was trained on it, with zeros to the right and below.
fn padded(image: &[Image]) -> nn::Result<Tensor> {
    let values = normalized(image, Segmenter::SPREAD)?;
    let (_, _, rows, columns) = values.dims4()?;
    let [below, beside] = [rows, columns].map(|side| Segmenter::SIDE - side);
    values.pad_with_zeros(2, 0, below)?.pad_with_zeros(3, 0, beside)
}

/// A mask in the size of the image: white where its values are above 0, black elsewhere. `None` if a value is not finite.
fn shown(values: &Tensor, seen: [u32; 2], size: [u32; 2]) -> nn::Result<Option<Image>> {
    let [[rows, columns], [height, width]] = [seen, size].map(|sides| sides.map(|side| side as usize));
    let whole = values.reshape((1, 1, MASK_SIDE, MASK_SIDE))?;
    // First to the size that the network sees, then without what is beside the image to that of the image, as its authors do.
    let whole = whole.upsample_bilinear2d(Segmenter::SIDE, Segmenter::SIDE, false)?;
    let own = whole.narrow(2, 0, rows)?.narrow(3, 0, columns)?.contiguous()?;
    let values = own.upsample_bilinear2d(height, width, false)?.flatten_all()?.to_vec1::<f32>()?;
    if values.iter().any(|value| !value.is_finite()) {
        return Ok(None);
    }
    let pixels = values.iter().flat_map(|value| [if *value > 0.0 { 255 } else { 0 }; 3]).collect();
    Ok(Some(Image::opaque(size[1], size[0], pixels)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_at_the_top_left_of_what_is_seen() {
        let values = padded(&[Image::opaque(2, 1, vec![255, 0, 0, 0, 255, 0])]).unwrap();
        let side = Segmenter::SIDE;
        assert_eq!(values.dims(), [1, 3, side, side]);
        let values = values.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let [means, deviations] = Segmenter::SPREAD;
        let of = |value: f32, channel: usize| (value - means[channel]) / deviations[channel];
        for (at, value) in
            [(0, of(1.0, 0)), (1, of(0.0, 0)), (side * side, of(0.0, 1)), (side * side + 1, of(1.0, 1))]
        {
            assert!((values[at] - value).abs() < 1e-5, "{at}: {} for {value}", values[at]);
        }
        assert_eq!(values[2..side * side].iter().filter(|value| **value != 0.0).count(), 0);
    }

    #[test]
    fn a_mask_is_cut_to_the_image_and_has_its_size() {
        // The right half of what is seen is inside.
        let values: Vec<f32> = (0..MASK_SIDE * MASK_SIDE)
            .map(|at| if at % MASK_SIDE >= MASK_SIDE / 2 { 1.0 } else { -1.0 })
            .collect();
        let values = Tensor::from_vec(values, MASK_SIDE * MASK_SIDE, &Device::Cpu).unwrap();
        let half = Segmenter::SIDE as u32 / 2;
        let mask = shown(&values, [half, 2 * half], [4, 8]).unwrap().unwrap();
        let row: Vec<u8> = mask.pixels.iter().copied().step_by(3).take(8).collect();
        assert_eq!(((mask.width, mask.height), row), ((8, 4), vec![0, 0, 0, 0, 255, 255, 255, 255]));
        let narrow = shown(&values, [2 * half, half], [8, 4]).unwrap().unwrap();
        assert!(narrow.pixels.iter().all(|value| *value == 0), "what is beside the image is not in it");
        let broken = Tensor::full(f32::NAN, MASK_SIDE * MASK_SIDE, &Device::Cpu).unwrap();
        assert!(shown(&broken, [half, half], [2, 2]).unwrap().is_none());
    }
}
