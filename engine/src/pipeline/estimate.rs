//! What a request asks of a model, in the calculator's terms.

mod autoencoder;
mod boxes;
mod denoise;
mod image_prompts;
mod tools;

use std::collections::BTreeMap;

use super::{
    PipelineError,
    footprint::dtype_of,
    resolve::{Resolved, conditioning, last_states},
};
use crate::{
    memory::{PartUse, StageWork, Work, Workload},
    models::{Conditioning, Denoising, Model, Task, Used},
    nn::{DType, Tensor, Trace},
    request::Request,
    residency::TracedBlocks,
    text::{self, ClipVision, Given, TextEncoder, Tokens, VisionTower},
};

pub use denoise::{StageInputs, prepare_input};
pub use tools::prompt_of;

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
            let clip_skip = prompts[0].clip_skip;
            let given = Given { clip_skip, images: seen, states: &last_states(&encoded) };
            let fresh = text::encode(network.as_ref(), blocks.blocks(), &tokens, given)?;
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
}

/// The number of images that are embedded.
fn vision_images(request: &Request) -> usize {
    1 + usize::from(request.last_image.is_some())
}
