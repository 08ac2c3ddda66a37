//! The layers of decoder-only language models, which encode prompts in newer families.
//!
//! Qwen 2.5 (Qwen Team 2024, arXiv:2412.15115) has biases on queries, keys and values; Qwen 3 (Yang et al. 2025,
//! arXiv:2505.09388) normalizes queries and keys instead; Mistral and Llama 3 (Llama Team 2024, arXiv:2407.21783) do neither.
//! Everything else is the same, except that Llama 3.1 turns its slow rotations even slower.

use std::ops::Range;

use serde::Deserialize;

use super::{
    Yarn,
    seen::{Added, Placed, Seen, with_added, with_images},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    nn::{D, Mask, Result, Rope, Tensor, attention, rms_norm, rope_half, rope_interleaved, silu_mul},
    residency::{Blocks, RunError, Weights},
};

/// Index of the block with the embedding table.
pub(super) const EMBEDDINGS: usize = 0;

/// The shape of a language model, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct LanguageModelConfig {
    /// Number of token embeddings.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward layers.
    pub intermediate_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads.
    pub num_key_value_heads: usize,
    /// Width of a head, if it is not that of the residual stream divided by the number of query heads.
    #[serde(default)]
    pub head_dim: Option<usize>,
    /// Added to the mean square in every norm.
    pub rms_norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Where transformers 5 writes it.
    pub rope_parameters: Option<RopeParameters>,
    /// Where older versions write how positions are shared out.
    pub rope_scaling: Option<RopeScaling>,
}

/// The rotary embedding, as transformers 5 writes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RopeParameters {
    /// Base of the frequencies.
    pub rope_theta: f64,
    /// See [`RopeScaling::mrope_section`].
    #[serde(default)]
    pub mrope_section: Option<[usize; 3]>,
    /// How it was changed for longer texts.
    #[serde(flatten)]
    pub long_texts: Option<LongTexts>,
}

impl RopeParameters {
    /// Those of Ministral 3.
    pub fn ministral3() -> Self {
        let long_texts = Some(LongTexts::Yarn(Yarn::ministral3()));
        Self { rope_theta: 1e6, mrope_section: None, long_texts }
    }
}

/// How the rotary embedding of older configurations differs from the usual one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RopeScaling {
    /// Pairs of values that are rotated by image, row and column, in models that see images.
    #[serde(default)]
    pub mrope_section: Option<[usize; 3]>,
    /// How it was changed for longer texts.
    #[serde(flatten)]
    pub long_texts: Option<LongTexts>,
}

/// How a rotary embedding was changed for longer texts than the model was first trained with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "rope_type", rename_all = "snake_case")]
pub enum LongTexts {
    /// As YaRN does.
    Yarn(Yarn),
    /// As Llama 3.1 does.
    Llama3(RopeStretch),
    /// Not at all.
    #[serde(other)]
    Unchanged,
}

/// A rotary embedding that was stretched for longer texts than the model was first trained with (Llama Team 2024,
/// arXiv:2407.21783): only its slow rotations are slowed down.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RopeStretch {
    /// How much slower the slowest rotations are.
    pub factor: f64,
    /// Rotations with fewer turns than this over the first length are slowed down by the whole factor.
    pub low_freq_factor: f64,
    /// Those with more turns than this are not.
    pub high_freq_factor: f64,
    /// The first length, in tokens.
    pub original_max_position_embeddings: f64,
}

impl RopeStretch {
    /// The angle of a token, from the one that was trained first.
    fn of(&self, frequency: f32) -> f32 {
        let turns = self.original_max_position_embeddings as f32 * frequency / std::f32::consts::TAU;
        let [low, high] = [self.low_freq_factor as f32, self.high_freq_factor as f32];
        let slow = frequency / self.factor as f32;
        if turns < low {
            slow
        } else if turns > high {
            frequency
        } else {
            let part = (turns - low) / (high - low);
            (1.0 - part) * slow + part * frequency
        }
    }
}

impl Default for LanguageModelConfig {
    /// The shape of Qwen3-4B.
    fn default() -> Self {
        Self {
            vocab_size: 151_936,
            hidden_size: 2560,
            intermediate_size: 9728,
            num_hidden_layers: 36,
            num_attention_heads: 32,
            num_key_value_heads: 8,
            head_dim: Some(128),
            rms_norm_eps: 1e-6,
            rope_theta: 1e6,
            rope_parameters: None,
            rope_scaling: None,
        }
    }
}

