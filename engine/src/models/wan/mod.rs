//! Wan 2.1 (Team Wan 2025, arXiv:2503.20314): a diffusion transformer for clips.
//!
//! Patches of all latent frames are one sequence, which attends to itself and to the prompt. The noise level modulates
//! every block in the same way, up to a table of its own.

use serde::Deserialize;

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults,
    Modulation, Opened, PrepareInput, Prepared, TextPart,
    family::{part, t5_part},
    modulated::{Waves, waves},
    patches::{Channels, patchify, unpatchify},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{
        D, Device, Mask, Result, Rope, Tensor, add, attention, bail, gated_add, gelu_tanh,
        layer_norm_modulated, rope_interleaved, silu,
    },
    request::{Canvas, ComputeDtype, Sampler},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, LastLevel, Training},
    text::{Encoded, T5Encoder},
    vae::{Autoencoder, WanAutoencoder},
};

/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Modulations of a block: shift, scale and gate of attention, and of the feed-forward.
const MODULATIONS: usize = 6;
/// Maximum number of tokens of a prompt.
const PROMPT_TOKENS: usize = 512;
/// Tokens that run through the feed-forward at a time: its inner values are several times as wide.
const TOGETHER: usize = 8192;
/// Width of a head in all published models.
const HEAD_WIDTH: usize = 128;
/// Width from which on a model counts as large.
const LARGE: usize = 4096;
/// The table that the noise level's modulation is added to.
const TABLE: &str = "scale_shift_table";

/// The family.
pub struct Wan;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct WanConfig {
    /// Sides of the patches: frames, rows, columns.
    pub patch_size: Vec<usize>,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output: those of the latents.
    pub out_channels: usize,
    /// Width of the prompt embeddings.
    pub text_dim: usize,
    /// Number of values in the sinusoidal embedding of the timestep.
    pub freq_dim: usize,
    /// Width inside the feed-forward layers.
    pub ffn_dim: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Whether the input of the attention to the prompt is normalized.
    pub cross_attn_norm: bool,
    /// How queries and keys are normalized.
    pub qk_norm: Option<String>,
    /// Added to the variance, or the mean square, in every norm.
    pub eps: f64,
    /// Width of the embeddings of an image, in models that start from one.
    pub image_dim: Option<usize>,
}

impl Default for WanConfig {
    fn default() -> Self {
        Self {
            patch_size: vec![1, 2, 2],
            num_attention_heads: 40,
            attention_head_dim: HEAD_WIDTH,
            in_channels: 16,
            out_channels: 16,
            text_dim: 4096,
            freq_dim: 256,
            ffn_dim: 13_824,
            num_layers: 40,
            cross_attn_norm: true,
            qk_norm: Some("rms_norm_across_heads".to_owned()),
            eps: 1e-6,
            image_dim: None,
        }
    }
}

