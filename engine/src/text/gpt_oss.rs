//! GPT-OSS (OpenAI 2025, arXiv:2508.10925) as a text encoder: a mixture of experts whose attention has sinks. Every other layer
//! sees a window of tokens.
//!
//! An expert is a block of its own. They are read in turn, and only those that a token of a prompt is routed to.

use std::ops::Range;

use serde::Deserialize;

use super::{
    Encoded, Extent, GptOssTokenizer, LongTexts, RopeParameters, Sequence, TextEncoder, Tokens, Yarn,
    language_model::{LanguageModelConfig, Layers},
};
use crate::{
    checkpoint::{
        BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, StoredTensor, TensorTable,
    },
    nn::{D, Result, Rope, Routes, Share, Tensor, attention_with_sinks, rope_half, silu_mul},
    residency::{Blocks, RunError, Weights},
};

/// What the model is told before a prompt. The chat template of the published model has today's date; here it is always
/// the same, so that a prompt has the same states every day.
const BEFORE: &str = "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: \
    2024-06\nCurrent date: 2026-05-26\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final. Channel must be \
    included for every message.<|end|><|start|>developer<|message|># Instructions\n\nDescribe the image by detailing the color, \
    shape, size, texture, quantity, text, spatial relationships of the objects and background.\n\n<|end|><|start|>user<|message|>";
/// How its answer begins.
const AFTER: &str = "<|end|><|start|>assistant<|channel|>analysis<|message|>Need to generate one image according to the \
    description.<|end|><|start|>assistant<|channel|>final<|message|>";
/// The most tokens that are read, with all that it is told.
const LONGEST: usize = 512;
/// Index of the block with the embedding table.
const EMBEDDINGS: usize = 0;
/// What the names of experts have before their numbers.
const EXPERTS: &str = ".mlp.experts.";
/// The layer of an expert that gives gates and values in turns, as transformers stores it.
const JOINED: &str = "gate_up_proj";
/// The same in two layers, as llama.cpp stores it.
const APART: [&str; 2] = ["gate_proj", "up_proj"];
const DOWN: &str = "down_proj";
/// The layers read the same rotations of all three places of a token.
const PLACES: Layers = Layers::Mistral { is_interleaved: false };

/// The shape of the model, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GptOssConfig {
    /// What it has in common with other language models. Its intermediate size is that of an expert.
    #[serde(flatten)]
    pub model: LanguageModelConfig,
    /// Number of experts of a layer.
    #[serde(default = "published::experts")]
    pub num_local_experts: usize,
    /// Number of experts that a token is routed to.
    #[serde(default = "published::chosen")]
    pub num_experts_per_tok: usize,
    /// Tokens that a token sees in every other layer, beginning with the first: itself and those before it.
    #[serde(default = "published::window")]
    pub sliding_window: usize,
    /// The kind of attention of each layer, if it does not alternate.
    #[serde(default)]
    pub layer_types: Option<Vec<String>>,
    /// Gates are no larger, and values are within as much of 0.
    #[serde(default = "published::limit")]
    pub swiglu_limit: f64,
    /// What multiplies a gate in the sigmoid.
    #[serde(default = "published::alpha")]
    pub swiglu_alpha: f64,
}

/// The constants of the published models.
mod published {
    use super::{LongTexts, RopeParameters, Yarn};

    pub fn experts() -> usize {
        32
    }

    pub fn chosen() -> usize {
        4
    }

    pub fn window() -> usize {
        128
    }

    pub fn limit() -> f64 {
        7.0
    }

    pub fn alpha() -> f64 {
        1.702
    }

    pub fn rope() -> RopeParameters {
        let yarn = Yarn { factor: 32.0, truncate: false, ..Yarn::default() };
        RopeParameters { rope_theta: 1.5e5, mrope_section: None, long_texts: Some(LongTexts::Yarn(yarn)) }
    }
}