/// What distinguishes the layers of one model from those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// Biases on queries, keys and values.
    Qwen2,
    /// Norms of queries and keys.
    Qwen3,
    /// Neither, as also in Llama 3.
    Mistral {
        /// Whether the two values that are rotated together are neighbours, as llama.cpp stores them, instead of a half
        /// head apart.
        is_interleaved: bool,
    },
}

impl Layers {
    fn is_interleaved(self) -> bool {
        matches!(self, Self::Mistral { is_interleaved: true })
    }

    /// The layer that makes queries.
    fn queries(self) -> &'static str {
        if self.is_interleaved() { "self_attn.q_proj_interleaved" } else { "self_attn.q_proj" }
    }

    /// The layer that makes keys.
    fn keys(self) -> &'static str {
        if self.is_interleaved() { "self_attn.k_proj_interleaved" } else { "self_attn.k_proj" }
    }
}

impl LanguageModelConfig {
    /// Infers the shape from the tensors, for files without a configuration. Epsilon and the rotary base,
    /// which shapes do not show, are those of all published models of Qwen 2.5 and 3; so is the width of a head where
    /// no norm shows it.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        Self::from_shapes_below(tensors, "")
    }

    /// The same for tensors whose names begin with `prefix`.
    pub fn from_shapes_below(tensors: &TensorTable, prefix: &str) -> Option<Self> {
        const HEAD: usize = 128;
        let shape =
            |name: &str| tensors.get(&format!("{prefix}{name}")).map(|tensor| tensor.shape().to_vec());
        let embedding = shape("embed_tokens.weight")?;
        let norm = shape("layers.0.self_attn.q_norm.weight");
        let head_dim = norm.and_then(|shape| shape.first().copied()).unwrap_or(HEAD);
        let rows = |name: &str| shape(name)?.first().copied();
        let columns = |name: &str| shape(name)?.get(1).copied();
        let is_layer = |name: &&String| {
            name.strip_prefix(prefix)
                .is_some_and(|name| name.starts_with("layers.") && name.ends_with(".self_attn.v_proj.weight"))
        };
        let layers = tensors.keys().filter(is_layer).count();
        Some(Self {
            vocab_size: *embedding.first()?,
            hidden_size: *embedding.get(1)?,
            intermediate_size: rows("layers.0.mlp.gate_proj.weight")?,
            num_hidden_layers: layers,
            num_attention_heads: columns("layers.0.self_attn.o_proj.weight")? / head_dim,
            num_key_value_heads: rows("layers.0.self_attn.v_proj.weight")? / head_dim,
            head_dim: Some(head_dim),
            rms_norm_eps: 1e-6,
            rope_theta: 1e6,
            rope_parameters: None,
            rope_scaling: None,
        })
    }

    /// Rejects numbers that no model can have.
    ///
    /// # Errors
    /// With the field, its value and the reason.
    pub fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: usize, reason: String| part.refuse(field, value, reason);
        let (heads, shared) = (self.num_attention_heads, self.num_key_value_heads);
        if self.num_hidden_layers == 0 {
            return wrong("num_hidden_layers", 0, "it must be at least 1".to_owned());
        }
        if shared == 0 || !heads.is_multiple_of(shared) {
            return wrong(
                "num_key_value_heads",
                shared,
                format!("it must divide the {heads} query heads evenly"),
            );
        }
        if self.head() == 0 || !self.head().is_multiple_of(2) {
            return wrong("head_dim", self.head(), "it must be even".to_owned());
        }
        Ok(())
    }

    /// Width of a head.
    pub(super) fn head(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Pairs of values of a head that are rotated by image, row and column; for text these are the same.
    fn sections(&self, layers: Layers) -> [usize; 3] {
        let half = self.head() / 2;
        let new = self.rope_parameters.as_ref().and_then(|rope| rope.mrope_section);
        let own = new.or(self.rope_scaling.as_ref().and_then(|rope| rope.mrope_section));
        own.filter(|sections| sections.iter().sum::<usize>() == half).unwrap_or_else(|| {
            let rows = if layers == Layers::Qwen3 { half * 5 / 16 } else { half * 3 / 8 };
            [half - 2 * rows, rows, rows]
        })
    }

    /// Rotations of tokens in these places: by image, row and column, which are the same for text.
    pub(super) fn rope(&self, layers: Layers, places: &[[usize; 3]], like: &Tensor) -> Result<Rope> {
        let half = self.head() / 2;
        let own = self.rope_parameters.as_ref();
        let theta = own.map_or(self.rope_theta, |rope| rope.rope_theta);
        let older = self.rope_scaling.as_ref();
        let long_texts =
            own.and_then(|rope| rope.long_texts.as_ref()).or(older.and_then(|rope| rope.long_texts.as_ref()));
        let usual = |pair: usize| {
            let exponent = (2 * pair) as f32 / self.head() as f32;
            1.0 / (theta as f32).powf(exponent)
        };
        let usual: Vec<f32> = (0..half).map(usual).collect();
        let (frequencies, magnitude) = match long_texts {
            Some(LongTexts::Yarn(yarn)) => (yarn.slowed(&usual, theta), yarn.magnitude()),
            Some(LongTexts::Llama3(stretch)) => {
                (usual.into_iter().map(|frequency| stretch.of(frequency)).collect(), 1.0)
            }
            Some(LongTexts::Unchanged) | None => (usual, 1.0),
        };
        let [first, second, third] = self.sections(layers);
        let axis = |pair: usize| match layers {
            // Image, row and column take turns until the sections of the last two are full.
            Layers::Qwen3 if pair % 3 == 1 && pair < 3 * second => 1,
            Layers::Qwen3 if pair % 3 == 2 && pair < 3 * third => 2,
            Layers::Qwen3 => 0,
            Layers::Qwen2 | Layers::Mistral { .. } => {
                usize::from(pair >= first) + usize::from(pair >= first + second)
            }
        };
        let angle = |place: &[usize; 3], pair: usize| place[axis(pair)] as f32 * frequencies[pair];
        let angles = places.iter().flat_map(|place| (0..half).map(move |pair| (place, pair)));
        let angles: Vec<f32> = angles.map(|(place, pair)| angle(place, pair)).collect();
        if magnitude == 1.0 {
            return Rope::from_angles(&angles, places.len(), half, &like.device());
        }
        let both = [f32::cos, f32::sin]
            .map(|of| angles.iter().map(|angle| of(*angle) * magnitude).collect::<Vec<f32>>());
        Rope::from_cosines_and_sines(both, places.len(), half, &like.device())
    }

    /// The blocks: embeddings, layers, final norm.
    pub fn blueprint(&self, layers: Layers) -> Vec<BlockSpec> {
        let (width, inner, head) = (self.hidden_size, self.intermediate_size, self.head());
        let (queries, keys) = (self.num_attention_heads * head, self.num_key_value_heads * head);
        let layer = |index: usize| {
            let spec = BlockSpec::new(format!("layers.{index}")).scale("input_layernorm", width);
            let spec = match layers {
                Layers::Qwen2 => spec
                    .linear("self_attn.q_proj", queries, width)
                    .linear("self_attn.k_proj", keys, width)
                    .linear("self_attn.v_proj", keys, width)
                    .matrix("self_attn.o_proj", width, queries),
                Layers::Qwen3 => spec
                    .matrix("self_attn.q_proj", queries, width)
                    .matrix("self_attn.k_proj", keys, width)
                    .matrix("self_attn.v_proj", keys, width)
                    .matrix("self_attn.o_proj", width, queries)
                    .scale("self_attn.q_norm", head)
                    .scale("self_attn.k_norm", head),
                Layers::Mistral { .. } => spec
                    .matrix(layers.queries(), queries, width)
                    .matrix(layers.keys(), keys, width)
                    .matrix("self_attn.v_proj", keys, width)
                    .matrix("self_attn.o_proj", width, queries),
            };
            spec.scale("post_attention_layernorm", width)
                .matrix("mlp.gate_proj", inner, width)
                .matrix("mlp.up_proj", inner, width)
                .matrix("mlp.down_proj", width, inner)
        };
        let mut blocks = vec![BlockSpec::new("embed_tokens").tensor("weight", &[self.vocab_size, width])];
        blocks.extend((0..self.num_hidden_layers).map(layer));
        blocks.push(BlockSpec::new("norm").tensor("weight", &[width]));
        blocks
    }
}

