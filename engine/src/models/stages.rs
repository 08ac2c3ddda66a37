//! The stages of a run. Forecasts and runs use the same list.

use std::ops::Range;

use super::{Denoiser, Denoising, GivenFrames, MapForm, Model, Used};
use crate::{
    aids::{Detector, MapEstimator, Segmenter},
    interpolation::Ifnet,
    memory::StageKind,
    request::{Canvas, Interpolation, Mode, Request, SourceImage},
    sampling::{self, Guide},
    text::{ClipVision, ImagePrompter, TextEncoder, VisionTower, Writer},
    upscale::Upscaler,
    vae::Autoencoder,
};

/// A stage of a run: what it does, and with which parts of the model.
#[derive(Clone)]
pub enum Task {
    /// Converts images of the request to latents.
    EncodeImage {
        /// The autoencoder.
        autoencoder: Used<dyn Autoencoder>,
        /// The images to encode.
        images: SourceImages,
        /// The encoder that also embeds them, if the model has one.
        vision: Option<Used<ClipVision>>,
    },
    /// Converts images to tokens that a denoiser reads through IP-Adapters.
    PromptImages {
        /// One for each IP-Adapter.
        prompters: Vec<Used<ImagePrompter>>,
    },
    /// Converts prompts to the conditioning of denoisers.
    EncodePrompt {
        /// The text encoders, in the order in which they run.
        encoders: Vec<Used<dyn TextEncoder>>,
        /// The denoisers that read their outputs.
        denoisers: Vec<Used<Denoising>>,
        /// The vision tower that runs before them, if the prompts are about images.
        vision: Option<Used<dyn VisionTower>>,
    },
    /// Converts noise to latents, step by step.
    Denoise(Denoise),
    /// Converts latents to an image.
    Decode {
        /// The autoencoder.
        autoencoder: Used<dyn Autoencoder>,
    },
    /// Enlarges the images that were decoded, between two passes.
    Enlarge {
        /// The upscaler.
        upscaler: Used<dyn Upscaler>,
        /// Width and height before and after.
        sizes: [[u32; 2]; 2],
    },
    /// Converts enlarged images to latents for the next pass.
    EncodeEnlarged {
        /// The autoencoder.
        autoencoder: Used<dyn Autoencoder>,
    },
    /// Makes maps of images for ControlNets, or of the frames of a control clip, all of one kind.
    MakeMaps {
        /// What makes them.
        estimator: Used<dyn MapEstimator>,
        /// Width and height of each.
        sizes: Vec<[u32; 2]>,
    },
    /// Makes a mask of a part of an image.
    Segment {
        /// The segmenter.
        segmenter: Used<Segmenter>,
    },
    /// Finds things in the images that were made. The stages after it, up to the next of its kind, inpaint each of them.
    Detect {
        /// The detector.
        detector: Used<Detector>,
        /// The number of the detailer in the request.
        detailer: usize,
    },
    /// Writes a better prompt, or what images show.
    Write {
        /// The language model.
        writer: Used<Writer>,
        /// The vision tower that sees the images for it.
        vision: Option<Used<dyn VisionTower>>,
    },
    /// Enlarges an image or the frames of a clip.
    Upscale {
        /// The upscaler.
        upscaler: Used<dyn Upscaler>,
    },
    /// Makes the frames between those of a clip: the one that was generated, or one in a file.
    Interpolate {
        /// The network.
        interpolator: Used<Ifnet>,
        /// How many frames, and which.
        how: Interpolation,
    },
}

/// The images of a request that are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceImages {
    /// The input image.
    pub whole: bool,
    /// The input image without the masked area.
    pub masked: bool,
    /// The frames of a clip.
    pub clip: Option<ClipFrames>,
    /// The number of reference images, in models that read them in their own sizes.
    pub references: usize,
    /// Whether ControlNets read their maps as latents.
    pub maps: bool,
}

/// The frames of a clip that are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClipFrames {
    /// Their number, with gray ones.
    pub count: usize,
    /// How many of the first ones are given; the others are gray. 0 if all are only the start.
    pub given: usize,
    /// Whether the last one is given as well.
    pub last: bool,
    /// Latent frames of those that are given, at the beginning.
    pub latents: usize,
    /// Images at later frames, in models that read each as a latent frame before the clip.
    pub later: usize,
    /// How the network sees them.
    pub shown: GivenFrames,
    /// Images of what appears, in models for control.
    pub references: usize,
}

