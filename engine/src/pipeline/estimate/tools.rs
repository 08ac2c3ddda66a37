//! What the networks take that generate no image: upscalers, frame interpolators, map estimators, segmenters and writers.

use super::{Estimator, LISTS, PipelineError};
use crate::{
    aids::{MapEstimator, Prompt, Segmenter},
    interpolation::Ifnet,
    memory::{BlockWork, PartUse, Work},
    models::Used,
    nn::DType,
    pipeline::{
        chat::Chat,
        image_work::{interpolation_sides, interpolation_work, upscale_sides, upscale_work},
    },
    request::{Interpolation, MaskOf, MaskPoint, Request},
    text::{VisionTower, Writer},
    upscale::{Tiles, Upscaler},
};

/// Bytes of a pixel of an image.
const PIXEL_BYTES: usize = 3;

impl Estimator<'_> {
    /// The ways of enlarging what is given: whole, then in ever smaller tiles.
    pub(super) fn upscale(&self, upscaler: &Used<dyn Upscaler>) -> Result<Vec<PartUse>, PipelineError> {
        let Some(given) = &self.resolved.changed else { return Ok(Vec::new()) };
        self.enlarge(upscaler, given.size, given.frames().0)
    }

    /// The ways of making the frames between those of a clip: whole, then in ever smaller tiles. That there are no cuts is
    /// supposed.
    pub(super) fn interpolate(
        &self,
        Used { part, network }: &Used<Ifnet>,
        how: Interpolation,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let Request { width, height, frames, batch, .. } = self.resolved.request;
        // Those of a clip in a file are those of the result.
        let frames = if self.resolved.changed.is_some() { frames / how.factor } else { frames };
        let size = [height, width].map(|side| side as usize);
        let made = batch * frames.saturating_sub(1) * (how.factor - 1);
        let ways = interpolation_sides(network, size, self.resolved.tile).into_iter().map(|side| {
            let blocks = self.blocks(*part);
            let work = interpolation_work(network, &blocks, size, network.tiles(side), self.trace)?;
            let each = work.into_iter().map(|block| BlockWork { passes: block.passes * made, ..block });
            // A frame in the making is in RAM, which is the device of a processor.
            let pixels = size.iter().product::<usize>() * PIXEL_BYTES;
            let canvas = if self.trace.computes().is_processor() { pixels as u64 } else { 0 };
            let tile = side.map(|side| side as u32);
            Ok(Work { tile, carried: LISTS + canvas, blocks: each.collect() })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }

    /// The work of making a mask of an image that was not seen before.
    pub(super) fn segment(
        &self,
        Used { part, network }: &Used<Segmenter>,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let Request { mask_of: Some(wanted), width, height, .. } = &self.resolved.request else {
            return Ok(Vec::new());
        };
        self.trace.take();
        let blocks = self.blocks(*part);
        let image = self.trace.tensor(&[1, 3, Segmenter::SIDE, Segmenter::SIDE], DType::F32);
        let embedding = network.embed(blocks.blocks(), &image)?;
        drop(image);
        network.masks(blocks.blocks(), &embedding, &prompt_of(wanted, [*height, *width]))?;
        let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
        Ok(vec![PartUse { part: *part, ways: vec![work] }])
    }

    /// The work of writing as many tokens as the request allows, after the images were seen.
    pub(super) fn write(
        &self,
        Used { part, network }: &Used<Writer>,
        vision: Option<&Used<dyn VisionTower>>,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let Some(Chat { tokens, writing }) = Chat::of(network, self.resolved)? else { return Ok(Vec::new()) };
        let longest = writing.longest as usize;
        self.trace.take();
        let (seeing, seen) = self.see(vision)?;
        let blocks = self.blocks(*part);
        let traced = blocks.blocks();
        network.trace(traced, (&tokens, &seen), longest)?;
        let kept = network.kept_bytes(tokens.len() + longest, traced.dtype().size_in_bytes());
        let blocks = blocks.take().into_iter();
        let blocks = blocks.map(|block| block.with_activations(|bytes| bytes.saturating_sub(kept)));
        let work = Work { tile: None, carried: LISTS + kept, blocks: blocks.collect() };
        Ok(seeing.into_iter().chain([PartUse { part: *part, ways: vec![work] }]).collect())
    }

    /// The work of making maps of images of these widths and heights, one after the other.
    pub(super) fn make_maps(
        &self,
        Used { part, network }: &Used<dyn MapEstimator>,
        sizes: &[[u32; 2]],
    ) -> Result<Vec<PartUse>, PipelineError> {
        self.trace.take();
        let blocks = self.blocks(*part);
        for alike in sizes.chunk_by(|one, other| one == other) {
            let [width, height] = alike[0];
            blocks.blocks().repeat(alike.len(), |_| {
                let [rows, columns] = network.sees([height, width]);
                let image = self.trace.tensor(&[1, 3, rows, columns], DType::F32);
                network.estimate(blocks.blocks(), &image).map(|_| ())
            })?;
        }
        let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
        Ok(vec![PartUse { part: *part, ways: vec![work] }])
    }

    /// The ways of enlarging so many images of a width and height.
    pub(super) fn enlarge(
        &self,
        Used { part, network }: &Used<dyn Upscaler>,
        [width, height]: [u32; 2],
        frames: u32,
    ) -> Result<Vec<PartUse>, PipelineError> {
        let size = [height, width].map(|side| side as usize);
        let sides = upscale_sides(network.as_ref(), size, self.resolved.tile);
        let ways = sides.into_iter().map(|side| {
            let blocks = self.blocks(*part);
            let tiles = Tiles::new(side, network.reach(), network.multiple());
            let work = upscale_work(network.as_ref(), &blocks, size, tiles, self.trace)?;
            let each = work.into_iter().map(|block| BlockWork { passes: block.passes * frames, ..block });
            // The enlarged image is in RAM, which is the device of a processor.
            let pixels = size.iter().product::<usize>() * network.factor().pow(2) * PIXEL_BYTES;
            let canvas = if self.trace.computes().is_processor() { pixels as u64 } else { 0 };
            let tile = side.map(|side| side as u32);
            Ok(Work { tile, carried: LISTS + canvas, blocks: each.collect() })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }
}

/// What shows a segmenter a part of an image of a height and width, in pixels of what it sees.
pub fn prompt_of(wanted: &MaskOf, [height, width]: [u32; 2]) -> Prompt {
    let [rows, columns] = Segmenter::sees([height, width]);
    let scaled =
        |value: u32, seen: u32, whole: u32| (f64::from(value) * f64::from(seen) / f64::from(whole)) as f32;
    let across = |x: u32| scaled(x, columns, width);
    let down = |y: u32| scaled(y, rows, height);
    let point = |point: &MaskPoint| ([across(point.x), down(point.y)], point.inside);
    let corners =
        |[left, top, right, bottom]: [u32; 4]| [across(left), down(top), across(right), down(bottom)];
    Prompt { points: wanted.points.iter().map(point).collect(), area: wanted.area.map(corners) }
}