/// Which hidden states of a model are the encoding of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken<'a> {
    /// Those that enter the last layer (`hidden_states[-2]` in transformers). It is never run and its weights are never
    /// read.
    Penultimate,
    /// Those after the final norm (`hidden_states[-1]`).
    Last,
    /// Those after a quarter, a half and three quarters of the layers, side by side (`hidden_states[9]`, 18 and 27 of 36
    /// layers). The layers after them are never run and their weights are never read.
    Quarters,
    /// Those after each of these numbers of layers, ascending and at least 1, side by side; one more than there are layers
    /// means those after the final norm. The layers after them are never run.
    After(&'a [usize]),
}

impl Taken<'_> {
    /// Whether the states of several layers are kept.
    fn are_several(self) -> bool {
        matches!(self, Self::Quarters | Self::After(_))
    }

    /// The numbers of layers after which the states are kept, in a model of this many layers.
    fn after(self, layers: usize) -> Vec<usize> {
        match self {
            Self::Penultimate => vec![layers - 1],
            Self::Last => vec![layers],
            Self::Quarters => (1..=3).map(|quarter| (layers * quarter / 4).max(1)).collect(),
            Self::After(numbers) => numbers.to_vec(),
        }
    }
}

/// A language model. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    config: LanguageModelConfig,
    layers: Layers,
    /// The token that prompts are padded with, if they are.
    padding: Option<Padding>,
}

