//! What a request asks of a model, in the calculator's terms.

mod boxes;
mod image_prompts;

use std::collections::BTreeMap;

use super::{
    PipelineError,
    chat::Chat,
    footprint::dtype_of,
    image_work::{
        decode_work, encode_clip_work, encode_image_work, interpolation_sides, interpolation_work, tilings,
        upscale_sides, upscale_work,
    },
    resolve::{Resolved, conditioning, last_states},
};
use crate::{
    aids::{MapEstimator, Prompt, Segmenter},
    interpolation::Ifnet,
    memory::{BlockWork, PartUse, StageWork, Work, Workload},
    models::{
        ClipControl, ClipFrames, Conditioning, ControlImage, Denoise, DenoiserInput, Denoising, EncodedMap,
        FrameWindows, ImageTokens, LatentShape, MapForm, Model, PrepareInput, Prepared, SourceImages,
        SteeredBy, Steps, Task, Used,
    },
    nn::{DType, Tensor, Trace},
    request::{ControlNet, Interpolation, MaskOf, MaskPoint, Request, SourceImage},
    residency::TracedBlocks,
    sampling::StepCache,
    text::{self, ClipVision, Given, TextEncoder, Tokens, VisionTower, Writer},
    upscale::{Tiles, Upscaler},
    vae::Autoencoder,
};

/// Bytes of a pixel of an image.
const PIXEL_BYTES: usize = 3;

/// Bytes of lists and small tensors that are not traced.
pub const LISTS: u64 = 128 << 10;

/// What a request asks of `model`: the model's own code, run on shapes in the books of `trace`.
///
/// # Errors
/// When the network cannot do what is asked of it.
pub fn workload(model: &Model, resolved: &Resolved, trace: &Trace) -> Result<Workload, PipelineError> {
    let mut estimate = Estimator { model, resolved, trace };
    // Whether something is found and inpainted, and nothing else any more.
    let mut in_boxes = false;
    let mut conditionings = BTreeMap::new();
    let mut image: Option<Tensor> = None;
    let mut references = Vec::new();
    let mut maps = Vec::new();
    let mut image_prompts = Vec::new();
    let mut stages = Vec::new();
    for (number, task) in resolved.stages.iter().enumerate() {
        let mut uses = match task {
            Task::Detect { detector, detailer } => {
                in_boxes = true;
                let uses = estimate.detect(detector, resolved.made)?;
                let Some(boxes) = resolved.boxes.get(*detailer) else { continue };
                // What follows inpaints what is found.
                estimate = Estimator { resolved: boxes, ..estimate };
                conditionings = estimate.conditionings(*detailer)?;
                uses
            }
            Task::EncodeImage { autoencoder, images, vision } => {
                let mut uses = estimate.encode_image(number, autoencoder, *images)?;
                references = estimate.references(autoencoder.network.as_ref());
                maps = estimate.maps(autoencoder.network.as_ref());
                if let Some(encoder) = vision {
                    let (work, embedded) = estimate.embed_images(encoder)?;
                    uses.push(work);
                    image = Some(embedded);
                }
                uses
            }
            Task::PromptImages { prompters } => {
                let (uses, tokens) = estimate.prompt_images(prompters)?;
                image_prompts = tokens;
                uses
            }
            Task::EncodePrompt { encoders, denoisers, vision } => {
                let (seeing, seen) = estimate.see(vision.as_ref())?;
                let (mut uses, results) = estimate.encode_prompt(encoders, denoisers, &seen)?;
                uses.splice(..0, seeing);
                conditionings = results;
                uses
            }
            Task::Denoise(denoise) => {
                let part = denoise.denoiser.part;
                let branches = conditionings.get(&part).map_or(&[][..], Vec::as_slice);
                let image_tokens = estimate.image_tokens(denoise, &image_prompts);
                let inputs = StageInputs {
                    image: image.as_ref(),
                    references: &references,
                    controls: &[],
                    image_tokens: &image_tokens,
                };
                let ways = estimate.denoise(denoise, branches, inputs, &maps)?;
                if !estimate.resolved.denoises_after(number, part) {
                    conditionings.remove(&part);
                }
                vec![PartUse { part, ways }]
            }
            Task::Decode { autoencoder } => estimate.decode(number, autoencoder)?,
            Task::Enlarge { upscaler, sizes } => {
                estimate.enlarge(upscaler, sizes[0], resolved.request.batch)?
            }
            Task::EncodeEnlarged { autoencoder } => estimate.encode_enlarged(number, autoencoder)?,
            Task::Upscale { upscaler } => estimate.upscale(upscaler)?,
            Task::Interpolate { interpolator, how } => estimate.interpolate(interpolator, *how)?,
            Task::MakeMaps { estimator, sizes } => estimate.make_maps(estimator, sizes)?,
            Task::Segment { segmenter } => estimate.segment(segmenter)?,
            Task::Write { writer, vision } => estimate.write(writer, vision.as_ref())?,
        };
        if in_boxes {
            repeated(&mut uses, task, resolved.request.batch);
        }
        stages.push(StageWork { kind: task.kind(), name: task.name().to_owned(), uses });
    }
    Ok(Workload {
        images: resolved.request.batch,
        steps: resolved.steps() as u32,
        stages,
        attention: trace.attention(),
    })
}

