//! FLUX.1 (Black Forest Labs 2024): a diffusion transformer with two kinds of blocks.
//!
//! In a double block, image and text tokens have separate weights and interact in attention. In a single
//! block they form one sequence, and attention and feed-forward run in parallel. The network of Fill also reads the latents of
//! a masked image and the mask's pixels.

mod control_net;
mod pass;

use std::sync::Arc;

use serde::Deserialize;

pub use self::control_net::{control_modes, is_control_net};
use self::pass::Pass;
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    control_nets::ControlNets,
    denoiser::SteeredBy,
    family::{autoencoder_part, clip_part, part, t5_part},
    joint::{
        Conditions, DOUBLE_MODULATION, HEAD_MODULATORS, Heads, MLP_RATIO, MLPS, Modulators, Row, SIDES,
        diffusers_name, prepare, stored_name,
    },
    longcat,
    patches::{Channels, references, wrong_axes},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Tensor, bail},
    request::{Canvas, ComputeDtype, ControlMode, ReferenceSizes, References, Request},
    residency::{Blocks, RunError},
    sampling::{FlowShift, Training},
    text::{ClipEncoder, ClipUse, Encoded, T5Encoder},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Modulations in a single block: shift, scale, gate.
const SINGLE_MODULATION: usize = 3;
const DOUBLE_MODULATORS: Modulators =
    &[&[("norm1.linear", DOUBLE_MODULATION)], &[("norm1_context.linear", DOUBLE_MODULATION)]];
const SINGLE_MODULATORS: Modulators = &[&[("norm.linear", SINGLE_MODULATION)]];

/// The widths and heights that Kontext was trained with.
const PREFERRED_SIZES: [[u32; 2]; 17] = [
    [672, 1568],
    [688, 1504],
    [720, 1456],
    [752, 1392],
    [800, 1328],
    [832, 1248],
    [880, 1184],
    [944, 1104],
    [1024, 1024],
    [1104, 944],
    [1184, 880],
    [1248, 832],
    [1328, 800],
    [1392, 752],
    [1456, 720],
    [1504, 688],
    [1568, 672],
];

/// The family.
pub struct Flux;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct FluxConfig {
    /// Number of values in a patch of latents and of what is read beside them.
    pub in_channels: usize,
    /// Number of values in a patch of latents, if it differs from that.
    pub out_channels: Option<usize>,
    /// Number of double blocks.
    pub num_layers: usize,
    /// Number of single blocks.
    pub num_single_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub joint_attention_dim: usize,
    /// Width of the pooled prompt embedding.
    pub pooled_projection_dim: usize,
    /// Whether the guidance scale is an input of the network: in dev it is, in schnell it is not.
    pub guidance_embeds: bool,
    /// Widths of the parts of a head that are rotated by image, row and column.
    pub axes_dims_rope: Vec<usize>,
}

impl Default for FluxConfig {
    fn default() -> Self {
        Self {
            in_channels: 64,
            out_channels: None,
            num_layers: 19,
            num_single_layers: 38,
            attention_head_dim: 128,
            num_attention_heads: 24,
            joint_attention_dim: 4096,
            pooled_projection_dim: 768,
            guidance_embeds: false,
            axes_dims_rope: vec![16, 56, 56],
        }
    }
}

