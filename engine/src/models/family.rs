//! What all families have in common.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{FAMILIES, adapter_marks::AdapterMark};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Layout, Part, Role},
    memory::MemoryPreferences,
    nn::{self, Tensor, bail},
    request::{ComputeDtype, LONGEST_SIDE, Request, RequestError},
    residency::{Blocks, RunError},
    sampling::Training,
    text::{Clip, Encoded, Manner, T5, TextEncoder, Tokens},
    vae::AutoencoderKl,
};

/// A family of models: how its checkpoints are recognised and opened.
pub trait Family: Sync {
    /// Identifier, such as `z_image`.
    fn id(&self) -> &'static str;

    /// Name in words.
    fn name(&self) -> &'static str;

    /// Whether the parts of a checkpoint are of this family, judged by keys and shapes.
    fn recognises(&self, checkpoint: &Checkpoint) -> bool;

    /// What tells adapters for this family from others, each with the name of the models that they are for.
    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[]
    }

    /// What other programs call the denoiser's architecture in GGUF files: the name is for files with a tensor whose
    /// name ends as the first says.
    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The name of the tiny decoder for its latents, as it is published.
    fn tiny_decoder(&self) -> Option<&'static str> {
        None
    }

    /// Finds every tensor of every component. Reads no weight.
    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError>;
}

/// A model whose files have been checked and whose weights have not been read.
pub struct Model {
    /// Its family.
    pub family: &'static dyn Family,
    /// What was opened.
    pub path: PathBuf,
    /// The folder that its parts are in.
    pub root: PathBuf,
    /// How its files are arranged.
    pub layout: Layout,
    /// What reads prompts, in the order in which a run uses it.
    pub text: Vec<TextPart>,
    /// The part that repeats.
    pub denoiser: Box<dyn Denoiser>,
    /// Where the denoiser's weights are.
    pub denoiser_component: Component,
    /// Latents to pixels.
    pub autoencoder: AutoencoderKl,
    /// Where the autoencoder's weights are.
    pub autoencoder_component: Component,
    /// What its noise levels mean.
    pub training: Training,
    /// What to start from.
    pub defaults: ModelDefaults,
}

/// What a family finds of a model in a checkpoint.
pub struct Opened {
    /// See [`Model::text`].
    pub text: Vec<TextPart>,
    /// See [`Model::denoiser`].
    pub denoiser: (Box<dyn Denoiser>, Component),
    /// See [`Model::autoencoder`].
    pub autoencoder: (AutoencoderKl, Component),
    /// See [`Model::training`].
    pub training: Training,
    /// See [`Model::defaults`].
    pub defaults: ModelDefaults,
}

impl Model {
    /// What a family found in a checkpoint.
    pub fn new(family: &'static dyn Family, checkpoint: &Checkpoint, opened: Opened) -> Self {
        let Opened { text, denoiser, autoencoder, training, defaults } = opened;
        Self {
            family,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            text,
            denoiser: denoiser.0,
            denoiser_component: denoiser.1,
            autoencoder: autoencoder.0,
            autoencoder_component: autoencoder.1,
            training,
            defaults,
        }
    }

    /// Its components, in the order in which a run uses them.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        let text = self.text.iter().map(|part| &part.component);
        text.chain([&self.denoiser_component, &self.autoencoder_component])
    }

    /// The same model with its matrices held as somebody wants them: encoded while they are read, wherever they go.
    pub fn held_as(mut self, preferences: &MemoryPreferences) -> Self {
        for part in &mut self.text {
            part.component = part.component.clone().given_as(preferences.precision(part.component.role));
        }
        let denoiser = self.denoiser_component.clone();
        self.denoiser_component = denoiser.given_as(preferences.precision(Role::Denoiser));
        self
    }

    /// Checks a request for a picture of this model.
    ///
    /// # Errors
    /// When no model can draw it, or this one cannot.
    pub fn validate(&self, request: &Request) -> Result<(), RequestError> {
        request.validate(self.denoiser.size_multiple(), self.denoiser.longest_side())?;
        if !self.training.has(request.schedule) {
            return Err(RequestError::NoSuchLevels(request.schedule));
        }
        match &request.source {
            Some(source) if self.steps(request) == 0 => {
                let (strength, steps) = (source.strength, request.steps);
                let least = (100.0 / f64::from(steps)).ceil() / 100.0;
                Err(RequestError::StrengthTakesNoStep { strength, steps, least })
            }
            _ => Ok(()),
        }
    }

    /// Steps that a request takes: with a picture to start from, the last of those that it names.
    pub fn steps(&self, request: &Request) -> usize {
        let steps = request.steps as usize;
        steps - request.source.as_ref().map_or(0, |source| self.training.skipped(steps, source.strength))
    }

    /// The number of the denoiser among the components; the text encoders stand before it.
    pub fn denoiser_index(&self) -> usize {
        self.text.len()
    }

    /// The number of the autoencoder among the components.
    pub fn autoencoder_index(&self) -> usize {
        self.text.len() + 1
    }

    /// Prompts in tokens, `longest` at most for text encoders that read no chunks. With empty chunks, all of them get
    /// as many as any of them takes in any encoder.
    pub fn tokenize(
        &self,
        prompts: &[&str],
        longest: usize,
        clip_skip: u32,
    ) -> Result<Vec<Prompt>, CheckpointError> {
        let clip_skip = if self.reads_clip_skip() { clip_skip } else { 0 };
        let mut read = Vec::new();
        for prompt in prompts {
            let parts = self.text.iter().map(|part| part.encoder.tokenize(prompt, longest));
            read.push(Prompt { parts: parts.collect::<Result<_, _>>()?, clip_skip });
        }
        let chunks = read.iter().flat_map(|prompt| &prompt.parts).map(|part| part.sequences.len());
        let most = chunks.max().unwrap_or(0);
        for prompt in &mut read {
            for (part, tokens) in self.text.iter().zip(&mut prompt.parts) {
                part.encoder.fill(tokens, most);
            }
        }
        Ok(read)
    }

    /// Whether it makes a difference which layer of its text encoders is taken.
    pub fn reads_clip_skip(&self) -> bool {
        self.text.iter().any(|part| part.encoder.manner() == Manner::Chunks)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("family", &self.family.id()).finish_non_exhaustive()
    }
}