impl ClipFrames {
    /// What a request for a clip encodes for a network; `None` without images and clips.
    pub fn new(request: &Request, denoiser: &dyn Denoiser) -> Option<Self> {
        let (shown, all) = (denoiser.given_frames(), request.frames as usize);
        let given = match request.mode() {
            Mode::Text | Mode::Control if shown == GivenFrames::Controlling => 0,
            Mode::Text | Mode::Control | Mode::ImageToImage => return None,
            Mode::ImageToVideo | Mode::FirstAndLast => 1,
            Mode::Keyframes => usize::from(request.source.is_some()),
            Mode::VideoToVideo => 0,
            Mode::Extend => overlap(denoiser) as usize,
        };
        let is_whole = matches!(shown, GivenFrames::Beside | GivenFrames::Controlling);
        let is_start = request.mode() == Mode::VideoToVideo;
        let count = if is_start || is_whole { all } else { given };
        let latents = given.div_ceil(denoiser.frame_multiple() as usize);
        let later = if shown == GivenFrames::Renoised { request.later_images().len() } else { 0 };
        let (last, references) = (request.mode() == Mode::FirstAndLast, request.references.len());
        Some(Self { count, given, last, latents, later, shown, references })
    }

    /// Whether the network reads it in channels of its own.
    pub fn is_beside(self) -> bool {
        match self.shown {
            GivenFrames::Beside => self.given > 0,
            GivenFrames::Controlling => true,
            GivenFrames::Noised | GivenFrames::Clean | GivenFrames::Renoised => false,
        }
    }

    /// How often its frames are encoded: those of controlled clips once for the pixels that stay and once for the others.
    fn times(self) -> usize {
        if self.shown == GivenFrames::Controlling { 2 } else { 1 }
    }

    /// The first latent frames that the network sees without noise.
    pub fn clean(self) -> usize {
        if matches!(self.shown, GivenFrames::Clean | GivenFrames::Renoised) {
            self.later + self.latents
        } else {
            0
        }
    }

    /// Latent frames before those of the clip: of reference images and of images at later frames.
    pub fn before(self) -> usize {
        self.references + self.later
    }

    /// Whether some frames stay as they are given.
    pub fn keeps_frames(self) -> bool {
        self.given + self.later > 0
    }
}

/// The last frames of a clip from which its extension goes on: two latent frames.
pub(super) fn overlap(denoiser: &dyn Denoiser) -> u32 {
    1 + denoiser.frame_multiple()
}

impl SourceImages {
    /// Number of images and clips, without references.
    pub fn count(self) -> usize {
        usize::from(self.whole) + usize::from(self.masked) + self.clip.map_or(0, ClipFrames::times)
    }

    fn are_any(self) -> bool {
        self.count() + self.references > 0 || self.maps
    }

    /// Whether there are none but the maps of ControlNets.
    fn are_only_maps(self) -> bool {
        self.count() + self.references == 0 && self.maps
    }
}

/// A stage that denoises.
#[derive(Clone)]
pub struct Denoise {
    /// The network.
    pub denoiser: Used<Denoising>,
    /// The stage's name.
    pub name: &'static str,
    /// The size of what it denoises.
    pub canvas: Canvas,
    /// Its first latents.
    pub start: Start,
    /// Its steps.
    pub steps: Steps,
    /// The index of the stage whose latents the network also reads, in a cascade.
    pub sees: Option<usize>,
}

/// A map that a ControlNet reads as latents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedMap {
    /// The number of the ControlNet.
    pub net: usize,
    /// Width and height.
    pub size: [u32; 2],
    /// How it is read.
    pub form: MapForm,
    /// Whether an image is followed; without one, only the input image is seen.
    pub is_followed: bool,
    /// Whether the input image without its masked part is encoded beside it.
    pub sees_input: bool,
}

impl EncodedMap {
    /// How many images are encoded for it.
    pub fn images(&self) -> usize {
        usize::from(self.is_followed) + usize::from(self.sees_input)
    }
}

impl Denoise {
    /// The maps that ControlNets read as latents in this stage.
    pub fn encoded_maps(&self, request: &Request) -> impl Iterator<Item = EncodedMap> + use<> {
        let size = [self.canvas.width, self.canvas.height];
        let is_masked = request.source.as_ref().is_some_and(SourceImage::is_inpainted);
        let nets = self.denoiser.network.denoiser.control_nets().unwrap_or_default();
        let takes_input: Vec<bool> =
            request.control_nets.iter().map(|net| net.preprocessor.takes_input()).collect();
        let nets = nets.into_iter().zip(takes_input).enumerate();
        nets.filter(|(_, (about, _))| about.reads.is_encoded()).map(move |(net, (about, takes_input))| {
            let (form, has_beside) = (about.reads, about.reads == MapForm::LatentsAndInput);
            let (is_followed, sees_input) = (!(has_beside && takes_input), has_beside && is_masked);
            EncodedMap { net, size, form, is_followed, sees_input }
        })
    }
}

