//! Z-Image: a single-stream diffusion transformer (Z-Image Team 2025, arXiv:2511.22699).
//!
//! Image and caption tokens are refined apart by a few blocks each and then run through the same blocks as
//! one sequence. Both are padded to multiples of 32 with a learned token that takes part like any other.

use candle_core::{D, DType, Device, Result, Tensor};
use serde::Deserialize;

use super::{Conditioning, Denoiser, DenoiserInput, Family, Model, ModelDefaults, TextStage};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Mask, Rope, attention, gated_add, layer_norm, modulate, rope_interleaved, silu, silu_mul},
    residency::{Executor, RunError, WeightStore, Weights},
    sampling::FlowShift,
    text::{Qwen2Tokenizer, Qwen3, Qwen3Config},
    vae::AutoencoderKl,
};

/// Token counts are padded to a multiple of this.
const SEQUENCE_MULTIPLE: usize = 32;
/// Widest embedding of the timestep.
const MODULATION_WIDTH: usize = 256;
/// Sines and cosines that describe the timestep.
const FREQUENCY_WIDTH: usize = 256;
/// Width inside the timestep's embedder.
const TIMESTEP_HIDDEN: usize = 1024;
/// Added to the mean square of queries and keys, whatever `norm_eps` is.
const QK_NORM_EPS: f64 = 1e-5;
/// Added to the variance before the last projection.
const FINAL_NORM_EPS: f64 = 1e-6;

/// The family.
pub struct ZImage;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ZImageConfig {
    /// Sides of the square patches; the first is used.
    pub all_patch_size: Vec<usize>,
    /// Latent channels.
    pub in_channels: usize,
    /// Width of the residual stream.
    pub dim: usize,
    /// Blocks of the joint sequence.
    pub n_layers: usize,
    /// Blocks of each refiner.
    pub n_refiner_layers: usize,
    /// Attention heads.
    pub n_heads: usize,
    /// Added to the mean square in norms of the residual stream.
    pub norm_eps: f64,
    /// Whether queries and keys are normalised.
    pub qk_norm: bool,
    /// Width of the prompt's embeddings.
    pub cap_feat_dim: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// What the timestep in 0…1 is multiplied by.
    pub t_scale: f64,
    /// Parts of a head that are rotated by caption place, row and column.
    pub axes_dims: Vec<usize>,
}

impl Default for ZImageConfig {
    fn default() -> Self {
        Self {
            all_patch_size: vec![2],
            in_channels: 16,
            dim: 3840,
            n_layers: 30,
            n_refiner_layers: 2,
            n_heads: 30,
            norm_eps: 1e-5,
            qk_norm: true,
            cap_feat_dim: 2560,
            rope_theta: 256.0,
            t_scale: 1000.0,
            axes_dims: vec![32, 48, 48],
        }
    }
}

