//! LTX-Video (HaCohen et al. 2024, arXiv:2501.00103): a diffusion transformer for clips whose latents are 32×32×8 times
//! smaller than the clip.
//!
//! Every latent is a token. All tokens attend to each other and to the prompt, and know their place in seconds and
//! pixels.

use std::ops::Range;

use serde::Deserialize;

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, GivenFrames, LatentShape, Model,
    ModelDefaults, Modulation, Opened, PrepareInput, Prepared, TextPart,
    family::{part, t5_part},
    modulated::{FREQUENCY_WIDTH, feed_forward, frequencies},
    scheduler,
    token_levels::{TokenLevels, levels_of},
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{
        Device, Mask, Result, Rope, Tensor, add, attention, bail, gated_add, gelu_tanh, layer_norm_modulated,
        rms_norm, rope_interleaved, scale_and_shift, silu,
    },
    request::{Canvas, ComputeDtype, Mode, Sampler},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, Training},
    text::{Encoded, T5Encoder},
    vae::{Autoencoder, LtxAutoencoder},
};

/// Base of the rotary frequencies.
const THETA: f32 = 10_000.0;
/// What a place is measured in before it is rotated: seconds, and pixels along each side.
const UNITS: [f32; 3] = [20.0, 2048.0, 2048.0];
/// Modulations of a block: shift, scale and gate of attention, and of the feed-forward.
const MODULATIONS: usize = 6;
/// Maximum number of tokens of a prompt.
const PROMPT_TOKENS: usize = 128;
/// Tokens that run through the feed-forward at a time: its inner values are several times as wide.
const TOGETHER: usize = 8192;
/// Width of a head in files without a configuration: of the small models, and of the large ones.
const HEAD_WIDTHS: [usize; 2] = [64, 128];
/// Width from which on a model counts as large.
const LARGE: usize = 4096;
/// Added to the mean square of queries and keys.
const QK_EPS: f64 = 1e-5;
/// Added to the variance in the last norm.
const LAST_EPS: f64 = 1e-6;
/// The table that the noise level's modulation is added to.
const TABLE: &str = "scale_shift_table";

/// The family.
pub struct Ltx;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct LtxConfig {
    /// Channels of the latents.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Side of the patches of latents.
    pub patch_size: usize,
    /// Frames of the patches.
    pub patch_size_t: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Width of the prompt's tokens in the blocks.
    pub cross_attention_dim: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// How queries and keys are normalized.
    pub qk_norm: String,
    /// Whether the norms of the blocks have weights.
    pub norm_elementwise_affine: bool,
    /// Added to the mean square in the norms of the blocks.
    pub norm_eps: f64,
    /// Width of the prompt embeddings.
    pub caption_channels: usize,
}

impl Default for LtxConfig {
    fn default() -> Self {
        Self {
            in_channels: 128,
            out_channels: 128,
            patch_size: 1,
            patch_size_t: 1,
            num_attention_heads: 32,
            attention_head_dim: 64,
            cross_attention_dim: 2048,
            num_layers: 28,
            qk_norm: "rms_norm_across_heads".to_owned(),
            norm_elementwise_affine: false,
            norm_eps: 1e-6,
            caption_channels: 4096,
        }
    }
}