/// The first latents of a denoising stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Noise; with an input image, the noised image.
    Noise,
    /// The latents of the previous denoising stage. The sampler starts over.
    Latents,
    /// The latents of the previous denoising stage. The sampler keeps its history.
    SameWalk,
    /// What the previous denoising stage made, enlarged, with new noise.
    Enlarged,
    /// A box in each image that was made, with new noise. The stage is repeated for each box.
    Box,
}

/// The steps of a denoising stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The number of steps in earlier stages.
    pub first: usize,
    /// The sigma of each step, and the last step's final sigma.
    pub sigmas: Vec<f32>,
    /// The sigmas of the network's calls, in order.
    pub called: Vec<f32>,
    /// The same, without calls at the sigma of the call before.
    pub evaluated: Vec<f32>,
    /// Guidance in these steps.
    pub guide: Guide,
}

impl Task {
    /// The kind of stage.
    pub fn kind(&self) -> StageKind {
        match self {
            Self::EncodeImage { .. } | Self::EncodeEnlarged { .. } | Self::PromptImages { .. } => {
                StageKind::EncodeImage
            }
            Self::EncodePrompt { .. } => StageKind::EncodePrompt,
            Self::Denoise(_) => StageKind::Denoise,
            Self::Decode { .. } => StageKind::Decode,
            Self::Enlarge { .. } | Self::Upscale { .. } => StageKind::Upscale,
            Self::Interpolate { .. } => StageKind::Interpolate,
            Self::MakeMaps { .. } | Self::Segment { .. } => StageKind::Preprocess,
            Self::Detect { .. } => StageKind::Detect,
            Self::Write { .. } => StageKind::Write,
        }
    }

    /// The stage's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Denoise(denoise) => denoise.name,
            Self::EncodeImage { images, .. } if images.are_only_maps() => "Encode control image",
            Self::PromptImages { .. } => "Encode image prompt",
            Self::EncodeEnlarged { .. } => "Encode enlarged image",
            other => other.kind().name(),
        }
    }

    /// The denoising stage, if this is one.
    pub fn denoise(&self) -> Option<&Denoise> {
        match self {
            Self::Denoise(denoise) => Some(denoise),
            _ => None,
        }
    }
}

impl Steps {
    /// All steps of a request with a denoiser.
    pub fn new(denoising: &Denoising, request: &Request) -> Self {
        let side = denoising.denoiser.token_side();
        let of_frame = (request.width / side) as usize * (request.height / side) as usize;
        let tokens = of_frame * denoising.denoiser.latents(request.canvas()).frames;
        let training = denoising.training.shifted(request.shift);
        let mut sigmas = training.sigmas(request.schedule, request.steps as usize, tokens);
        // Schedules can have fewer levels than steps.
        let most = sigmas.len().saturating_sub(2);
        sigmas.drain(..(request.steps as usize - denoising.steps(request)).min(most));
        let guide = Guide::new(denoising.denoiser.guidance_weight(request), &request.guiding, &sigmas)
            .keeping_norms(denoising.denoiser.guidance_keeps_norms());
        Self::of(denoising, request, sigmas, guide, 0)
    }

    fn of(denoising: &Denoising, request: &Request, sigmas: Vec<f32>, guide: Guide, first: usize) -> Self {
        let (sampler, mixing) = (request.sampler, denoising.training.mixing());
        Self {
            first,
            called: sampling::called(sampler, mixing, &sigmas),
            evaluated: sampling::evaluated(sampler, mixing, &sigmas),
            sigmas,
            guide,
        }
    }

    /// The number of steps.
    pub fn count(&self) -> usize {
        self.sigmas.len().saturating_sub(1)
    }

    /// The steps that start from timesteps in a range, sampled separately; `None` if there are none.
    pub fn within(&self, denoising: &Denoising, request: &Request, timesteps: Range<f32>) -> Option<Self> {
        let begins = &self.sigmas[..self.count()];
        let below = |limit: f32| begins.partition_point(|sigma| denoising.training.timestep(*sigma) >= limit);
        let (from, to) = (below(timesteps.end), below(timesteps.start));
        let sigmas = self.sigmas.get(from..=to)?.to_vec();
        (from < to).then(|| Self::of(denoising, request, sigmas, self.guide.clone(), self.first + from))
    }

