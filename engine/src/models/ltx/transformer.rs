//! LTX-Video's transformer.

use std::ops::Range;

use super::config::{LtxConfig, MODULATIONS, TABLE};
use crate::{
    models::{
        Conditioning, Denoiser, DenoiserInput, GivenFrames, LatentShape, Modulation, PrepareInput, Prepared,
        modulated::{feed_forward, frequencies},
        token_levels::{TokenLevels, levels_of},
    },
    nn::{
        Device, Mask, Result, Rope, Tensor, add, attention, bail, gated_add, gelu_tanh, layer_norm_modulated,
        rms_norm, rope_interleaved, scale_and_shift, silu,
    },
    request::{Canvas, Mode},
    residency::{Blocks, RunError, Weights},
    text::Encoded,
};

/// Base of the rotary frequencies.
const THETA: f32 = 10_000.0;
/// What a place is measured in before it is rotated: seconds, and pixels along each side.
const UNITS: [f32; 3] = [20.0, 2048.0, 2048.0];
/// Tokens that run through the feed-forward at a time: its inner values are several times as wide.
const TOGETHER: usize = 8192;
/// Added to the mean square of queries and keys.
const QK_EPS: f64 = 1e-5;
/// Added to the variance in the last norm.
const LAST_EPS: f64 = 1e-6;

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LtxTransformer {
    pub(super) config: LtxConfig,
    /// Pixels per latent, along one side.
    pub(super) scale: usize,
    /// Frames per latent frame after the first.
    pub(super) frames: usize,
    /// Whether it is run as from 0.9.7 on: latent frames are placed at the last frame that they stand for, and given frames
    /// get noise before each prediction.
    pub(super) is_conditioned: bool,
}

impl Denoiser for LtxTransformer {
    fn size_multiple(&self) -> u32 {
        self.scale as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        let frames = 1 + canvas.frames.saturating_sub(1) as usize / self.frames;
        let frames = if self.is_conditioned { frames + canvas.later_images } else { frames };
        LatentShape { channels: self.config.out_channels, frames, height, width }
    }

    fn makes_clips(&self) -> bool {
        true
    }

    fn frame_multiple(&self) -> u32 {
        self.frames as u32
    }

