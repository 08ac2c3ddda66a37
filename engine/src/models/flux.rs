//! FLUX.1 (Black Forest Labs 2024): a diffusion transformer with two kinds of blocks.
//!
//! In a double block, image and text tokens have weights of their own and meet in attention; in a single block they
//! are one sequence, and attention and feed-forward run side by side. `img`, `txt`, `vec` and `pe` are the authors'
//! words: both streams, what modulates them, and the rotations of their places.

use std::ops::Range;

use candle_core::{D, DType, Device, Result, Tensor};
use serde::Deserialize;

use super::{
    Conditioning, Denoiser, DenoiserInput, DenoiserShape, Family, Model, ModelDefaults, Modulation, Opened,
    PrepareInput, Prepared, TextPart,
    family::{autoencoder_part, clip_part, part, t5_part},
    modulated::{FREQUENCY_WIDTH, each, feed_forward, frequencies, norm_tape, normed, once, within_range},
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    memory::Work,
    nn::{Costs, Mask, Rope, Tape, attention, gated_add, gelu_tanh, rope_interleaved, silu},
    residency::{Executor, RunError, WeightStore, Weights},
    sampling::{FlowShift, Training},
    text::{ClipEncoder, ClipUse, Encoded, T5Encoder},
    vae::{AutoencoderKl, LatentScaling},
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Width inside the feed-forward layers, in widths of the stream.
const MLP_RATIO: usize = 4;
/// Added to the mean square of queries and keys.
const EPS: f64 = 1e-6;
/// Modulations of a stream in a double block: shift, scale and gate for attention and for feed-forward.
const DOUBLE_MODULATION: usize = 6;
/// Modulations in a single block: shift, scale, gate.
const SINGLE_MODULATION: usize = 3;

/// The family.
pub struct Flux;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct FluxConfig {
    /// Values of a patch of latents.
    pub in_channels: usize,
    /// Double blocks.
    pub num_layers: usize,
    /// Single blocks.
    pub num_single_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt's embeddings.
    pub joint_attention_dim: usize,
    /// Width of the prompt's pooled embedding.
    pub pooled_projection_dim: usize,
    /// Whether the network is told the guidance scale: dev is, schnell is not.
    pub guidance_embeds: bool,
    /// Parts of a head that are rotated by picture, row and column.
    pub axes_dims_rope: Vec<usize>,
}

impl Default for FluxConfig {
    fn default() -> Self {
        Self {
            in_channels: 64,
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
    /// Reads the shape off tensors under their original names, for files that come without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let count = |suffix: &str| tensors.keys().filter(|name| name.ends_with(suffix)).count();
        let embedder = shape("img_in.weight")?;
        let dim = *embedder.first()?;
        let head = *shape("double_blocks.0.img_attn.norm.query_norm.scale")?.first()?;
        Some(Self {
            in_channels: *embedder.get(1)?,
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

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: String| {
            Err(CheckpointError::Config { path: part.path.join("config.json"), field, value, reason })
        };
        if self.in_channels == 0 || !self.in_channels.is_multiple_of(PATCH * PATCH) {
            let reason = "a patch of two by two latents has a multiple of four values".to_owned();
            return wrong("in_channels", self.in_channels.to_string(), reason);
        }
        if self.num_attention_heads == 0 {
            return wrong("num_attention_heads", "0".to_owned(), "attention needs one at least".to_owned());
        }
        let sum: usize = self.axes_dims_rope.iter().sum();
        let odd = self.axes_dims_rope.iter().any(|width| !width.is_multiple_of(2));
        if self.axes_dims_rope.len() != 3 || sum != self.attention_head_dim || odd {
            let reason = format!("it takes three even numbers that sum to {}", self.attention_head_dim);
            return wrong("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        Ok(())
    }

    /// Width of the residual streams.
    fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    fn latent_channels(&self) -> usize {
        self.in_channels / (PATCH * PATCH)
    }

    /// Values that one noise level modulates all blocks with.
    fn modulation_width(&self) -> usize {
        let blocks = 2 * DOUBLE_MODULATION * self.num_layers + SINGLE_MODULATION * self.num_single_layers;
        (blocks + 2) * self.dim()
    }

    /// The blocks. What depends on prompt and noise level alone comes first and is needed once a run: a third of
    /// the weights.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, head, inner) = (self.dim(), self.attention_head_dim, MLP_RATIO * self.dim());
        let embedder = |spec: BlockSpec, name: &str, width: usize| {
            spec.linear(&format!("time_text_embed.{name}.linear_1"), dim, width).linear(
                &format!("time_text_embed.{name}.linear_2"),
                dim,
                dim,
            )
        };
        let modulation = |block: String, name: &str| BlockSpec {
            prefix: format!("{block}."),
            ..BlockSpec::new(format!("{block}.{name}"))
        };
        let double = |index: usize| format!("transformer_blocks.{index}");
        let single = |index: usize| format!("single_transformer_blocks.{index}");

        let mut conditioning =
            embedder(BlockSpec::stem("conditioning"), "timestep_embedder", FREQUENCY_WIDTH);
        if self.guidance_embeds {
            conditioning = embedder(conditioning, "guidance_embedder", FREQUENCY_WIDTH);
        }
        conditioning = embedder(conditioning, "text_embedder", self.pooled_projection_dim);
        let mut blocks = vec![conditioning.linear("context_embedder", dim, self.joint_attention_dim)];
        blocks.extend((0..self.num_layers).map(|index| {
            modulation(double(index), "modulation")
                .linear("norm1.linear", DOUBLE_MODULATION * dim, dim)
                .linear("norm1_context.linear", DOUBLE_MODULATION * dim, dim)
        }));
        blocks.extend((0..self.num_single_layers).map(|index| {
            modulation(single(index), "modulation").linear("norm.linear", SINGLE_MODULATION * dim, dim)
        }));
        blocks.push(BlockSpec::stem("head.modulation").linear("norm_out.scale", dim, dim).linear(
            "norm_out.shift",
            dim,
            dim,
        ));
        blocks.push(BlockSpec::stem("embedders").linear("x_embedder", dim, self.in_channels));
        blocks.extend((0..self.num_layers).map(|index| {
            let mut spec = BlockSpec::new(double(index));
            for Side { qkv, norms, out, mlp } in &DOUBLE_SIDES {
                spec = qkv.iter().fold(spec, |spec, name| spec.linear(name, dim, dim));
                spec = norms.iter().fold(spec, |spec, name| spec.scale(name, head));
                spec = spec.linear(out, dim, dim).linear(&format!("{mlp}.net.0.proj"), inner, dim).linear(
                    &format!("{mlp}.net.2"),
                    dim,
                    inner,
                );
            }
            spec
        }));
        blocks.extend((0..self.num_single_layers).map(|index| {
            let spec = BlockSpec::new(single(index));
            let spec = QKV.iter().fold(spec, |spec, name| spec.linear(name, dim, dim));
            let spec = NORMS.iter().fold(spec, |spec, name| spec.scale(name, head));
            spec.linear("proj_mlp", inner, dim).linear("proj_out", dim, dim + inner)
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.in_channels, dim));
        blocks
    }
}

const QKV: [&str; 3] = ["attn.to_q", "attn.to_k", "attn.to_v"];
const NORMS: [&str; 2] = ["attn.norm_q", "attn.norm_k"];

/// The names of one stream's layers in a double block.
struct Side {
    qkv: [&'static str; 3],
    norms: [&'static str; 2],
    out: &'static str,
    mlp: &'static str,
}

/// Those of `img` and of `txt`.
const DOUBLE_SIDES: [Side; 2] = [
    Side { qkv: QKV, norms: NORMS, out: "attn.to_out.0", mlp: "ff" },
    Side {
        qkv: ["attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"],
        norms: ["attn.norm_added_q", "attn.norm_added_k"],
        out: "attn.to_add_out",
        mlp: "ff_context",
    },
];

/// A layer's name here, in the authors' files, and which of how many equal parts of what is joined there.
type Row = (&'static str, &'static str, Range<usize>, usize);

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

/// The name that a tensor has in the authors' own files, which ComfyUI uses too.
fn original_name(name: &str) -> StoredName {
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
    let Some((_, original, parts, of)) = rows.iter().find(|(own, ..)| *own == layer) else {
        return StoredName::whole(name);
    };
    let parameter = if original.ends_with("_norm") { "scale" } else { parameter };
    let full = format!("{block}{original}.{parameter}");
    if *of == 1 { StoredName::whole(full) } else { StoredName::part(full, parts.clone(), *of) }
}

/// In diffusers' files the names are the same, but for the last modulation: scale and shift are joined.
fn diffusers_name(name: &str) -> StoredName {
    for (part, half) in ["norm_out.scale.", "norm_out.shift."].into_iter().enumerate() {
        if let Some(parameter) = name.strip_prefix(half) {
            return StoredName::part(format!("norm_out.linear.{parameter}"), part..part + 1, 2);
        }
    }
    StoredName::whole(name)
}

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
        )?;

        let clip = clip_part(checkpoint, config.pooled_projection_dim)?;
        let t5 = t5_part(checkpoint, config.joint_attention_dim)?;
        let vae = autoencoder_part(checkpoint, config.latent_channels())?;
        let autoencoder = AutoencoderKl::open(vae, LatentScaling::FLUX)?;

        let is_dev = config.guidance_embeds;
        let shift =
            FlowShift { use_dynamic_shifting: is_dev, ..FlowShift::fixed(if is_dev { 3.0 } else { 1.0 }) };
        let (steps, guidance) = if is_dev { (28, 3.5) } else { (4, 0.0) };
        let longest_prompt = if is_dev { 512 } else { 256 };
        let opened = Opened {
            text: vec![
                TextPart::new(ClipEncoder::open(checkpoint, clip, "tokenizer", ClipUse::LAST)?),
                TextPart::new(T5Encoder::open(checkpoint, t5, "tokenizer_2", longest_prompt)?),
            ],
            denoiser: (Box::new(FluxTransformer::new(config, autoencoder.0.scale())), component),
            autoencoder,
            training: Training::Flow(FlowShift::open(checkpoint, shift)?),
            defaults: ModelDefaults { width: 1024, height: 1024, steps, guidance },
        };
        Ok(Model::new(&Flux, checkpoint, opened))
    }
}

/// FLUX.1 alone has modulations of its own in every block and reads plain T5 and CLIP.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "time_text_embed.text_embedder.linear_1.weight",
        "context_embedder.weight",
        "single_transformer_blocks.0.proj_mlp.weight",
    ]) || has(["vector_in.in_layer.weight", "txt_in.weight", "single_blocks.0.modulation.lin.weight"])
}

/// The transformer's shape; its weights come from a store.
#[derive(Debug, Clone)]
pub struct FluxTransformer {
    config: FluxConfig,
    /// Pixels a latent.
    scale: usize,
}

impl Denoiser for FluxTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents_shape(&self, width: u32, height: u32) -> [usize; 3] {
        [self.config.latent_channels(), height as usize / self.scale, width as usize / self.scale]
    }

    /// Guidance is distilled into dev; schnell has none.
    fn uses_negative(&self, _: f32) -> bool {
        false
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match <[Encoded; 2]>::try_from(encoded) {
            Ok([clip, t5]) => Ok(Conditioning { prompt: t5.states, pooled: clip.pooled }),
            Err(encoded) => candle_core::bail!("{} encodings of a prompt instead of two", encoded.len()),
        }
    }

    fn prompt_tokens(&self, ids: &[usize]) -> usize {
        ids[1]
    }

    fn prepare(
        &self,
        executor: &Executor,
        store: &WeightStore,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut modulations: Vec<Modulation> =
            input.sigmas.iter().map(|&sigma| Modulation { sigma, tensors: Vec::new() }).collect();
        let mut branches = Vec::new();
        let mut vec = None;
        executor.walk(store, 0..self.embedders(), |index, w| {
            let Some(vec) = &vec else {
                vec = Some(silu(&self.embed_conditions(w, input, store)?)?);
                for branch in input.branches {
                    let prompt = w.linear("context_embedder", &branch.prompt.unsqueeze(0)?)?;
                    branches.push(Conditioning { prompt, pooled: None });
                }
                return Ok(());
            };
            self.repeat_left_out(&mut modulations, index)?;
            for layer in self.modulation_layers(index) {
                let parts = layer.iter().map(|name| w.linear(name, vec)).collect::<Result<Vec<_>>>()?;
                let all =
                    if let [only] = &parts[..] { only.clone() } else { Tensor::cat(&parts, D::Minus1)? };
                let all = all.unsqueeze(2)?;
                for (level, modulation) in modulations.iter_mut().enumerate() {
                    modulation.tensors.push(all.get(level)?);
                }
            }
            Ok(())
        })?;
        Ok(Prepared { branches, modulations })
    }

    fn predict(
        &self,
        executor: &Executor,
        store: &WeightStore,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (batch, _, height, width) = input.latents.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let tokens = |branch: &Conditioning| branch.prompt.dim(1);
        let rotations = prepared.branches.iter().map(|branch| self.pe(tokens(branch)?, grid, store.device()));
        let rotations: Vec<Rope> = rotations.collect::<Result<_>>()?;
        let modulation = prepared.modulation(input.sigma)?;

        let double = self.embedders() + 1;
        let single = double + self.config.num_layers;
        let last = single + self.config.num_single_layers;
        let mut streams: Vec<[Tensor; 2]> = Vec::new();
        let mut joint: Vec<Tensor> = Vec::new();
        executor.walk(store, self.embedders()..last + 1, |index, w| {
            if index < double {
                let img = w.linear("x_embedder", &patchify(&input.latents.to_dtype(store.dtype())?)?)?;
                for branch in &prepared.branches {
                    let (_, tokens, dim) = branch.prompt.dims3()?;
                    let txt = branch.prompt.broadcast_as((batch, tokens, dim))?.contiguous()?;
                    streams.push([img.clone(), txt]);
                }
                return Ok(());
            }
            if index == single {
                let joined = streams.drain(..).map(|[img, txt]| Tensor::cat(&[txt, img], 1));
                joint = joined.collect::<Result<_>>()?;
            }
            for (branch, pe) in rotations.iter().enumerate() {
                let own = |number: usize| modulation[number].narrow(0, branch, 1);
                if index < single {
                    let first = 2 * (index - double);
                    let [img, txt] = &streams[branch];
                    streams[branch] = self.double_block(w, [img, txt], [own(first)?, own(first + 1)?], pe)?;
                    continue;
                }
                let number = 2 * self.config.num_layers + index - single;
                let x = &joint[branch];
                joint[branch] = if index == last {
                    let text = tokens(&prepared.branches[branch])?;
                    self.head(w, &x.narrow(1, text, grid[0] * grid[1])?, &own(number)?)?
                } else {
                    self.single_block(w, x, &own(number)?, pe)?
                };
            }
            Ok(())
        })?;
        Ok(joint.iter().map(|x| unpatchify(x, grid)).collect::<Result<_>>()?)
    }

    fn work(&self, shape: &DenoiserShape) -> Work {
        let (config, costs) = (&self.config, Costs { value_bytes: shape.value_bytes });
        let (dim, sigmas, branches, calls) = (config.dim(), shape.sigmas, shape.branches, shape.calls);
        let [channels, height, width] = shape.latents;
        let image = height * width / (PATCH * PATCH);
        let texts = &shape.prompts[..branches];
        let bytes = |values: usize| (values * shape.value_bytes) as u64;
        let joint = |text: usize| shape.batch * (image + text) * dim;
        let all_text: usize = texts.iter().sum();
        let rotations = (branches * image + all_text) * config.attention_head_dim * size_of::<f32>();
        let latents = shape.batch * channels * height * width * size_of::<f32>();
        let carried = bytes(all_text * (config.joint_attention_dim + dim))
            + bytes(branches * sigmas * config.modulation_width())
            + (2 * latents + rotations) as u64;
        let vec = bytes(sigmas * branches * dim);
        let modulation = |layers: usize, width: usize| {
            let mut tape = Tape::default();
            tape.hold(vec);
            (0..layers).for_each(|_| {
                tape.run(costs.linear(sigmas * branches, dim, width * dim));
            });
            once(tape)
        };

        let mut conditioning = Tape::default();
        for (rows, inputs) in
            [(sigmas, FREQUENCY_WIDTH), (1, FREQUENCY_WIDTH), (branches, config.pooled_projection_dim)]
        {
            conditioning.run(costs.linear(rows, inputs, dim));
            conditioning.replace(costs.pointwise(rows * dim, 1));
            conditioning.replace(costs.linear(rows, dim, dim));
        }
        conditioning.run(costs.copy(sigmas * branches * dim));
        conditioning.run(costs.pointwise(sigmas * branches * dim, 1));
        texts.iter().for_each(|&text| {
            conditioning.run(costs.linear(text, config.joint_attention_dim, dim));
        });
        let mut blocks = vec![once(conditioning)];
        blocks.extend((0..config.num_layers).map(|_| modulation(2, DOUBLE_MODULATION)));
        blocks.extend((0..config.num_single_layers).map(|_| modulation(1, SINGLE_MODULATION)));
        blocks.push(modulation(2, 1));

        let values = shape.batch * image * config.in_channels;
        let mut embed = Tape::default();
        embed.run(costs.copy(values));
        embed.run(costs.linear(shape.batch * image, config.in_channels, dim));
        texts.iter().for_each(|&text| {
            embed.run(costs.copy(shape.batch * text * dim));
        });
        blocks.push(each(calls, std::iter::once(embed)));
        let held: u64 = texts.iter().map(|&text| bytes(joint(text))).sum();
        let double =
            each(calls, texts.iter().map(|&text| self.double_tape(costs, shape.batch, [image, text], held)));
        blocks.extend(std::iter::repeat_n(double, config.num_layers));
        let single =
            each(calls, texts.iter().map(|&text| self.single_tape(costs, shape.batch, image + text, held)));
        blocks.extend(std::iter::repeat_n(single, config.num_single_layers));
        // Joining the streams, before the first single block.
        if let Some(first) = blocks.get_mut(self.embedders() + 1 + config.num_layers) {
            first.activations = first.activations.max(2 * held);
        }
        let rows = shape.batch * image;
        let mut last = Tape::default();
        last.hold(held);
        let copied = if shape.batch > 1 { last.run(costs.copy(rows * dim)) } else { 0 };
        let normed = last.run(costs.pointwise(rows * dim, 1));
        last.free(copied);
        last.run(costs.pointwise(rows * dim, 1));
        last.free(normed);
        last.run(costs.linear(rows, dim, config.in_channels));
        blocks.push(each(calls, texts.iter().map(|_| last)));
        Work { tile: None, carried, blocks }
    }

    fn velocity(&self, _: &DenoiserInput<'_>, outputs: &[Tensor], _: f32) -> Result<Tensor> {
        outputs[0].to_dtype(DType::F32)
    }
}

impl FluxTransformer {
    /// A transformer of this shape whose latents stand for `scale` by `scale` pixels each.
    pub fn new(config: FluxConfig, scale: usize) -> Self {
        Self { config, scale }
    }

    /// The number of the block with the image's embedder; all before it are needed once a run.
    fn embedders(&self) -> usize {
        2 + self.config.num_layers + self.config.num_single_layers
    }

    /// The layers of a block of modulations; the results of those that stand together are joined.
    fn modulation_layers(&self, block: usize) -> &'static [&'static [&'static str]] {
        if block <= self.config.num_layers {
            &[&["norm1.linear"], &["norm1_context.linear"]]
        } else if block + 1 < self.embedders() {
            &[&["norm.linear"]]
        } else {
            &[&["norm_out.shift", "norm_out.scale"]]
        }
    }

    /// An executor that tries a model out leaves out blocks like the one before: theirs are copies of that one's, so
    /// that all of `block`'s come in their places.
    fn repeat_left_out(&self, modulations: &mut [Modulation], block: usize) -> Result<()> {
        let double = (block - 1).min(self.config.num_layers);
        let before = 2 * double + (block - 1 - double);
        let together = if double < self.config.num_layers || before == 2 * double { 2 } else { 1 };
        for Modulation { tensors, .. } in modulations {
            while tensors.len() < before {
                tensors.push(tensors[tensors.len() - together].copy()?);
            }
        }
        Ok(())
    }

    /// `vec`: noise level, guidance and pooled prompt as one, `[noise levels, branches, dim]`.
    fn embed_conditions(&self, w: &Weights, input: &PrepareInput<'_>, store: &WeightStore) -> Result<Tensor> {
        let mlp = |name: &str, x: &Tensor| {
            let h = silu(&w.linear(&format!("time_text_embed.{name}.linear_1"), x)?)?;
            w.linear(&format!("time_text_embed.{name}.linear_2"), &h)
        };
        let embedded = |numbers: &[f32]| frequencies(numbers, store.device())?.to_dtype(store.dtype());
        // The pipeline divides by the scheduler's thousand what the network multiplies by it.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let mut vec = mlp("timestep_embedder", &embedded(&times)?)?;
        if self.config.guidance_embeds {
            vec = vec.broadcast_add(&mlp("guidance_embedder", &embedded(&[input.guidance * 1000.0])?)?)?;
        }
        let pooled: Vec<&Tensor> =
            input.branches.iter().filter_map(|branch| branch.pooled.as_ref()).collect();
        let pooled = mlp("text_embedder", &Tensor::stack(&pooled, 0)?)?;
        vec.unsqueeze(1)?.broadcast_add(&pooled.unsqueeze(0)?)
    }

    fn double_block(
        &self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [Tensor; 2],
        pe: &Rope,
    ) -> Result<[Tensor; 2]> {
        let modulations = each_side(|side| modulations[side].chunk(DOUBLE_MODULATION, D::Minus1))?;
        let [[img_q, img_k, img_v], [txt_q, txt_k, txt_v]] = each_side(|side| {
            let (modulation, names) = (&modulations[side], &DOUBLE_SIDES[side]);
            self.qkv(w, normed(streams[side], &modulation[..2])?, names.qkv, names.norms)
        })?;
        let q = joined(txt_q, img_q)?;
        let k = joined(txt_k, img_k)?;
        let v = joined(txt_v, img_v)?;
        let h = self.attend(q, k, v, pe)?;
        let text = streams[1].dim(1)?;
        let places = [text..h.dim(1)?, 0..text];
        let attended = each_side(|side| {
            let own = h.narrow(1, places[side].start, places[side].len())?;
            w.linear(DOUBLE_SIDES[side].out, &own)
        })?;
        drop(h);
        each_side(|side| {
            let modulation = &modulations[side];
            let x = gated_add(streams[side], &modulation[2], &attended[side])?;
            let h = feed_forward(w, DOUBLE_SIDES[side].mlp, normed(&x, &modulation[3..5])?)?;
            within_range(gated_add(&x, &modulation[5], &h)?)
        })
    }

    fn single_block(&self, w: &Weights, x: &Tensor, modulation: &Tensor, pe: &Rope) -> Result<Tensor> {
        let modulation = modulation.chunk(SINGLE_MODULATION, D::Minus1)?;
        let h = normed(x, &modulation[..2])?;
        let mlp = gelu_tanh(&w.linear("proj_mlp", &h)?)?;
        let [q, k, v] = self.qkv(w, h, QKV, NORMS)?;
        let attended = self.attend(q, k, v, pe)?;
        let h = Tensor::cat(&[&attended, &mlp], D::Minus1)?;
        drop((attended, mlp));
        within_range(gated_add(x, &modulation[2], &w.linear("proj_out", &h)?)?)
    }

    /// Queries, keys and values `[batch, tokens, heads, head_dim]` of `x`, which is let go.
    fn qkv(&self, w: &Weights, x: Tensor, names: [&str; 3], norms: [&str; 2]) -> Result<[Tensor; 3]> {
        let (batch, tokens, _) = x.dims3()?;
        let heads =
            |name: &str| w.linear(name, &x)?.reshape((batch, tokens, self.config.num_attention_heads, ()));
        let (mut q, mut k, v) = (heads(names[0])?, heads(names[1])?, heads(names[2])?);
        drop(x);
        q = w.rms_norm(norms[0], &q, EPS)?;
        k = w.rms_norm(norms[1], &k, EPS)?;
        Ok([q, k, v])
    }

    /// Attention over all tokens, `[batch, tokens, dim]`.
    fn attend(&self, mut q: Tensor, mut k: Tensor, v: Tensor, pe: &Rope) -> Result<Tensor> {
        q = rope_interleaved(&q, pe)?;
        k = rope_interleaved(&k, pe)?;
        attention(&q, &k, &v, Mask::None)?.flatten_from(2)
    }

    fn head(&self, w: &Weights, x: &Tensor, modulation: &Tensor) -> Result<Tensor> {
        w.linear("proj_out", &normed(x, &modulation.chunk(2, D::Minus1)?)?)
    }

    /// `pe`: all text tokens stand at the origin, those of the image on their row and column.
    fn pe(&self, text: usize, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| [0, row, column]));
        let places: Vec<[usize; 3]> = std::iter::repeat_n([0; 3], text).chain(grid).collect();
        let pairs = self.config.attention_head_dim / 2;
        let mut angles = Vec::with_capacity(places.len() * pairs);
        for place in &places {
            for (&position, &width) in place.iter().zip(&self.config.axes_dims_rope) {
                for pair in 0..width / 2 {
                    angles.push(position as f64 / THETA.powf((2 * pair) as f64 / width as f64));
                }
            }
        }
        Rope::from_exact_angles(&angles, places.len(), pairs, device)
    }

    /// What a double block takes for one branch while `held` bytes of streams are there:
    /// [`double_block`](Self::double_block), function by function.
    fn double_tape(&self, costs: Costs, batch: usize, tokens: [usize; 2], held: u64) -> Tape {
        let (dim, inner) = (self.config.dim(), MLP_RATIO * self.config.dim());
        let [image, text] = tokens;
        let both = batch * (image + text);
        let mut tape = Tape::default();
        tape.hold(held);
        for rows in tokens.map(|tokens| batch * tokens) {
            let h = norm_tape(&mut tape, costs, rows * dim);
            self.qkv_tape(&mut tape, costs, rows);
            tape.free(h);
        }
        let joined: u64 = (0..3)
            .map(|_| {
                let joined = tape.run(costs.copy(both * dim));
                tape.free(joined);
                joined
            })
            .sum();
        let attended = self.attention_tape(&mut tape, costs, batch, image + text);
        tape.free(joined);
        let mut projected = 0;
        for rows in tokens.map(|tokens| batch * tokens) {
            let copied = if batch > 1 { tape.run(costs.copy(rows * dim)) } else { 0 };
            projected += tape.run(costs.linear(rows, dim, dim));
            tape.free(copied);
        }
        tape.free(attended);
        for rows in tokens.map(|tokens| batch * tokens) {
            let x = tape.run(costs.pointwise(rows * dim, 2));
            let h = norm_tape(&mut tape, costs, rows * dim);
            let wide = tape.run(costs.linear(rows, dim, inner));
            tape.free(h);
            let active = tape.run(costs.pointwise(rows * inner, 1));
            tape.free(wide);
            let h = tape.run(costs.linear(rows, inner, dim));
            tape.free(active);
            tape.run(costs.pointwise(rows * dim, 2));
            tape.free(h + x);
        }
        tape.free(projected);
        tape
    }

    /// [`single_block`](Self::single_block), function by function.
    fn single_tape(&self, costs: Costs, batch: usize, tokens: usize, held: u64) -> Tape {
        let (dim, inner, rows) = (self.config.dim(), MLP_RATIO * self.config.dim(), batch * tokens);
        let mut tape = Tape::default();
        tape.hold(held);
        let h = norm_tape(&mut tape, costs, rows * dim);
        let wide = tape.run(costs.linear(rows, dim, inner));
        let mlp = tape.run(costs.pointwise(rows * inner, 1));
        tape.free(wide);
        let heads = self.qkv_tape(&mut tape, costs, rows);
        tape.free(h);
        let attended = self.attention_tape(&mut tape, costs, batch, tokens);
        tape.free(heads);
        let joined = tape.run(costs.copy(rows * (dim + inner)));
        tape.free(attended + mlp);
        tape.run(costs.linear(rows, dim + inner, dim));
        tape.run(costs.pointwise(rows * dim, 2));
        tape.free(joined);
        tape
    }

    /// [`qkv`](Self::qkv), function by function; the bytes of its results.
    fn qkv_tape(&self, tape: &mut Tape, costs: Costs, rows: usize) -> u64 {
        let dim = self.config.dim();
        let heads = (0..3).map(|_| tape.run(costs.linear(rows, dim, dim))).sum();
        (0..2).for_each(|_| tape.replace(costs.pointwise(rows * dim, 1)));
        heads
    }

    /// [`attend`](Self::attend), function by function; the bytes of its result.
    fn attention_tape(&self, tape: &mut Tape, costs: Costs, batch: usize, tokens: usize) -> u64 {
        let heads = self.config.num_attention_heads;
        (0..2).for_each(|_| tape.replace(costs.pointwise(batch * tokens * self.config.dim(), 1)));
        let shape = [batch, tokens, heads, self.config.attention_head_dim];
        tape.run(costs.attention(shape, tokens, heads))
    }
}

