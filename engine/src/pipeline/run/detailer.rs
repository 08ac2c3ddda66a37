//! Finds things in the images that were made, and inpaints each of them.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Range,
};

use candle_core::Tensor;

use super::{
    Dump, Made, PipelineError, Run,
    boxes::{Place, Repeat},
    noise::ImageNoise,
    source::Original,
};
use crate::{
    aids::{Detector, View},
    hardware::unmetered,
    models::{Conditioning, LatentShape, SourceImages, Task, Used},
    output::{Image, Media},
    pipeline::dump::aside,
    request::{BoxOrder, Detailer},
    residency::Blocks,
    sampling::NoiseStream,
    source::{LoadedSource, SourceError, resized},
    vae::Autoencoder,
};

/// Something that was found, and what becomes of it.
struct Piece {
    /// The image that it is in.
    image: usize,
    source: LoadedSource,
    stream: Option<NoiseStream>,
    /// What it starts from, and the noise.
    start: Option<(Original, Tensor)>,
    /// What it ends with.
    latents: Option<Tensor>,
}

impl Run<'_> {
    /// Runs the stages of a detailer: `number` is that of the one that finds. Returns the number of the stage after them.
    pub(super) fn detail(
        &self,
        number: usize,
        detector: &Used<Detector>,
        detailer: usize,
        media: &mut [Media],
    ) -> Result<usize, PipelineError> {
        let range = self.resolved.range(Some(detailer));
        let (Some(own), Some(wanted)) =
            (self.resolved.boxes.get(detailer), self.request.detailers.get(detailer))
        else {
            return Ok(range.end);
        };
        let tasks = &self.resolved.stages[range.clone()];
        let steps = tasks.iter().filter_map(Task::denoise).map(|denoise| denoise.steps.count()).sum();
        let shape = self.resolved.next_latents(range.start).ok_or_else(no_latents)?;
        let mut boxes = self.stage(number, || {
            let mut boxes = Vec::new();
            for (index, image) in media.iter().enumerate() {
                let Media::Image(image) = image else { continue };
                boxes.extend(self.find(number, detector, (wanted, detailer), (index, image), shape)?);
            }
            Ok(boxes)
        })?;
        self.progress.found(boxes.len(), media.len(), steps);
        self.observer.borrow_mut().found(detailer, boxes.len());
        if boxes.is_empty() {
            self.progress.done(0, steps);
            return Ok(range.end);
        }
        let inner = Run {
            loaded: self.loaded,
            resolved: own,
            request: &own.request,
            options: self.options,
            source: None,
            given: RefCell::default(),
            image: RefCell::default(),
            references: self.references.clone(),
            reference_latents: RefCell::new(self.reference_latents.borrow().clone()),
            maps: RefCell::default(),
            map_latents: RefCell::default(),
            image_tokens: RefCell::new(self.image_tokens.borrow().clone()),
            streams: RefCell::default(),
            plan: self.plan,
            observer: self.observer,
            is_new_stage: Cell::new(true),
            progress: self.progress,
            repeat: Cell::default(),
            place: RefCell::default(),
        };
        inner.inpaint(range.clone(), wanted, &mut boxes, media)?;
        self.progress.done(boxes.len(), steps);
        Ok(range.end)
    }

    /// What a detector finds in an image.
    fn find(
        &self,
        stage: usize,
        Used { part, network }: &Used<Detector>,
        (wanted, detailer): (&Detailer, usize),
        (index, image): (usize, &Image),
        shape: LatentShape,
    ) -> Result<Vec<Piece>, PipelineError> {
        let view = View::of([image.height, image.width]);
        let [rows, columns] = view.whole;
        let seen = unmetered(|| {
            let [height, width] = view.inner;
            view.values(&resized(image.clone(), [width, height]).pixels)
        });
        let (store, executor) = self.enter(stage, *part);
        let found = self.within_memory(stage, || {
            let input = Tensor::from_slice(&seen, (1, 3, rows, columns), store.device())?.into();
            let seen = network.look(Blocks::stored(&executor, store), &input)?;
            Ok(unmetered(|| seen.found(view.whole, wanted.confidence))?)
        })?;
        unmetered(|| {
            let mut areas: Vec<_> =
                found.iter().filter_map(|found| Some((view.area(found)?, found))).collect();
            let size = [image.width, image.height];
            areas.sort_by_key(|(area, _)| rank(wanted.order, *area, size));
            let Some(own) = self.resolved.boxes.get(detailer) else { return Ok(Vec::new()) };
            let request = &own.request;
            let Some(source) = &request.source else { return Ok(Vec::new()) };
            let sizes = ((request.width, request.height), [shape.height, shape.width]);
            let seed = self.request.alone(index as u32).seed;
            let mut boxes = Vec::new();
            for (_, found) in areas {
                if boxes.len() == wanted.most as usize {
                    break;
                }
                let shape = (view.mask(found), wanted.grow);
                let source = match LoadedSource::of_part(source, image.clone(), shape, sizes) {
                    Ok(source) => source,
                    // Its shape has no pixel, or is smaller than a latent.
                    Err(SourceError::NothingMasked { .. }) => continue,
                    Err(error) => return Err(error.into()),
                };
                let stream = Some(NoiseStream::new(seed.wrapping_add(boxes.len() as u64)));
                boxes.push(Piece { image: index, source, stream, start: None, latents: None });
            }
            Ok(boxes)
        })
    }

    /// Inpaints boxes in the stages of a detailer, each stage for all of them.
    fn inpaint(
        &self,
        range: Range<usize>,
        wanted: &Detailer,
        boxes: &mut [Piece],
        media: &mut [Media],
    ) -> Result<(), PipelineError> {
        let dump = &mut Dump::new(None)?;
        let mut conditionings = None;
        for number in range {
            match &self.resolved.stages[number] {
                Task::EncodeImage { autoencoder, images, .. } => self.stage(number, || {
                    if self.reference_latents.borrow().is_empty() {
                        self.encode_references(number, autoencoder, dump)?;
                    }
                    boxes.iter_mut().try_for_each(|own| {
                        self.encode_box(number, autoencoder, (*images, wanted.strength), own, dump)
                    })
                })?,
                Task::EncodePrompt { encoders, denoisers, vision } => {
                    let encoders = (encoders.as_slice(), vision.as_ref());
                    let encoded = self.stage(number, || self.encode(number, encoders, denoisers, dump))?;
                    conditionings = Some(encoded);
                }
                Task::Denoise(denoise) => {
                    let conditionings = match conditionings.take() {
                        Some(conditionings) => conditionings,
                        None => self.known_conditionings(number, dump)?,
                    };
                    let (of, steps) = (boxes.len(), denoise.steps.count());
                    for (index, own) in boxes.iter_mut().enumerate() {
                        self.repeat.set(Repeat { number: index, of, steps });
                        let Some((original, noise)) = own.start.take() else { continue };
                        self.streams.replace(own.stream.take().into_iter().collect());
                        let images = media.iter().filter_map(|media| match media {
                            Media::Image(image) => Some(image.clone()),
                            Media::Clip(_) => None,
                        });
                        let (index, source) = (own.image, own.source.clone());
                        self.place
                            .replace(unmetered(|| Some(Place { images: images.collect(), index, source })));
                        let mut made = Made {
                            noise: Some(noise),
                            original,
                            conditionings: conditionings.clone(),
                            latents: None,
                            seen: BTreeMap::new(),
                            media: Vec::new(),
                        };
                        self.denoise(number..number + 1, &mut made, dump)?;
                        own.latents = made.latents.as_ref().map(aside).transpose()?;
                    }
                    self.place.take();
                    self.repeat.take();
                }
                Task::Decode { autoencoder } => self.stage(number, || {
                    for own in boxes.iter_mut() {
                        let Some(latents) = own.latents.take() else { continue };
                        let drawn = self.decode(number, autoencoder, &latents, dump)?;
                        if let (Some(Media::Image(part)), Some(Media::Image(whole))) =
                            (drawn.first(), media.get_mut(own.image))
                        {
                            unmetered(|| own.source.put(whole, part));
                        }
                    }
                    Ok(())
                })?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Encodes what surrounds a box and draws its noise, in the order of image to image.
    fn encode_box(
        &self,
        stage: usize,
        autoencoder: &Used<dyn Autoencoder>,
        (images, strength): (SourceImages, f64),
        own: &mut Piece,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        let shape = self.resolved.next_latents(stage).ok_or_else(no_latents)?.dims(1);
        self.streams.replace(own.stream.take().into_iter().collect());
        let is_sampled = autoencoder.network.is_sampled();
        let drawn = |is_needed: bool| is_needed.then(|| self.draw(&shape)).transpose();
        let whole = drawn(is_sampled && images.whole)?;
        let noise = self.draw(&shape)?;
        let masked = drawn(is_sampled && images.masked)?;
        own.stream = self.streams.take().pop();
        let samples = ImageNoise { whole, masked, ..ImageNoise::default() };
        let original =
            self.encode_picture(stage, autoencoder, (&own.source, images, strength), &samples, dump)?;
        own.start = Some((original.aside()?, aside(&noise)?));
        Ok(())
    }

    /// What the prompts of the images were encoded to, which are those of the boxes.
    fn known_conditionings(
        &self,
        number: usize,
        dump: &mut Dump,
    ) -> Result<BTreeMap<usize, Vec<Conditioning>>, PipelineError> {
        let encoder = self.resolved.stages.iter().find_map(|task| match task {
            Task::EncodePrompt { encoders, denoisers, vision } => Some((encoders, denoisers, vision)),
            _ => None,
        });
        match encoder {
            Some((encoders, denoisers, vision)) => {
                self.encode(number, (encoders, vision.as_ref()), denoisers, dump)
            }
            None => Ok(BTreeMap::new()),
        }
    }
}

fn no_latents() -> PipelineError {
    candle_core::Error::msg("a detailer has no stage that denoises").into()
}

/// What comes first: lower numbers do. Boxes are left, top, right and bottom, sizes width and height.
fn rank(order: BoxOrder, [left, top, right, bottom]: [u32; 4], [width, height]: [u32; 2]) -> i64 {
    let [left, top, right, bottom, width, height] = [left, top, right, bottom, width, height].map(i64::from);
    match order {
        BoxOrder::Largest => -(right - left) * (bottom - top),
        // The detector gives them in this order.
        BoxOrder::Surest => 0,
        BoxOrder::LeftToRight => left,
        BoxOrder::MiddleFirst => (left + right - width).pow(2) + (top + bottom - height).pow(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_come_in_the_order_that_is_wanted() {
        let [small, large, middle] = [[0, 0, 10, 10], [60, 60, 100, 100], [45, 45, 55, 56]];
        for (order, expected) in [
            (BoxOrder::Largest, [large, middle, small]),
            (BoxOrder::Surest, [small, large, middle]),
            (BoxOrder::LeftToRight, [small, middle, large]),
            (BoxOrder::MiddleFirst, [middle, large, small]),
        ] {
            let mut boxes = [small, large, middle];
            boxes.sort_by_key(|area| rank(order, *area, [100, 100]));
            assert_eq!(boxes, expected, "{order:?}");
        }
    }
}