    fn modes(&self) -> &'static [Mode] {
        use Mode::{Extend, FirstAndLast, ImageToVideo, Keyframes, Text, VideoToVideo};
        match self.is_conditioned {
            true => &[Text, ImageToVideo, FirstAndLast, Keyframes, VideoToVideo, Extend],
            false => &[Text, ImageToVideo, VideoToVideo, Extend],
        }
    }

    fn given_frames(&self) -> GivenFrames {
        if self.is_conditioned { GivenFrames::Renoised } else { GivenFrames::Clean }
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning::new(states)),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let &PrepareInput { branches, sigmas, clean, .. } = input;
        let rope = self.rope(input, &blocks.device())?;
        let mut prepared = Prepared { rope: Some(rope), ..Prepared::default() };
        blocks.walk(0..1, |_, w| {
            prepared.modulations = self.modulations(w, &levels_of(sigmas, clean), blocks)?;
            prepared.branches = branches.to_vec();
            w.branches(&mut prepared.branches, |w, _, branch| {
                branch.prompt = embed_prompt(w, &branch.prompt)?;
                Ok(())
            })
        })?;
        Ok(prepared)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        Ok(self.predict_all(blocks, std::slice::from_ref(input), prepared)?.pop().unwrap_or_default())
    }

    fn predict_all(
        &self,
        blocks: Blocks<'_>,
        inputs: &[DenoiserInput<'_>],
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Vec<Tensor>>, RunError> {
        let Some(first_input) = inputs.first() else { return Ok(Vec::new()) };
        let dims = first_input.latents.dims().to_vec();
        let of_frame = dims.iter().rev().take(2).product::<usize>();
        let levels =
            |input: &DenoiserInput<'_>| TokenLevels::new(prepared, input.sigma, input.clean * of_frame);
        let levels = inputs.iter().map(levels).collect::<Result<Vec<_>>>()?;
        let branches = prepared.branches.len();
        let Some(rope) = &prepared.rope else { return Err(missing_places()?) };
        let (embedder, first) = (1, 2);
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(embedder..last + 1, |index, w| {
            if index == embedder {
                for input in inputs {
                    let latents = input.latents.to_dtype(blocks.dtype())?.flatten_from(2)?;
                    let x = w.linear("proj_in", &latents.transpose(1, 2)?.contiguous()?)?;
                    streams.extend(std::iter::repeat_n(x, branches));
                }
                return Ok(());
            }
            w.branches(&mut streams, |w, number, x| {
                let (levels, branch) = (levels[number / branches], number % branches);
                *x = if index == last {
                    head(w, x, levels)?
                } else {
                    self.block(w, x, levels, &prepared.branches[branch].prompt, rope)?
                };
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| x.transpose(1, 2)?.contiguous()?.reshape(dims.as_slice());
        let of_input = |streams: &[Tensor]| streams.iter().map(latents).collect();
        Ok(streams.chunks(branches.max(1)).map(of_input).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

fn missing_places() -> Result<RunError> {
    bail!("the places of the latents were not prepared")
}

impl LtxTransformer {
    /// For each noise level, the modulation of all blocks, `[6, dim]`, and that of the head, `[1, dim]`, before their
    /// tables are added.
    fn modulations(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<Vec<Modulation>> {
        let times: Vec<f32> = sigmas.iter().map(|sigma| sigma * 1000.0).collect();
        let wave = frequencies(&times, &blocks.device())?.to_dtype(blocks.dtype())?;
        let name = "time_embed.emb.timestep_embedder";
        let embedded = silu(&w.linear(&format!("{name}.linear_1"), &wave)?)?;
        let embedded = w.linear(&format!("{name}.linear_2"), &embedded)?;
        let projected = w.linear("time_embed.linear", &silu(&embedded)?)?;
        let of_level = |(index, &sigma): (usize, &f32)| {
            let of_blocks = projected.narrow(0, index, 1)?.reshape((MODULATIONS, self.config.dim()))?;
            Ok(Modulation { sigma, tensors: vec![of_blocks, embedded.narrow(0, index, 1)?] })
        };
        sigmas.iter().enumerate().map(of_level).collect()
    }

    fn block(
        &self,
        w: &Weights,
        x: &Tensor,
        levels: TokenLevels<'_>,
        prompt: &Tensor,
        rope: &Rope,
    ) -> Result<Tensor> {
        let eps = self.config.norm_eps;
        // Shift, scale and gate of attention, then of the feed-forward.
        let table = w.get(TABLE)?;
        let modulation = levels.modulated(0, |level| rows(&(&table + level)?))?;
        drop(table);
        let h = modulation.apply([x], |[x], own| normed(x, eps, &own[..2]))?;
        let h = self.attention(w, "attn1", h, None, Some(rope))?;
        let x = modulation.apply([x, &h], |[x, h], own| gated_add(x, &own[2], h))?;
        drop(h);
        let x = add(&x, &self.attention(w, "attn2", x.clone(), Some(prompt), None)?)?;
        let part = |(range, own): (Range<usize>, &[Tensor])| {
            let x = x.narrow(1, range.start, range.len())?.contiguous()?;
            let h = feed_forward(w, "ff", normed(&x, eps, &own[3..5])?)?;
            gated_add(&x, &own[5], &h)
        };
        let ranges = modulation.ranges(x.dim(1)?, TOGETHER).into_iter();
        let parts = ranges.map(part).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&parts, 1)
    }

    /// Attention of all tokens of `x`, which is freed as early as possible, to themselves or to a prompt
    /// `[1, tokens, dim]`.
    fn attention(
        &self,
        w: &Weights,
        name: &str,
        x: Tensor,
        prompt: Option<&Tensor>,
        rope: Option<&Rope>,
    ) -> Result<Tensor> {
        let (heads, width) = (self.config.num_attention_heads, self.config.attention_head_dim);
        let batch = x.dim(0)?;
        let split = |x: Tensor| {
            let tokens = x.dim(1)?;
            let x = x.reshape((x.dim(0)?, tokens, heads, width))?;
            match x.dim(0)? == batch {
                true => Ok(x),
                false => x.broadcast_as((batch, tokens, heads, width))?.contiguous(),
            }
        };
        let normed = |layer: &str, norm: &str, x: &Tensor| -> Result<Tensor> {
            let h = w.linear(&format!("{name}.{layer}"), x)?;
            let h = w.rms_norm(&format!("{name}.{norm}"), &h, QK_EPS)?;
            // The angles go through all heads.
            match rope {
                Some(rope) => split(rope_interleaved(&h.unsqueeze(2)?, rope)?.squeeze(2)?),
                None => split(h),
            }
        };
        let q = normed("to_q", "norm_q", &x)?;
        let k = normed("to_k", "norm_k", prompt.unwrap_or(&x))?;
        let v = split(w.linear(&format!("{name}.to_v"), prompt.unwrap_or(&x))?)?;
        drop(x);
        let h = attention(&q, &k, &v, Mask::None)?;
        drop((q, k, v));
        w.linear(&format!("{name}.to_out.0"), &h.flatten_from(2)?)
    }

    /// Rotary embeddings of the latents, frame by frame, row by row, over the values of all heads. Images at later frames
    /// come first.
    fn rope(&self, input: &PrepareInput<'_>, device: &Device) -> Result<Rope> {
        let &PrepareInput { latents, frame_rate, ref later, .. } = input;
        let (dim, scale) = (self.config.dim(), self.scale as f32);
        let frames = self.frames;
        let seconds = if self.is_conditioned { 1.0 / frame_rate } else { frames as f32 / frame_rate };
        let steps = [seconds, scale, scale];
        let sides = [latents.frames, latents.height, latents.width];
        let count = dim / 6;
        let turn = |index: usize| THETA.powf(even(index, count)) * std::f32::consts::PI / 2.0;
        let turns: Vec<f32> = (0..count).map(turn).collect();
        // Of each place on an axis, the turn of each frequency.
        let axis = |axis: usize| -> Vec<Vec<(f32, f32)>> {
            let number = |place: usize| match (axis, self.is_conditioned) {
                (0, true) => match later.get(place) {
                    Some(frame) => *frame as usize,
                    None => ((place - later.len()) * frames + 1).saturating_sub(frames),
                },
                _ => place,
            };
            let place = |place: usize| number(place) as f32 * steps[axis] / UNITS[axis] * 2.0 - 1.0;
            let angles = |at: f32| {
                turns.iter().map(|turn| turn * at).map(|angle| (angle.cos(), angle.sin())).collect()
            };
            (0..sides[axis]).map(|number| angles(place(number))).collect()
        };
        let [frames, rows, columns] = [axis(0), axis(1), axis(2)];
        let still = (dim % 6) / 2;
        let tokens = latents.frames * latents.height * latents.width;
        let (mut cosines, mut sines) =
            (Vec::with_capacity(tokens * dim / 2), Vec::with_capacity(tokens * dim / 2));
        for frame in &frames {
            for row in &rows {
                for column in &columns {
                    cosines.resize(cosines.len() + still, 1.0);
                    sines.resize(sines.len() + still, 0.0);
                    for ((frame, row), column) in frame.iter().zip(row).zip(column) {
                        for (cosine, sine) in [frame, row, column] {
                            cosines.push(*cosine);
                            sines.push(*sine);
                        }
                    }
                }
            }
        }
        Rope::from_cosines_and_sines([cosines, sines], tokens, dim / 2, device)
    }
}

/// Element `index` of `count` even steps from 0 to 1, rounded as in PyTorch: from the nearer end, with one rounding.
fn even(index: usize, count: usize) -> f32 {
    let step = 1.0 / (count.max(2) - 1) as f32;
    if index < count / 2 { index as f32 * step } else { step.mul_add(-((count - 1 - index) as f32), 1.0) }
}

/// The rows of a table `[rows, dim]`, each `[1, 1, dim]`.
fn rows(table: &Tensor) -> Result<Vec<Tensor>> {
    let (count, dim) = table.dims2()?;
    (0..count).map(|row| table.narrow(0, row, 1)?.contiguous()?.reshape((1, 1, dim))).collect()
}

/// `x` normalized by its mean square, then modulated by shift and scale.
fn normed(x: &Tensor, eps: f64, modulation: &[Tensor]) -> Result<Tensor> {
    let ones = Tensor::ones(x.dims()[2], x.dtype(), &x.device())?;
    scale_and_shift(&rms_norm(x, &ones, eps)?, &modulation[1], &modulation[0])
}

fn head(w: &Weights, x: &Tensor, levels: TokenLevels<'_>) -> Result<Tensor> {
    let table = w.get(TABLE)?;
    let modulation = levels.modulated(1, |level| rows(&table.broadcast_add(level)?))?;
    drop(table);
    let h = modulation.apply([x], |[x], own| layer_norm_modulated(x, LAST_EPS, &own[1], Some(&own[0])))?;
    w.linear("proj_out", &h)
}

/// Converts prompt embeddings `[tokens, width]` to the network's tokens `[1, tokens, dim]`.
fn embed_prompt(w: &Weights, prompt: &Tensor) -> Result<Tensor> {
    let h = w.linear("caption_projection.linear_1", &prompt.unsqueeze(0)?)?;
    w.linear("caption_projection.linear_2", &gelu_tanh(&h)?)
}