impl WanConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let kernel = shape("patch_embedding.weight")?;
        let (dim, in_channels) = (*kernel.first()?, *kernel.get(1)?);
        let patch_size = kernel.get(2..).filter(|sides| sides.len() == 3)?.to_vec();
        let values: usize = patch_size.iter().product();
        let layers = (0..).take_while(|layer| shape(&format!("blocks.{layer}.attn1.to_q.weight")).is_some());
        Some(Self {
            num_attention_heads: dim / HEAD_WIDTH,
            in_channels,
            out_channels: *shape("proj_out.weight")?.first()? / values.max(1),
            text_dim: *shape("condition_embedder.text_embedder.linear_1.weight")?.get(1)?,
            freq_dim: *shape("condition_embedder.time_embedder.linear_1.weight")?.get(1)?,
            ffn_dim: *shape("blocks.0.ffn.net.0.proj.weight")?.first()?,
            num_layers: layers.count(),
            cross_attn_norm: shape("blocks.0.norm2.weight").is_some(),
            image_dim: shape("condition_embedder.image_embedder.norm1.weight")
                .and_then(|norm| norm.first().copied()),
            patch_size,
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let [1, rows, columns] = self.patch_size[..] else {
            let reason = "it must be three numbers, the first of them 1";
            return part.refuse("patch_size", format!("{:?}", self.patch_size), reason);
        };
        if rows != columns || rows == 0 {
            return part.refuse("patch_size", format!("{:?}", self.patch_size), "patches must be square");
        }
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if self.attention_head_dim < 6 || !self.attention_head_dim.is_multiple_of(2) {
            let reason = "it must be an even number, at least 6";
            return part.refuse("attention_head_dim", self.attention_head_dim, reason);
        }
        if self.freq_dim < 2 || !self.freq_dim.is_multiple_of(2) {
            return part.refuse("freq_dim", self.freq_dim, "it must be an even number, at least 2");
        }
        if let Some(norm) = self.qk_norm.as_ref().filter(|norm| *norm != "rms_norm_across_heads") {
            return part.refuse("qk_norm", norm, "only rms_norm_across_heads is supported");
        }
        if self.image_dim.is_some() || self.in_channels != self.out_channels {
            let reason = "models that start from an image are not supported yet";
            return part.refuse("in_channels", self.in_channels, reason);
        }
        Ok(())
    }

    fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// Side of the square patches of latents.
    fn patch(&self) -> usize {
        self.patch_size.last().copied().unwrap_or(1)
    }

    /// Widths of the parts of a head that are rotated by frame, row and column.
    fn axes(&self) -> [usize; 3] {
        let side = 2 * (self.attention_head_dim / 6);
        [self.attention_head_dim - 2 * side, side, side]
    }

    /// The blocks. The first depends only on prompt and noise level and is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, inner) = (self.dim(), self.ffn_dim);
        let embedder = "condition_embedder";
        let conditioning = BlockSpec::stem("conditioning")
            .linear(&format!("{embedder}.time_embedder.linear_1"), dim, self.freq_dim)
            .linear(&format!("{embedder}.time_embedder.linear_2"), dim, dim)
            .linear(&format!("{embedder}.time_proj"), MODULATIONS * dim, dim)
            .linear(&format!("{embedder}.text_embedder.linear_1"), dim, self.text_dim)
            .linear(&format!("{embedder}.text_embedder.linear_2"), dim, dim);
        let kernel = [1, self.patch(), self.patch()];
        let patches = BlockSpec::stem("embedder").conv3d("patch_embedding", dim, self.in_channels, kernel);
        let block = |index: usize| {
            let mut spec = BlockSpec::new(format!("blocks.{index}")).tensor(TABLE, &[1, MODULATIONS, dim]);
            for attention in ["attn1", "attn2"] {
                for layer in ["to_q", "to_k", "to_v", "to_out.0"] {
                    spec = spec.linear(&format!("{attention}.{layer}"), dim, dim);
                }
                if self.qk_norm.is_some() {
                    for norm in ["norm_q", "norm_k"] {
                        spec = spec.scale(&format!("{attention}.{norm}"), dim);
                    }
                }
            }
            if self.cross_attn_norm {
                spec = spec.norm("norm2", dim);
            }
            spec.linear("ffn.net.0.proj", inner, dim).linear("ffn.net.2", dim, inner)
        };
        let mut blocks = vec![conditioning, patches];
        blocks.extend((0..self.num_layers).map(block));
        let values = self.out_channels * self.patch() * self.patch();
        blocks.push(BlockSpec::stem("head").tensor(TABLE, &[1, 2, dim]).linear("proj_out", values, dim));
        blocks
    }
}

/// Layers of the transformer: diffusers' name and the authors', which ComfyUI also uses.
const NAMES: [(&str, &str); 15] = [
    ("condition_embedder.time_embedder.linear_1.", "time_embedding.0."),
    ("condition_embedder.time_embedder.linear_2.", "time_embedding.2."),
    ("condition_embedder.text_embedder.linear_1.", "text_embedding.0."),
    ("condition_embedder.text_embedder.linear_2.", "text_embedding.2."),
    ("condition_embedder.time_proj.", "time_projection.1."),
    ("condition_embedder.image_embedder.norm1.", "img_emb.proj.0."),
    (".attn1.", ".self_attn."),
    (".attn2.", ".cross_attn."),
    (".to_out.0.", ".o."),
    (".to_q.", ".q."),
    (".to_k.", ".k."),
    (".to_v.", ".v."),
    (".ffn.net.0.proj.", ".ffn.0."),
    (".ffn.net.2.", ".ffn.2."),
    (".norm2.", ".norm3."),
];

/// The name of a tensor in the authors' files.
fn original_name(name: &str) -> StoredName {
    if name == TABLE {
        return StoredName::whole("head.modulation");
    }
    if let Some(parameter) = name.strip_prefix("proj_out.") {
        return StoredName::whole(format!("head.head.{parameter}"));
    }
    let renamed = NAMES.iter().fold(name.to_owned(), |name, (own, original)| name.replace(own, original));
    StoredName::whole(renamed.replace(TABLE, "modulation"))
}