/// Settings that suit a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelDefaults {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Guidance.
    pub guidance: f32,
    /// The 16-bit floats that cards compute it in: those that it was published for.
    pub on_cards: ComputeDtype,
}

/// A text encoder and where its weights are.
#[derive(Debug)]
pub struct TextPart {
    /// Prompt to embeddings.
    pub encoder: Box<dyn TextEncoder>,
    /// Where its weights are.
    pub component: Component,
}

impl TextPart {
    /// From what opening an encoder gives.
    pub fn new((encoder, component): (impl TextEncoder + 'static, Component)) -> Self {
        Self { encoder: Box::new(encoder), component }
    }
}

/// A prompt in tokens, and all else that decides what text encoders make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The tokens for each of the model's text encoders.
    pub parts: Vec<Tokens>,
    /// That of the request; 0 in models that do not heed it.
    pub clip_skip: u32,
}

impl Prompt {
    /// The numbers of tokens, those of all chunks together.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.iter().map(Tokens::len).collect()
    }
}

/// What the denoiser is told about one guidance branch.
#[derive(Debug, Clone)]
pub struct Conditioning {
    /// Embedded prompt `[tokens, width]`.
    pub prompt: Tensor,
    /// One row `[width]` about the whole prompt, in families that have it.
    pub pooled: Option<Tensor>,
}

/// What a run does not change from step to step.
#[derive(Debug, Clone, Copy)]
pub struct PrepareInput<'a> {
    /// One for each guidance branch.
    pub branches: &'a [Conditioning],
    /// Noise levels of all predictions.
    pub sigmas: &'a [f32],
    /// How strongly the prompt is followed.
    pub guidance: f32,
    /// Shape `[channels, height, width]` of the latents of one picture.
    pub latents: [usize; 3],
    /// Height and width of a picture, in pixels.
    pub pixels: [usize; 2],
}

/// What is computed once a run.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// One for each guidance branch.
    pub branches: Vec<Conditioning>,
    /// For each noise level what its timestep modulates the blocks with.
    pub modulations: Vec<Modulation>,
    /// For each guidance branch the keys and values `[1, tokens, width]` that blocks make of its prompt, in their
    /// order, in families whose blocks make them of the prompt alone.
    pub seen: Vec<Vec<[Tensor; 2]>>,
}

/// What a timestep modulates the blocks with.
#[derive(Debug, Clone)]
pub struct Modulation {
    /// The noise level.
    pub sigma: f32,
    /// One tensor for each modulation that a block has, in their order.
    pub tensors: Vec<Tensor>,
}

impl Prepared {
    /// The same for the prompt's branch alone, the first.
    pub fn prompt_alone(&self) -> Self {
        Self {
            branches: self.branches.iter().take(1).cloned().collect(),
            modulations: self.modulations.clone(),
            seen: self.seen.iter().take(1).cloned().collect(),
        }
    }

    /// The modulation for a noise level that was prepared.
    pub fn modulation(&self, sigma: f32) -> nn::Result<&[Tensor]> {
        let found = self.modulations.iter().find(|modulation| modulation.sigma.to_bits() == sigma.to_bits());
        match found {
            Some(modulation) => Ok(&modulation.tensors),
            None => bail!("the noise level {sigma} was not prepared"),
        }
    }
}

