//! The forward pass of Krea 2's transformer.

use super::{
    Krea2Config,
    config::{HEAD_MODULATIONS, Heads, MODULATIONS, PATCH, Preparation, TABLE},
};
use crate::models::{
    Conditioning, Denoiser, DenoiserInput, LatentShape, Modulation, PrepareInput, Prepared,
    modulated::within_range,
    patches::{Channels, angles, patchify, unpatchify},
};
use crate::{
    nn::{
        DType, Device, Mask, Result, Rope, Tensor, Waves, add, attention, bail, gated_add, gelu_tanh,
        rms_norm, rope_interleaved, scale_and_shift, sigmoid_mul, silu_mul, waves,
    },
    request::{Canvas, Request},
    residency::{Blocks, RunError, Weights},
    text::Encoded,
};

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Krea2Transformer {
    config: Krea2Config,
    /// Pixels per latent, along one side.
    scale: usize,
}

impl Krea2Transformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: Krea2Config, scale: usize) -> Self {
        Self { config, scale }
    }

    /// For each noise level, the modulation of all blocks, `[1, 6, dim]`, and that of the head, `[1, 1, dim]`, before their
    /// tables are added.
    fn modulations(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<Vec<Modulation>> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let width = self.config.timestep_embed_dim;
        let form = Waves { width, spaced: (width / 2) as f64, cosines_first: true };
        let wave = waves(&times, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        let embedded = gelu_tanh(&w.linear("time_embed.linear_1", &wave)?)?;
        let embedded = w.linear("time_embed.linear_2", &embedded)?;
        let projected = w.linear("time_mod_proj", &gelu_tanh(&embedded)?)?;
        let dim = self.config.heads().dim();
        let of_level = |(index, &sigma): (usize, &f32)| {
            let of_blocks = projected.narrow(0, index, 1)?.reshape((1, MODULATIONS, dim))?;
            let of_head = embedded.narrow(0, index, 1)?.reshape((1, 1, dim))?;
            Ok(Modulation { sigma, tensors: vec![of_blocks, of_head] })
        };
        sigmas.iter().enumerate().map(of_level).collect()
    }

    /// A norm, whose stored weight is what its factor exceeds 1 by.
    fn norm(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        let factor = w.get(&format!("{name}.weight"))?.to_dtype(DType::F32)?.affine(1.0, 1.0)?;
        rms_norm(x, &factor, self.config.norm_eps)
    }

    /// Attention of `x`, with a gate for its output.
    fn attend(&self, w: &Weights, x: &Tensor, heads: Heads, rope: Option<&Rope>) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let split = |name: &str| w.linear(name, x)?.reshape((batch, tokens, (), heads.width));
        let mut q = self.norm(w, "attn.norm_q", &split("attn.to_q")?)?;
        let mut k = self.norm(w, "attn.norm_k", &split("attn.to_k")?)?;
        let v = split("attn.to_v")?;
        if let Some(rope) = rope {
            q = rope_interleaved(&q, rope)?;
            k = rope_interleaved(&k, rope)?;
        }
        let h = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
        drop((q, k, v));
        let h = sigmoid_mul(&w.linear("attn.to_gate", x)?, &h)?;
        w.linear("attn.to_out.0", &h)
    }

    /// A block of the fusion, which nothing modulates.
    fn fuse(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let h = self.attend(w, &self.norm(w, "norm1", x)?, self.config.text_heads(), None)?;
        let x = add(x, &h)?;
        add(&x, &feed_forward(w, self.norm(w, "norm2", &x)?)?)
    }

    /// A block; `level` is the shared part of its modulation.
    fn block(&self, w: &Weights, x: &Tensor, level: &Tensor, rope: &Rope) -> Result<Tensor> {
        let own = self.modulation(w, MODULATIONS, level)?;
        let h = scale_and_shift(&self.norm(w, "norm1", x)?, &own[0], &own[1])?;
        let x = gated_add(x, &own[2], &self.attend(w, &h, self.config.heads(), Some(rope))?)?;
        let h = scale_and_shift(&self.norm(w, "norm2", &x)?, &own[3], &own[4])?;
        within_range(gated_add(&x, &own[5], &feed_forward(w, h)?)?)
    }

    fn head(&self, w: &Weights, x: &Tensor, level: &Tensor) -> Result<Tensor> {
        let own = self.modulation(w, HEAD_MODULATIONS, level)?;
        w.linear("linear", &scale_and_shift(&self.norm(w, "norm", x)?, &own[0], &own[1])?)
    }

    /// The parts `[1, 1, dim]` of a block's table with what the noise level adds.
    fn modulation(&self, w: &Weights, count: usize, level: &Tensor) -> Result<Vec<Tensor>> {
        let table = w.get(TABLE)?.reshape((1, count, self.config.heads().dim()))?;
        table.broadcast_add(level)?.chunk(count, 1)?.iter().map(Tensor::contiguous).collect()
    }

    /// Rotary embeddings of `text` tokens, which all have the first place, and of an image, row by row.
    fn rope(&self, text: usize, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let image = (0..rows * columns).map(|index| [0, index / columns, index % columns]);
        let places = std::iter::repeat_n([0; 3], text).chain(image);
        let places: Vec<[f64; 3]> = places.map(|place| place.map(|axis: usize| axis as f64)).collect();
        let angle = |place: f64, exponent: f64| place / self.config.rope_theta.powf(exponent);
        let angles = angles(&places, &self.config.axes_dims_rope, angle);
        Rope::from_exact_angles(&angles, places.len(), self.config.attention_head_dim / 2, device)
    }
}