impl ZImageConfig {
    /// Reads the shape off tensors under their original or their diffusers names, for files that come
    /// without a configuration. What shapes do not tell is as in all published models.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |names: [&str; 2]| {
            names.iter().find_map(|name| tensors.get(*name)).map(|tensor| tensor.shape().to_vec())
        };
        let count = |stack: &str| {
            let suffix = ".attention_norm1.weight";
            tensors.keys().filter(|name| name.starts_with(stack) && name.ends_with(suffix)).count()
        };
        let embedder = shape(["x_embedder.weight", "all_x_embedder.2-1.weight"])?;
        let (dim, patch) = (*embedder.first()?, *embedder.get(1)?);
        let q_norm = shape(["layers.0.attention.q_norm.weight", "layers.0.attention.norm_q.weight"]);
        let head = q_norm.as_ref().and_then(|shape| shape.first().copied()).unwrap_or(128);
        Some(Self {
            in_channels: patch / 4,
            dim,
            n_layers: count("layers."),
            n_refiner_layers: count("noise_refiner."),
            n_heads: dim / head,
            qk_norm: q_norm.is_some(),
            cap_feat_dim: *shape(["cap_embedder.0.weight", "cap_embedder.0.weight"])?.first()?,
            axes_dims: vec![head / 4, head / 8 * 3, head / 8 * 3],
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| {
            Err(CheckpointError::Config { path: part.path.join("config.json"), field, value, reason })
        };
        if self.all_patch_size.first().is_none_or(|&side| side == 0) {
            return wrong(
                "all_patch_size",
                format!("{:?}", self.all_patch_size),
                "there is no patch".to_owned(),
            );
        }
        if self.n_heads == 0 || !self.dim.is_multiple_of(self.n_heads) {
            let reason = format!("{} is not divisible by it", self.dim);
            return wrong("n_heads", self.n_heads.to_string(), reason);
        }
        let sum: usize = self.axes_dims.iter().sum();
        let odd = self.axes_dims.iter().any(|width| !width.is_multiple_of(2));
        if self.axes_dims.len() != 3 || sum != self.head_dim() || odd {
            let reason = format!("it takes three even numbers that sum to {}", self.head_dim());
            return wrong("axes_dims", format!("{:?}", self.axes_dims), reason);
        }
        Ok(())
    }

    fn patch(&self) -> usize {
        self.all_patch_size.first().copied().unwrap_or(2)
    }

    fn head_dim(&self) -> usize {
        self.dim / self.n_heads
    }

    fn patch_width(&self) -> usize {
        self.patch() * self.patch() * self.in_channels
    }

    fn modulation_width(&self) -> usize {
        self.dim.min(MODULATION_WIDTH)
    }

    /// The blocks. Those that see the caption alone come first.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, modulation, key) = (self.dim, self.modulation_width(), self.patch_key());
        let inner = (dim as f64 / 3.0 * 8.0) as usize;
        let block = |name: String, modulated: bool| {
            let mut spec = BlockSpec::new(name)
                .scale("attention_norm1", dim)
                .matrix("attention.to_q", dim, dim)
                .matrix("attention.to_k", dim, dim)
                .matrix("attention.to_v", dim, dim)
                .matrix("attention.to_out.0", dim, dim)
                .scale("attention_norm2", dim)
                .scale("ffn_norm1", dim)
                .matrix("feed_forward.w1", inner, dim)
                .matrix("feed_forward.w2", dim, inner)
                .matrix("feed_forward.w3", inner, dim)
                .scale("ffn_norm2", dim);
            if self.qk_norm {
                spec = spec
                    .scale("attention.norm_q", self.head_dim())
                    .scale("attention.norm_k", self.head_dim());
            }
            if modulated { spec.linear("adaLN_modulation.0", 4 * dim, modulation) } else { spec }
        };
        let stack = |name: &'static str, count: usize, modulated: bool| {
            (0..count).map(move |index| block(format!("{name}.{index}"), modulated))
        };
        let mut blocks = vec![
            BlockSpec::stem("caption embedder")
                .scale("cap_embedder.0", self.cap_feat_dim)
                .linear("cap_embedder.1", dim, self.cap_feat_dim)
                .tensor("cap_pad_token", &[1, dim]),
        ];
        blocks.extend(stack("context_refiner", self.n_refiner_layers, false));
        blocks.push(
            BlockSpec::stem("embedders")
                .linear(&format!("all_x_embedder.{key}"), dim, self.patch_width())
                .tensor("x_pad_token", &[1, dim])
                .linear("t_embedder.mlp.0", TIMESTEP_HIDDEN, FREQUENCY_WIDTH)
                .linear("t_embedder.mlp.2", modulation, TIMESTEP_HIDDEN),
        );
        blocks.extend(stack("noise_refiner", self.n_refiner_layers, true));
        blocks.extend(stack("layers", self.n_layers, true));
        blocks.push(
            BlockSpec::new(format!("all_final_layer.{key}"))
                .linear("linear", self.patch_width(), dim)
                .linear("adaLN_modulation.1", dim, modulation),
        );
        blocks
    }

    fn patch_key(&self) -> String {
        format!("{}-1", self.patch())
    }
}