impl Default for GptOssConfig {
    /// The shape of GPT-OSS 20B.
    fn default() -> Self {
        Self {
            model: LanguageModelConfig {
                vocab_size: 201_088,
                hidden_size: 2880,
                intermediate_size: 2880,
                num_hidden_layers: 24,
                num_attention_heads: 64,
                num_key_value_heads: 8,
                head_dim: Some(64),
                rms_norm_eps: 1e-5,
                rope_theta: 1.5e5,
                rope_parameters: Some(published::rope()),
                rope_scaling: None,
            },
            num_local_experts: published::experts(),
            num_experts_per_tok: published::chosen(),
            sliding_window: published::window(),
            layer_types: None,
            swiglu_limit: published::limit(),
            swiglu_alpha: published::alpha(),
        }
    }
}

impl GptOssConfig {
    /// Infers the shape from the tensors, for files without a configuration. What shapes do not show is that of the published
    /// models.
    fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let [vocab_size, hidden_size] = shape("embed_tokens.weight")?[..] else { return None };
        let heads = *shape("layers.0.self_attn.sinks")?.first()?;
        let rows = |name: &str| shape(&format!("layers.0.{name}"))?.first().copied();
        let head = rows("self_attn.q_proj.weight")?.checked_div(heads)?;
        let published = Self::default();
        Some(Self {
            model: LanguageModelConfig {
                vocab_size,
                hidden_size,
                intermediate_size: *shape(&format!("layers.0{EXPERTS}0.{DOWN}.weight"))?.get(1)?,
                num_hidden_layers: tensors.keys().filter(|name| name.ends_with(".self_attn.sinks")).count(),
                num_attention_heads: heads,
                num_key_value_heads: rows("self_attn.k_proj.weight")?.checked_div(head)?,
                head_dim: Some(head),
                ..published.model
            },
            num_local_experts: rows("mlp.router.weight")?,
            ..published
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        self.model.check(part)?;
        let (experts, chosen) = (self.num_local_experts, self.num_experts_per_tok);
        if chosen == 0 || chosen > experts {
            return part.refuse("num_experts_per_tok", chosen, format!("it must be 1 to {experts}"));
        }
        if self.sliding_window == 0 {
            return part.refuse("sliding_window", 0, "it must be at least 1");
        }
        let layers = self.model.num_hidden_layers;
        if let Some(kinds) = self.layer_types.as_ref().filter(|kinds| kinds.len() != layers) {
            return part.refuse(
                "layer_types",
                kinds.len(),
                format!("it must be one for each of {layers} layers"),
            );
        }
        Ok(())
    }

    /// How many tokens a token sees in a layer, if not all before it.
    fn window(&self, layer: usize) -> Option<usize> {
        let slides = match self.layer_types.as_ref().and_then(|kinds| kinds.get(layer)) {
            Some(kind) => kind == "sliding_attention",
            None => layer.is_multiple_of(2),
        };
        slides.then_some(self.sliding_window)
    }

    /// Index of the first block of a layer: its attention. Its experts follow.
    fn first_of(&self, layer: usize) -> usize {
        EMBEDDINGS + 1 + layer * (1 + self.num_local_experts)
    }

    /// The blocks: embeddings, for each layer its attention and its experts, final norm. Gates and values of experts are joined
    /// in one layer or apart.
    pub fn blueprint(&self, are_joined: bool) -> Vec<BlockSpec> {
        let (width, inner, head) = (self.model.hidden_size, self.model.intermediate_size, self.model.head());
        let (heads, shared) = (self.model.num_attention_heads, self.model.num_key_value_heads);
        let mut blocks =
            vec![BlockSpec::new("embed_tokens").tensor("weight", &[self.model.vocab_size, width])];
        for layer in 0..self.model.num_hidden_layers {
            let name = format!("layers.{layer}");
            blocks.push(
                BlockSpec::new(&name)
                    .scale("input_layernorm", width)
                    .linear("self_attn.q_proj", heads * head, width)
                    .linear("self_attn.k_proj", shared * head, width)
                    .linear("self_attn.v_proj", shared * head, width)
                    .tensor("self_attn.sinks", &[heads])
                    .linear("self_attn.o_proj", width, heads * head)
                    .scale("post_attention_layernorm", width)
                    .linear("mlp.router", self.num_local_experts, width),
            );
            blocks.extend((0..self.num_local_experts).map(|expert| {
                let spec = BlockSpec::new(format!("{name}{EXPERTS}{expert}"));
                let spec = match are_joined {
                    true => spec.linear(JOINED, 2 * inner, width),
                    false => APART.iter().fold(spec, |spec, layer| spec.linear(layer, inner, width)),
                };
                spec.linear(DOWN, width, inner)
            }));
        }
        blocks.push(BlockSpec::new("norm").tensor("weight", &[width]));
        blocks
    }
}

impl GptOssConfig {
    /// Names and shapes of the tensors in transformers' files in 16 bits: all experts of a layer are in one, `[experts, inputs,
    /// outputs]`.
    pub fn published_tensors(&self) -> Vec<(String, Vec<usize>)> {
        let mut tensors = Vec::new();
        for spec in self.blueprint(true) {
            for (name, shape) in &spec.tensors {
                let full = format!("model.{}{name}", spec.prefix);
                let Some((before, own)) = full.split_once(EXPERTS) else {
                    tensors.push((full, shape.clone()));
                    continue;
                };
                let Some(own) = own.strip_prefix("0.") else { continue };
                let sides = std::iter::once(self.num_local_experts).chain(shape.iter().rev().copied());
                let name = own.strip_suffix(".weight").map_or_else(|| own.replace('.', "_"), str::to_owned);
                tensors.push((format!("{before}{EXPERTS}{name}"), sides.collect()));
            }
        }
        tensors.push(("lm_head.weight".to_owned(), vec![self.model.vocab_size, self.model.hidden_size]));
        tensors
    }

