//! The interface of all denoisers.

use std::sync::Arc;

use super::ClipControl;
use crate::{
    checkpoint::{CheckpointError, Component, Part},
    nn::{self, Rope, Tensor, bail},
    request::{Canvas, ControlMode, LONGEST_SIDE, Mode, References, Request},
    residency::{Blocks, RunError},
    sampling::KeptNorms,
    text::Encoded,
};

/// Shape of the latents of one image or clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatentShape {
    /// Number of channels.
    pub channels: usize,
    /// Latent frames: 1 for images.
    pub frames: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl LatentShape {
    /// The shape of an image.
    pub fn image(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, frames: 1, height, width }
    }

    /// This shape with another number of channels.
    pub fn with_channels(self, channels: usize) -> Self {
        Self { channels, ..self }
    }

    /// Dimensions of a batch: `[batch, channels, height, width]`, or `[batch, channels, frames, height,
    /// width]` for clips.
    pub fn dims(self, batch: usize) -> Vec<usize> {
        let Self { channels, frames, height, width } = self;
        if frames == 1 {
            vec![batch, channels, height, width]
        } else {
            vec![batch, channels, frames, height, width]
        }
    }
}

/// The conditioning of a denoiser in one guidance branch.
#[derive(Debug, Clone)]
pub struct Conditioning {
    /// Embedded prompt `[tokens, width]`.
    pub prompt: Tensor,
    /// One row `[width]` for the whole prompt, in families that use a pooled prompt.
    pub pooled: Option<Tensor>,
    /// For each reference image, the number of the prompt's tokens before it, in families that read it among them.
    pub images: Vec<usize>,
    /// Whether the image does not see the prompt, in families that are trained without one in this way.
    pub is_hidden: bool,
}

impl Conditioning {
    /// A prompt alone.
    pub fn new(prompt: Tensor) -> Self {
        Self { prompt, pooled: None, images: Vec::new(), is_hidden: false }
    }
}

/// The inputs that are the same in all predictions of a stage.
#[derive(Debug, Clone)]
pub struct PrepareInput<'a> {
    /// One per guidance branch.
    pub branches: &'a [Conditioning],
    /// Sigmas of all predictions.
    pub sigmas: &'a [f32],
    /// Guidance scale.
    pub guidance: f32,
    /// Shape of the latents of one image or clip.
    pub latents: LatentShape,
    /// Height and width in pixels.
    pub pixels: [usize; 2],
    /// Frames per second of a clip.
    pub frame_rate: f32,
    /// The first latent frames that are given and seen without noise.
    pub clean: usize,
    /// The frames of images at later frames, in models that read them as latent frames before the clip.
    pub later: Vec<u32>,
    /// The embeddings of input images `[tokens, width]`, in families that read them.
    pub image: Option<&'a Tensor>,
    /// How a clip is controlled, in models for that.
    pub control: ClipControl,
    /// The latents of reference images `[1, channels, height, width]`, f32, in families that read them as tokens.
    pub references: &'a [Tensor],
    /// The image of each ControlNet.
    pub controls: &'a [ControlImage],
    /// The images of each IP-Adapter.
    pub image_tokens: &'a [ImageTokens],
}

/// Images that a network reads through an IP-Adapter.
#[derive(Debug, Clone)]
pub struct ImageTokens {
    /// The tokens `[tokens, width]` of each guidance branch.
    pub branches: Vec<Tensor>,
    /// How strongly they count.
    pub weight: f32,
    /// The noise levels at which they are read, from above the first up to the second.
    pub levels: [f32; 2],
}

/// In which form a ControlNet reads its map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MapForm {
    /// Pixels `[1, 3, height, width]` in 0…1, and −1 where a masked part is missing.
    #[default]
    Pixels,
    /// The same, and 0 where a masked part is missing.
    PixelsWithBlack,
    /// One value for each pixel, `[1, 1, height, width]` in 0…1.
    GrayPixels,
    /// Latents `[1, channels, height, width]`.
    Latents,
    /// The same without the shift of their scale.
    UnshiftedLatents,
    /// Latents of pixels in 0.5…128, as Stability's ControlNet for Canny edges was trained.
    WideLatents,
    /// Latents of the inverted map.
    InvertedLatents,
    /// Latents with one more channel, 1 where they are given and 0 where a masked part is missing.
    LatentsAndMask,
    /// Latents, then such a channel for the input image, and the latents of that without its masked part: gray. Zeros if no part
    /// is masked, and instead of the first ones if nothing but the input image is followed.
    LatentsAndInput,
}

