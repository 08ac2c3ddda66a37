//! What a request comes to with a model: the forecast and the run both follow it.

use std::{collections::BTreeMap, ops::Range};

use super::{PipelineError, Target};
use crate::{
    checkpoint::FileStamp,
    memory::Stage,
    models::{
        ClipFrames, Conditioning, Denoise, Denoising, EncodedMap, LatentShape, Model, Prompt, SeenImage,
        Start, Task, Used,
    },
    nn,
    request::{ComputeDtype, Describe, ReferenceSizes, Request, RequestError},
    source::{GivenMedia, size_of},
    text::{Encoded, VisionTower},
};

/// A request with everything decided that decides what is computed.
pub struct Resolved {
    /// The request, with the dtype that it is computed in.
    pub request: Request,
    /// What it is computed in.
    pub dtype: ComputeDtype,
    /// A prompt for each branch of a prediction, in tokens: the prompt, those of regions, and the negative one.
    pub prompts: Vec<Prompt>,
    /// What is done, stage by stage.
    pub stages: Vec<Task>,
    /// Width and height in which the reference images are read, in models that read them in their own sizes.
    pub references: Vec<[u32; 2]>,
    /// What is enlarged, gets more frames or becomes maps, if anything does.
    pub changed: Option<GivenMedia>,
    /// Width and height of the images that are made, before anything is found in them.
    pub made: [u32; 2],
    /// For each detailer, what inpaints its boxes, with the same list of stages.
    pub boxes: Vec<Resolved>,
    /// The side of tiles in latents, where somebody has chosen it; an upscaler's has eight pixels for each.
    pub tile: Option<u32>,
}

/// Decides what a request comes to with a model on a device. Named adapters must have been
/// [looked up](super::spelled_out) before.
///
/// # Errors
/// When the model cannot do what is asked for, a prompt cannot be tokenized, or a reference image, that of a ControlNet or an
/// image prompt cannot be read.
pub fn resolve(model: &Model, request: &Request, target: &Target) -> Result<Resolved, PipelineError> {
    Resolved::new(model, request, target.dtype(model, request.dtype))
}

impl Resolved {
    /// The same for a known dtype.
    ///
    /// # Errors
    /// As [`resolve`].
    pub fn new(model: &Model, request: &Request, dtype: ComputeDtype) -> Result<Self, PipelineError> {
        let mapped = request.map_of.as_ref().map(|map| &map.image);
        let changed = request.changes_file().or(mapped).map(|path| GivenMedia::open(path)).transpose()?;
        if request.interpolate.is_some() && changed.as_ref().is_some_and(|given| given.clip.is_none()) {
            return Err(RequestError::InterpolatesImage.into());
        }
        let request = &changed.as_ref().map_or_else(|| request.clone(), |given| given.sized(request));
        let request = &match &request.mask_of {
            Some(mask) => {
                let [width, height] = size_of(&mask.image)?;
                Request { width, height, frames: 1, batch: 1, ..request.clone() }
            }
            None => request.clone(),
        };
        let request = &match &request.detail_of {
            Some(_) => Request { source: None, ..request.clone() },
            None => request.clone(),
        };
        model.validate(request)?;
        let stages = model.stages(request);
        let whole = Self::of_stages(model, request, dtype, stages, None)?;
        let boxes = request.detailers.iter().enumerate().map(|(number, detailer)| {
            Self::of_stages(model, &request.of_box(detailer), dtype, whole.stages.clone(), Some(number))
        });
        let boxes = boxes.collect::<Result<Vec<_>, _>>()?;
        let made = match (&request.detail_of, &request.source) {
            (Some(path), _) => size_of(path)?,
            (None, Some(source)) if source.mask.as_ref().is_some_and(|mask| mask.only_masked.is_some()) => {
                size_of(&source.path)?
            }
            _ => whole.enlarged_size().unwrap_or([request.width, request.height]),
        };
        Ok(Self { changed, made, boxes, ..whole })
    }

    /// The same of a list of stages: of those that make the images, or of those of a detailer.
    fn of_stages(
        model: &Model,
        request: &Request,
        dtype: ComputeDtype,
        stages: Vec<Task>,
        detailer: Option<usize>,
    ) -> Result<Self, PipelineError> {
        let own = &stages[range_of(&stages, detailer)];
        let mut prompts: Vec<&str> = request.positive_prompts().collect();
        let positive = prompts.len();
        if denoises(own).any(|(_, denoise)| denoise.steps.is_guided()) {
            prompts.push(&request.negative_prompt);
        }
        let (references, seen) = reference_sizes(model, request)?;
        // What cannot be read is said before anything is computed.
        let followed = request.control_nets.iter().filter(|net| !net.preprocessor.takes_input());
        let followed = followed.map(|net| &net.image);
        let read = request.image_prompts.iter().flat_map(|prompt| &prompt.images);
        let masks = request.regions.all.iter().filter_map(|region| region.area.mask());
        followed.chain(read).chain(masks).try_for_each(|image| size_of(image).map(|_| ()))?;
        let longest = request.max_sequence_length as usize;
        let mut prompts = model.tokenize_seeing(&prompts, longest, request.clip_skip, &seen)?;
        if model.vision_tower().is_some_and(|tower| tower.network.is_beside()) {
            // The negative prompt is about no images.
            prompts.iter_mut().skip(positive).for_each(|prompt| prompt.images.clear());
        }
        let request = Request { dtype: Some(dtype), ..request.clone() };
        let made = [request.width, request.height];
        let (changed, boxes, tile) = (None, Vec::new(), None);
        Ok(Self { request, dtype, prompts, stages, references, changed, made, boxes, tile })
    }