    /// Splits the steps at a timestep into two stages between which the sampler keeps its history. A call at
    /// exactly this timestep belongs to the first stage.
    pub fn handed_over(&self, denoising: &Denoising, timestep: f32) -> [Self; 2] {
        let before =
            |levels: &[f32]| levels.partition_point(|sigma| denoising.training.timestep(*sigma) >= timestep);
        let step = before(&self.sigmas[..self.count()]);
        let (called, evaluated) = (before(&self.called), before(&self.evaluated));
        let part = |first, sigmas: Range<usize>, called: &[f32], evaluated: &[f32]| Self {
            first,
            sigmas: self.sigmas[sigmas].to_vec(),
            called: called.to_vec(),
            evaluated: evaluated.to_vec(),
            guide: self.guide.clone(),
        };
        [
            part(self.first, 0..step + 1, &self.called[..called], &self.evaluated[..evaluated]),
            part(
                self.first + step,
                step..self.sigmas.len(),
                &self.called[called..],
                &self.evaluated[evaluated..],
            ),
        ]
    }

    /// Whether any call has all guidance branches.
    pub fn is_guided(&self) -> bool {
        self.called.iter().any(|&sigma| self.guide.is_guided(sigma))
    }
}

/// The stages of most families: encode images and prompts, denoise with one network, decode.
pub fn usual(model: &Model, request: &Request) -> Vec<Task> {
    let denoise = |denoiser: Used<Denoising>| {
        let steps = Steps::new(&denoiser.network, request);
        let (name, canvas) = (StageKind::Denoise.name(), request.canvas());
        Denoise { denoiser, name, canvas, start: Start::Noise, steps, sees: None }
    };
    around(model, request, model.denoisers().take(1).map(denoise).collect())
}

/// Denoising stages, with the encoding and decoding stages around them.
pub fn around(model: &Model, request: &Request, denoises: Vec<Denoise>) -> Vec<Task> {
    let mut tasks = Vec::new();
    let images = denoises.first().map(|first| source_images(request, &first.denoiser.network));
    let is_beside = model.vision_tower().is_some_and(|tower| tower.network.is_beside());
    let maps = denoises.iter().any(|denoise| denoise.encoded_maps(request).next().is_some());
    let images = images.map(|images| match is_beside {
        true => SourceImages { references: 0, maps, ..images },
        false => SourceImages { maps, ..images },
    });
    if let (Some(images), Some(autoencoder)) = (images, model.autoencoders().next())
        && images.are_any()
    {
        let vision = model.image_encoder().filter(|_| images.clip.is_some());
        tasks.push(Task::EncodeImage { autoencoder, images, vision });
    }
    let mut denoisers: Vec<Used<Denoising>> = Vec::new();
    for denoise in &denoises {
        if denoisers.iter().all(|known| known.part != denoise.denoiser.part) {
            denoisers.push(denoise.denoiser.clone());
        }
    }
    let read = |part: usize| denoisers.iter().any(|denoiser| denoiser.network.reads.contains(&part));
    let encoders = model.text_encoders().filter(|encoder| read(encoder.part)).collect();
    let vision = model.vision_tower().filter(|_| !request.references.is_empty());
    tasks.push(Task::EncodePrompt { encoders, denoisers, vision });
    tasks.extend(denoises.into_iter().map(Task::Denoise));
    tasks.extend(model.autoencoders().take(1).map(|autoencoder| Task::Decode { autoencoder }));
    tasks
}

/// The images that a request needs as latents. A network that reads the masked image as extra channels needs
/// the whole image only as the start.
fn source_images(request: &Request, denoising: &Denoising) -> SourceImages {
    let clip = ClipFrames::new(request, denoising.denoiser.as_ref());
    let references = if clip.is_some() { 0 } else { request.references.len() };
    let none = SourceImages { whole: false, masked: false, clip: None, references, maps: false };
    let Some(source) = request.source.as_ref().filter(|_| clip.is_none()) else {
        return SourceImages { clip, ..none };
    };
    let inpaints = source.mask.is_some() && denoising.denoiser.channels_beside() > 0;
    SourceImages { whole: !inpaints || source.strength < 1.0, masked: inpaints, ..none }
}