/// The name that a tensor has in the authors' own files, which ComfyUI uses too.
fn original_name(name: &str) -> StoredName {
    for (part, projection) in ["to_q", "to_k", "to_v"].into_iter().enumerate() {
        let own = format!(".attention.{projection}.");
        if name.contains(&own) {
            return StoredName { name: name.replace(&own, ".attention.qkv."), part: Some((part, 3)) };
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

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let part = |role, expected: &str, fits: &dyn Fn(&Part) -> bool| {
            checkpoint.candidates(role).find(|part| fits(part)).ok_or_else(|| CheckpointError::MissingPart {
                model: checkpoint.path.clone(),
                role,
                expected: expected.to_owned(),
            })
        };
        let denoiser = part(Role::Denoiser, "no Z-Image transformer was found", &is_transformer)?;
        let config = match denoiser.parse_config::<ZImageConfig>() {
            Some(config) => config?,
            None => ZImageConfig::from_shapes(&denoiser.tensors).unwrap_or_default(),
        };
        config.check(denoiser)?;
        let (role, name) = (Role::Denoiser, "Z-Image transformer");
        let denoiser_component = Component::bind(
            role,
            name,
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;

        let width = config.cap_feat_dim;
        let expected = format!("no Qwen3 encoder of width {width} was found in text_encoders");
        let text = part(Role::TextEncoder, &expected, &|part| is_qwen3(part, width))?;
        let expected = format!("no autoencoder with {} channels was found in vae", config.in_channels);
        let vae = part(Role::Autoencoder, &expected, &|part| {
            AutoencoderKl::latent_channels(&part.tensors) == Some(config.in_channels)
        })?;
        let (autoencoder, autoencoder_component) = AutoencoderKl::open(vae)?;
        let pixels = 1024;
        Ok(Model {
            family: &ZImage,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            text: open_text(checkpoint, text)?,
            denoiser: Box::new(ZImageTransformer::new(config, autoencoder.scale())),
            denoiser_component,
            autoencoder,
            autoencoder_component,
            shift: FlowShift::open(checkpoint, FlowShift::fixed(3.0))?,
            defaults: ModelDefaults { width: pixels, height: pixels, steps: 9, guidance: 0.0 },
        })
    }
}

fn is_transformer(part: &Part) -> bool {
    let has = |name: &str| part.tensors.contains_key(name);
    has("cap_pad_token")
        && has("x_pad_token")
        && part.tensors.keys().any(|name| name.starts_with("context_refiner."))
}

fn is_qwen3(part: &Part, width: usize) -> bool {
    let embedding = part.tensors.get("embed_tokens.weight");
    part.tensors.contains_key("layers.0.self_attn.q_norm.weight")
        && embedding.is_some_and(|tensor| tensor.shape().get(1) == Some(&width))
}

fn open_text(checkpoint: &Checkpoint, part: &Part) -> std::result::Result<TextStage, CheckpointError> {
    let config = match part.parse_config::<Qwen3Config>() {
        Some(config) => config?,
        None => Qwen3Config::from_shapes(&part.tensors).ok_or_else(|| CheckpointError::MissingTensor {
            path: part.path.clone(),
            name: "layers.0.mlp.gate_proj.weight".to_owned(),
            missing: 1,
        })?,
    };
    config.check(part)?;
    let (role, name) = (Role::TextEncoder, "Qwen3");
    let component = Component::bind(
        role,
        name,
        &config.blueprint(),
        &part.tensors,
        |name| StoredName::whole(name),
        &part.path,
    )?;
    let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
    Ok(TextStage { tokenizer, encoder: Qwen3::new(config), component })
}

/// The transformer's shape; its weights come from a store.
#[derive(Debug, Clone)]
pub struct ZImageTransformer {
    config: ZImageConfig,
    /// Pixels a latent.
    scale: usize,
}

impl Denoiser for ZImageTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch()) as u32
    }

    fn latents_shape(&self, width: u32, height: u32) -> [usize; 3] {
        [self.config.in_channels, height as usize / self.scale, width as usize / self.scale]
    }

    fn uses_negative(&self, scale: f32) -> bool {
        scale > 0.0
    }

    fn prepare(
        &self,
        executor: &Executor,
        store: &WeightStore,
        branches: &[Conditioning],
    ) -> std::result::Result<Vec<Conditioning>, RunError> {
        let ropes: Vec<Rope> = branches
            .iter()
            .map(|branch| self.caption_rope(branch.prompt.dim(0)?, store.device()))
            .collect::<Result<_>>()?;
        let mut captions: Vec<Tensor> = branches.iter().map(|branch| branch.prompt.clone()).collect();
        executor.walk(store, 0..self.first_latent_block(), |index, weights| {
            for (caption, rope) in captions.iter_mut().zip(&ropes) {
                *caption = if index == 0 {
                    self.embed_caption(weights, caption)?
                } else {
                    self.block(weights, caption, rope, None)?
                };
            }
            Ok(())
        })?;
        Ok(captions.into_iter().map(|prompt| Conditioning { prompt }).collect())
    }

    fn predict(
        &self,
        executor: &Executor,
        store: &WeightStore,
        input: &DenoiserInput<'_>,
        branches: &[Conditioning],
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (batch, _, height, width) = input.latents.dims4()?;
        let grid = [height / self.config.patch(), width / self.config.patch()];
        let ropes: Vec<[Rope; 2]> = branches
            .iter()
            .map(|branch| {
                let caption = branch.prompt.dim(1)?;
                let image = self.image_rope(caption + 1, grid, store.device())?;
                let joint = image.concat(&self.caption_rope(caption, store.device())?)?;
                Ok([image, joint])
            })
            .collect::<Result<_>>()?;

        let embedders = self.first_latent_block();
        let layers = embedders + 1 + self.config.n_refiner_layers;
        let last = layers + self.config.n_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        let mut timestep = None;
        executor.walk(store, embedders..last + 1, |index, weights| {
            if index == embedders {
                timestep = Some(self.embed_timestep(weights, input.sigma, store)?);
                let image = self.embed_image(weights, &input.latents.to_dtype(store.dtype())?)?;
                streams = vec![image; branches.len()];
                return Ok(());
            }
            for ((x, branch), [image, joint]) in streams.iter_mut().zip(branches).zip(&ropes) {
                if index == layers {
                    let (_, tokens, dim) = branch.prompt.dims3()?;
                    *x = Tensor::cat(&[&*x, &branch.prompt.broadcast_as((batch, tokens, dim))?], 1)?;
                }
                let rope = if index < layers { image } else { joint };
                *x = if index == last {
                    self.final_layer(weights, &x.narrow(1, 0, grid[0] * grid[1])?, timestep.as_ref())?
                } else {
                    self.block(weights, x, rope, timestep.as_ref())?
                };
            }
            Ok(())
        })?;
        Ok(streams.iter().map(|x| self.unpatchify(x, grid)).collect::<Result<_>>()?)
    }

    fn velocity(&self, outputs: &[Tensor], scale: f32) -> Result<Tensor> {
        let positive = outputs[0].to_dtype(DType::F32)?;
        match outputs.get(1) {
            Some(negative) => {
                let difference = (&positive - negative.to_dtype(DType::F32)?)?;
                (positive + (difference * f64::from(scale))?)?.neg()
            }
            None => positive.neg(),
        }
    }
}