    /// The same with tiles of this side, in latents, or with the planner's own choice.
    pub fn with_tile(self, tile: Option<u32>) -> Self {
        let boxes = self.boxes.into_iter().map(|boxes| boxes.with_tile(tile)).collect();
        Self { tile, boxes, ..self }
    }

    /// The stages that make the images, before the first detailer, or those of a detailer after the one that finds.
    pub fn range(&self, detailer: Option<usize>) -> Range<usize> {
        range_of(&self.stages, detailer)
    }

    /// Whether it makes images of noise, and does not only change those that there are.
    pub fn generates(&self) -> bool {
        denoises(&self.stages[self.range(None)]).next().is_some()
    }

    /// How often a stage that denoises is repeated, as far as that is known: one box is expected in each image.
    fn repeats(&self, denoise: &Denoise) -> usize {
        if denoise.start == Start::Box { self.request.batch as usize } else { 1 }
    }

    /// The stages that denoise, with their numbers.
    pub fn denoises(&self) -> impl Iterator<Item = (usize, &Denoise)> {
        denoises(&self.stages)
    }

    /// How many of the prompts describe what is seen. They come before the negative one.
    pub fn positive_prompts(&self) -> usize {
        1 + self.request.regions.all.len()
    }

    /// For each prompt what there is beside it: what is beside the prompt of the image also for those of its regions.
    pub fn for_each_prompt<T: Clone>(&self, beside: &[T]) -> Vec<T> {
        let positive =
            beside.iter().take(1).flat_map(|own| std::iter::repeat_n(own, self.positive_prompts()));
        positive.chain(beside.iter().skip(1)).cloned().collect()
    }

    /// Whether any predictions have a branch for the negative prompt.
    pub fn is_guided(&self) -> bool {
        self.prompts.len() > self.positive_prompts() || self.boxes.iter().any(Self::is_guided)
    }

