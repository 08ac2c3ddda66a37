//! What all denoisers have in common.

use crate::{
    nn::{self, Tensor, bail},
    request::{Canvas, LONGEST_SIDE, Request},
    residency::{Blocks, RunError},
    text::Encoded,
};

/// Shape of the latents of one image or clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatentShape {
    /// Values of one latent.
    pub channels: usize,
    /// Latent frames: 1 for images.
    pub frames: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl LatentShape {
    /// That of an image.
    pub fn image(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, frames: 1, height, width }
    }

    /// The same with another number of channels.
    pub fn with_channels(self, channels: usize) -> Self {
        Self { channels, ..self }
    }

    /// Dimensions of a batch: `[batch, channels, height, width]`, with the frames before the height where there are
    /// several.
    pub fn dims(self, batch: usize) -> Vec<usize> {
        let Self { channels, frames, height, width } = self;
        if frames == 1 {
            vec![batch, channels, height, width]
        } else {
            vec![batch, channels, frames, height, width]
        }
    }
}

/// What a denoiser is conditioned on in one branch of guidance.
#[derive(Debug, Clone)]
pub struct Conditioning {
    /// Embedded prompt `[tokens, width]`.
    pub prompt: Tensor,
    /// One row `[width]` for the whole prompt, in families that have it.
    pub pooled: Option<Tensor>,
}

/// What stays the same in all predictions of a stage.
#[derive(Debug, Clone, Copy)]
pub struct PrepareInput<'a> {
    /// One for each guidance branch.
    pub branches: &'a [Conditioning],
    /// Sigmas of all predictions.
    pub sigmas: &'a [f32],
    /// Guidance scale.
    pub guidance: f32,
    /// Shape of the latents of one image or clip.
    pub latents: LatentShape,
    /// Height and width in pixels.
    pub pixels: [usize; 2],
}

/// What is computed once a stage.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// One for each guidance branch.
    pub branches: Vec<Conditioning>,
    /// For each sigma, what its timestep modulates the blocks with.
    pub modulations: Vec<Modulation>,
    /// For each guidance branch, the keys and values `[1, tokens, width]` that blocks compute from its prompt, in their
    /// order, in families whose blocks compute them from the prompt alone.
    pub seen: Vec<Vec<[Tensor; 2]>>,
}

/// What a timestep modulates the blocks with.
#[derive(Debug, Clone)]
pub struct Modulation {
    /// The noise level.
    pub sigma: f32,
    /// One tensor for each modulation of a block, in their order.
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

    /// The modulation for a sigma that was prepared.
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
    /// Further latents that the network sees, f32: when inpainting, those of networks with
    /// [channels for it](Denoiser::channels_beside), `[batch, channels, height, width]`; in a cascade, the result of an
    /// earlier stage.
    pub beside: Option<&'a Tensor>,
}

/// The network that runs once a step.
///
/// It holds the shape of the network and no weights: they come from the store, block by block.
pub trait Denoiser: Send + Sync {
    /// Width and height of images must be multiples of this.
    fn size_multiple(&self) -> u32;

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

    /// Input channels beyond those of the latents. Networks that were trained to inpaint have one for the mask, 1 where
    /// the image is drawn anew, and those of the latents of the masked image. Without [`DenoiserInput::beside`] they draw
    /// everything anew.
    fn channels_beside(&self) -> usize {
        0
    }

    /// The guidance scale `w` of `negative + w · (prompt − negative)`; with 1 or less the negative prompt is not needed.
    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guidance.into()
    }

    /// The conditioning of one branch, from the results of the text encoders that this denoiser reads.
    fn conditioning(&self, encoded: Vec<Encoded>) -> nn::Result<Conditioning>;

    /// The conditioning without a negative prompt. `empty` is that of an empty prompt, which most families use.
    fn without_prompt(&self, empty: Conditioning) -> nn::Result<Conditioning> {
        Ok(empty)
    }

    /// Computes what depends on the prompt alone, and for each sigma what depends on it alone, with blocks that are not
    /// needed again.
    fn prepare(&self, blocks: Blocks<'_>, input: &PrepareInput<'_>) -> Result<Prepared, RunError>;

    /// The network's output for each prepared branch, in the shape of the latents. Each block is leased once for all
    /// branches.
    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> Result<Vec<Tensor>, RunError>;

    /// The direction from image to noise, f32, from the guided output, f32.
    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> nn::Result<Tensor>;

    /// The outputs of a run's first prediction under their names and shapes in diffusers. By default each image of each
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
    let reversed: Vec<&Tensor> = outputs.iter().rev().collect();
    Tensor::cat(&reversed, 0)
}