impl ZImageTransformer {
    /// A transformer of this shape whose latents stand for `scale` by `scale` pixels each.
    pub fn new(config: ZImageConfig, scale: usize) -> Self {
        Self { config, scale }
    }

    /// The number of the first block that depends on the latents.
    fn first_latent_block(&self) -> usize {
        1 + self.config.n_refiner_layers
    }

    fn block(&self, w: &Weights, x: &Tensor, rope: &Rope, timestep: Option<&Tensor>) -> Result<Tensor> {
        let eps = self.config.norm_eps;
        let Some(timestep) = timestep else {
            let h = self.attention(w, &w.rms_norm("attention_norm1", x, eps)?, rope)?;
            let x = (x + w.rms_norm("attention_norm2", &h, eps)?)?;
            let h = feed_forward(w, &w.rms_norm("ffn_norm1", &x, eps)?)?;
            return x + w.rms_norm("ffn_norm2", &h, eps)?;
        };
        let modulation = w.linear("adaLN_modulation.0", timestep)?.unsqueeze(1)?.chunk(4, 2)?;
        let (scale_attention, gate_attention) = (&modulation[0], modulation[1].tanh()?);
        let (scale_feed_forward, gate_feed_forward) = (&modulation[2], modulation[3].tanh()?);

        let h = modulate(&w.rms_norm("attention_norm1", x, eps)?, scale_attention)?;
        let h = w.rms_norm("attention_norm2", &self.attention(w, &h, rope)?, eps)?;
        let x = gated_add(x, &gate_attention, &h)?;
        let h = modulate(&w.rms_norm("ffn_norm1", &x, eps)?, scale_feed_forward)?;
        let h = w.rms_norm("ffn_norm2", &feed_forward(w, &h)?, eps)?;
        gated_add(&x, &gate_feed_forward, &h)
    }