/// The arguments of one prediction.
#[derive(Debug)]
pub struct DenoiserInput<'a> {
    /// Noisy latents `[batch, channels, height, width]`, f32.
    pub latents: &'a Tensor,
    /// Noise level, from 1 (noise only) to 0.
    pub sigma: f32,
    /// What is joined to the latents on the axis of channels, `[batch, channels, height, width]`, f32, for networks
    /// that have [channels for it](Denoiser::channels_beside), where a part of a picture is drawn anew.
    pub beside: Option<&'a Tensor>,
}

/// The part of a model that runs once a step.
///
/// It holds the shape of the network and no weights: they come from the store, block by block.
pub trait Denoiser: Send + Sync {
    /// Width and height of pictures must be multiples of this.
    fn size_multiple(&self) -> u32;

    /// Width and height of pictures must not be above this.
    fn longest_side(&self) -> u32 {
        LONGEST_SIDE
    }

    /// Shape `[channels, height, width]` of the latents of a picture of this many pixels.
    fn latents_shape(&self, width: u32, height: u32) -> [usize; 3];

    /// Channels of its input beyond those of the latents. Networks that were trained to fill in parts of pictures have
    /// one for the mask, 1 where the picture is drawn anew, and those of the latents of the picture without these
    /// parts. Without [`DenoiserInput::beside`] they draw everything anew.
    fn channels_beside(&self) -> usize {
        0
    }

    /// How much the prompt weighs against the negative prompt, `negative + weight · (prompt − negative)`; with 1 or less
    /// the negative prompt is not needed.
    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guidance.into()
    }

    /// What it is told about a prompt, made of what the model's text encoders make of it.
    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning>;

    /// What it is told where there is no negative prompt; `empty` is made of an empty one, and is it unless the family
    /// says otherwise.
    fn without_prompt(&self, empty: Conditioning) -> nn::Result<Conditioning> {
        Ok(empty)
    }

    /// Everything that depends on the prompt alone, and what depends on the noise level for each of them: computed
    /// once a run, with blocks that are not needed again.
    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError>;

    /// The network's output `[batch, channels, height, width]` for each prepared branch. Every block of
    /// weights is leased once for all branches.
    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError>;

    /// The direction from picture to noise, f32, made of the guided output, f32.
    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor>;

    /// The outputs of a run's first prediction by their names and shapes in diffusers. Here, each picture of each
    /// branch stands alone and has an axis for frames.
    fn recorded(&self, outputs: &[Tensor]) -> nn::Result<Vec<(String, Tensor)>> {
        let mut named = Vec::new();
        for output in outputs {
            for index in 0..output.dim(0)? {
                let alone = output.get(index)?.unsqueeze(1)?;
                named.push((format!("transformer.0.out.0.{}", named.len()), alone));
            }
        }
        Ok(named)
    }
}

/// The outputs of all branches as one, that of the negative prompt first, as diffusers has them where one call serves
/// both.
pub fn negative_first(outputs: &[Tensor]) -> nn::Result<Tensor> {
    let turned: Vec<&Tensor> = outputs.iter().rev().collect();
    Tensor::cat(&turned, 0)
}

/// The part of a checkpoint for a role that `fits`; `expected` says what it would be where there is none.
pub fn part<'a>(
    checkpoint: &'a Checkpoint,
    role: Role,
    expected: &str,
    fits: impl Fn(&Part) -> bool,
) -> Result<&'a Part, CheckpointError> {
    checkpoint.candidates(role).find(|part| fits(part)).ok_or_else(|| checkpoint.missing(role, expected))
}

/// The CLIP text encoder of this width.
pub fn clip_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no CLIP text encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| Clip::width(&part.tensors) == Some(width))
}

/// The T5 encoder of this width.
pub fn t5_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no T5 encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| T5::width(&part.tensors) == Some(width))
}

/// The autoencoder whose latents have this many channels.
pub fn autoencoder_part(checkpoint: &Checkpoint, channels: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no autoencoder with {channels} channels was found");
    part(checkpoint, Role::Autoencoder, &expected, |part| {
        AutoencoderKl::latent_channels(&part.tensors) == Some(channels)
    })
}

/// Opens the model at a path. What a file does not hold and is not around it is looked for in `folders`, those that a
/// person keeps models in.
pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Model, CheckpointError> {
    let mut checkpoint = Checkpoint::open(path, folders)?;
    let Some(family) = FAMILIES.iter().find(|family| family.recognises(&checkpoint)) else {
        return Err(CheckpointError::UnknownFamily {
            path: path.to_owned(),
            kind: checkpoint.kind,
            known: FAMILIES.iter().map(|family| family.name()).collect(),
        });
    };
    loop {
        match family.open(&checkpoint) {
            Err(CheckpointError::MissingPart { role, .. }) if checkpoint.look_further(role) => {}
            opened => return opened,
        }
    }
}
