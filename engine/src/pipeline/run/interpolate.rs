//! Makes the frames between those of a clip.

use std::time::Instant;

use candle_core::{DType, Device, Tensor};

use super::{
    PipelineError, Run,
    canvas::{Canvas, values_of},
};
use crate::{
    hardware::unmetered,
    interpolation::Ifnet,
    models::Used,
    output::{Clip, Image, Media},
    pipeline::image_work::interpolated,
    request::{Interpolate, Interpolation},
    residency::{Blocks, Executor, RunError, WeightStore},
    source::is_cut,
};

/// Colours of an image.
const COLOURS: usize = 3;

/// Hears after each tile how many are done of the clip, and of how many.
type Report<'a> = &'a mut dyn FnMut(u32, u32);

impl Run<'_> {
    /// Puts frames between those of the clips that were generated.
    pub(super) fn smooth(
        &self,
        stage: usize,
        used: &Used<Ifnet>,
        how: Interpolation,
        media: Vec<Media>,
    ) -> Result<Vec<Media>, PipelineError> {
        let smoother = |media| match media {
            Media::Clip(Clip { frames, rate, sound }) => {
                let frames = self.with_frames_between(stage, used, how, frames, &mut |_, _| {})?;
                Ok(Media::Clip(Clip { frames, rate: rate * how.factor as f32, sound }))
            }
            image @ Media::Image(_) => Ok(image),
        };
        media.into_iter().map(smoother).collect()
    }

    /// Reads a clip, and puts frames between its own.
    pub(super) fn interpolate(
        &self,
        stage: usize,
        used: &Used<Ifnet>,
        wanted: &Interpolate,
    ) -> Result<Vec<Media>, PipelineError> {
        let Some(given) = &self.resolved.changed else { return Ok(Vec::new()) };
        let frames = unmetered(|| given.read(&wanted.path))?;
        let sound = unmetered(|| given.sound(&wanted.path))?;
        let mut since = Instant::now();
        let frames = self.with_frames_between(stage, used, wanted.how, frames, &mut |done, all| {
            let seconds = since.elapsed().as_secs_f64();
            since = Instant::now();
            self.observer.borrow_mut().step(done, all, seconds);
        })?;
        Ok(vec![Media::Clip(Clip { frames, rate: self.request.frame_rate, sound })])
    }

    /// The frames of a clip, each followed by those between it and the next. The last one, and with that the last one before a
    /// cut, is repeated instead: the clip stays as long as it was.
    fn with_frames_between(
        &self,
        stage: usize,
        used: &Used<Ifnet>,
        how: Interpolation,
        frames: Vec<Image>,
        report: Report<'_>,
    ) -> Result<Vec<Image>, PipelineError> {
        let (store, executor) = self.enter(stage, used.part);
        let pairs = (frames.len() as u32).saturating_sub(1) * (how.factor - 1);
        let mut all = Vec::with_capacity(frames.len() * how.factor as usize);
        let mut frames = frames.into_iter().peekable();
        let mut done = 0;
        while let Some(before) = frames.next() {
            let after =
                frames.peek().filter(|after| how.across_cuts || !unmetered(|| is_cut(&before, after)));
            let mut between = Vec::new();
            for number in 1..how.factor {
                let Some(after) = after else {
                    between.push(unmetered(|| before.clone()));
                    done += 1;
                    continue;
                };
                let time = number as f32 / how.factor as f32;
                let (canvas, is_finite) = self.within_memory(stage, || {
                    let pair = [&before, after];
                    self.between(stage, used, (pair, time), (store, &executor), &mut |tile, tiles| {
                        report(done * tiles + tile, pairs * tiles);
                    })
                })?;
                if !is_finite {
                    return Err(PipelineError::NotFinite { dtype: self.loaded.dtype().name() });
                }
                // A copy that is not part of the run, which leaves the engine.
                between.push(unmetered(|| canvas.image().clone()));
                done += 1;
            }
            all.push(before);
            all.append(&mut between);
        }
        Ok(all)
    }

    /// The frame at a time between two, tile by tile, and whether all of its values are finite.
    fn between(
        &self,
        stage: usize,
        Used { part, network }: &Used<Ifnet>,
        (pair, time): ([&Image; 2], f32),
        (store, executor): (&WeightStore, &Executor),
        report: Report<'_>,
    ) -> Result<(Canvas, bool), RunError> {
        let side = self.plan.borrow().plan.stages[stage].use_of(*part).and_then(|used| used.tile);
        let size = [pair[0].height, pair[0].width].map(|side| side as usize);
        let tiles = network.tiles(side.map(|side| side as usize)).of(size);
        let mut canvas = Canvas::new(size, 1);
        let mut is_finite = true;
        for (number, tile) in tiles.iter().enumerate() {
            let [height, width] = [0, 1].map(|axis| tile.seen[axis].len());
            let mut values = values_of(pair[0], tile);
            values.extend(values_of(pair[1], tile));
            let seen = Tensor::from_vec(values, (2, COLOURS, height, width), &Device::Cpu)?;
            let seen = seen.to_device(store.device())?.into();
            let made = interpolated(network, Blocks::stored(executor, store), &seen, time)?;
            let made = made.into_computed()?.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
            drop(seen);
            is_finite &= canvas.place(tile, &made.flatten_all()?.to_vec1::<f32>()?);
            report(number as u32 + 1, tiles.len() as u32);
        }
        Ok((canvas, is_finite))
    }
}