    /// The name and the shape of such a tensor in the files of published models, if it is in MXFP4 there.
    pub fn packed(name: &str, shape: &[usize]) -> Option<(String, Vec<usize>)> {
        let &[experts, inputs, outputs] = shape else { return None };
        name.contains(EXPERTS).then(|| (format!("{name}.weight"), vec![experts, outputs, inputs]))
    }
}

/// A GPT-OSS model that describes images. States of some of its layers are taken.
#[derive(Debug)]
pub struct GptOss {
    tokenizer: GptOssTokenizer,
    config: GptOssConfig,
    are_joined: bool,
    /// The number of tokens before a prompt, whose states are left out.
    left_out: usize,
    /// Numbers of layers, ascending, after each of which the states are taken.
    taken: Vec<usize>,
}

/// A prompt on its way through the layers.
struct Stream {
    rope: Rope,
    x: Tensor,
    /// What its tokens are routed by, in the layer that computes.
    mixture: Option<Mixture>,
    kept: Vec<Tensor>,
}

/// The tokens of a prompt that experts add to.
struct Mixture {
    /// Their normalized values `[tokens, width]`.
    x: Tensor,
    routes: Routes,
    sum: Tensor,
}

impl GptOss {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let is_it = ["layers.0.self_attn.sinks", "layers.0.mlp.router.weight"]
            .iter()
            .all(|name| tensors.contains_key(*name));
        tensors.get("embed_tokens.weight")?.shape().get(1).copied().filter(|_| is_it)
    }

    /// Number of layers of the model in `part`.
    ///
    /// # Errors
    /// When its configuration is wrong.
    pub fn layers_of(part: &Part) -> std::result::Result<usize, CheckpointError> {
        let config = part.config(|_| GptOssConfig::from_shapes(&apart(&part.tensors)))?;
        Ok(config.model.num_hidden_layers)
    }

    /// Finds every tensor of the model in `part`, and its tokenizer. The states are taken after these numbers of layers,
    /// ascending and at least 1.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, there is no tokenizer, or the model does
    /// not have these layers.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        taken: &[usize],
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let tensors = apart(&part.tensors);
        let config = part.config(|_| GptOssConfig::from_shapes(&tensors))?;
        config.check(part)?;
        let layers = config.model.num_hidden_layers;
        let is_ascending = taken.is_sorted_by(|one, other| one < other);
        if taken.is_empty() || !is_ascending || !taken.iter().all(|layer| (1..=layers).contains(layer)) {
            let reason = format!("the text encoder has {layers} layers, which must be in ascending order");
            return part.refuse("selected_layer_index", format!("{taken:?}"), reason);
        }
        let are_joined = !tensors.contains_key(&format!("layers.0{EXPERTS}0.{}.weight", APART[0]));
        let component = Component::bind(
            Role::TextEncoder,
            "GPT-OSS",
            &config.blueprint(are_joined),
            &tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let tokenizer = GptOssTokenizer::find(checkpoint, part, config.model.vocab_size)?;
        let left_out = tokenizer.encode(BEFORE)?.len();
        Ok((Self { tokenizer, config, are_joined, left_out, taken: taken.to_vec() }, component))
    }