impl FluxConfig {
    /// Infers the shape from tensors with their original names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let count = |suffix: &str| tensors.keys().filter(|name| name.ends_with(suffix)).count();
        let embedder = shape("img_in.weight")?;
        let dim = *embedder.first()?;
        let head = *shape("double_blocks.0.img_attn.norm.query_norm.scale")?.first()?;
        Some(Self {
            in_channels: *embedder.get(1)?,
            out_channels: shape("final_layer.linear.weight").and_then(|shape| shape.first().copied()),
            num_layers: count(".img_mod.lin.weight"),
            num_single_layers: count(".modulation.lin.weight"),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape("txt_in.weight")?.get(1)?,
            pooled_projection_dim: *shape("vector_in.in_layer.weight")?.get(1)?,
            guidance_embeds: tensors.contains_key("guidance_in.in_layer.weight"),
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
        })
    }

    /// The same for a network of this [trunk](Self::trunk) with other conditioning, with the names of the authors, whose norms
    /// have a `scale` or a `weight`, or with those of diffusers.
    pub(super) fn trunk_from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |names: &[&str]| {
            names.iter().find_map(|name| tensors.get(*name)).map(|tensor| tensor.shape().to_vec())
        };
        let count = |suffixes: [&str; 2]| {
            tensors.keys().filter(|name| suffixes.iter().any(|suffix| name.ends_with(suffix))).count()
        };
        let &[dim, in_channels] = &shape(&["img_in.weight", "x_embedder.weight"])?[..] else { return None };
        let head = *shape(&[
            "double_blocks.0.img_attn.norm.query_norm.scale",
            "double_blocks.0.img_attn.norm.query_norm.weight",
            "transformer_blocks.0.attn.norm_q.weight",
        ])?
        .first()?;
        Some(Self {
            in_channels,
            num_layers: count([".img_attn.proj.weight", ".attn.to_add_out.weight"]),
            num_single_layers: count([".linear2.weight", ".proj_mlp.weight"]),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape(&["txt_in.weight", "context_embedder.weight"])?.get(1)?,
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
            ..Self::default()
        })
    }

    pub(super) fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| part.refuse(field, value, reason);
        for (field, values) in [("in_channels", self.in_channels), ("out_channels", self.outputs())] {
            if values == 0 || !values.is_multiple_of(PATCH * PATCH) {
                let reason = "it must be a multiple of 4, for patches of 2×2 latents".to_owned();
                return wrong(field, values.to_string(), reason);
            }
        }
        if self.num_attention_heads == 0 {
            return wrong("num_attention_heads", "0".to_owned(), "it must be at least 1".to_owned());
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return wrong("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        Ok(())
    }

    pub(super) fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: true }
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            dim: self.heads().dim(),
            pooled: self.pooled_projection_dim,
            prompt: self.joint_attention_dim,
            has_guidance: self.guidance_embeds,
        }
    }

    fn outputs(&self) -> usize {
        self.out_channels.unwrap_or(self.in_channels)
    }

    pub(super) fn latent_channels(&self) -> usize {
        self.outputs() / (PATCH * PATCH)
    }

    /// The channels that the network reads beside the latents.
    fn channels_beside(&self) -> usize {
        (self.in_channels / (PATCH * PATCH)).saturating_sub(self.latent_channels())
    }

    /// Checks that the network reads latents alone, or with them what Fill reads: as many channels of the masked image, and one
    /// for each of the `scale` by `scale` pixels of a latent.
    fn check_beside(&self, part: &Part, scale: usize) -> std::result::Result<(), CheckpointError> {
        let outputs = self.outputs();
        let of_fill = 2 * outputs + (PATCH * scale).pow(2);
        if [outputs, of_fill].contains(&self.in_channels) {
            return Ok(());
        }
        let reason =
            format!("it must be {outputs}, or in FLUX.1 Fill {of_fill}; other inputs are not supported");
        part.refuse("in_channels", self.in_channels, reason)
    }

    /// Number of double and single blocks.
    fn blocks(&self) -> usize {
        self.num_layers + self.num_single_layers
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    pub(super) fn embedders(&self) -> usize {
        2 + self.num_layers + self.num_single_layers
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    pub(super) fn modulators(&self, block: usize) -> Modulators {
        if block <= self.num_layers {
            DOUBLE_MODULATORS
        } else if block + 1 < self.embedders() {
            SINGLE_MODULATORS
        } else {
            HEAD_MODULATORS
        }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run;
    /// they are a third of the weights.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        self.blueprint_after(self.conditions().spec())
    }

    /// The same after this block of embedders.
    pub(super) fn blueprint_after(&self, conditioning: BlockSpec) -> Vec<BlockSpec> {
        let heads = self.heads();
        let double = |index: usize| format!("transformer_blocks.{index}");
        let single = |index: usize| format!("single_transformer_blocks.{index}");
        let modulation =
            |block: String, layers| heads.modulation_spec(&format!("{block}."), "modulation", layers);

        let mut blocks = vec![conditioning];
        blocks.extend((0..self.num_layers).map(|index| modulation(double(index), DOUBLE_MODULATORS)));
        blocks.extend((0..self.num_single_layers).map(|index| modulation(single(index), SINGLE_MODULATORS)));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        blocks.extend(self.trunk());
        blocks
    }

    /// The blocks of a prediction: embedder, double and single blocks, head.
    pub fn trunk(&self) -> Vec<BlockSpec> {
        let heads = self.heads();
        let (dim, inner) = (heads.dim(), MLP_RATIO * heads.dim());
        let double = |index: usize| format!("transformer_blocks.{index}");
        let single = |index: usize| format!("single_transformer_blocks.{index}");
        let mut blocks = Vec::new();
        blocks.push(BlockSpec::stem("embedders").linear("x_embedder", dim, self.in_channels));
        blocks.extend(
            (0..self.num_layers).map(|index| heads.joint_spec(BlockSpec::new(double(index)), MLPS, 2)),
        );
        blocks.extend((0..self.num_single_layers).map(|index| {
            let spec = heads.spec(BlockSpec::new(single(index)), &SIDES[0], false);
            spec.linear("proj_mlp", inner, dim).linear("proj_out", dim, dim + inner)
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.outputs(), dim));
        blocks
    }
}

const DOUBLE_NAMES: [Row; 18] = [
    ("norm1.linear", "img_mod.lin", 0..1, 1),
    ("norm1_context.linear", "txt_mod.lin", 0..1, 1),
    ("attn.to_q", "img_attn.qkv", 0..1, 3),
    ("attn.to_k", "img_attn.qkv", 1..2, 3),
    ("attn.to_v", "img_attn.qkv", 2..3, 3),
    ("attn.add_q_proj", "txt_attn.qkv", 0..1, 3),
    ("attn.add_k_proj", "txt_attn.qkv", 1..2, 3),
    ("attn.add_v_proj", "txt_attn.qkv", 2..3, 3),
    ("attn.norm_q", "img_attn.norm.query_norm", 0..1, 1),
    ("attn.norm_k", "img_attn.norm.key_norm", 0..1, 1),
    ("attn.norm_added_q", "txt_attn.norm.query_norm", 0..1, 1),
    ("attn.norm_added_k", "txt_attn.norm.key_norm", 0..1, 1),
    ("attn.to_out.0", "img_attn.proj", 0..1, 1),
    ("attn.to_add_out", "txt_attn.proj", 0..1, 1),
    ("ff.net.0.proj", "img_mlp.0", 0..1, 1),
    ("ff.net.2", "img_mlp.2", 0..1, 1),
    ("ff_context.net.0.proj", "txt_mlp.0", 0..1, 1),
    ("ff_context.net.2", "txt_mlp.2", 0..1, 1),
];
const SINGLE_NAMES: [Row; 8] = [
    ("norm.linear", "modulation.lin", 0..1, 1),
    ("attn.to_q", "linear1", 0..1, 3 + MLP_RATIO),
    ("attn.to_k", "linear1", 1..2, 3 + MLP_RATIO),
    ("attn.to_v", "linear1", 2..3, 3 + MLP_RATIO),
    ("proj_mlp", "linear1", 3..3 + MLP_RATIO, 3 + MLP_RATIO),
    ("attn.norm_q", "norm.query_norm", 0..1, 1),
    ("attn.norm_k", "norm.key_norm", 0..1, 1),
    ("proj_out", "linear2", 0..1, 1),
];
const OTHER_NAMES: [Row; 11] = [
    ("x_embedder", "img_in", 0..1, 1),
    ("context_embedder", "txt_in", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_1", "time_in.in_layer", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_2", "time_in.out_layer", 0..1, 1),
    ("time_text_embed.guidance_embedder.linear_1", "guidance_in.in_layer", 0..1, 1),
    ("time_text_embed.guidance_embedder.linear_2", "guidance_in.out_layer", 0..1, 1),
    ("time_text_embed.text_embedder.linear_1", "vector_in.in_layer", 0..1, 1),
    ("time_text_embed.text_embedder.linear_2", "vector_in.out_layer", 0..1, 1),
    ("norm_out.shift", "final_layer.adaLN_modulation.1", 0..1, 2),
    ("norm_out.scale", "final_layer.adaLN_modulation.1", 1..2, 2),
    ("proj_out", "final_layer.linear", 0..1, 1),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
pub fn original_name(name: &str) -> StoredName {
    let (layer, parameter) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = |stack: &str| layer.strip_prefix(stack)?.split_once('.');
    let (rows, block, layer): (&[Row], _, _) = if let Some((number, layer)) = numbered("transformer_blocks.")
    {
        (&DOUBLE_NAMES, format!("double_blocks.{number}."), layer)
    } else if let Some((number, layer)) = numbered("single_transformer_blocks.") {
        (&SINGLE_NAMES, format!("single_blocks.{number}."), layer)
    } else {
        (&OTHER_NAMES, String::new(), layer)
    };
    let parameter = if layer.starts_with("attn.norm_") { "scale" } else { parameter };
    stored_name(rows, &block, layer, parameter).unwrap_or_else(|| StoredName::whole(name))
}

/// How latents are scaled in FLUX.1 and in models that use its autoencoder.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 0.3611, shift: Some(0.1159) };

impl Family for Flux {
    fn id(&self) -> &'static str {
        "flux"
    }

    fn name(&self) -> &'static str {
        "FLUX.1"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("FLUX.1", AdapterMark::Name("single_blocks")),
            ("FLUX.1", AdapterMark::Name("single_transformer_blocks")),
            ("FLUX.1", AdapterMark::Name("double_blocks")),
            longcat::LIKE_FLUX,
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("double_blocks.0.img_attn.proj.weight", "flux")]
    }

    fn takes_redux(&self) -> bool {
        true
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no FLUX.1 transformer was found", is_transformer)?;
        let config = denoiser.config(FluxConfig::from_shapes)?;
        config.check(denoiser)?;
        let is_original = denoiser.tensors.contains_key("img_in.weight");
        let component = Component::bind(
            Role::Denoiser,
            "FLUX.1 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            if is_original { original_name } else { diffusers_name },
            &denoiser.path,
        )?
        .also_named(original_name)
        .also_named(diffusers_name);

        let clip = clip_part(checkpoint, config.pooled_projection_dim)?;
        let t5 = t5_part(checkpoint, config.joint_attention_dim)?;
        let vae = autoencoder_part(checkpoint, config.latent_channels())?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let scale = autoencoder.0.scale();
        config.check_beside(denoiser, scale)?;

        let (is_dev, edits) = (config.guidance_embeds, is_kontext(checkpoint, denoiser));
        let shift =
            FlowShift { use_dynamic_shifting: is_dev, ..FlowShift::fixed(if is_dev { 3.0 } else { 1.0 }) };
        let (steps, guidance) = match (is_dev, edits) {
            _ if config.channels_beside() > 0 => (50, 30.0),
            (true, true) => (28, 2.5),
            (true, false) => (28, 3.5),
            (false, _) => (4, 0.0),
        };
        let longest_prompt = if is_dev { 512 } else { 256 };
        let opened = Opened {
            text: vec![
                TextPart::new(ClipEncoder::open(checkpoint, clip, "tokenizer", ClipUse::SUMMARY)?),
                TextPart::new(T5Encoder::open(checkpoint, t5, "tokenizer_2", longest_prompt)?),
            ],
            denoiser: (Box::new(FluxTransformer { edits, ..FluxTransformer::new(config, scale) }), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Flux, checkpoint, opened))
    }
}

