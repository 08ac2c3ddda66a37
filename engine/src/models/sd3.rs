//! Stable Diffusion 3 and 3.5 (Esser et al. 2024, arXiv:2403.03206): a transformer with two streams of
//! tokens.
//!
//! Image and text tokens have separate weights and interact in attention. In the first blocks of 3.5 medium,
//! the image also attends to itself alone. Position embeddings from the middle of a table are added to the
//! image tokens.

mod control_net;
mod pass;

use std::sync::Arc;

use serde::Deserialize;

pub use self::control_net::is_control_net;
use self::pass::Pass;
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, SteeredBy, TextPart,
    control_nets::ControlNets,
    denoiser::negative_first,
    family::{autoencoder_part, clip_parts, part, t5_part},
    joint::{
        Attention, Conditions, HEAD_MODULATORS, Heads, MLP_RATIO, MLPS, Modulators, Row, SIDES,
        diffusers_name, prepare, stored_name,
    },
    patches::{Channels, patchify},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Tensor, bail, linear},
    request::{Canvas, ComputeDtype},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, LastLevel, Training},
    text::{Clip, ClipEncoder, ClipUse, Encoded, T5, T5Encoder},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// The table of position embeddings.
const PLACES: &str = "pos_embed.pos_embed";
/// The kernel that converts patches to tokens.
const KERNEL: &str = "pos_embed.proj";
/// Maximum number of T5 tokens. Without T5, as many zeros take their place, as in diffusers.
const T5_TOKENS: usize = 256;
/// Width of a head in all published models.
const HEAD_WIDTH: usize = 64;
/// The image's attention to itself alone.
const ALONE: Attention = Attention {
    qkv: ["attn2.to_q", "attn2.to_k", "attn2.to_v"],
    norms: ["attn2.norm_q", "attn2.norm_k"],
    out: "attn2.to_out.0",
};
/// Position of the self-attention's shift, scale and gate among the image's modulations: after those of joint
/// attention and feed-forward.
const ALONE_MODULATION: usize = 6;

const TEXT_MODULATOR: &[(&str, usize)] = &[("norm1_context.linear", 6)];
/// After the last block, the text is not needed.
const LAST_TEXT_MODULATOR: &[(&str, usize)] = &[("norm1_context.shift", 1), ("norm1_context.scale", 1)];
const IMAGE_MODULATOR: &[(&str, usize)] = &[("norm1.linear", ALONE_MODULATION)];
const DUAL_IMAGE_MODULATOR: &[(&str, usize)] = &[("norm1.linear", ALONE_MODULATION + 3)];

/// The family.
pub struct Sd3;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sd3Config {
    /// Side of the latents that the model was trained for.
    pub sample_size: usize,
    /// Side of a patch of latents.
    pub patch_size: usize,
    /// Number of latent channels.
    pub in_channels: usize,
    /// Number of output channels, if different.
    pub out_channels: Option<usize>,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub joint_attention_dim: usize,
    /// Width of text tokens, which must be that of image tokens.
    pub caption_projection_dim: usize,
    /// Width of the pooled prompt embedding.
    pub pooled_projection_dim: usize,
    /// Side of the table of position embeddings, in patches.
    pub pos_embed_max_size: usize,
    /// The blocks in which the image also attends to itself alone.
    pub dual_attention_layers: Vec<usize>,
    /// How queries and keys are normalized: `rms_norm`, or `None`.
    pub qk_norm: Option<String>,
    /// Which streams its blocks have.
    #[serde(skip)]
    pub streams: Streams,
}

/// The streams of tokens in a network's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Image and text, of which the last block only passes on the image.
    #[default]
    Both,
    /// Image and text to the end.
    BothToTheEnd,
    /// The image alone.
    Image,
}