impl LtxConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let input = shape("proj_in.weight")?;
        let (dim, in_channels) = (*input.first()?, *input.get(1)?);
        let head = HEAD_WIDTHS[usize::from(dim >= LARGE)];
        let layers = (0..)
            .take_while(|layer| shape(&format!("transformer_blocks.{layer}.attn1.to_q.weight")).is_some());
        Some(Self {
            in_channels,
            out_channels: *shape("proj_out.weight")?.first()?,
            num_attention_heads: dim / head,
            attention_head_dim: head,
            cross_attention_dim: *shape("transformer_blocks.0.attn2.to_k.weight")?.get(1)?,
            num_layers: layers.count(),
            caption_channels: *shape("caption_projection.linear_1.weight")?.get(1)?,
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if (self.patch_size, self.patch_size_t) != (1, 1) {
            return part.refuse("patch_size", self.patch_size, "only patches of one latent are supported");
        }
        if self.num_attention_heads == 0 || self.dim() < 6 || !self.dim().is_multiple_of(2) {
            let reason = "heads must have an even number of values together, at least 6";
            return part.refuse("num_attention_heads", self.num_attention_heads, reason);
        }
        if self.qk_norm != "rms_norm_across_heads" {
            return part.refuse("qk_norm", &self.qk_norm, "only rms_norm_across_heads is supported");
        }
        if self.norm_elementwise_affine {
            return part.refuse("norm_elementwise_affine", true, "norms with weights are not supported");
        }
        if self.cross_attention_dim != self.dim() {
            let reason = "it must be the width of all heads together";
            return part.refuse("cross_attention_dim", self.cross_attention_dim, reason);
        }
        Ok(())
    }

    fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// The blocks. The first depends only on prompt and noise level and is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let dim = self.dim();
        let embedder = "time_embed.emb.timestep_embedder";
        let conditioning = BlockSpec::stem("conditioning")
            .linear(&format!("{embedder}.linear_1"), dim, FREQUENCY_WIDTH)
            .linear(&format!("{embedder}.linear_2"), dim, dim)
            .linear("time_embed.linear", MODULATIONS * dim, dim)
            .linear("caption_projection.linear_1", dim, self.caption_channels)
            .linear("caption_projection.linear_2", dim, dim);
        let block = |index: usize| {
            let spec = BlockSpec::new(format!("transformer_blocks.{index}"));
            let mut spec = spec.tensor(TABLE, &[MODULATIONS, dim]);
            for attention in ["attn1", "attn2"] {
                for layer in ["to_q", "to_k", "to_v", "to_out.0"] {
                    spec = spec.linear(&format!("{attention}.{layer}"), dim, dim);
                }
                for norm in ["norm_q", "norm_k"] {
                    spec = spec.scale(&format!("{attention}.{norm}"), dim);
                }
            }
            spec.linear("ff.net.0.proj", 4 * dim, dim).linear("ff.net.2", dim, 4 * dim)
        };
        let mut blocks =
            vec![conditioning, BlockSpec::stem("embedder").linear("proj_in", dim, self.in_channels)];
        blocks.extend((0..self.num_layers).map(block));
        blocks.push(BlockSpec::stem("head").tensor(TABLE, &[2, dim]).linear(
            "proj_out",
            self.out_channels,
            dim,
        ));
        blocks
    }
}

/// Layers of the transformer: diffusers' name and the authors', which ComfyUI also uses.
const NAMES: [(&str, &str); 4] = [
    ("proj_in.", "patchify_proj."),
    ("time_embed.", "adaln_single."),
    (".norm_q.", ".q_norm."),
    (".norm_k.", ".k_norm."),
];

/// The name of a tensor in the authors' files.
fn original_name(name: &str) -> StoredName {
    StoredName::whole(NAMES.iter().fold(name.to_owned(), |name, (own, original)| name.replace(own, original)))
}

impl Family for Ltx {
    fn id(&self) -> &'static str {
        "ltx"
    }

    fn name(&self) -> &'static str {
        "LTX-Video"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[("LTX-Video", AdapterMark::Name("caption_projection"))]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("adaln_single.emb.timestep_embedder.linear_1.weight", "ltxv")]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no LTX-Video transformer was found", is_transformer)?;
        let config = denoiser.config(LtxConfig::from_shapes)?;
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "LTX-Video transformer",
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;
        let text = t5_part(checkpoint, config.caption_channels)?;
        let channels = config.out_channels;
        let expected = format!("no autoencoder of LTX-Video with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            LtxAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = LtxAutoencoder::open(vae)?;
        let shift = FlowShift {
            use_dynamic_shifting: true,
            base_shift: 0.95,
            max_shift: 2.05,
            base_image_seq_len: 1024,
            shift_terminal: Some(0.1),
            ..FlowShift::default()
        };
        let transformer = LtxTransformer {
            config,
            scale: autoencoder.0.scale(),
            frames: autoencoder.0.frames_per_latent(),
        };
        let text = T5Encoder::open(checkpoint, text, "tokenizer", PROMPT_TOKENS)?;
        let opened = Opened {
            text: vec![TextPart::new((text.0.dropping_padding(), text.1))],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: 704,
                height: 512,
                steps: 50,
                guidance: 3.0,
                on_cards: ComputeDtype::Bf16,
                frames: 121,
                frame_rate: 25.0,
                sampler: Sampler::Euler,
            },
        };
        Ok(Model::new(&Ltx, checkpoint, opened))
    }
}