#[derive(Debug, Clone, Copy)]
enum Padding {
    Before(u32),
    /// At this position, or else where it is.
    After(u32, Option<usize>),
}

impl LanguageModel {
    /// Builds the model from its shape.
    pub fn new(config: LanguageModelConfig, layers: Layers) -> Self {
        Self { config, layers, padding: None }
    }

    /// The same for prompts that are padded at their end with this token. Padding is not seen by any token.
    pub fn padded_with(self, token: u32) -> Self {
        Self { padding: Some(Padding::After(token, None)), ..self }
    }

    /// The same where all padding has this position.
    pub fn padded_at(self, position: usize, token: u32) -> Self {
        Self { padding: Some(Padding::After(token, Some(position))), ..self }
    }

    /// The same for prompts that are padded at their beginning. Padding is not seen by any token, and sees nothing.
    pub fn padded_before_with(self, token: u32) -> Self {
        Self { padding: Some(Padding::Before(token)), ..self }
    }

    /// Its shape.
    pub(super) fn config(&self) -> &LanguageModelConfig {
        &self.config
    }

    /// Width of the hidden states.
    pub fn width(&self) -> usize {
        self.config.hidden_size
    }

    /// For each prompt, the hidden states `[tokens, hidden_size]`, or those of several layers side by side. Every layer is
    /// leased once for all prompts.
    ///
    /// # Errors
    /// When the walk stops early.
    pub fn states(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
        taken: Taken<'_>,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        self.states_seeing(blocks, prompts, taken, None)
    }