    /// The maps that ControlNets read as latents, each once in each size that is denoised.
    pub fn encoded_maps(&self) -> Vec<EncodedMap> {
        let mut maps = Vec::new();
        for map in self.denoises().flat_map(|(_, denoise)| denoise.encoded_maps(&self.request)) {
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
        maps
    }

    /// The steps of all stages together.
    pub fn steps(&self) -> usize {
        self.denoises().map(|(_, denoise)| self.repeats(denoise) * denoise.steps.count()).sum()
    }

    /// How a stage is reported.
    pub fn stage(&self, number: usize) -> Option<Stage> {
        let task = self.stages.get(number)?;
        Some(Stage { number, kind: task.kind(), name: task.name().to_owned() })
    }

    /// The shape of the latents that a stage works on: those of the denoising stage before it, or at the beginning those
    /// of the first.
    pub fn latents(&self, stage: usize) -> Option<LatentShape> {
        let before = self.denoises().take_while(|(number, _)| *number <= stage).last();
        let (_, denoise) = before.or_else(|| self.denoises().next())?;
        Some(denoise.denoiser.network.denoiser.latents(denoise.canvas))
    }

    /// The shape of the latents of the first denoising stage after a stage.
    pub fn next_latents(&self, stage: usize) -> Option<LatentShape> {
        let (_, denoise) = self.denoises().find(|(number, _)| *number >= stage)?;
        Some(denoise.denoiser.network.denoiser.latents(denoise.canvas))
    }

    /// For each step of the run, how much there is to denoise in it: the values of its latents.
    pub fn work_of_steps(&self) -> Vec<f64> {
        let of_stage = |(_, denoise): (usize, &Denoise)| {
            let shape = denoise.denoiser.network.denoiser.latents(denoise.canvas);
            let values = shape.dims(1).iter().product::<usize>();
            vec![values as f64; self.repeats(denoise) * denoise.steps.count()]
        };
        self.denoises().flat_map(of_stage).collect()
    }

    /// The same of the clip that is shown, without the latent frames before it.
    pub fn shown_latents(&self, stage: usize) -> Option<LatentShape> {
        let shape = self.latents(stage)?;
        Some(LatentShape { frames: shape.frames - self.frames_before(), ..shape })
    }

    /// The latent frames of images, which come before those of the clip.
    pub fn frames_before(&self) -> usize {
        self.clip().map_or(0, ClipFrames::before)
    }

    /// The frames of a clip that are encoded.
    pub fn clip(&self) -> Option<ClipFrames> {
        self.stages.iter().find_map(|task| match task {
            Task::EncodeImage { images, .. } => images.clip,
            _ => None,
        })
    }

    /// Width and height of the second pass, if there is one.
    pub fn enlarged_size(&self) -> Option<[u32; 2]> {
        let again = self.denoises().find(|(_, denoise)| denoise.start == Start::Enlarged);
        again.map(|(_, Denoise { canvas, .. })| [canvas.width, canvas.height])
    }

    /// Whether a stage after this one denoises with a part, before something is found.
    pub fn denoises_after(&self, stage: usize, part: usize) -> bool {
        let later =
            self.stages.iter().skip(stage + 1).take_while(|task| !matches!(task, Task::Detect { .. }));
        later.filter_map(Task::denoise).any(|denoise| denoise.denoiser.part == part)
    }

    /// Whether a later stage sees the latents that this one ends with.
    pub fn is_seen_later(&self, stage: usize) -> bool {
        self.denoises().any(|(number, denoise)| number > stage && denoise.sees == Some(stage))
    }
}

/// Width and height in which a model reads each reference image of a request, or each that it describes, and what its text
/// encoder or language model sees of it.
fn reference_sizes(
    model: &Model,
    request: &Request,
) -> Result<(Vec<[u32; 2]>, Vec<SeenImage>), PipelineError> {
    let (mut sizes, mut seen) = (Vec::new(), Vec::new());
    if let (Some(describe), Some(tower)) = (&request.describe, model.vision_tower()) {
        for path in &describe.images {
            let own = size_of(path)?;
            Describe::check_size(own)?;
            let size = tower.network.size_within(own, describe.pixels.into());
            sizes.push(size.read);
            seen.push(SeenImage { file: FileStamp::of(path), size, strength: 1.0 });
        }
        return Ok((sizes, seen));
    }
    let (Some(takes), tower) = (model.references(), model.vision_tower()) else {
        return Ok((sizes, seen));
    };
    for (index, path) in request.references.iter().enumerate() {
        let own = size_of(path)?;
        let size = takes.size(own, request.reference_side);
        if size.is_none() && takes.sizes != ReferenceSizes::Seen {
            continue;
        }
        sizes.extend(size);
        let image = |tower: &Used<dyn VisionTower>| SeenImage {
            file: FileStamp::of(path),
            size: tower.network.size(own, size.unwrap_or(own)),
            strength: request.redux.as_ref().map_or(1.0, |redux| redux.strength(index)),
        };
        seen.extend(tower.as_ref().map(image));
    }
    Ok((sizes, seen))
}

/// The stages before the first detailer, or those of a detailer after the one that finds.
fn range_of(stages: &[Task], detailer: Option<usize>) -> Range<usize> {
    let is_detector = |task: &Task| matches!(task, Task::Detect { .. });
    let is_own =
        |task: &Task| matches!(task, Task::Detect { detailer: number, .. } if Some(*number) == detailer);
    let start = match detailer {
        None => 0,
        Some(_) => stages.iter().position(is_own).map_or(stages.len(), |place| place + 1),
    };
    let end = stages[start..].iter().position(is_detector).map_or(stages.len(), |place| start + place);
    start..end
}

fn denoises(stages: &[Task]) -> impl Iterator<Item = (usize, &Denoise)> {
    stages.iter().enumerate().filter_map(|(number, task)| Some((number, task.denoise()?)))
}

/// For each prompt, the states of the text encoder that ran last; none before the first.
pub fn last_states(encoded: &[BTreeMap<usize, Encoded>]) -> Vec<nn::Tensor> {
    let last = encoded.iter().filter_map(BTreeMap::last_key_value);
    last.map(|(_, encoded)| encoded.states.clone()).collect()
}

/// What a denoiser is conditioned on, from the results of text encoders by their parts. Results that no denoiser after
/// it reads are taken out. `seen` are the tokens `[rows, columns, width]` of the images that the prompt is about, where the
/// denoiser reads those beside the prompt.
pub fn conditioning(
    denoiser: &Used<Denoising>,
    after: &[Used<Denoising>],
    encoded: &mut BTreeMap<usize, Encoded>,
    (prompt, seen): (&Prompt, &[nn::Tensor]),
) -> nn::Result<Conditioning> {
    let reads = denoiser.network.reads.iter();
    let read = reads.filter_map(|part| {
        let again = after.iter().any(|other| other.network.reads.contains(part));
        if again { encoded.get(part).cloned() } else { encoded.remove(part) }
    });
    let read = read.collect();
    let conditioning = denoiser.network.denoiser.conditioning(read)?;
    if seen.is_empty() || prompt.images.is_empty() {
        return Ok(conditioning);
    }
    let image = |(tokens, image): (&nn::Tensor, &SeenImage)| {
        let (rows, columns, width) = tokens.dims3()?;
        Ok((tokens.reshape((rows * columns, width))?, image.strength))
    };
    let images: Vec<_> = seen.iter().zip(&prompt.images).map(image).collect::<nn::Result<_>>()?;
    denoiser.network.denoiser.with_images(conditioning, &images)
}