    fn attention(&self, w: &Weights, x: &Tensor, rope: &Rope) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let heads = |name: &str| w.linear(name, x)?.reshape((batch, tokens, self.config.n_heads, ()));
        let (mut q, mut k, v) =
            (heads("attention.to_q")?, heads("attention.to_k")?, heads("attention.to_v")?);
        if self.config.qk_norm {
            q = w.rms_norm("attention.norm_q", &q, QK_NORM_EPS)?;
            k = w.rms_norm("attention.norm_k", &k, QK_NORM_EPS)?;
        }
        let h = attention(&rope_interleaved(&q, rope)?, &rope_interleaved(&k, rope)?, &v, Mask::None)?;
        w.linear("attention.to_out.0", &h.flatten_from(2)?)
    }

    fn final_layer(&self, w: &Weights, x: &Tensor, timestep: Option<&Tensor>) -> Result<Tensor> {
        let mut h = layer_norm(x, None, None, FINAL_NORM_EPS)?;
        if let Some(timestep) = timestep {
            h = modulate(&h, &w.linear("adaLN_modulation.1", &silu(timestep)?)?.unsqueeze(1)?)?;
        }
        w.linear("linear", &h)
    }

    /// Prompt embeddings `[tokens, width]` to caption tokens `[1, padded tokens, dim]`.
    fn embed_caption(&self, w: &Weights, prompt: &Tensor) -> Result<Tensor> {
        let h = w.rms_norm("cap_embedder.0", &prompt.unsqueeze(0)?, self.config.norm_eps)?;
        pad(&w.linear("cap_embedder.1", &h)?, w.get("cap_pad_token")?)
    }

    /// Latents to image tokens `[batch, padded tokens, dim]`.
    fn embed_image(&self, w: &Weights, latents: &Tensor) -> Result<Tensor> {
        let name = format!("all_x_embedder.{}", self.config.patch_key());
        pad(&w.linear(&name, &self.patchify(latents)?)?, w.get("x_pad_token")?)
    }

    /// The embedding `[1, width]` of a noise level.
    fn embed_timestep(&self, w: &Weights, sigma: f32, store: &WeightStore) -> Result<Tensor> {
        // The pipeline counts from noise (0) to picture (1), in steps of the scheduler's thousand.
        let timestep = (1000.0 - sigma * 1000.0) / 1000.0 * self.config.t_scale as f32;
        let half = FREQUENCY_WIDTH / 2;
        let angle = |index: usize| timestep * (-10_000_f32.ln() * index as f32 / half as f32).exp();
        let values: Vec<f32> = (0..half)
            .map(|index| angle(index).cos())
            .chain((0..half).map(|index| angle(index).sin()))
            .collect();
        let embedding = Tensor::from_vec(values, (1, FREQUENCY_WIDTH), store.device())?;
        let h = silu(&w.linear("t_embedder.mlp.0", &embedding.to_dtype(store.dtype())?)?)?;
        w.linear("t_embedder.mlp.2", &h)
    }

    /// `[batch, channels, height, width]` to `[batch, patches, patch · patch · channels]`.
    fn patchify(&self, latents: &Tensor) -> Result<Tensor> {
        let (batch, channels, height, width) = latents.dims4()?;
        let p = self.config.patch();
        latents
            .reshape(&[batch, channels, height / p, p, width / p, p])?
            .permute([0, 2, 4, 3, 5, 1])?
            .reshape((batch, (height / p) * (width / p), p * p * channels))
    }

    fn unpatchify(&self, x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
        let (batch, p, channels) = (x.dim(0)?, self.config.patch(), self.config.in_channels);
        x.reshape(&[batch, rows, columns, p, p, channels])?.permute([0, 5, 1, 3, 2, 4])?.reshape((
            batch,
            channels,
            rows * p,
            columns * p,
        ))
    }

    /// Caption token `i` of all padded tokens stands at place `i + 1` of the first axis.
    fn caption_rope(&self, tokens: usize, device: &Device) -> Result<Rope> {
        let places: Vec<[usize; 3]> = (1..=padded(tokens)).map(|place| [place, 0, 0]).collect();
        self.rope(&places, device)
    }

    /// Image tokens share one place of the first axis, after the caption; padding stands at the origin.
    fn image_rope(&self, place: usize, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| [place, row, column]));
        let mut places: Vec<[usize; 3]> = grid.collect();
        places.resize(padded(rows * columns), [0; 3]);
        self.rope(&places, device)
    }

    fn rope(&self, places: &[[usize; 3]], device: &Device) -> Result<Rope> {
        let mut angles = Vec::with_capacity(places.len() * self.config.head_dim() / 2);
        for place in places {
            for (&position, &width) in place.iter().zip(&self.config.axes_dims) {
                for pair in 0..width / 2 {
                    let frequency = self.config.rope_theta.powf((2 * pair) as f64 / width as f64).recip();
                    angles.push((position as f64 * frequency) as f32);
                }
            }
        }
        Rope::from_angles(&angles, places.len(), self.config.head_dim() / 2, device)
    }
}

fn feed_forward(w: &Weights, x: &Tensor) -> Result<Tensor> {
    let h = silu_mul(&w.linear("feed_forward.w1", x)?, &w.linear("feed_forward.w3", x)?)?;
    w.linear("feed_forward.w2", &h)
}

fn padded(tokens: usize) -> usize {
    tokens.next_multiple_of(SEQUENCE_MULTIPLE)
}

/// Appends `token` `[1, dim]` to `x` `[batch, tokens, dim]` until its length is a multiple.
fn pad(x: &Tensor, token: &Tensor) -> Result<Tensor> {
    let (batch, tokens, dim) = x.dims3()?;
    let missing = padded(tokens) - tokens;
    if missing == 0 {
        return Ok(x.clone());
    }
    let padding = token.reshape((1, 1, dim))?.broadcast_as((batch, missing, dim))?;
    Tensor::cat(&[x, &padding], D::Minus2)
}
