//! ERNIE-Image (Baidu 2026): a transformer of one stream, image before text, whose blocks share one modulation. Ministral 3 reads
//! the prompts, and the autoencoder is that of FLUX.2.
//!
//! Positions have three axes: the place in the text, where the image is after its end, row, and column.

use serde::Deserialize;

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    family::{is_named, part},
    joint::{embedded_prompts, modulated_by},
    modulated::within_range,
    patches::{Channels, angles, patchify, unpatchify, wrong_axes},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{
        D, Device, Mask, Result, Rope, Tensor, Waves, attention, bail, gated_add, gelu_mul,
        layer_norm_modulated, rope_half, scale_and_shift, silu, waves,
    },
    request::{Canvas, ComputeDtype},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, Training},
    text::{Encoded, MinistralPlain},
    vae::{Autoencoder, Flux2Autoencoder},
};

/// Modulations of a block: shift, scale and gate for attention and for feed-forward.
const MODULATIONS: usize = 6;
/// Modulations of the head: scale and shift.
const HEAD_MODULATIONS: usize = 2;
/// Added to the variances of the autoencoder's batch norm. The pipeline has this number instead of the configuration's.
const BATCH_NORM_EPS: f32 = 1e-5;
/// Index of the block with the image embedder. All blocks before it are needed once per run.
const EMBEDDERS: usize = 2;
const TEXT: &str = "text_proj";
const PIXELS: &str = "x_embedder.proj";

/// The family.
pub struct ErnieImage;

impl Family for ErnieImage {
    fn id(&self) -> &'static str {
        "ernie_image"
    }

    fn name(&self) -> &'static str {
        "ERNIE-Image"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("ERNIE-Image", AdapterMark::Name("layers_0_self_attention_to_")),
            ("ERNIE-Image", AdapterMark::Name("layers_0_mlp_linear_fc2")),
        ]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no ERNIE-Image transformer was found", is_transformer)?;
        let config = denoiser.config(ErnieConfig::from_shapes)?;
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "ERNIE-Image transformer",
            &config.blueprint(),
            &denoiser.tensors,
            |name| StoredName::whole(name),
            &denoiser.path,
        )?;
        let (width, channels) = (config.text_in_dim, config.in_channels);
        let expected = format!("no Ministral 3 encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            MinistralPlain::width_of(&part.tensors) == Some(width)
        })?;
        let expected = format!("no autoencoder of FLUX.2 with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            Flux2Autoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = Flux2Autoencoder::open_with(vae, Some(BATCH_NORM_EPS))?;
        let is_turbo = is_named(&denoiser.path, "turbo", "ernie");
        let opened = Opened {
            text: vec![TextPart::new(MinistralPlain::open(checkpoint, text)?)],
            denoiser: (Box::new(ErnieTransformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, FlowShift::fixed(4.0))?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: if is_turbo { 8 } else { 50 },
                guidance: if is_turbo { 1.0 } else { 4.0 },
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&ErnieImage, checkpoint, opened))
    }
}

/// Only ERNIE-Image has this norm.
fn is_transformer(part: &Part) -> bool {
    part.tensors.contains_key("layers.0.adaLN_sa_ln.weight")
}

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ErnieConfig {
    /// Width of the stream.
    pub hidden_size: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width inside the feed-forward layers.
    pub ffn_hidden_size: usize,
    /// Channels of the latents.
    pub in_channels: usize,
    /// Channels of the result, the same.
    pub out_channels: usize,
    /// Side of the square patches of latents.
    pub patch_size: usize,
    /// Width of the prompt embeddings.
    pub text_in_dim: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Widths of the parts of a head that are rotated by place in the text, row and column.
    pub rope_axes_dim: Vec<usize>,
    /// Added to the mean square or variance in every norm.
    pub eps: f64,
    /// Whether queries and keys are normalized.
    pub qk_layernorm: bool,
}

impl Default for ErnieConfig {
    /// The published shape.
    fn default() -> Self {
        Self {
            hidden_size: 4096,
            num_attention_heads: 32,
            num_layers: 36,
            ffn_hidden_size: 12_288,
            in_channels: 128,
            out_channels: 128,
            patch_size: 1,
            text_in_dim: 3072,
            rope_theta: 256.0,
            rope_axes_dim: vec![32, 48, 48],
            eps: 1e-6,
            qk_layernorm: true,
        }
    }
}