impl MapForm {
    /// Whether an autoencoder encodes the map.
    pub fn is_encoded(self) -> bool {
        !matches!(self, Self::Pixels | Self::PixelsWithBlack | Self::GrayPixels)
    }

    /// The channels of a map that is encoded, of those of latents.
    pub fn channels(self, latents: usize) -> usize {
        match self {
            Self::LatentsAndMask => latents + 1,
            Self::LatentsAndInput => 2 * latents + 1,
            _ => latents,
        }
    }
}

/// What has to be known of a ControlNet to use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SteeredBy {
    /// How it reads its map.
    pub reads: MapForm,
    /// The kinds of maps that it has to be told apart; empty if it follows only one kind.
    pub modes: &'static [ControlMode],
}

/// What a ControlNet follows.
#[derive(Debug, Clone)]
pub struct ControlImage {
    /// The map, f32, as [`SteeredBy::reads`] says.
    pub image: Tensor,
    /// The kind of the map, if that is known.
    pub mode: Option<ControlMode>,
    /// How strongly the ControlNet counts.
    pub weight: f32,
    /// The noise levels at which it acts, from above the first up to the second.
    pub levels: [f32; 2],
}

/// What is computed once per stage.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// One per guidance branch.
    pub branches: Vec<Conditioning>,
    /// For each sigma, the modulation of the blocks by its timestep.
    pub modulations: Vec<Modulation>,
    /// For each guidance branch, the keys and values `[1, tokens, width]` or `[1, tokens, heads, head width]` that
    /// blocks compute from its prompt, in the order of the blocks. Empty in families whose blocks do not compute them
    /// from the prompt alone.
    pub seen: Vec<Vec<[Tensor; 2]>>,
    /// Rotary embeddings, in families where they depend on more than the shape of the latents.
    pub rope: Option<Rope>,
    /// The tokens of input images `[1, tokens, width]`, in families that read them.
    pub image: Option<Tensor>,
    /// How a clip is controlled, in models for that.
    pub control: ClipControl,
    /// Reference images, in families that read them as tokens.
    pub references: Vec<Reference>,
    /// What each ControlNet computes once per stage.
    pub steering: Vec<Steering>,
    /// What is computed once per stage of the images of each IP-Adapter.
    pub images: Vec<SeenImages>,
}

/// What is computed once per stage of images that are read through an IP-Adapter.
#[derive(Debug, Clone)]
pub struct SeenImages {
    /// As [`Prepared::seen`].
    pub seen: Vec<Vec<[Tensor; 2]>>,
    /// See [`ImageTokens::weight`].
    pub weight: f32,
    /// See [`ImageTokens::levels`].
    pub levels: [f32; 2],
}

impl SeenImages {
    /// Whether they are read at a noise level.
    pub fn acts_at(&self, sigma: f32) -> bool {
        acts_at(self.weight, self.levels, sigma)
    }
}

/// What a ControlNet computes once per stage.
#[derive(Debug, Clone)]
pub struct Steering {
    /// As for the network that it steers; `image` is the embedded image.
    pub prepared: Prepared,
    /// Of a union for UNets, each of the maps that it follows; those have the weights and the noise levels.
    pub maps: Vec<FollowedMap>,
    /// Of a T2I-Adapter, what it adds on the way down, level by level.
    pub features: Vec<Tensor>,
    /// See [`ControlImage::weight`].
    pub weight: f32,
    /// See [`ControlImage::levels`].
    pub levels: [f32; 2],
}

impl Steering {
    /// Of a ControlNet that follows one map.
    pub fn new(prepared: Prepared, control: &ControlImage) -> Self {
        let (weight, levels) = (control.weight, control.levels);
        Self { prepared, maps: Vec::new(), features: Vec::new(), weight, levels }
    }

    /// Whether the ControlNet acts at a noise level.
    pub fn acts_at(&self, sigma: f32) -> bool {
        match &self.maps[..] {
            [] => acts_at(self.weight, self.levels, sigma),
            maps => maps.iter().any(|map| map.weight_at(sigma) != 0.0),
        }
    }
}

/// A map that a union of ControlNets follows.
#[derive(Debug, Clone)]
pub struct FollowedMap {
    /// The embedded map, `[1, channels, height, width]`.
    pub embedded: Tensor,
    /// Its mean with what stands for its kind, `[1, 1, channels]`.
    pub token: Tensor,
    /// See [`ControlImage::weight`].
    pub weight: f32,
    /// See [`ControlImage::levels`].
    pub levels: [f32; 2],
}

impl FollowedMap {
    /// How strongly it counts at a noise level.
    pub fn weight_at(&self, sigma: f32) -> f32 {
        if acts_at(self.weight, self.levels, sigma) { self.weight } else { 0.0 }
    }
}