/// The same for `img` and for `txt`.
fn each_side<T>(mut work: impl FnMut(usize) -> Result<T>) -> Result<[T; 2]> {
    Ok([work(0)?, work(1)?])
}

/// Text before image, along the tokens.
fn joined(txt: Tensor, img: Tensor) -> Result<Tensor> {
    Tensor::cat(&[txt, img], 1)
}

/// `[batch, channels, height, width]` to `[batch, patches, channels · patch · patch]`.
fn patchify(latents: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = latents.dims4()?;
    let [rows, columns] = [height / PATCH, width / PATCH];
    latents.reshape(&[batch, channels, rows, PATCH, columns, PATCH])?.permute([0, 2, 4, 1, 3, 5])?.reshape((
        batch,
        rows * columns,
        channels * PATCH * PATCH,
    ))
}

fn unpatchify(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let (batch, channels) = (x.dim(0)?, x.dim(2)? / (PATCH * PATCH));
    x.reshape(&[batch, rows, columns, channels, PATCH, PATCH])?.permute([0, 3, 1, 4, 2, 5])?.reshape((
        batch,
        channels,
        rows * PATCH,
        columns * PATCH,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::known_model,
        text::{ClipConfig, T5Config},
    };

    /// Weights of each component, by its blueprint.
    fn weights(blocks: &[BlockSpec]) -> u64 {
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        tensors.map(|(_, shape)| shape.iter().product::<usize>() as u64).sum()
    }

    #[test]
    fn the_published_models_have_as_many_weights_as_the_catalogue_says() {
        for (id, guidance_embeds) in [("flux.1-dev", true), ("flux.1-schnell", false)] {
            let transformer = FluxConfig { guidance_embeds, ..FluxConfig::default() };
            let clip = ClipConfig {
                hidden_size: 768,
                intermediate_size: 3072,
                num_attention_heads: 12,
                ..ClipConfig::default()
            };
            let own = [
                weights(&clip.blueprint(false)),
                weights(&T5Config::default().blueprint()),
                weights(&transformer.blueprint()),
            ];
            let known = known_model(id).unwrap().footprint(2);
            for (component, own) in known.components.iter().zip(own) {
                let parameters: u64 = component.blocks.iter().map(|block| block.parameters).sum();
                assert_eq!(own, parameters, "{id}: {}", component.architecture);
            }
        }
    }

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

    #[test]
    fn patches_of_latents_come_back_in_their_places() {
        let latents = Tensor::arange(0f32, 2.0 * 3.0 * 4.0 * 6.0, &Device::Cpu).unwrap();
        let latents = latents.reshape((2, 3, 4, 6)).unwrap();
        let patches = patchify(&latents).unwrap();
        assert_eq!(patches.dims(), [2, 6, 12]);
        // The first patch of the first channel.
        let first: Vec<f32> =
            patches.get(0).unwrap().get(0).unwrap().narrow(0, 0, 4).unwrap().to_vec1().unwrap();
        assert_eq!(first, [0.0, 1.0, 6.0, 7.0]);
        let back = unpatchify(&patches, [2, 3]).unwrap();
        let values = |x: &Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(values(&back), values(&latents));
    }
}
