//! Makes maps of images and of the frames of clips.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};

use super::{PipelineError, Run};
use crate::{
    aids::MapEstimator,
    hardware::unmetered,
    models::Used,
    output::{Clip, Image, Media},
    request::{Control, MapOf},
    residency::{Blocks, RunError},
    source::{GivenMedia, control_image, read, resized},
};

impl Run<'_> {
    /// Makes the maps of what the request names, or those of the ControlNets and of the control clip that follow this
    /// kind, which are kept for them.
    pub(super) fn make_maps(
        &self,
        stage: usize,
        estimator: &Used<dyn MapEstimator>,
    ) -> Result<Vec<Media>, PipelineError> {
        if let (Some(wanted), Some(given)) = (&self.request.map_of, &self.resolved.changed) {
            return Ok(vec![self.map_given(stage, estimator, (wanted, given))?]);
        }
        let size = [self.request.width, self.request.height];
        for followers in self.request.followers_of(estimator.network.kind()) {
            let Some(net) = followers.first().and_then(|first| self.request.control_nets.get(*first)) else {
                continue;
            };
            let image = unmetered(|| control_image(net, size))?;
            let map = self.make_map(stage, estimator, &image)?;
            unmetered(|| {
                let maps = followers.into_iter().map(|number| (number, map.clone()));
                self.maps.borrow_mut().extend(maps);
            });
        }
        self.map_control(stage, estimator)?;
        Ok(Vec::new())
    }

    /// Makes the map of an image, or the clip of the maps of a clip's frames, with its sound.
    fn map_given(
        &self,
        stage: usize,
        estimator: &Used<dyn MapEstimator>,
        (wanted, given): (&MapOf, &GivenMedia),
    ) -> Result<Media, PipelineError> {
        if given.clip.is_none() {
            let image = unmetered(|| read(&wanted.image))?;
            return Ok(Media::Image(self.make_map(stage, estimator, &image)?));
        }
        let originals = unmetered(|| given.read(&wanted.image))?;
        let sound = unmetered(|| given.sound(&wanted.image))?;
        let count = originals.len() as u32;
        let mut frames = Vec::with_capacity(originals.len());
        let mut since = Instant::now();
        for (done, original) in (1..).zip(originals) {
            frames.push(self.make_map(stage, estimator, &original)?);
            self.observer.borrow_mut().step(done, count, since.elapsed().as_secs_f64());
            since = Instant::now();
        }
        Ok(Media::Clip(Clip { frames, rate: self.request.frame_rate, sound }))
    }

    /// Makes the maps of the frames of the control clip, if it follows this kind.
    fn map_control(&self, stage: usize, estimator: &Used<dyn MapEstimator>) -> Result<(), PipelineError> {
        let followed = self.request.control.as_ref().and_then(Control::estimated);
        if followed != Some(estimator.network.kind()) {
            return Ok(());
        }
        for index in 0..self.request.frames as usize {
            let frame = unmetered(|| self.given.borrow().as_ref()?.unmapped(index).cloned());
            let Some(frame) = frame else { continue };
            let map = self.make_map(stage, estimator, &frame)?;
            if let Some(given) = self.given.borrow_mut().as_mut() {
                unmetered(|| given.control_by(index, map));
            }
        }
        Ok(())
    }

    /// The map of an image, in its size.
    fn make_map(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn MapEstimator>,
        image: &Image,
    ) -> Result<Image, PipelineError> {
        let size = [image.height, image.width];
        let [rows, columns] = network.sees(size);
        let seen = unmetered(|| {
            let [height, width] = network.scaled(size);
            network.values(size, &resized(image.clone(), [width, height]).pixels)
        });
        let (store, executor) = self.enter(stage, *part);
        let said = self.within_memory(stage, || {
            let input = Tensor::from_slice(&seen, (1, 3, rows, columns), store.device())?.into();
            let said = network.estimate(Blocks::stored(&executor, store), &input)?;
            drop(input);
            let in_ram = said
                .into_iter()
                .map(|said| Ok(said.into_computed()?.to_device(&Device::Cpu)?.to_dtype(DType::F32)?));
            in_ram.collect::<Result<Vec<Tensor>, RunError>>()
        })?;
        unmetered(|| {
            let drawn = network.drawn(size, &said)?.ok_or(PipelineError::NotFinite { dtype: "f32" })?;
            let [height, width] = drawn.size;
            Ok(resized(Image::opaque(width, height, drawn.pixels), [image.width, image.height]))
        })
    }
}