/// Only FLUX.1 has separate modulations in every block and reads plain T5 and CLIP.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "time_text_embed.text_embedder.linear_1.weight",
        "context_embedder.weight",
        "single_transformer_blocks.0.proj_mlp.weight",
    ]) || has(["vector_in.in_layer.weight", "txt_in.weight", "single_blocks.0.modulation.lin.weight"])
}

/// Whether the model is FLUX.1 Kontext, whose transformer has the same shape: as its folder or its file says.
fn is_kontext(checkpoint: &Checkpoint, denoiser: &Part) -> bool {
    let class = checkpoint.index.as_ref().and_then(|index| index.get("_class_name")?.as_str());
    let is_named = || {
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("kontext")
    };
    class.map_or_else(is_named, |class| class.starts_with("FluxKontext"))
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct FluxTransformer {
    config: FluxConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether it is made to change images.
    edits: bool,
    /// Index of the block with the image embedder.
    embedders: usize,
    /// Whether the text has places, and images are after it.
    is_text_placed: bool,
    /// What steers it.
    nets: ControlNets,
}

impl Denoiser for FluxTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.latent_channels(), height, width)
    }

    /// Only Kontext was trained with a reference; others may have learnt it from an adapter. Fill has no input for it.
    fn references(&self) -> Option<References> {
        let sizes = ReferenceSizes::Preferred(PREFERRED_SIZES.to_vec());
        (!self.fills_in()).then_some(References { most: 1, edits: self.edits, sizes })
    }

    fn control_modes(&self) -> &'static [ControlMode] {
        &control_net::MODES
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

    fn channels_beside(&self) -> usize {
        self.config.channels_beside()
    }

    fn fills_in(&self) -> bool {
        self.config.channels_beside() > 0
    }

    /// Guidance is distilled into dev; schnell has none. Both can still be guided by a negative prompt.
    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guiding.true_cfg.into()
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match <[Encoded; 2]>::try_from(encoded) {
            Ok([clip, t5]) => Ok(Conditioning { pooled: clip.pooled, ..Conditioning::new(t5.states) }),
            Err(encoded) => bail!("got {} encodings of a prompt, expected two", encoded.len()),
        }
    }

    /// Images count one on top of the other, in tokens after those of the prompt, which counts as often as all of them
    /// together.
    fn with_images(&self, conditioning: Conditioning, images: &[(Tensor, f32)]) -> Result<Conditioning> {
        let all: f32 = images.iter().map(|(_, strength)| strength).sum();
        let mut sum: Option<Tensor> = None;
        for (image, strength) in images {
            let image = (image.to_dtype(conditioning.prompt.dtype())? * f64::from(*strength))?;
            sum = Some(match sum {
                Some(sum) => (sum + image)?,
                None => image,
            });
        }
        let Some(image) = sum else { return Ok(conditioning) };
        let prompt = Tensor::cat(&[(conditioning.prompt * f64::from(all))?, image], 0)?;
        let pooled = conditioning.pooled.map(|pooled| pooled * f64::from(all)).transpose()?;
        Ok(Conditioning { pooled, ..Conditioning::new(prompt) })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let guidance = self.config.guidance_embeds.then_some(input.guidance * 1000.0);
        let modulators = |block| self.config.modulators(block);
        self.nets.prepare(blocks, input, |blocks| {
            let prepared = prepare(blocks, input, &times, guidance, self.config.embedders(), modulators)?;
            let references = references(input.references, PATCH, Channels::First, blocks.dtype())?;
            Ok(Prepared { references, ..prepared })
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut pass = Pass::new(self, blocks, input, prepared)?;
        let own = self.embedders..self.embedders + 1 + self.config.blocks() + 1;
        self.nets.walk(blocks, input, prepared, (own, 1), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

impl FluxTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: FluxConfig, scale: usize) -> Self {
        let embedders = config.embedders();
        Self { config, scale, edits: false, embedders, is_text_placed: false, nets: ControlNets::default() }
    }

    /// The same for a network of the same [trunk](FluxConfig::trunk), which begins at this block, with other conditioning
    /// before it.
    pub fn with_trunk_at(self, embedders: usize) -> Self {
        Self { embedders, ..self }
    }

    /// The same for a network that sees the text along the diagonal of rows and columns, and each image on a plane of its own
    /// from the place on where the text ends.
    pub fn with_text_placed(self) -> Self {
        Self { is_text_placed: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            ("transformer_blocks.3.attn.to_k.weight", "double_blocks.3.img_attn.qkv.weight", Some((1..2, 3))),
            (
                "transformer_blocks.0.attn.norm_added_q.weight",
                "double_blocks.0.txt_attn.norm.query_norm.scale",
                None,
            ),
            ("single_transformer_blocks.37.proj_mlp.bias", "single_blocks.37.linear1.bias", Some((3..7, 7))),
            ("single_transformer_blocks.1.proj_out.weight", "single_blocks.1.linear2.weight", None),
            ("proj_out.weight", "final_layer.linear.weight", None),
            ("norm_out.scale.bias", "final_layer.adaLN_modulation.1.bias", Some((1..2, 2))),
            ("time_text_embed.guidance_embedder.linear_2.bias", "guidance_in.out_layer.bias", None),
        ];
        for (ours, name, part) in cases {
            assert_eq!(original_name(ours), StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let scale = StoredName::part("norm_out.linear.weight", 0..1, 2);
        assert_eq!(diffusers_name("norm_out.scale.weight"), scale);
    }
}