/// Whether what has a weight between noise levels has an effect at one.
pub(super) fn acts_at(weight: f32, [above, most]: [f32; 2], sigma: f32) -> bool {
    weight != 0.0 && sigma > above && sigma <= most
}

/// A reference image as a network reads it.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Its patches of latents, `[1, rows · columns, values]`.
    pub patches: Tensor,
    /// Their rows and columns.
    pub grid: [usize; 2],
}

/// The modulation of the blocks by a timestep.
#[derive(Debug, Clone)]
pub struct Modulation {
    /// The noise level.
    pub sigma: f32,
    /// One tensor per modulation of a block, in order.
    pub tensors: Vec<Tensor>,
}

impl Prepared {
    /// The same for the first branches only: those of the prompt and of its regions, without the negative one.
    pub fn of_branches(&self, count: usize) -> Self {
        let alone = |steering: &Steering| Steering {
            prepared: steering.prepared.of_branches(count),
            ..steering.clone()
        };
        let first = |images: &SeenImages| SeenImages {
            seen: images.seen.iter().take(count).cloned().collect(),
            ..images.clone()
        };
        Self {
            branches: self.branches.iter().take(count).cloned().collect(),
            modulations: self.modulations.clone(),
            seen: self.seen.iter().take(count).cloned().collect(),
            rope: self.rope.clone(),
            image: self.image.clone(),
            control: self.control,
            references: self.references.clone(),
            steering: self.steering.iter().map(alone).collect(),
            images: self.images.iter().map(first).collect(),
        }
    }

    /// The modulation for a sigma.
    ///
    /// # Errors
    /// When the sigma was not prepared.
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
    /// Noisy latents in the shape of [`LatentShape::dims`], f32.
    pub latents: &'a Tensor,
    /// Noise level, from 1 (noise only) to 0.
    pub sigma: f32,
    /// Additional latents that the network reads, f32. When inpainting with a network that has [channels for
    /// them](Denoiser::channels_beside): mask and masked image, `[batch, channels, height, width]`, or for one that
    /// [only fills in](Denoiser::fills_in) masked image and mask. In a cascade: the result of an earlier stage. In clips from images: mask and encoded clip, `[batch, channels, frames,
    /// height, width]`. In controlled clips: both encoded clips and the mask.
    pub beside: Option<&'a Tensor>,
    /// The first latent frames that are given and have no noise.
    pub clean: usize,
}

/// How a network for clips sees the frames that are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenFrames {
    /// Noised as all others, like the unmasked part of an image.
    Noised,
    /// Without noise; the network is told so.
    Clean,
    /// With a little noise, new for each prediction; the network is told that they have none.
    Renoised,
    /// In [channels of their own](Denoiser::channels_beside), with a mask, in a clip that is gray elsewhere.
    Beside,
    /// As a clip that controls: its pixels that stay and the others are encoded apart, for a second stream, which always
    /// reads something.
    Controlling,
}

/// The network that runs once per step.
///
/// It holds the shape of the network but no weights: they come from the store, block by block.
pub trait Denoiser: Send + Sync {
    /// Width and height of images must be multiples of this.
    fn size_multiple(&self) -> u32;

    /// Pixels along each side of what a token of an image covers: schedules count tokens.
    fn token_side(&self) -> u32 {
        self.size_multiple()
    }

    /// The longest side of images.
    fn longest_side(&self) -> u32 {
        LONGEST_SIDE
    }

    /// Shape of the latents of an image or clip.
    fn latents(&self, canvas: Canvas) -> LatentShape;

    /// Whether it generates clips of several frames.
    fn makes_clips(&self) -> bool {
        false
    }

    /// Frames of a clip after the first must be a multiple of this.
    fn frame_multiple(&self) -> u32 {
        1
    }

    /// Whether it can start from an image.
    fn takes_images(&self) -> bool {
        true
    }