impl Default for Sd3Config {
    fn default() -> Self {
        Self {
            sample_size: 128,
            patch_size: 2,
            in_channels: 16,
            out_channels: Some(16),
            num_layers: 18,
            attention_head_dim: HEAD_WIDTH,
            num_attention_heads: 18,
            joint_attention_dim: 4096,
            caption_projection_dim: 1152,
            pooled_projection_dim: 2048,
            pos_embed_max_size: 96,
            dual_attention_layers: Vec::new(),
            qk_norm: None,
            streams: Streams::Both,
        }
    }
}

impl Sd3Config {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&original_name(name).name));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let kernel = shape("pos_embed.proj.weight")?;
        let (dim, patch) = (*kernel.first()?, *kernel.get(2)?);
        let has = |block: usize, layer: &str| shape(&format!("transformer_blocks.{block}.{layer}")).is_some();
        let layers = (0..).take_while(|&block| has(block, "attn.to_q.weight")).count();
        let norm = shape("transformer_blocks.0.attn.norm_q.weight");
        let head = norm.as_ref().map_or(Some(HEAD_WIDTH), |norm| norm.first().copied())?;
        Some(Self {
            patch_size: patch,
            in_channels: *kernel.get(1)?,
            out_channels: shape("proj_out.weight")?.first()?.checked_div(patch * patch),
            num_layers: layers,
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape("context_embedder.weight")?.get(1)?,
            caption_projection_dim: dim,
            pooled_projection_dim: *shape("time_text_embed.text_embedder.linear_1.weight")?.get(1)?,
            pos_embed_max_size: shape(PLACES)?.iter().product::<usize>().checked_div(dim)?.isqrt(),
            dual_attention_layers: (0..layers).filter(|&block| has(block, "attn2.to_q.weight")).collect(),
            qk_norm: norm.map(|_| "rms_norm".to_owned()),
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        let counts = [
            ("patch_size", self.patch_size),
            ("in_channels", self.in_channels),
            ("num_layers", self.num_layers),
            ("attention_head_dim", self.attention_head_dim),
            ("num_attention_heads", self.num_attention_heads),
            ("pos_embed_max_size", self.pos_embed_max_size),
        ];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return wrong(field, "0".to_owned(), "it must be at least 1".to_owned());
        }
        let dim = self.heads().dim();
        if self.caption_projection_dim != dim {
            let reason = format!("it must be {dim}, the width of image tokens");
            return wrong("caption_projection_dim", self.caption_projection_dim.to_string(), reason);
        }
        if let Some(channels) = self.out_channels.filter(|&channels| channels != self.in_channels) {
            let reason = format!("it must be {}, the number of latent channels", self.in_channels);
            return wrong("out_channels", channels.to_string(), reason);
        }
        if let Some(block) = self.dual_attention_layers.iter().find(|&&block| block >= self.num_layers) {
            let reason = format!("there are only {} blocks, counted from 0", self.num_layers);
            return wrong("dual_attention_layers", block.to_string(), reason);
        }
        match &self.qk_norm {
            Some(norm) if norm != "rms_norm" => {
                let reason = "only rms_norm and no norm are supported".to_owned();
                wrong("qk_norm", norm.clone(), reason)
            }
            _ => Ok(()),
        }
    }

    fn heads(&self) -> Heads {
        Heads {
            count: self.num_attention_heads,
            width: self.attention_head_dim,
            are_normed: self.qk_norm.is_some(),
        }
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            dim: self.heads().dim(),
            pooled: self.pooled_projection_dim,
            prompt: if self.streams == Streams::Image { 0 } else { self.joint_attention_dim },
            has_guidance: false,
        }
    }

    /// Whether the image attends to itself alone in this transformer block.
    fn is_dual(&self, block: usize) -> bool {
        self.dual_attention_layers.contains(&block)
    }

    /// The number of streams needed after this transformer block.
    fn outputs(&self, block: usize) -> usize {
        match self.streams {
            Streams::Both if block + 1 == self.num_layers => 1,
            Streams::Both | Streams::BothToTheEnd => 2,
            Streams::Image => 1,
        }
    }

    /// Number of values in a patch of latents.
    fn patch_width(&self) -> usize {
        self.in_channels * self.patch_size * self.patch_size
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    fn embedders(&self) -> usize {
        2 + self.num_layers
    }

    /// Index of the block with the table of position embeddings, which is read in parts and never leased.
    fn places(&self) -> usize {
        self.embedders() + self.num_layers + 2
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    fn modulators(&self, block: usize) -> Modulators {
        let block = block - 1;
        if block == self.num_layers {
            return HEAD_MODULATORS;
        }
        if self.streams == Streams::Image {
            return &[IMAGE_MODULATOR];
        }
        match (self.is_dual(block), self.outputs(block)) {
            (false, 2) => &[IMAGE_MODULATOR, TEXT_MODULATOR],
            (true, 2) => &[DUAL_IMAGE_MODULATOR, TEXT_MODULATOR],
            (false, _) => &[IMAGE_MODULATOR, LAST_TEXT_MODULATOR],
            (true, _) => &[DUAL_IMAGE_MODULATOR, LAST_TEXT_MODULATOR],
        }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (conditions, heads, patch) = (self.conditions(), self.heads(), self.patch_size);
        let dim = heads.dim();
        let block = |index: usize| format!("transformer_blocks.{index}");
        let mut blocks = vec![conditions.spec()];
        blocks.extend((0..self.num_layers).map(|index| {
            heads.modulation_spec(&format!("{}.", block(index)), "modulation", self.modulators(index + 1))
        }));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        let kernel = [dim, self.in_channels, patch, patch];
        let embedder = BlockSpec::stem("embedders").tensor(format!("{KERNEL}.weight"), &kernel);
        blocks.push(embedder.tensor(format!("{KERNEL}.bias"), &[dim]));
        blocks.extend((0..self.num_layers).map(|index| {
            let spec = BlockSpec::new(block(index));
            if self.streams == Streams::Image {
                let inner = MLP_RATIO * dim;
                let spec = heads.spec(spec, &SIDES[0], true).linear("ff.net.0.proj", inner, dim);
                return spec.linear("ff.net.2", dim, inner);
            }
            let spec = heads.joint_spec(spec, MLPS, self.outputs(index));
            if self.is_dual(index) { heads.spec(spec, &ALONE, true) } else { spec }
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.patch_width(), dim));
        let places = self.pos_embed_max_size * self.pos_embed_max_size;
        blocks.push(BlockSpec::stem("places").tensor(PLACES, &[places, dim]));
        blocks
    }
}

const BLOCK_NAMES: [Row; 26] = [
    ("norm1.linear", "x_block.adaLN_modulation.1", 0..1, 1),
    ("norm1_context.linear", "context_block.adaLN_modulation.1", 0..1, 1),
    ("norm1_context.shift", "context_block.adaLN_modulation.1", 0..1, 2),
    ("norm1_context.scale", "context_block.adaLN_modulation.1", 1..2, 2),
    ("attn.to_q", "x_block.attn.qkv", 0..1, 3),
    ("attn.to_k", "x_block.attn.qkv", 1..2, 3),
    ("attn.to_v", "x_block.attn.qkv", 2..3, 3),
    ("attn.add_q_proj", "context_block.attn.qkv", 0..1, 3),
    ("attn.add_k_proj", "context_block.attn.qkv", 1..2, 3),
    ("attn.add_v_proj", "context_block.attn.qkv", 2..3, 3),
    ("attn2.to_q", "x_block.attn2.qkv", 0..1, 3),
    ("attn2.to_k", "x_block.attn2.qkv", 1..2, 3),
    ("attn2.to_v", "x_block.attn2.qkv", 2..3, 3),
    ("attn.norm_q", "x_block.attn.ln_q", 0..1, 1),
    ("attn.norm_k", "x_block.attn.ln_k", 0..1, 1),
    ("attn.norm_added_q", "context_block.attn.ln_q", 0..1, 1),
    ("attn.norm_added_k", "context_block.attn.ln_k", 0..1, 1),
    ("attn2.norm_q", "x_block.attn2.ln_q", 0..1, 1),
    ("attn2.norm_k", "x_block.attn2.ln_k", 0..1, 1),
    ("attn.to_out.0", "x_block.attn.proj", 0..1, 1),
    ("attn.to_add_out", "context_block.attn.proj", 0..1, 1),
    ("attn2.to_out.0", "x_block.attn2.proj", 0..1, 1),
    ("ff.net.0.proj", "x_block.mlp.fc1", 0..1, 1),
    ("ff.net.2", "x_block.mlp.fc2", 0..1, 1),
    ("ff_context.net.0.proj", "context_block.mlp.fc1", 0..1, 1),
    ("ff_context.net.2", "context_block.mlp.fc2", 0..1, 1),
];
const OTHER_NAMES: [Row; 8] = [
    (KERNEL, "x_embedder.proj", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_1", "t_embedder.mlp.0", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_2", "t_embedder.mlp.2", 0..1, 1),
    ("time_text_embed.text_embedder.linear_1", "y_embedder.mlp.0", 0..1, 1),
    ("time_text_embed.text_embedder.linear_2", "y_embedder.mlp.2", 0..1, 1),
    ("norm_out.shift", "final_layer.adaLN_modulation.1", 0..1, 2),
    ("norm_out.scale", "final_layer.adaLN_modulation.1", 1..2, 2),
    ("proj_out", "final_layer.linear", 0..1, 1),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
fn original_name(name: &str) -> StoredName {
    if name == PLACES {
        return StoredName::whole("pos_embed");
    }
    let (layer, parameter) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = layer.strip_prefix("transformer_blocks.").and_then(|rest| rest.split_once('.'));
    let stored = match numbered {
        Some((number, layer)) => {
            stored_name(&BLOCK_NAMES, &format!("joint_blocks.{number}."), layer, parameter)
        }
        None => stored_name(&OTHER_NAMES, "", layer, parameter),
    };
    stored.unwrap_or_else(|| StoredName::whole(name))
}

/// How latents are scaled in Stable Diffusion 3.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 1.5305, shift: Some(0.0609) };

impl Family for Sd3 {
    fn id(&self) -> &'static str {
        "sd3"
    }

    fn name(&self) -> &'static str {
        "Stable Diffusion 3"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Stable Diffusion 3", AdapterMark::Name("joint_blocks")),
            ("Stable Diffusion 3", AdapterMark::Name("transformer_blocks_0_attn_add_k_proj")),
            ("Stable Diffusion 3", AdapterMark::Name("transformer_blocks_0_ff_context")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("joint_blocks.0.context_block.attn.qkv.weight", "sd3")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taesd3"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let expected = "no Stable Diffusion 3 transformer was found";
        let denoiser = part(checkpoint, Role::Denoiser, expected, is_transformer)?;
        let config = denoiser.config(Sd3Config::from_shapes)?;
        config.check(denoiser)?;
        let is_original = denoiser.tensors.contains_key("x_embedder.proj.weight");
        let component = Component::bind(
            Role::Denoiser,
            "Stable Diffusion 3 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            if is_original { original_name } else { diffusers_name },
            &denoiser.path,
        )?
        .also_named(original_name)
        .also_named(diffusers_name);

        let places = |part: &Part| Clip::places(&part.tensors).unwrap_or_default();
        let [clip_l, clip_g] = clip_parts(checkpoint, config.pooled_projection_dim, places)?;
        check_widths([clip_l, clip_g], denoiser, &config)?;
        // ComfyUI's file of CLIP-L lacks the projection. In this family it makes no difference.
        let is_projected = clip_l.tensors.contains_key("text_projection.weight");
        let small = ClipUse { is_projected, ..ClipUse::PENULTIMATE };
        let mut text = vec![
            TextPart::new(ClipEncoder::open(checkpoint, clip_l, "tokenizer", small)?),
            TextPart::new(ClipEncoder::open(checkpoint, clip_g, "tokenizer_2", ClipUse::PENULTIMATE)?),
        ];
        if checkpoint.candidates(Role::TextEncoder).any(|part| T5::width(&part.tensors).is_some()) {
            let t5 = t5_part(checkpoint, config.joint_attention_dim)?;
            text.push(TextPart::new(T5Encoder::open(checkpoint, t5, "tokenizer_3", T5_TOKENS)?));
        }
        let vae = autoencoder_part(checkpoint, config.in_channels)?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;

        let side = (config.sample_size / config.patch_size).clamp(1, config.pos_embed_max_size);
        let pixels = (side * config.patch_size * autoencoder.0.scale()) as u32;
        // As in the model cards: 3.5 medium, 3.5 large, and 3.
        let (steps, guidance) = match (config.dual_attention_layers.is_empty(), config.qk_norm.is_some()) {
            (false, _) => (40, 4.5),
            (true, true) => (28, 3.5),
            (true, false) => (28, 7.0),
        };
        let shift = FlowShift { last: LastLevel::Lowest, ..FlowShift::fixed(3.0) };
        let opened = Opened {
            text,
            denoiser: (Box::new(Sd3Transformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: pixels,
                height: pixels,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Sd3, checkpoint, opened))
    }
}

/// Only Stable Diffusion 3 adds positions from a table to the tokens of two streams.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        PLACES,
        "time_text_embed.text_embedder.linear_1.weight",
        "transformer_blocks.0.attn.add_q_proj.weight",
    ]) || has(["pos_embed", "y_embedder.mlp.0.weight", "joint_blocks.0.context_block.attn.qkv.weight"])
}