fn feed_forward(w: &Weights, x: Tensor) -> Result<Tensor> {
    let (gate, up) = (w.linear("ff.gate", &x)?, w.linear("ff.up", &x)?);
    drop(x);
    let h = silu_mul(&gate, &up)?;
    drop((gate, up));
    w.linear("ff.down", &h)
}

impl Denoiser for Krea2Transformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.latent_channels(), height, width)
    }

    /// The reference computes `prompt + guidance · (prompt − negative)`.
    fn guidance_weight(&self, request: &Request) -> f64 {
        1.0 + f64::from(request.guidance)
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
        let (layers, width) = (self.config.num_text_layers, self.config.text_hidden_dim);
        let stacked = |branch: &Conditioning| {
            let tokens = branch.prompt.dim(0)?;
            branch.prompt.reshape((tokens, layers, width))
        };
        let mut prompts = input.branches.iter().map(stacked).collect::<Result<Vec<_>>>()?;
        let mut modulations = Vec::new();
        blocks.walk(0..self.config.embedders(), |index, w| {
            let does = self.config.preparation(index);
            if does == Preparation::Levels {
                modulations = self.modulations(w, input.sigmas, blocks)?;
                return Ok(());
            }
            w.branches(&mut prompts, |w, _, x| {
                *x = match does {
                    Preparation::Projector => {
                        let tokens = x.dim(0)?;
                        let last = x.transpose(1, 2)?.contiguous()?;
                        w.linear("text_fusion.projector", &last)?.reshape((1, tokens, width))?
                    }
                    Preparation::Tokens => {
                        let h = w.linear("txt_in.linear_1", &self.norm(w, "txt_in.norm", x)?)?;
                        w.linear("txt_in.linear_2", &gelu_tanh(&h)?)?
                    }
                    Preparation::Fusion | Preparation::Levels => self.fuse(w, x)?,
                };
                Ok(())
            })
        })?;
        let branches = prompts.into_iter().map(Conditioning::new).collect();
        Ok(Prepared { branches, modulations, ..Prepared::default() })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (batch, _, height, width) = input.latents.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let rotation = |branch: &Conditioning| self.rope(branch.prompt.dim(1)?, grid, &blocks.device());
        let rotations = prepared.branches.iter().map(rotation).collect::<Result<Vec<_>>>()?;
        let modulations = prepared.modulation(input.sigma)?;
        let (of_blocks, of_head) = (&modulations[0], &modulations[1]);
        let first = self.config.embedders() + 1;
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(first - 1..last + 1, |index, w| {
            if index < first {
                let patches = patchify(&input.latents.to_dtype(blocks.dtype())?, PATCH, Channels::First)?;
                let image = w.linear("img_in", &patches)?;
                for Conditioning { prompt, .. } in &prepared.branches {
                    let (_, tokens, dim) = prompt.dims3()?;
                    let prompt = prompt.broadcast_as((batch, tokens, dim))?.contiguous()?;
                    streams.push(Tensor::cat(&[&prompt, &image], 1)?);
                }
                return Ok(());
            }
            w.branches(&mut streams, |w, branch, x| {
                *x = if index == last {
                    let text = prepared.branches[branch].prompt.dim(1)?;
                    let image = x.narrow(1, text, x.dim(1)? - text)?.contiguous()?;
                    self.head(w, &image, of_head)?
                } else {
                    self.block(w, x, of_blocks, &rotations[branch])?
                };
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| unpatchify(x, grid, PATCH, Channels::First);
        Ok(streams.iter().map(latents).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}