    /// What it generates clips from.
    fn modes(&self) -> &'static [Mode] {
        &[Mode::Text]
    }

    /// How it sees given frames of a clip.
    fn given_frames(&self) -> GivenFrames {
        GivenFrames::Noised
    }

    /// How it takes reference images, if it does.
    fn references(&self) -> Option<References> {
        None
    }

    /// The kinds of maps that ControlNets for it can be told.
    fn control_modes(&self) -> &'static [ControlMode] {
        &[]
    }

    /// The [ControlNets](Self::controlled_by) that steer it; `None` if none can.
    fn control_nets(&self) -> Option<Vec<SteeredBy>> {
        None
    }

    /// The network steered by the ControlNets in parts of checkpoints, whose blocks come before its own. A union that is
    /// given several times may be one network, which has one component.
    ///
    /// # Errors
    /// When one is no ControlNet for it, or it takes none.
    fn controlled_by(&self, nets: &[&Part]) -> Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let path = nets.first().map(|part| part.path.clone()).unwrap_or_default();
        let reason = "no ControlNets for this kind of model can be used yet".to_owned();
        Err(CheckpointError::ControlNet { path, reason })
    }

    /// Through how many [IP-Adapters](Self::with_ip_adapters) it reads images; `None` if it cannot.
    fn ip_adapters(&self) -> Option<usize> {
        None
    }

    /// The network with the IP-Adapters in parts of checkpoints, whose blocks come before its own.
    ///
    /// # Errors
    /// When one is no IP-Adapter for it, or it takes none.
    fn with_ip_adapters(
        &self,
        adapters: &[&Part],
    ) -> Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let path = adapters.first().map(|part| part.path.clone()).unwrap_or_default();
        let reason = "no IP-Adapters for this kind of model can be used yet".to_owned();
        Err(CheckpointError::IpAdapter { path, reason })
    }

    /// The timestep below which the model's next denoiser takes over, in models whose denoisers take turns.
    fn hands_over_below(&self) -> Option<f32> {
        None
    }

    /// Input channels beyond those of the latents. Networks trained to inpaint have one for the mask, which
    /// is 1 where the image is regenerated, and those of the latents of the masked image. Without
    /// [`DenoiserInput::beside`] they regenerate everything.
    fn channels_beside(&self) -> usize {
        0
    }

    /// Whether it only fills in a masked part of an image. Beside the latents it reads those of the masked image, and then a
    /// channel for each pixel of a latent, row by row, which is 1 where the image is regenerated.
    fn fills_in(&self) -> bool {
        false
    }

    /// The guidance scale `w` of `negative + w · (prompt − negative)`; at 1 or less, the negative prompt is
    /// not needed.
    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guidance.into()
    }

    /// Which patches of latents keep, when guided, the norm of the prompt's prediction; most families keep none.
    fn guidance_keeps_norms(&self) -> Option<KeptNorms> {
        None
    }

    /// The conditioning of one branch, from the outputs of the text encoders that this denoiser reads.
    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning>;

    /// The conditioning without a negative prompt. `empty` is the conditioning of an empty prompt, which most
    /// families use.
    fn without_prompt(&self, empty: Conditioning) -> nn::Result<Conditioning> {
        Ok(empty)
    }

    /// The conditioning with images beside the prompt, each as its tokens `[tokens, width]` with a strength, in families that
    /// [take Redux](super::Family::takes_redux).
    fn with_images(&self, _: Conditioning, _: &[(Tensor, f32)]) -> nn::Result<Conditioning> {
        bail!("this network reads no images beside the prompt")
    }

    /// Computes what depends only on the prompt and, for each sigma, what depends only on that sigma. Later
    /// predictions do not need the blocks used for this.
    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError>;

    /// The network's output for each prepared branch, in the shape of the latents. Each block is leased once
    /// for all branches.
    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError>;

    /// The same for inputs of one shape and noise level: the windows of a long clip. Networks of clips lease each block
    /// once for all of them.
    fn predict_all(
        &self,
        blocks: Blocks<'_>,
        inputs: &[DenoiserInput<'_>],
        prepared: &Prepared,
    ) -> Result<Vec<Vec<Tensor>>, RunError> {
        inputs.iter().map(|input| self.predict(blocks, input, prepared)).collect()
    }

    /// The direction from image to noise, f32, computed from the guided output, f32.
    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor>;

    /// The outputs of a run's first prediction, with their names and shapes in diffusers. By default, each
    /// image or clip of each branch is separate and has an axis for frames.
    fn recorded(&self, outputs: &[Tensor]) -> nn::Result<Vec<(String, Tensor)>> {
        let mut named = Vec::new();
        for output in outputs {
            for index in 0..output.dim(0)? {
                let alone = output.get(index)?;
                let alone = if output.rank() == 4 { alone.unsqueeze(1)? } else { alone };
                named.push((format!("transformer.0.out.0.{}", named.len()), alone));
            }
        }
        Ok(named)
    }
}

/// Concatenates the outputs of all branches, the negative prompt's first, as in diffusers where one call
/// serves both.
pub fn negative_first(outputs: &[Tensor]) -> nn::Result<Tensor> {
    let reversed: Vec<&Tensor> = outputs.iter().rev().collect();
    Tensor::cat(&reversed, 0)
}