impl Family for Wan {
    fn id(&self) -> &'static str {
        "wan"
    }

    fn name(&self) -> &'static str {
        "Wan"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Wan", AdapterMark::Name("blocks_0_cross_attn")),
            ("Wan", AdapterMark::Name("blocks_0_self_attn")),
            ("Wan", AdapterMark::Name("blocks_0_ffn_")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("blocks.0.cross_attn.norm_q.weight", "wan")]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Wan transformer was found", is_transformer)?;
        one_expert(checkpoint, denoiser)?;
        let config = denoiser.config(WanConfig::from_shapes)?;
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "Wan transformer",
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;
        let text = t5_part(checkpoint, config.text_dim)?;
        let channels = config.out_channels;
        let expected = format!("no autoencoder of Wan with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        // diffusers' UniPC rounds timesteps down; its other schedulers do not.
        let scheduler = checkpoint.scheduler.as_ref().and_then(|config| config.get("_class_name")?.as_str());
        let is_euler = scheduler == Some("FlowMatchEulerDiscreteScheduler");
        let last = if is_euler { LastLevel::Lowest } else { LastLevel::BeforeLowest };
        let shift = if config.dim() < LARGE { 3.0 } else { 5.0 };
        let shift = scheduler::flow_shift(checkpoint, FlowShift { last, ..FlowShift::fixed(shift) })?;
        let transformer = WanTransformer {
            config,
            scale: autoencoder.0.scale(),
            frames: autoencoder.0.frames_per_latent(),
            has_whole_times: !is_euler,
        };
        let opened = Opened {
            text: vec![TextPart::new(T5Encoder::open(checkpoint, text, "tokenizer", PROMPT_TOKENS)?)],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(shift),
            defaults: ModelDefaults {
                width: 832,
                height: 480,
                steps: 50,
                guidance: 5.0,
                on_cards: ComputeDtype::Bf16,
                frames: 81,
                frame_rate: 16.0,
                sampler: if is_euler { Sampler::Euler } else { Sampler::UniPc },
            },
        };
        Ok(Model::new(&Wan, checkpoint, opened))
    }
}

/// Only Wan's blocks attend to the prompt and are modulated by a table.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "condition_embedder.text_embedder.linear_1.weight",
        "blocks.0.attn2.to_q.weight",
        "blocks.0.scale_shift_table",
    ]) || has(["text_embedding.0.weight", "blocks.0.cross_attn.q.weight", "blocks.0.modulation"])
}