    /// For each prompt, the states `[tokens, layers · width]` after the layers that are taken, side by side.
    fn states(&self, blocks: Blocks<'_>, prompts: &[&[u32]]) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut streams = Vec::new();
        for ids in prompts {
            let x = blocks.rows(EMBEDDINGS, "weight", ids)?;
            let places: Vec<[usize; 3]> = (0..ids.len()).map(|place| [place; 3]).collect();
            let rope = self.config.model.rope(PLACES, &places, &x)?;
            streams.push(Stream { rope, x: x.unsqueeze(0)?, mixture: None, kept: Vec::new() });
        }
        for layer in 0..self.taken.last().copied().unwrap_or(0) {
            let first = self.config.first_of(layer);
            blocks.walk(first..first + 1, |_, w| {
                w.branches(&mut streams, |w, _, stream| self.attend(w, layer, stream))
            })?;
            let is_routed = |expert: &usize| {
                streams.iter().filter_map(|stream| stream.mixture.as_ref()).any(|own| own.routes.has(*expert))
            };
            let routed: Vec<usize> = (0..self.config.num_local_experts).filter(is_routed).collect();
            blocks.walk_parts(&runs(&routed, first + 1), |index, w| {
                w.branches(&mut streams, |w, _, stream| self.add_expert(w, index - first - 1, stream))
            })?;
            for stream in &mut streams {
                if let Some(Mixture { sum, .. }) = stream.mixture.take() {
                    stream.x = (&stream.x + sum.unsqueeze(0)?)?;
                }
                if self.taken.contains(&(layer + 1)) {
                    stream.kept.push(stream.x.clone());
                }
            }
        }
        let taken = streams.into_iter().map(|Stream { kept, .. }| Tensor::cat(&kept, D::Minus1)?.squeeze(0));
        Ok(taken.collect::<Result<_>>()?)
    }