/// What the denoisers of these parts are conditioned on, a conditioning for each branch.
type Conditionings = BTreeMap<usize, Vec<Conditioning>>;

/// Repeats work for each of so many boxes; prompts are the same for all.
fn repeated(uses: &mut [PartUse], task: &Task, boxes: u32) {
    if matches!(task, Task::EncodePrompt { .. }) {
        return;
    }
    let blocks = uses.iter_mut().flat_map(|part| &mut part.ways).flat_map(|work| &mut work.blocks);
    blocks.for_each(|block| block.passes *= boxes);
}

/// Traces the stages of a run.
#[derive(Clone, Copy)]
struct Estimator<'a> {
    model: &'a Model,
    resolved: &'a Resolved,
    trace: &'a Trace,
}

impl Estimator<'_> {
    /// The blocks of a part as they are traced.
    fn blocks(&self, part: usize) -> TracedBlocks {
        let component = &self.model.parts[part].component;
        TracedBlocks::new(self.trace, component, dtype_of(component.role, self.resolved.dtype))
    }

    /// The work of the vision tower of a text encoder, and the tokens of the images that it sees.
    fn see(
        &self,
        vision: Option<&Used<dyn VisionTower>>,
    ) -> Result<(Option<PartUse>, Vec<Tensor>), PipelineError> {
        let Some(Used { part, network }) = vision else { return Ok((None, Vec::new())) };
        let images = self.resolved.prompts.first().map_or(&[][..], |prompt| &prompt.images);
        let grids: Vec<[usize; 2]> = images.iter().map(|image| image.size.grid).collect();
        let count = grids.iter().map(|grid| network.patches().of(*grid)).sum();
        let blocks = self.blocks(*part);
        let traced = blocks.blocks();
        let patches = self.trace.tensor(&[1, count, network.patches().values()], traced.dtype());
        let seen = network.encode(traced, patches, &grids)?;
        let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
        Ok((Some(PartUse { part: *part, ways: vec![work] }), seen))
    }

    /// The work of each text encoder, and what the denoisers are conditioned on.
    fn encode_prompt(
        &self,
        encoders: &[Used<dyn TextEncoder>],
        denoisers: &[Used<Denoising>],
        seen: &[Tensor],
    ) -> Result<(Vec<PartUse>, Conditionings), PipelineError> {
        let prompts = &self.resolved.prompts;
        let mut uses = Vec::new();
        let mut encoded = vec![BTreeMap::new(); prompts.len()];
        for Used { part, network } in encoders {
            let tokens: Vec<&Tokens> = prompts.iter().map(|prompt| &prompt.parts[part]).collect();
            let blocks = self.blocks(*part);
            let given = Given { images: seen, states: &last_states(&encoded) };
            let fresh =
                text::encode(network.as_ref(), blocks.blocks(), &tokens, prompts[0].clip_skip, given)?;
            encoded.iter_mut().zip(fresh).for_each(|(all, fresh)| {
                all.insert(*part, fresh);
            });
            let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
            uses.push(PartUse { part: *part, ways: vec![work] });
        }
        let mut conditionings = Conditionings::new();
        let is_beside = self.model.vision_tower().is_some_and(|tower| tower.network.is_beside());
        let beside = if is_beside { seen } else { &[] };
        for (mut encoded, prompt) in encoded.into_iter().zip(prompts) {
            for (index, denoiser) in denoisers.iter().enumerate() {
                let after = &denoisers[index + 1..];
                let conditioning = conditioning(denoiser, after, &mut encoded, (prompt, beside))?;
                conditionings.entry(denoiser.part).or_default().push(conditioning);
            }
        }
        Ok((uses, conditionings))
    }

    /// The work of a denoiser: one prediction traced, as often as the stage takes one. The windows of a long clip can go
    /// through each block together, or through the whole network one after the other.
    fn denoise(
        &self,
        denoise: &Denoise,
        branches: &[Conditioning],
        inputs: StageInputs<'_>,
        maps: &[(EncodedMap, Tensor)],
    ) -> Result<Vec<Work>, PipelineError> {
        let (request, trace) = (&self.resolved.request, self.trace);
        let Denoise { denoiser: Used { part, network: denoising }, steps, .. } = denoise;
        let denoiser = denoising.denoiser.as_ref();
        let blocks = self.blocks(*part);
        let controls = self.controls(denoise, maps);
        let input = prepare_input(request, denoise, branches, StageInputs { controls: &controls, ..inputs });
        let prepared = denoiser.prepare(blocks.blocks(), &input)?;
        drop(controls);
        let once = blocks.take();

        let (shape, batch) = (denoiser.latents(denoise.canvas), request.batch as usize);
        let tensor = |shape: LatentShape| trace.tensor(&shape.dims(batch), DType::F32);
        let windows = FrameWindows::new(request, denoiser);
        let _noise = tensor(shape);
        // The clip beside the latents of a window.
        let _clip = (windows.count() > 1).then(|| tensor(shape));
        let masked = request.source.as_ref().is_some_and(SourceImage::is_inpainted);
        let beside = denoiser.channels_beside();
        let clip = ClipFrames::new(request, denoiser);
        let given = clip.filter(|clip| clip.keeps_frames());
        let is_beside = masked || clip.is_some_and(ClipFrames::is_beside);
        let beside = match denoise.sees.and_then(|stage| self.resolved.latents(stage)) {
            Some(seen) => Some(tensor(seen)),
            None => (beside > 0 && is_beside).then(|| tensor(shape.with_channels(beside))),
        };
        let of_window = || {
            let part = |whole: &Tensor| match windows.count() {
                1 => whole.clone(),
                _ => tensor(windows.shape(shape).with_channels(whole.dims()[1])),
            };
            (tensor(windows.shape(shape)), beside.as_ref().map(part))
        };
        let parts: Vec<_> = (0..windows.count()).map(|_| of_window()).collect();
        let clean = given.map_or(0, ClipFrames::clean);
        let inputs_at = |sigma: f32| -> Vec<DenoiserInput<'_>> {
            let each = parts.iter().enumerate().map(|(number, (latents, beside))| {
                let clean = if number == 0 { clean } else { 0 };
                DenoiserInput { latents, sigma, beside: beside.as_ref(), clean }
            });
            each.collect()
        };
        let between = trace.live();
        let work_of = |together: usize| -> Result<Vec<BlockWork>, PipelineError> {
            let alone = prepared.of_branches(self.resolved.positive_prompts());
            let mut all = once.clone();
            for kind in kinds_of_calls(steps, &prepared) {
                let prepared = if kind.is_guided { &prepared } else { &alone };
                denoiser.predict_all(blocks.blocks(), &inputs_at(kind.sigma)[..together], prepared)?;
                let predictions = (kind.calls * windows.count() / together) as u32;
                for (all, each) in all.iter_mut().zip(blocks.take()) {
                    all.join(&BlockWork { passes: each.passes * predictions, ..each });
                }
            }
            let activations =
                |block: BlockWork| block.with_activations(|bytes| bytes.saturating_sub(between));
            Ok(all.into_iter().map(activations).collect())
        };
        let together = [windows.count(), 1];
        let ways = if windows.count() == 1 { &together[..1] } else { &together };
        // What the sampler and the step cache keep, and what stays of an image: itself, its noise and the mask.
        let plane = shape.with_channels(1).dims(batch).iter().product::<usize>();
        let is_kept = (masked || given.is_some()) && beside.is_none();
        let stays = if is_kept { 3 * shape.channels + 1 } else { 0 };
        let kept = request.sampler.held() + StepCache::held(request.step_cache);
        let kept = (kept * shape.channels + stays) * plane * size_of::<f32>();
        let carried = LISTS + between + kept as u64;
        ways.iter().map(|&together| Ok(Work { tile: None, carried, blocks: work_of(together)? })).collect()
    }

    /// The ways of decoding the images of the batch: whole, then in ever smaller tiles.
    fn decode(
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

    /// The work of the encoder that embeds input images, and their embeddings.
    fn embed_images(
        &self,
        Used { part, network }: &Used<ClipVision>,
    ) -> Result<(PartUse, Tensor), PipelineError> {
        let (blocks, side) = (self.blocks(*part), network.config().image_size);
        let images = self.trace.tensor(&[vision_images(&self.resolved.request), 3, side, side], DType::F32);
        let embedded = network.encode(blocks.blocks(), &images)?;
        let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
        Ok((PartUse { part: *part, ways: vec![work] }, embedded))
    }

    /// The ways of encoding the images that a request starts from.
    fn encode_image(
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

    /// The ways of enlarging what is given: whole, then in ever smaller tiles.
    fn upscale(&self, upscaler: &Used<dyn Upscaler>) -> Result<Vec<PartUse>, PipelineError> {
        let Some(given) = &self.resolved.changed else { return Ok(Vec::new()) };
        self.enlarge(upscaler, given.size, given.frames().0)
    }

    /// The ways of making the frames between those of a clip: whole, then in ever smaller tiles. That there are no cuts is
    /// supposed.
    fn interpolate(
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
    fn segment(&self, Used { part, network }: &Used<Segmenter>) -> Result<Vec<PartUse>, PipelineError> {
        let Request { mask_of: Some(wanted), width, height, .. } = &self.resolved.request else {
            return Ok(Vec::new());
        };
        self.trace.take();
        let blocks = self.blocks(*part);
        let image = self.trace.tensor(&[1, 3, Segmenter::SIDE, Segmenter::SIDE], DType::F32);
        let embedding = network.embed(blocks.blocks(), &image)?;
        drop(image);
        network.masks(blocks.blocks(), &embedding, &prompt_of(wanted, [*height, *width]))?;
        // What the threads once took for products they keep, so that a second image finds it there from the beginning.
        let scratch = self.trace.computes().product_scratch() * size_of::<f32>();
        let work = Work { tile: None, carried: LISTS + scratch as u64, blocks: blocks.take() };
        Ok(vec![PartUse { part: *part, ways: vec![work] }])
    }

    /// The work of writing as many tokens as the request allows, after the images were seen.
    fn write(
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
    fn make_maps(
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
    fn enlarge(
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
            let scratch = match network.multiplies_by_library() {
                true => self.trace.computes().product_scratch() * size_of::<f32>(),
                false => 0,
            };
            Ok(Work { tile, carried: LISTS + canvas + scratch as u64, blocks: each.collect() })
        });
        let ways = ways.collect::<Result<_, PipelineError>>()?;
        Ok(vec![PartUse { part: *part, ways }])
    }

    /// The ways of encoding enlarged images for the next pass, one after the other. The noise of the pass waits, and the
    /// latents of images are kept until all are there; both are in RAM, which is the device of a processor.
    fn encode_enlarged(
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

    /// The maps of the ControlNets that steer a denoiser.
    fn controls(&self, denoise: &Denoise, maps: &[(EncodedMap, Tensor)]) -> Vec<ControlImage> {
        let nets = denoise.denoiser.network.denoiser.control_nets().unwrap_or_default();
        let [height, width] = [denoise.canvas.height, denoise.canvas.width].map(|side| side as usize);
        let pixels = |about: &SteeredBy| {
            let channels = if about.reads == MapForm::GrayPixels { 1 } else { 3 };
            self.trace.tensor(&[1, channels, height, width], DType::F32)
        };
        let encoded: Vec<EncodedMap> = denoise.encoded_maps(&self.resolved.request).collect();
        let latents = |number: usize| {
            let wanted = encoded.iter().find(|map| map.net == number)?;
            maps.iter().find(|(map, _)| map == wanted).map(|(_, latents)| latents.clone())
        };
        let image = |((number, net), about): ((usize, &ControlNet), &SteeredBy)| ControlImage {
            image: latents(number).unwrap_or_else(|| pixels(about)),
            mode: net.mode(),
            weight: net.weight,
            levels: net.levels(&denoise.steps.sigmas),
        };
        self.resolved.request.control_nets.iter().enumerate().zip(&nets).map(image).collect()
    }

    /// The maps that ControlNets read as latents.
    fn maps(&self, autoencoder: &dyn Autoencoder) -> Vec<(EncodedMap, Tensor)> {
        let latents = |map: EncodedMap| {
            let shape = map_shape(&map, autoencoder);
            let channels = map.form.channels(shape.channels);
            (map, self.trace.tensor(&shape.with_channels(channels).dims(1), DType::F32))
        };
        self.resolved.encoded_maps().into_iter().map(latents).collect()
    }

    /// The latents of reference images that the network reads in their own sizes.
    fn references(&self, autoencoder: &dyn Autoencoder) -> Vec<Tensor> {
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

/// The number of images that are embedded.
pub fn vision_images(request: &Request) -> usize {
    1 + usize::from(request.last_image.is_some())
}

/// Calls of a denoiser that are alike.
struct CallKind {
    /// The noise level of the first of them.
    sigma: f32,
    is_guided: bool,
    /// Which ControlNets and IP-Adapters act, and whether the clip is controlled.
    acting: Vec<bool>,
    /// Their number.
    calls: usize,
}

/// The calls of a stage by what they compute.
fn kinds_of_calls(steps: &Steps, prepared: &Prepared) -> Vec<CallKind> {
    let mut kinds: Vec<CallKind> = Vec::new();
    for &sigma in &steps.called {
        let is_guided = steps.guide.is_guided(sigma);
        let nets = prepared.steering.iter().map(|net| net.acts_at(sigma));
        let images = prepared.images.iter().map(|images| images.acts_at(sigma));
        let acting: Vec<bool> = nets.chain(images).chain([prepared.control.acts_at(sigma)]).collect();
        match kinds.iter_mut().find(|kind| kind.is_guided == is_guided && kind.acting == acting) {
            Some(kind) => kind.calls += 1,
            None => kinds.push(CallKind { sigma, is_guided, acting, calls: 1 }),
        }
    }
    kinds
}

/// What a denoising stage reads besides the prompts.
#[derive(Clone, Copy)]
pub struct StageInputs<'a> {
    /// The embeddings of input images.
    pub image: Option<&'a Tensor>,
    /// The latents of reference images.
    pub references: &'a [Tensor],
    /// The images of ControlNets.
    pub controls: &'a [ControlImage],
    /// The images of IP-Adapters.
    pub image_tokens: &'a [ImageTokens],
}

/// What a denoiser is given before its first prediction.
pub fn prepare_input<'a>(
    request: &Request,
    denoise: &'a Denoise,
    branches: &'a [Conditioning],
    StageInputs { image, references, controls, image_tokens }: StageInputs<'a>,
) -> PrepareInput<'a> {
    let denoiser = denoise.denoiser.network.denoiser.as_ref();
    let clip = ClipFrames::new(request, denoiser);
    let later = match clip {
        Some(clip) if clip.later > 0 => request.later_images().into_iter().map(|(frame, _)| frame).collect(),
        _ => Vec::new(),
    };
    PrepareInput {
        branches,
        sigmas: &denoise.steps.evaluated,
        guidance: request.guidance,
        latents: FrameWindows::new(request, denoiser).shape(denoiser.latents(denoise.canvas)),
        pixels: [denoise.canvas.height, denoise.canvas.width].map(|side| side as usize),
        frame_rate: request.frame_rate,
        clean: clip.map_or(0, ClipFrames::clean),
        later,
        image,
        control: ClipControl::of(request, &denoise.denoiser.network),
        references,
        controls,
        image_tokens,
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