/// Refuses a model of two experts, one of which would be left out.
fn one_expert(checkpoint: &Checkpoint, part: &Part) -> std::result::Result<(), CheckpointError> {
    let index = checkpoint.index.as_ref();
    let boundary = index.and_then(|index| index.get("boundary_ratio")).filter(|value| !value.is_null());
    match boundary {
        Some(boundary) => {
            part.refuse("boundary_ratio", boundary, "models of two experts are not supported yet")
        }
        None => Ok(()),
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct WanTransformer {
    config: WanConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Frames per latent frame after the first.
    frames: usize,
    /// Whether timesteps are rounded down.
    has_whole_times: bool,
}

impl Denoiser for WanTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch()) as u32
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

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning { prompt: states, pooled: None }),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        &PrepareInput { branches, sigmas, .. }: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut prepared = Prepared::default();
        blocks.walk(0..1, |_, w| {
            prepared.modulations = self.modulations(w, sigmas, blocks)?;
            prepared.branches = embed_prompts(w, branches)?;
            Ok(())
        })?;
        Ok(prepared)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let grid = Grid::new(input.latents.dims(), self.config.patch())?;
        let rope = self.rope(grid, &blocks.device())?;
        let modulation = prepared.modulation(input.sigma)?;
        let (embedder, first) = (1, 2);
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(embedder..last + 1, |index, w| {
            if index == embedder {
                let latents = input.latents.to_dtype(blocks.dtype())?;
                let x = w.patches("patch_embedding", &grid.patches(&latents)?)?;
                streams = vec![x; prepared.branches.len()];
                return Ok(());
            }
            for (x, branch) in streams.iter_mut().zip(&prepared.branches) {
                *x = if index == last {
                    self.head(w, x, &modulation[1])?
                } else {
                    self.block(w, x, &modulation[0], &branch.prompt, &rope)?
                };
            }
            Ok(())
        })?;
        Ok(streams.iter().map(|x| grid.latents(x)).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

impl WanTransformer {
    /// For each noise level, the modulation of all blocks, `[1, 6, dim]`, and that of the head, `[1, 1, dim]`, before
    /// their tables are added.
    fn modulations(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<Vec<Modulation>> {
        let time = |sigma: &f32| if self.has_whole_times { (sigma * 1000.0).floor() } else { sigma * 1000.0 };
        let times: Vec<f32> = sigmas.iter().map(time).collect();
        let width = self.config.freq_dim;
        let form = Waves { width, spaced: (width / 2) as f64, cosines_first: true };
        let wave = waves(&times, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        let name = "condition_embedder.time_embedder";
        let embedded = silu(&w.linear(&format!("{name}.linear_1"), &wave)?)?;
        let embedded = w.linear(&format!("{name}.linear_2"), &embedded)?;
        let projected = w.linear("condition_embedder.time_proj", &silu(&embedded)?)?;
        let dim = self.config.dim();
        let of_level = |(index, &sigma): (usize, &f32)| {
            let of_blocks = projected.narrow(0, index, 1)?.reshape((1, MODULATIONS, dim))?;
            let of_head = embedded.narrow(0, index, 1)?.reshape((1, 1, dim))?;
            Ok(Modulation { sigma, tensors: vec![of_blocks, of_head] })
        };
        sigmas.iter().enumerate().map(of_level).collect()
    }

    fn block(
        &self,
        w: &Weights,
        x: &Tensor,
        modulation: &Tensor,
        prompt: &Tensor,
        rope: &Rope,
    ) -> Result<Tensor> {
        // Shift, scale and gate of attention, then of the feed-forward.
        let modulation = (w.get(TABLE)? + modulation)?.chunk(MODULATIONS, 1)?;
        let modulation = modulation.iter().map(Tensor::contiguous).collect::<Result<Vec<_>>>()?;
        let h = layer_norm_modulated(x, self.config.eps, &modulation[1], Some(&modulation[0]))?;
        let h = self.attention(w, "attn1", h, None, Some(rope))?;
        let x = gated_add(x, &modulation[2], &h)?;
        drop(h);
        let h =
            if self.config.cross_attn_norm { w.layer_norm("norm2", &x, self.config.eps)? } else { x.clone() };
        let x = add(&x, &self.attention(w, "attn2", h, Some(prompt), None)?)?;
        self.feed_forward(w, &x, &modulation[3..])
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
            if x.dim(0)? == batch {
                Ok(x)
            } else {
                x.broadcast_as((batch, tokens, heads, width))?.contiguous()
            }
        };
        let projected = |layer: &str, norm: &str, x: &Tensor| -> Result<Tensor> {
            let h = w.linear(&format!("{name}.{layer}"), x)?;
            if self.config.qk_norm.is_none() {
                return split(h);
            }
            split(w.rms_norm(&format!("{name}.{norm}"), &h, self.config.eps)?)
        };
        let mut q = projected("to_q", "norm_q", &x)?;
        let mut k = projected("to_k", "norm_k", prompt.unwrap_or(&x))?;
        let v = split(w.linear(&format!("{name}.to_v"), prompt.unwrap_or(&x))?)?;
        drop(x);
        if let Some(rope) = rope {
            q = rope_interleaved(&q, rope)?;
            k = rope_interleaved(&k, rope)?;
        }
        let h = attention(&q, &k, &v, Mask::None)?;
        drop((q, k, v));
        w.linear(&format!("{name}.to_out.0"), &h.flatten_from(2)?)
    }

    /// The feed-forward layers, for some tokens at a time.
    fn feed_forward(&self, w: &Weights, x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
        let tokens = x.dim(1)?;
        let part = |start: usize| {
            let x = x.narrow(1, start, TOGETHER.min(tokens - start))?.contiguous()?;
            let h = layer_norm_modulated(&x, self.config.eps, &modulation[1], Some(&modulation[0]))?;
            let wide = w.linear("ffn.net.0.proj", &h)?;
            drop(h);
            let h = gelu_tanh(&wide)?;
            drop(wide);
            gated_add(&x, &modulation[2], &w.linear("ffn.net.2", &h)?)
        };
        let parts = (0..tokens).step_by(TOGETHER).map(part).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&parts, 1)
    }

    fn head(&self, w: &Weights, x: &Tensor, modulation: &Tensor) -> Result<Tensor> {
        // Shift and scale.
        let modulation = w.get(TABLE)?.broadcast_add(modulation)?.chunk(2, 1)?;
        let modulation = modulation.iter().map(Tensor::contiguous).collect::<Result<Vec<_>>>()?;
        let h = layer_norm_modulated(x, self.config.eps, &modulation[1], Some(&modulation[0]))?;
        w.linear("proj_out", &h)
    }

    /// Rotary embeddings of the patches: frame by frame, row by row.
    fn rope(&self, grid: Grid, device: &Device) -> Result<Rope> {
        let sides = [grid.frames, grid.rows, grid.columns];
        let table = |(width, side): (usize, usize)| -> Vec<Vec<(f32, f32)>> {
            let angle =
                |place: usize, pair: usize| place as f64 / THETA.powf((2 * pair) as f64 / width as f64);
            let pair = |place, pair| {
                let angle: f64 = angle(place, pair);
                (angle.cos() as f32, angle.sin() as f32)
            };
            (0..side).map(|place| (0..width / 2).map(|index| pair(place, index)).collect()).collect()
        };
        let [of_frames, of_rows, of_columns] = {
            let mut tables = self.config.axes().into_iter().zip(sides).map(table);
            [(); 3].map(|()| tables.next().unwrap_or_default())
        };
        let pairs = self.config.attention_head_dim / 2;
        let (mut cosines, mut sines) =
            (Vec::with_capacity(grid.count() * pairs), Vec::with_capacity(grid.count() * pairs));
        for frame in &of_frames {
            for row in &of_rows {
                for column in &of_columns {
                    for (cosine, sine) in frame.iter().chain(row).chain(column) {
                        cosines.push(*cosine);
                        sines.push(*sine);
                    }
                }
            }
        }
        Rope::from_cosines_and_sines([cosines, sines], grid.count(), pairs, device)
    }
}

/// Converts prompt embeddings `[tokens, width]` to the network's tokens `[1, tokens, dim]`, layer by layer.
fn embed_prompts(w: &Weights, branches: &[Conditioning]) -> Result<Vec<Conditioning>> {
    let name = "condition_embedder.text_embedder";
    let inner = |branch: &Conditioning| {
        gelu_tanh(&w.linear(&format!("{name}.linear_1"), &branch.prompt.unsqueeze(0)?)?)
    };
    let inner = branches.iter().map(inner).collect::<Result<Vec<_>>>()?;
    let token =
        |h: &Tensor| Ok(Conditioning { prompt: w.linear(&format!("{name}.linear_2"), h)?, pooled: None });
    inner.iter().map(token).collect()
}

/// The patches of an image's or a clip's latents.
#[derive(Debug, Clone, Copy)]
struct Grid {
    batch: usize,
    frames: usize,
    rows: usize,
    columns: usize,
    /// Side of a patch.
    side: usize,
    /// Whether the latents have an axis for frames.
    is_clip: bool,
}

impl Grid {
    fn new(dims: &[usize], side: usize) -> Result<Self> {
        let (batch, frames, height, width) = match *dims {
            [batch, _, height, width] => (batch, 1, height, width),
            [batch, _, frames, height, width] => (batch, frames, height, width),
            _ => bail!("latents have the shape {dims:?}"),
        };
        Ok(Self { batch, frames, rows: height / side, columns: width / side, side, is_clip: dims.len() == 5 })
    }

    /// Number of patches.
    fn count(self) -> usize {
        self.frames * self.rows * self.columns
    }

    /// Latents as patches `[batch, patches, channels · side · side]`.
    fn patches(self, latents: &Tensor) -> Result<Tensor> {
        let images = if self.is_clip {
            let dims = latents.dims().to_vec();
            latents.transpose(1, 2)?.reshape((self.batch * self.frames, dims[1], dims[3], dims[4]))?
        } else {
            latents.clone()
        };
        let patches = patchify(&images, self.side, Channels::First)?;
        patches.reshape((self.batch, self.count(), patches.dim(D::Minus1)?))
    }

    /// Patches as latents.
    fn latents(self, patches: &Tensor) -> Result<Tensor> {
        let of_frame = self.rows * self.columns;
        let patches = patches.reshape((self.batch * self.frames, of_frame, patches.dim(D::Minus1)?))?;
        let images = unpatchify(&patches, [self.rows, self.columns], self.side, Channels::Last)?;
        if !self.is_clip {
            return Ok(images);
        }
        let (_, channels, height, width) = images.dims4()?;
        images.reshape((self.batch, self.frames, channels, height, width))?.transpose(1, 2)?.contiguous()
    }
}