    /// The attention of a layer, and the experts that the tokens are routed to.
    fn attend(&self, w: &Weights, layer: usize, stream: &mut Stream) -> Result<()> {
        let (eps, head) = (self.config.model.rms_norm_eps, self.config.model.head());
        let (_, tokens, width) = stream.x.dims3()?;
        let h = w.rms_norm("input_layernorm", &stream.x, eps)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((1, tokens, (), head));
        let q = rope_half(&heads("self_attn.q_proj")?, &stream.rope)?;
        let k = rope_half(&heads("self_attn.k_proj")?, &stream.rope)?;
        let v = heads("self_attn.v_proj")?;
        drop(h);
        let attended =
            attention_with_sinks(&q, &k, &v, &w.get("self_attn.sinks")?, self.config.window(layer))?;
        drop((q, k, v));
        stream.x = (&stream.x + w.linear("self_attn.o_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let x = w.rms_norm("post_attention_layernorm", &stream.x, eps)?.reshape((tokens, width))?;
        let logits = w.linear("mlp.router", &x)?;
        let routes = Routes::new(&logits, self.config.num_experts_per_tok, Share::OfChosen)?;
        let sum = Tensor::zeros((tokens, width), x.dtype(), &x.device())?;
        stream.mixture = Some(Mixture { x, routes, sum });
        Ok(())
    }

    /// Adds what an expert makes of the tokens that are routed to it, if any are.
    fn add_expert(&self, w: &Weights, expert: usize, stream: &mut Stream) -> Result<()> {
        if let Some(own) = stream.mixture.as_mut().filter(|own| own.routes.has(expert)) {
            let sum = own.sum.clone();
            own.sum = own.routes.add(expert, &own.x, sum, |x| self.feed_forward(w, x))?;
        }
        Ok(())
    }

    /// The layers of an expert. Its gates multiply values to which 1 is added.
    fn feed_forward(&self, w: &Weights, x: Tensor) -> Result<Tensor> {
        let (gate, up) = if self.are_joined {
            let both = w.linear(JOINED, &x)?;
            let both = both.reshape((both.dim(0)?, (), 2))?;
            let part = |index: usize| both.narrow(2, index, 1)?.squeeze(2)?.contiguous();
            (part(0)?, part(1)?)
        } else {
            (w.linear(APART[0], &x)?, w.linear(APART[1], &x)?)
        };
        drop(x);
        let (limit, alpha) = (self.config.swiglu_limit as f32, self.config.swiglu_alpha);
        // x · sigmoid(αx) is a part of αx · sigmoid(αx).
        let gate = gate.clamp(f32::MIN, limit)?.affine(alpha, 0.0)?;
        let up = up.clamp(-limit, limit)?.affine(1.0 / alpha, 1.0 / alpha)?;
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        w.linear(DOWN, &h)
    }
}

/// Ranges of blocks from `first` on, for ascending numbers.
fn runs(numbers: &[usize], first: usize) -> Vec<Range<usize>> {
    let chunks = numbers.chunk_by(|one, next| one + 1 == *next);
    chunks.map(|run| first + run[0]..first + run[0] + run.len()).collect()
}

/// The tensors with those of all experts of a layer, which files have in one, taken apart. transformers stores matrices of 16
/// bits as `[experts, inputs, outputs]`; all others are `[experts, outputs, inputs]`.
fn apart(tensors: &TensorTable) -> TensorTable {
    let mut all = TensorTable::new();
    for (name, tensor) in tensors {
        let stack =
            name.split_once(EXPERTS).filter(|(_, layer)| !layer.starts_with(|c: char| c.is_ascii_digit()));
        let Some((before, layer)) = stack else {
            all.insert(name.clone(), tensor.clone());
            continue;
        };
        let experts = tensor.shape().first().copied().unwrap_or(0);
        let (layer, parameter, is_transposed) = match layer.rsplit_once(['.', '_']) {
            Some((layer, parameter @ ("weight" | "bias"))) => (layer, parameter, false),
            _ => (layer, "weight", true),
        };
        for expert in 0..experts {
            let part: StoredTensor = tensor.parts(expert..expert + 1, experts);
            let shape = part.shape()[1..].to_vec();
            let part = part.with_shape(&shape);
            let part = if is_transposed { part.transposed() } else { part };
            all.insert(format!("{before}{EXPERTS}{expert}.{layer}.{parameter}"), part);
        }
    }
    all
}

impl TextEncoder for GptOss {
    fn width(&self) -> usize {
        self.taken.len() * self.config.model.hidden_size
    }

    /// Nothing in the prompt is syntax. The tokens before the prompt do not count towards `longest`, those after it do.
    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        let mut ids = self.tokenizer.encode(&format!("{BEFORE}{prompt}{AFTER}"))?;
        let all = LONGEST.min(longest.saturating_add(self.left_out));
        let extent = Extent::whole(ids.len() - self.left_out, all.saturating_sub(self.left_out));
        ids.truncate(all);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: u32,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let states = self.states(blocks, sequences)?;
        states.into_iter().map(|states| Encoded::without_first(states, self.left_out)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_tokens_before_a_prompt_are_as_many_as_published() {
        let tokenizer = GptOssTokenizer::published().unwrap();
        assert_eq!(tokenizer.encode(BEFORE).unwrap().len(), 97);
    }

    #[test]
    fn every_other_layer_sees_a_window() {
        let config = GptOssConfig::default();
        assert_eq!([0, 1, 2].map(|layer| config.window(layer)), [Some(128), None, Some(128)]);
        let kinds = ["full_attention", "sliding_attention"].map(str::to_owned).to_vec();
        let other = GptOssConfig { layer_types: Some(kinds), ..config };
        assert_eq!([0, 1].map(|layer| other.window(layer)), [None, Some(128)]);
    }

    #[test]
    fn experts_next_to_each_other_are_one_run() {
        assert_eq!(runs(&[0, 1, 4, 6, 7], 10), [10..12, 14..15, 16..18]);
        assert_eq!(runs(&[], 10), []);
    }

    #[test]
    fn the_published_model_has_21_billion_weights() {
        let blocks = GptOssConfig::default().blueprint(true);
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        let weights: usize = tensors.map(|(_, shape)| shape.iter().product::<usize>()).sum();
        // Without the head, which no prompt needs.
        assert_eq!(weights / 10_000_000, 2033);
    }
}
