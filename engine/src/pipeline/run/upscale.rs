//! Enlarges an image or the frames of a clip.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};

use super::{
    Observer, PipelineError, Run,
    canvas::{Canvas, values_of},
};
use crate::{
    hardware::unmetered,
    models::Used,
    output::{Clip, Image, Media},
    pipeline::image_work::enlarge,
    residency::{Blocks, Executor, RunError, WeightStore},
    source::{resized, resized_plane},
    upscale::{Tiles, Upscaler},
};

/// The tiles that are done, of all frames.
struct Progress {
    frame: u32,
    frames: u32,
    since: Instant,
}

impl Progress {
    /// Reports that so many tiles of the frame are done.
    fn report(&mut self, observer: &mut dyn Observer, done: u32, tiles: u32) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        observer.step(self.frame * tiles + done, self.frames * tiles, seconds);
    }
}

impl Run<'_> {
    /// Enlarges what the request names, frame by frame and tile by tile, to the size of the request.
    pub(super) fn upscale(
        &self,
        stage: usize,
        used: &Used<dyn Upscaler>,
    ) -> Result<Vec<Media>, PipelineError> {
        let (Some(wanted), Some(given)) = (&self.request.upscale, &self.resolved.changed) else {
            return Ok(Vec::new());
        };
        let originals = unmetered(|| given.read(&wanted.path))?;
        let sound = unmetered(|| given.sound(&wanted.path))?;
        let (store, executor) = self.enter(stage, used.part);
        let mut progress = Progress { frame: 0, frames: originals.len() as u32, since: Instant::now() };
        let mut frames = Vec::with_capacity(originals.len());
        for original in originals {
            let (canvas, is_finite) = self.within_memory(stage, || {
                self.enlarged(stage, used, &original, (store, &executor), &mut |done, tiles| {
                    progress.report(&mut **self.observer.borrow_mut(), done, tiles);
                })
            })?;
            if !is_finite {
                return Err(PipelineError::NotFinite { dtype: self.loaded.dtype().name() });
            }
            let size = [self.request.width, self.request.height];
            frames.push(unmetered(|| finished(canvas, &original, size)));
            progress.frame += 1;
        }
        let media = match given.clip {
            Some(_) => Media::Clip(Clip { frames, rate: self.request.frame_rate, sound }),
            None => frames.pop().map(Media::Image).ok_or(PipelineError::NotFinite { dtype: "f32" })?,
        };
        Ok(vec![media])
    }

    /// An enlarged image by the factor of the network, and whether all of its values are finite. After each tile, `report`
    /// hears how many are done, and of how many.
    pub(super) fn enlarged(
        &self,
        stage: usize,
        Used { part, network }: &Used<dyn Upscaler>,
        original: &Image,
        (store, executor): (&WeightStore, &Executor),
        report: &mut dyn FnMut(u32, u32),
    ) -> Result<(Canvas, bool), RunError> {
        let side = self.plan.borrow().plan.stages[stage].use_of(*part).and_then(|used| used.tile);
        let tiles = Tiles::new(side.map(|side| side as usize), network.reach(), network.multiple());
        let size = [original.height, original.width].map(|side| side as usize);
        let tiles = tiles.of(size);
        let mut canvas = Canvas::new(size, network.factor());
        let mut is_finite = true;
        for (number, tile) in tiles.iter().enumerate() {
            let [height, width] = [0, 1].map(|axis| tile.seen[axis].len());
            let values = values_of(original, tile);
            let image = Tensor::from_vec(values, (1, 3, height, width), &Device::Cpu)?;
            let image = image.to_device(store.device())?.into();
            let enlarged = enlarge(network.as_ref(), Blocks::stored(executor, store), &image)?;
            let enlarged = enlarged.into_computed()?.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
            drop(image);
            is_finite &= canvas.place(tile, &enlarged.flatten_all()?.to_vec1::<f32>()?);
            report(number as u32 + 1, tiles.len() as u32);
        }
        Ok((canvas, is_finite))
    }
}

/// The image in a width and height, with the opacity of the original.
pub(super) fn finished(canvas: Canvas, original: &Image, size: [u32; 2]) -> Image {
    let opacity = resized_plane(&original.opacity, [original.width, original.height], size);
    // A copy that is not part of the run, which leaves the engine.
    let image = Image::clone(canvas.image());
    drop(canvas);
    Image { opacity, ..resized(image, size) }
}
