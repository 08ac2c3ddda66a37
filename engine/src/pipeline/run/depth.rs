//! Makes depth maps.

use candle_core::{DType, Device};

use super::{PipelineError, Run};
use crate::{
    aids::DepthAnything,
    hardware::unmetered,
    models::Used,
    output::{Image, Media},
    request::Preprocessor,
    residency::Blocks,
    source::{control_image, normalized, read, resized},
};

impl Run<'_> {
    /// Makes the map of the image that the request names, or those of the ControlNets that follow depths, which are kept for
    /// them.
    pub(super) fn depth_maps(
        &self,
        stage: usize,
        estimator: &Used<DepthAnything>,
    ) -> Result<Vec<Media>, PipelineError> {
        if let Some(path) = &self.request.depth_of {
            let image = unmetered(|| read(path))?;
            return Ok(vec![Media::Image(self.depth_map(stage, estimator, &image)?)]);
        }
        let size = [self.request.width, self.request.height];
        for net in self.request.control_nets.iter().filter(|net| net.preprocessor == Preprocessor::Depth) {
            let image = unmetered(|| control_image(net, size))?;
            let map = self.depth_map(stage, estimator, &image)?;
            self.depths.borrow_mut().push(map);
        }
        Ok(Vec::new())
    }

    /// The map of an image, in its size: white what is nearest, black what is farthest.
    fn depth_map(
        &self,
        stage: usize,
        Used { part, network }: &Used<DepthAnything>,
        image: &Image,
    ) -> Result<Image, PipelineError> {
        let [rows, columns] = network.sees([image.height, image.width]);
        let size = [columns as u32, rows as u32];
        let seen = unmetered(|| resized(Image::clone(image), size));
        let (store, executor) = self.enter(stage, *part);
        let nearness = self.within_memory(stage, || {
            let input = normalized(std::slice::from_ref(&seen), DepthAnything::SPREAD)?;
            let input = input.to_device(store.device())?.into();
            let nearness = network.estimate(Blocks::stored(&executor, store), &input)?.into_computed()?;
            drop(input);
            Ok(nearness.to_device(&Device::Cpu)?.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?)
        })?;
        let shades = shades(&nearness).ok_or(PipelineError::NotFinite { dtype: "f32" })?;
        Ok(unmetered(|| {
            let pixels = shades.iter().flat_map(|shade| [*shade; 3]).collect();
            resized(Image::opaque(size[0], size[1], pixels), [image.width, image.height])
        }))
    }
}

/// From the smallest value, black, to the largest, white; `None` if a value is not finite.
fn shades(nearness: &[f32]) -> Option<Vec<u8>> {
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    for value in nearness {
        if !value.is_finite() {
            return None;
        }
        (least, most) = (least.min(*value), most.max(*value));
    }
    // Where everything is equally far, nothing is near.
    let range = if most > least { most - least } else { 1.0 };
    Some(nearness.iter().map(|value| (255.0 * (value - least) / range).round() as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_white_and_far_is_black() {
        assert_eq!(shades(&[2.0, 4.0, 3.0]), Some(vec![0, 255, 128]));
        assert_eq!(shades(&[7.0, 7.0]), Some(vec![0, 0]));
        assert_eq!(shades(&[1.0, f32::NAN]), None);
    }
}
