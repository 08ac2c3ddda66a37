//! Z-Image: a single-stream diffusion transformer (Z-Image Team 2025, arXiv:2511.22699).
//!
//! Image and caption tokens are first refined separately by a few blocks each, then run through the same
//! blocks as one sequence. Both are padded to multiples of 32 with a learned token that is attended to like
//! any other.

mod config;
mod control_net;
mod pass;

use std::sync::Arc;

use self::pass::Pass;
pub use self::{config::ZImageConfig, control_net::is_control_net};
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults,
    Modulation, Opened, PrepareInput, Prepared, SteeredBy, TextPart,
    control_nets::ControlNets,
    family::{autoencoder_part, part},
    flux,
    patches::{Channels, angles, patchify},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName},
    nn::{
        Device, Mask, Result, Rope, Tensor, attention, bail, gated_add, layer_norm_modulated,
        rope_interleaved, silu, silu_mul,
    },
    request::{Canvas, ComputeDtype, Request},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, Training},
    text::{Encoded, Qwen3Chat},
    vae::{Autoencoder, AutoencoderKl},
};

/// Token counts are padded to a multiple of this.
const SEQUENCE_MULTIPLE: usize = 32;
/// Number of values in the sinusoidal embedding of the timestep.
const FREQUENCY_WIDTH: usize = 256;
/// Added to the mean square of queries and keys, whatever `norm_eps` is.
const QK_NORM_EPS: f64 = 1e-5;
/// Added to the variance before the last projection.
const FINAL_NORM_EPS: f64 = 1e-6;

/// The family.
pub struct ZImage;

/// The name of a tensor in the authors' files, which ComfyUI also uses.
fn original_name(name: &str) -> StoredName {
    for (part, projection) in ["to_q", "to_k", "to_v"].into_iter().enumerate() {
        let own = format!(".attention.{projection}.");
        if name.contains(&own) {
            return StoredName::part(name.replace(&own, ".attention.qkv."), part..part + 1, 3);
        }
    }
    StoredName::whole(
        name.replace(".attention.to_out.0.", ".attention.out.")
            .replace(".attention.norm_q.", ".attention.q_norm.")
            .replace(".attention.norm_k.", ".attention.k_norm.")
            .replace("all_final_layer.2-1.", "final_layer.")
            .replace("all_x_embedder.2-1.", "x_embedder."),
    )
}

impl Family for ZImage {
    fn id(&self) -> &'static str {
        "z_image"
    }

    fn name(&self) -> &'static str {
        "Z-Image"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Z-Image", AdapterMark::Name("noise_refiner")),
            ("Z-Image", AdapterMark::Name("context_refiner")),
            ("Z-Image", AdapterMark::Name("layers_0_attention_to_q")),
            ("Z-Image", AdapterMark::Name("layers_0_attention_qkv")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("cap_embedder.1.weight", "lumina2")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Z-Image transformer was found", is_transformer)?;
        let config = denoiser.config(ZImageConfig::from_shapes)?;
        config.check(denoiser)?;
        let (role, name) = (Role::Denoiser, "Z-Image transformer");
        let component = Component::bind(
            role,
            name,
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;

        let width = config.cap_feat_dim;
        let expected = format!("no Qwen3 encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Qwen3Chat::width_of(&part.tensors) == Some(width)
        })?;
        let vae = autoencoder_part(checkpoint, config.in_channels)?;
        let autoencoder = AutoencoderKl::open(vae, flux::LATENT_SCALING)?;
        let pixels = 1024;
        let opened = Opened {
            text: vec![TextPart::new(Qwen3Chat::open(checkpoint, text)?)],
            denoiser: (Box::new(ZImageTransformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, FlowShift::fixed(3.0))?),
            defaults: ModelDefaults {
                width: pixels,
                height: pixels,
                steps: 9,
                guidance: 0.0,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&ZImage, checkpoint, opened))
    }
}

fn is_transformer(part: &Part) -> bool {
    let has = |name: &str| part.tensors.contains_key(name);
    has("cap_pad_token")
        && has("x_pad_token")
        && part.tensors.keys().any(|name| name.starts_with("context_refiner."))
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ZImageTransformer {
    config: ZImageConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// What steers it.
    nets: ControlNets,
}

impl Denoiser for ZImageTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch()) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    fn control_nets(&self) -> Option<Vec<SteeredBy>> {
        Some(self.nets.about())
    }

    fn controlled_by(
        &self,
        nets: &[&Part],
    ) -> std::result::Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let (nets, components) = ControlNets::open(nets, |part| control_net::open(part, self))?;
        Ok((Arc::new(Self { nets, ..self.clone() }), components))
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
        self.nets.prepare(blocks, input, |blocks| self.prepare_own(blocks, input))
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut pass = Pass::new(self, blocks, input, prepared)?;
        let (first, lead) = (self.modulation_block() + 1, 1 + self.config.n_refiner_layers);
        let own = first..first + lead + self.config.n_layers + 1;
        self.nets.walk(blocks, input, prepared, (own, lead), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        output.neg()
    }
}