/// Only LTX-Video's blocks are modulated by a table and normalize queries across heads.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "transformer_blocks.0.scale_shift_table",
        "transformer_blocks.0.attn1.norm_q.weight",
        "caption_projection.linear_1.weight",
    ]) || has([
        "transformer_blocks.0.scale_shift_table",
        "transformer_blocks.0.attn1.q_norm.weight",
        "patchify_proj.weight",
    ])
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LtxTransformer {
    config: LtxConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Frames per latent frame after the first.
    frames: usize,
}

impl Denoiser for LtxTransformer {
    fn size_multiple(&self) -> u32 {
        self.scale as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        let frames = 1 + canvas.frames.saturating_sub(1) as usize / self.frames;
        LatentShape { channels: self.config.out_channels, frames, height, width }
    }

    fn makes_clips(&self) -> bool {
        true
    }

    fn frame_multiple(&self) -> u32 {
        self.frames as u32
    }

    fn modes(&self) -> &'static [Mode] {
        &[Mode::Text, Mode::ImageToVideo, Mode::VideoToVideo, Mode::Extend]
    }

    fn given_frames(&self) -> GivenFrames {
        GivenFrames::Clean
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning { prompt: states, pooled: None }),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        &PrepareInput { branches, sigmas, latents, frame_rate, clean, .. }: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut prepared =
            Prepared { rope: Some(self.rope(latents, frame_rate, &blocks.device())?), ..Prepared::default() };
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
        let dims = input.latents.dims().to_vec();
        let of_frame = dims.iter().rev().take(2).product::<usize>();
        let levels = TokenLevels::new(prepared, input.sigma, input.clean * of_frame)?;
        let Some(rope) = &prepared.rope else { return Err(missing_places()?) };
        let (embedder, first) = (1, 2);
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(embedder..last + 1, |index, w| {
            if index == embedder {
                let latents = input.latents.to_dtype(blocks.dtype())?.flatten_from(2)?;
                let x = w.linear("proj_in", &latents.transpose(1, 2)?.contiguous()?)?;
                streams = vec![x; prepared.branches.len()];
                return Ok(());
            }
            w.branches(&mut streams, |w, branch, x| {
                *x = if index == last {
                    head(w, x, levels)?
                } else {
                    self.block(w, x, levels, &prepared.branches[branch].prompt, rope)?
                };
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| x.transpose(1, 2)?.contiguous()?.reshape(dims.as_slice());
        Ok(streams.iter().map(latents).collect::<Result<_>>()?)
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

    /// Rotary embeddings of the latents, frame by frame, row by row, over the values of all heads.
    fn rope(&self, latents: LatentShape, frame_rate: f32, device: &Device) -> Result<Rope> {
        let (dim, scale) = (self.config.dim(), self.scale as f32);
        let steps = [self.frames as f32 / frame_rate, scale, scale];
        let sides = [latents.frames, latents.height, latents.width];
        let count = dim / 6;
        let turn = |index: usize| THETA.powf(even(index, count)) * std::f32::consts::PI / 2.0;
        let turns: Vec<f32> = (0..count).map(turn).collect();
        // Of each place on an axis, the turn of each frequency.
        let axis = |axis: usize| -> Vec<Vec<(f32, f32)>> {
            let place = |place: usize| place as f32 * steps[axis] / UNITS[axis] * 2.0 - 1.0;
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