impl ErnieConfig {
    /// Infers the shape from the tensors, for files without a configuration. Epsilon and the rotary base, which shapes do not
    /// show, are those of the published model.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(&format!("{name}.weight")).map(|tensor| tensor.shape());
        let &[dim, in_channels, .., patch_size] = shape(PIXELS)? else { return None };
        let head = *shape("layers.0.self_attention.norm_q")?.first()?;
        let text_in_dim = shape(TEXT).and_then(|shape| shape.get(1).copied());
        Some(Self {
            hidden_size: dim,
            num_attention_heads: dim.checked_div(head)?,
            num_layers: tensors.keys().filter(|name| name.ends_with(".adaLN_sa_ln.weight")).count(),
            ffn_hidden_size: *shape("layers.0.mlp.gate_proj")?.first()?,
            in_channels,
            out_channels: shape("final_linear")?.first()?.checked_div(patch_size * patch_size)?,
            patch_size,
            text_in_dim: text_in_dim.unwrap_or(dim),
            rope_axes_dim: vec![head / 4, head / 8 * 3, head / 8 * 3],
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let (dim, heads) = (self.hidden_size, self.num_attention_heads);
        if heads == 0 || !dim.is_multiple_of(heads) {
            return part.refuse(
                "num_attention_heads",
                heads,
                format!("it must divide the width {dim} evenly"),
            );
        }
        if let Some(reason) = wrong_axes(&self.rope_axes_dim, 3, self.head()) {
            return part.refuse("rope_axes_dim", format!("{:?}", self.rope_axes_dim), reason);
        }
        if self.patch_size == 0 {
            return part.refuse("patch_size", 0, "it must be at least 1");
        }
        if self.out_channels != self.in_channels {
            let reason = format!("it must be the {} channels of the latents", self.in_channels);
            return part.refuse("out_channels", self.out_channels, reason);
        }
        if !self.qk_layernorm {
            return part.refuse("qk_layernorm", false, "queries and keys must be normalized");
        }
        Ok(())
    }

    /// Width of a head.
    fn head(&self) -> usize {
        self.hidden_size / self.num_attention_heads.max(1)
    }

    /// The prompt is only projected if its width differs.
    fn projects_text(&self) -> bool {
        self.text_in_dim != self.hidden_size
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, inner, head) = (self.hidden_size, self.ffn_hidden_size, self.head());
        let conditioning = BlockSpec::stem("conditioning")
            .linear("time_embedding.linear_1", dim, dim)
            .linear("time_embedding.linear_2", dim, dim);
        let conditioning = match self.projects_text() {
            true => conditioning.matrix(TEXT, dim, self.text_in_dim),
            false => conditioning,
        };
        let modulation = BlockSpec::stem("modulation")
            .linear("adaLN_modulation.1", MODULATIONS * dim, dim)
            .linear("final_norm.linear", HEAD_MODULATIONS * dim, dim);
        let mut blocks = vec![conditioning, modulation];
        blocks.push(BlockSpec::stem("embedders").conv(PIXELS, dim, self.in_channels, self.patch_size));
        blocks.extend((0..self.num_layers).map(|index| {
            BlockSpec::new(format!("layers.{index}"))
                .scale("adaLN_sa_ln", dim)
                .matrix("self_attention.to_q", dim, dim)
                .matrix("self_attention.to_k", dim, dim)
                .matrix("self_attention.to_v", dim, dim)
                .scale("self_attention.norm_q", head)
                .scale("self_attention.norm_k", head)
                .matrix("self_attention.to_out.0", dim, dim)
                .scale("adaLN_mlp_ln", dim)
                .matrix("mlp.gate_proj", inner, dim)
                .matrix("mlp.up_proj", inner, dim)
                .matrix("mlp.linear_fc2", dim, inner)
        }));
        let values = self.out_channels * self.patch_size.pow(2);
        blocks.push(BlockSpec::stem("head").linear("final_linear", values, dim));
        blocks
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ErnieTransformer {
    config: ErnieConfig,
    /// Pixels per latent, along one side.
    scale: usize,
}

impl ErnieTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: ErnieConfig, scale: usize) -> Self {
        Self { config, scale }
    }

