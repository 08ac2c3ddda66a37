//! What the predictions of a denoiser take.

use super::{Estimator, LISTS, PipelineError};
use crate::{
    memory::{BlockWork, Work},
    models::{
        ClipControl, ClipFrames, Conditioning, ControlImage, Denoise, DenoiserInput, EncodedMap,
        FrameWindows, ImageTokens, LatentShape, MapForm, PrepareInput, Prepared, SteeredBy, Steps, Used,
    },
    nn::{DType, Tensor},
    request::{ControlNet, Request, SourceImage},
    sampling::StepCache,
};

impl Estimator<'_> {
    /// The work of a denoiser: one prediction traced, as often as the stage takes one. The windows of a long clip can go
    /// through each block together, or through the whole network one after the other.
    pub(super) fn denoise(
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