    /// The same for prompts with images, which are the same in all prompts.
    ///
    /// # Errors
    /// When the walk stops early, or a prompt has fewer images than it has tokens for.
    pub fn states_seeing(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
        taken: Taken<'_>,
        seen: Option<Seen<'_>>,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut states = Vec::new();
        for ids in prompts {
            let x = blocks.rows(EMBEDDINGS, "weight", ids)?;
            let Placed { x, mut places, added } = match seen {
                Some(seen) => with_images(x, ids, seen)?,
                None => Placed::text(x)?,
            };
            let read = self.unpadded(ids);
            if let Some(Padding::After(_, Some(position))) = self.padding {
                places[read.end..].fill([position; 3]);
            }
            states.push(Stream {
                rope: self.config.rope(self.layers, &places, &x)?,
                read,
                x: x.unsqueeze(0)?,
                added,
            });
        }
        let norm = EMBEDDINGS + 1 + self.config.num_hidden_layers;
        let after = taken.after(self.config.num_hidden_layers);
        let end = match taken {
            Taken::Last => norm + 1,
            _ => EMBEDDINGS + 1 + after.iter().max().copied().unwrap_or(0),
        };
        let mut kept: Vec<Vec<Tensor>> = vec![Vec::new(); prompts.len()];
        blocks.walk(EMBEDDINGS + 1..end, |index, weights| {
            for (Stream { rope, read, x, added }, kept) in states.iter_mut().zip(&mut kept) {
                *x = if index == norm {
                    rms_norm(x, &weights.get("weight")?, self.config.rms_norm_eps)?
                } else {
                    let after = self.layer(weights, x, rope, |q, k, v| attend(&q, &k, v, read))?;
                    with_added(after, added, index - EMBEDDINGS - 1)?
                };
                if taken.are_several() {
                    let here = after.iter().filter(|layer| **layer == index - EMBEDDINGS);
                    kept.extend(here.map(|_| x.clone()));
                }
            }
            Ok(())
        })?;
        let taken = states.into_iter().zip(kept).map(|(Stream { x, .. }, kept)| match &kept[..] {
            [] => x.squeeze(0),
            kept => Tensor::cat(kept, D::Minus1)?.squeeze(0),
        });
        Ok(taken.collect::<Result<_>>()?)
    }

    /// The tokens without the padding.
    fn unpadded(&self, ids: &[u32]) -> Range<usize> {
        match self.padding {
            Some(Padding::Before(padding)) => {
                ids.iter().position(|id| *id != padding).unwrap_or(0)..ids.len()
            }
            Some(Padding::After(padding, _)) => {
                0..ids.iter().rposition(|id| *id != padding).map_or(ids.len(), |last| last + 1)
            }
            None => 0..ids.len(),
        }
    }

    /// A layer, in which `attend` decides what the queries see.
    pub(super) fn layer(
        &self,
        w: &Weights,
        x: &Tensor,
        rope: &Rope,
        attend: impl FnOnce(Tensor, Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let eps = self.config.rms_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let heads = |y: Tensor| y.reshape((batch, tokens, (), self.config.head()));
        let normed = |y: Tensor, norm: &str| match self.layers {
            Layers::Qwen2 | Layers::Mistral { .. } => Ok(y),
            Layers::Qwen3 => w.rms_norm(norm, &y, eps),
        };

        let h = w.rms_norm("input_layernorm", x, eps)?;
        let q = normed(heads(w.linear(self.layers.queries(), &h)?)?, "self_attn.q_norm")?;
        let k = normed(heads(w.linear(self.layers.keys(), &h)?)?, "self_attn.k_norm")?;
        let v = heads(w.linear("self_attn.v_proj", &h)?)?;
        let rotated = if self.layers.is_interleaved() { rope_interleaved } else { rope_half };
        let attended = attend(rotated(&q, rope)?, rotated(&k, rope)?, &v)?;
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.o_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);

        let h = w.rms_norm("post_attention_layernorm", &x, eps)?;
        let (gate, up) = (w.linear("mlp.gate_proj", &h)?, w.linear("mlp.up_proj", &h)?);
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        x + w.linear("mlp.down_proj", &h)?
    }
}

/// Causal attention over the keys in `read`. What comes before them sees nothing, which gives zeros.
fn attend(q: &Tensor, k: &Tensor, v: &Tensor, read: &Range<usize>) -> Result<Tensor> {
    let tokens = q.dim(1)?;
    if *read == (0..tokens) {
        return attention(q, k, v, Mask::Causal);
    }
    let part = |x: &Tensor, range: Range<usize>| x.narrow(1, range.start, range.len());
    let (k, v) = (part(k, read.clone())?, part(v, read.clone())?);
    let mut parts = Vec::new();
    if read.start > 0 {
        parts.push(part(q, 0..read.start)?.zeros_like()?);
    }
    parts.push(attention(&part(q, read.clone())?, &k, &v, Mask::Causal)?);
    if read.end < tokens {
        parts.push(attention(&part(q, read.end..tokens)?, &k, &v, Mask::None)?);
    }
    Tensor::cat(&parts, 1)
}

/// A prompt on its way through the layers.
struct Stream {
    rope: Rope,
    /// The tokens that are seen.
    read: Range<usize>,
    x: Tensor,
    added: Vec<Added>,
}