    /// The embedding `[noise levels, dim]` of these timesteps.
    fn embedded_times(&self, w: &Weights, times: &[f32], blocks: Blocks<'_>) -> Result<Tensor> {
        let width = self.config.hidden_size;
        let form = Waves { width, spaced: (width / 2) as f64, cosines_first: false };
        let wave = waves(times, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        w.linear("time_embedding.linear_2", &silu(&w.linear("time_embedding.linear_1", &wave)?)?)
    }

    /// A block, which is modulated by shift, scale and gate for attention and for feed-forward.
    fn block(&self, w: &Weights, x: &Tensor, modulation: &[Tensor], rope: &Rope) -> Result<Tensor> {
        let eps = self.config.eps;
        let h = scale_and_shift(&w.rms_norm("adaLN_sa_ln", x, eps)?, &modulation[1], &modulation[0])?;
        let x = gated_add(x, &modulation[2], &self.attend(w, h, rope)?)?;
        let h = scale_and_shift(&w.rms_norm("adaLN_mlp_ln", &x, eps)?, &modulation[4], &modulation[3])?;
        let (gate, up) = (w.linear("mlp.gate_proj", &h)?, w.linear("mlp.up_proj", &h)?);
        drop(h);
        let h = gelu_mul(&gate, &up)?;
        drop((gate, up));
        within_range(gated_add(&x, &modulation[5], &w.linear("mlp.linear_fc2", &h)?)?)
    }

    /// Attention over all tokens of `x`, which is freed.
    fn attend(&self, w: &Weights, x: Tensor, rope: &Rope) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let heads = |layer: &str| {
            let y = w.linear(&format!("self_attention.{layer}"), &x)?;
            y.reshape((batch, tokens, self.config.num_attention_heads, ()))
        };
        let normed = |layer: &str, norm: &str| {
            w.rms_norm(&format!("self_attention.{norm}"), &heads(layer)?, self.config.eps)
        };
        let q = rope_half(&normed("to_q", "norm_q")?, rope)?;
        let k = rope_half(&normed("to_k", "norm_k")?, rope)?;
        let v = heads("to_v")?;
        drop(x);
        let h = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
        drop((q, k, v));
        w.linear("self_attention.to_out.0", &h)
    }

    /// Rotations of an image's tokens and of `text` tokens after them. Every angle is there twice, one after the other, while the
    /// values of a pair are half a head apart: that is how the model was trained.
    fn rope(&self, text: usize, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let image = (0..rows * columns).map(|index| [text, index / columns, index % columns]);
        let places: Vec<[usize; 3]> = image.chain((0..text).map(|place| [place, 0, 0])).collect();
        let theta = self.config.rope_theta as f32;
        let angle = |place: usize, exponent: f64| place as f32 * (1.0 / theta.powf(exponent as f32));
        let angles = angles(&places, &self.config.rope_axes_dim, angle);
        let twice: Vec<f32> = angles.into_iter().flat_map(|angle| [angle; 2]).collect();
        Rope::from_angles(&twice, places.len(), self.config.head(), device)
    }
}

impl Denoiser for ErnieTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch_size) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
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
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0).collect();
        let embed = |w: &Weights| {
            let prompts = embedded_prompts(input.branches, |all| match self.config.projects_text() {
                true => w.linear(TEXT, all),
                false => Ok(all.clone()),
            })?;
            Ok((self.embedded_times(w, &times, blocks)?, prompts))
        };
        modulated_by(blocks, input.sigmas, EMBEDDERS, embed, |_, w, levels| {
            let of_blocks = w.linear("adaLN_modulation.1", &silu(levels)?)?;
            let of_head = w.linear("final_norm.linear", levels)?;
            let by_level = |all: Tensor| all.reshape((times.len(), 1, 1, ()));
            Ok(vec![by_level(of_blocks)?, by_level(of_head)?])
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (batch, _, height, width) = input.latents.dims4()?;
        let side = self.config.patch_size;
        let grid = [height / side, width / side];
        let rotation = |branch: &Conditioning| self.rope(branch.prompt.dim(1)?, grid, &blocks.device());
        let rotations = prepared.branches.iter().map(rotation).collect::<Result<Vec<_>>>()?;
        let modulation = prepared.modulation(input.sigma)?;
        let of_blocks = modulation[0].chunk(MODULATIONS, D::Minus1)?;
        let of_head = modulation[1].chunk(HEAD_MODULATIONS, D::Minus1)?;
        let first = EMBEDDERS + 1;
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(EMBEDDERS..last + 1, |index, w| {
            if index < first {
                let latents = input.latents.to_dtype(blocks.dtype())?;
                let image = w.patches(PIXELS, &patchify(&latents, side, Channels::First)?)?;
                for Conditioning { prompt, .. } in &prepared.branches {
                    let (_, tokens, dim) = prompt.dims3()?;
                    let prompt = prompt.broadcast_as((batch, tokens, dim))?.contiguous()?;
                    streams.push(Tensor::cat(&[&image, &prompt], 1)?);
                }
                return Ok(());
            }
            w.branches(&mut streams, |w, branch, x| {
                *x = if index == last {
                    let image = x.narrow(1, 0, grid[0] * grid[1])?.contiguous()?;
                    let (scale, shift) = (&of_head[0], Some(&of_head[1]));
                    w.linear("final_linear", &layer_norm_modulated(&image, self.config.eps, scale, shift)?)?
                } else {
                    self.block(w, x, &of_blocks, &rotations[branch])?
                };
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| unpatchify(x, grid, side, Channels::Last);
        Ok(streams.iter().map(latents).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}