impl ZImageTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: ZImageConfig, scale: usize) -> Self {
        Self { config, scale, nets: ControlNets::default() }
    }

    /// What the network itself computes once per stage.
    fn prepare_own(
        &self,
        blocks: Blocks<'_>,
        &PrepareInput { branches, sigmas, .. }: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let ropes: Vec<Rope> = branches
            .iter()
            .map(|branch| self.caption_rope(branch.prompt.dim(0)?, &blocks.device()))
            .collect::<Result<_>>()?;
        let mut captions: Vec<Tensor> = branches.iter().map(|branch| branch.prompt.clone()).collect();
        let mut modulations = Vec::new();
        let timestep = self.modulation_block();
        blocks.walk(0..timestep + 1, |index, weights| {
            if index == timestep {
                let mut each = vec![None; sigmas.len()];
                weights.branches(&mut each, |weights, number, modulation| {
                    *modulation = Some(self.modulation(weights, sigmas[number], blocks)?);
                    Ok(())
                })?;
                modulations = each.into_iter().flatten().collect();
                return Ok(());
            }
            weights.branches(&mut captions, |weights, branch, caption| {
                *caption = if index == 0 {
                    self.embed_caption(weights, caption)?
                } else {
                    self.block(weights, caption, &ropes[branch], None)?
                };
                Ok(())
            })
        })?;
        let branches = captions.into_iter().map(Conditioning::new).collect();
        Ok(Prepared { branches, modulations, ..Prepared::default() })
    }

    /// Index of the block with everything that depends only on the timestep.
    fn modulation_block(&self) -> usize {
        1 + self.config.n_refiner_layers
    }

    /// The modulation of each block, `[1, 1, 4 · dim]`, and of the final layer, `[1, 1, dim]`, for a noise
    /// level, and the embedding of the level itself.
    fn modulation(&self, w: &Weights, sigma: f32, blocks: Blocks<'_>) -> Result<Modulation> {
        let timestep = self.embed_timestep(w, sigma, blocks)?;
        let blocks = self.config.modulated_blocks();
        let mut tensors = blocks
            .map(|block| w.linear(&format!("{block}.adaLN_modulation.0"), &timestep)?.unsqueeze(1))
            .collect::<Result<Vec<_>>>()?;
        let last = format!("all_final_layer.{}.adaLN_modulation.1", self.config.patch_key());
        tensors.push(w.linear(&last, &silu(&timestep)?)?.unsqueeze(1)?);
        // For ControlNets.
        tensors.push(timestep);
        Ok(Modulation { sigma, tensors })
    }

    fn block(&self, w: &Weights, x: &Tensor, rope: &Rope, modulation: Option<&Tensor>) -> Result<Tensor> {
        let eps = self.config.norm_eps;
        let Some(modulation) = modulation else {
            let h = self.attention(w, w.rms_norm("attention_norm1", x, eps)?, rope)?;
            let x = (x + w.rms_norm("attention_norm2", &h, eps)?)?;
            let h = feed_forward(w, w.rms_norm("ffn_norm1", &x, eps)?)?;
            return x + w.rms_norm("ffn_norm2", &h, eps)?;
        };
        let modulation = modulation.chunk(4, 2)?;
        let (scale_attention, gate_attention) = (&modulation[0], modulation[1].tanh()?);
        let (scale_feed_forward, gate_feed_forward) = (&modulation[2], modulation[3].tanh()?);

        let h = w.rms_norm_modulated("attention_norm1", x, eps, scale_attention)?;
        let h = self.attention(w, h, rope)?;
        let x = gated_add(x, &gate_attention, &w.rms_norm("attention_norm2", &h, eps)?)?;
        drop(h);
        let h = w.rms_norm_modulated("ffn_norm1", &x, eps, scale_feed_forward)?;
        let h = feed_forward(w, h)?;
        gated_add(&x, &gate_feed_forward, &w.rms_norm("ffn_norm2", &h, eps)?)
    }

    /// Attention over all tokens of `x`, which is freed as early as possible.
    fn attention(&self, w: &Weights, x: Tensor, rope: &Rope) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let heads = |name: &str| w.linear(name, &x)?.reshape((batch, tokens, self.config.n_heads, ()));
        let (mut q, mut k, v) =
            (heads("attention.to_q")?, heads("attention.to_k")?, heads("attention.to_v")?);
        drop(x);
        if self.config.qk_norm {
            q = w.rms_norm("attention.norm_q", &q, QK_NORM_EPS)?;
            k = w.rms_norm("attention.norm_k", &k, QK_NORM_EPS)?;
        }
        q = rope_interleaved(&q, rope)?;
        k = rope_interleaved(&k, rope)?;
        let h = attention(&q, &k, &v, Mask::None)?;
        drop((q, k, v));
        w.linear("attention.to_out.0", &h.flatten_from(2)?)
    }

    fn final_layer(&self, w: &Weights, x: &Tensor, scale: &Tensor) -> Result<Tensor> {
        w.linear("linear", &layer_norm_modulated(x, FINAL_NORM_EPS, scale, None)?)
    }

    /// Converts prompt embeddings `[tokens, width]` to caption tokens `[1, padded tokens, dim]`.
    fn embed_caption(&self, w: &Weights, prompt: &Tensor) -> Result<Tensor> {
        let h = w.rms_norm("cap_embedder.0", &prompt.unsqueeze(0)?, self.config.norm_eps)?;
        pad(&w.linear("cap_embedder.1", &h)?, &w.get("cap_pad_token")?)
    }

    /// Converts latents to image tokens `[batch, padded tokens, dim]`.
    fn embed_image(&self, w: &Weights, latents: &Tensor) -> Result<Tensor> {
        let name = format!("all_x_embedder.{}", self.config.patch_key());
        let patches = patchify(latents, self.config.patch(), Channels::Last)?;
        pad(&w.linear(&name, &patches)?, &w.get("x_pad_token")?)
    }

    /// The embedding `[1, width]` of a noise level.
    fn embed_timestep(&self, w: &Weights, sigma: f32, blocks: Blocks<'_>) -> Result<Tensor> {
        // The pipeline counts from noise (0) to image (1), in steps of the scheduler's 1000.
        let timestep = (1000.0 - sigma * 1000.0) / 1000.0 * self.config.t_scale as f32;
        let half = FREQUENCY_WIDTH / 2;
        let angle = |index: usize| timestep * (-10_000_f32.ln() * index as f32 / half as f32).exp();
        let values: Vec<f32> = (0..half)
            .map(|index| angle(index).cos())
            .chain((0..half).map(|index| angle(index).sin()))
            .collect();
        let embedding = Tensor::from_vec(values, (1, FREQUENCY_WIDTH), &blocks.device())?;
        let h = silu(&w.linear("t_embedder.mlp.0", &embedding.to_dtype(blocks.dtype())?)?)?;
        w.linear("t_embedder.mlp.2", &h)
    }

    /// Caption token `i` of all padded tokens is at position `i + 1` of the first axis.
    fn caption_rope(&self, tokens: usize, device: &Device) -> Result<Rope> {
        let places: Vec<[usize; 3]> = (1..=padded(tokens)).map(|place| [place, 0, 0]).collect();
        self.rope(&places, device)
    }

    /// Image tokens share one position of the first axis, after the caption; padding is at the origin.
    fn image_rope(&self, place: usize, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| [place, row, column]));
        let mut places: Vec<[usize; 3]> = grid.collect();
        places.resize(padded(rows * columns), [0; 3]);
        self.rope(&places, device)
    }

    fn rope(&self, places: &[[usize; 3]], device: &Device) -> Result<Rope> {
        let theta = self.config.rope_theta;
        let angles = angles(places, &self.config.axes_dims, |place, exponent| {
            (place as f64 * theta.powf(exponent).recip()) as f32
        });
        Rope::from_angles(&angles, places.len(), self.config.head_dim() / 2, device)
    }
}

fn feed_forward(w: &Weights, x: Tensor) -> Result<Tensor> {
    let (gate, up) = (w.linear("feed_forward.w1", &x)?, w.linear("feed_forward.w3", &x)?);
    drop(x);
    let h = silu_mul(&gate, &up)?;
    drop((gate, up));
    w.linear("feed_forward.w2", &h)
}

fn padded(tokens: usize) -> usize {
    tokens.next_multiple_of(SEQUENCE_MULTIPLE)
}

/// Pads `x` `[batch, tokens, dim]` with `token` `[1, dim]` to a multiple of the sequence length.
fn pad(x: &Tensor, token: &Tensor) -> Result<Tensor> {
    let (batch, tokens, dim) = x.dims3()?;
    let missing = padded(tokens) - tokens;
    if missing == 0 {
        return Ok(x.clone());
    }
    let padding = token.reshape((1, 1, dim))?.broadcast_as((batch, missing, dim))?;
    Tensor::cat(&[x, &padding], 1)
}