/// Checks that the tokens of T5 are at least as wide as those of both CLIPs together.
fn check_widths(
    clips: [&Part; 2],
    denoiser: &Part,
    config: &Sd3Config,
) -> std::result::Result<(), CheckpointError> {
    let width: usize = clips.iter().filter_map(|part| Clip::width(&part.tensors)).sum();
    if width <= config.joint_attention_dim {
        return Ok(());
    }
    let reason = format!("both CLIP text encoders together have a width of {width}");
    denoiser.refuse("joint_attention_dim", config.joint_attention_dim, reason)
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Sd3Transformer {
    config: Sd3Config,
    /// Pixels per latent, along one side.
    scale: usize,
    /// What steers it.
    nets: ControlNets,
}

impl Denoiser for Sd3Transformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch_size) as u32
    }

    fn longest_side(&self) -> u32 {
        self.config.pos_embed_max_size as u32 * self.size_multiple()
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

    /// Concatenates the outputs of both CLIPs along the width, padded with zeros to the width of T5. The
    /// tokens of T5 follow.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let mut encoded = encoded.into_iter();
        let (Some(clip_l), Some(clip_g)) = (encoded.next(), encoded.next()) else {
            bail!("a prompt was not encoded by both CLIP text encoders")
        };
        let width = self.config.joint_attention_dim;
        let clip = Tensor::cat(&[&clip_l.states, &clip_g.states], 1)?;
        let clip = clip.pad_with_zeros(1, 0, width.saturating_sub(clip.dim(1)?))?;
        let t5 = match encoded.next() {
            Some(t5) => t5.states,
            None => Tensor::zeros((T5_TOKENS, width), clip.dtype(), &clip.device())?,
        };
        let pooled: Vec<Tensor> = clip_l.pooled.into_iter().chain(clip_g.pooled).collect();
        let pooled = Some(Tensor::cat(&pooled, 0)?);
        Ok(Conditioning { pooled, ..Conditioning::new(Tensor::cat(&[clip, t5], 0)?) })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let rows = self.rows(input.latents.height, input.latents.width);
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0).collect();
        let modulators = |block| self.config.modulators(block);
        self.nets.prepare(blocks, input, |blocks| {
            let mut prepared = prepare(blocks, input, &times, None, self.config.embedders(), modulators)?;
            // The position embeddings, in the block after the modulations, are the same for all noise levels.
            let places = blocks.rows(self.config.places(), PLACES, &rows)?.unsqueeze(0)?;
            prepared.modulations.iter_mut().for_each(|modulation| modulation.tensors.push(places.clone()));
            Ok(prepared)
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut pass = Pass::new(self, blocks, input, prepared)?;
        let first = self.config.embedders();
        self.nets.walk(blocks, input, prepared, (first..first + 2 + self.config.num_layers, 1), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("transformer.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}

impl Sd3Transformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: Sd3Config, scale: usize) -> Self {
        Self { config, scale, nets: ControlNets::default() }
    }

    /// Indices of the latent patches in the table of position embeddings, whose middle is used.
    fn rows(&self, height: usize, width: usize) -> Vec<u32> {
        let (patch, side) = (self.config.patch_size, self.config.pos_embed_max_size);
        let [rows, columns] = [height / patch, width / patch];
        let [top, left] = [side.saturating_sub(rows) / 2, side.saturating_sub(columns) / 2];
        let row = |row: usize| (left..left + columns).map(move |column| (row * side + column) as u32);
        (top..top + rows).flat_map(row).collect()
    }

    /// Converts latents to image tokens, by the convolution `kernel`.
    fn embed(&self, w: &Weights, kernel: &str, latents: &Tensor) -> Result<Tensor> {
        let patches = patchify(latents, self.config.patch_size, Channels::First)?;
        let weights = w.get(&format!("{kernel}.weight"))?.flatten_from(1)?;
        linear(&patches, &weights, Some(&w.get(&format!("{kernel}.bias"))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            (
                "transformer_blocks.3.attn.to_k.weight",
                "joint_blocks.3.x_block.attn.qkv.weight",
                Some((1..2, 3)),
            ),
            (
                "transformer_blocks.0.attn2.to_v.bias",
                "joint_blocks.0.x_block.attn2.qkv.bias",
                Some((2..3, 3)),
            ),
            (
                "transformer_blocks.0.attn.norm_added_q.weight",
                "joint_blocks.0.context_block.attn.ln_q.weight",
                None,
            ),
            ("transformer_blocks.7.ff_context.net.2.bias", "joint_blocks.7.context_block.mlp.fc2.bias", None),
            (
                "transformer_blocks.23.norm1_context.scale.weight",
                "joint_blocks.23.context_block.adaLN_modulation.1.weight",
                Some((1..2, 2)),
            ),
            ("norm_out.shift.bias", "final_layer.adaLN_modulation.1.bias", Some((0..1, 2))),
            ("pos_embed.proj.weight", "x_embedder.proj.weight", None),
            ("pos_embed.pos_embed", "pos_embed", None),
            ("context_embedder.weight", "context_embedder.weight", None),
            ("time_text_embed.text_embedder.linear_2.bias", "y_embedder.mlp.2.bias", None),
        ];
        for (ours, name, part) in cases {
            assert_eq!(original_name(ours), StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let scale = StoredName::part("transformer_blocks.23.norm1_context.linear.weight", 0..1, 2);
        assert_eq!(diffusers_name("transformer_blocks.23.norm1_context.scale.weight"), scale);
    }

    #[test]
    fn places_are_those_in_the_middle_of_the_table() {
        let config = Sd3Config { pos_embed_max_size: 7, ..Sd3Config::default() };
        let transformer = Sd3Transformer::new(config, 8);
        assert_eq!(transformer.rows(4, 6), [16, 17, 18, 23, 24, 25]);
        assert_eq!(transformer.longest_side(), 112);
    }
}
