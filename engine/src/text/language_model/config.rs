//! The shape of a language model, its rotations and its blocks.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    nn::{Result, Rope, Tensor},
    text::Yarn,
};

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
    pub(super) fn is_interleaved(self) -> bool {
        matches!(self, Self::Mistral { is_interleaved: true })
    }

    /// The layer that makes queries.
    pub(super) fn queries(self) -> &'static str {
        if self.is_interleaved() { "self_attn.q_proj_interleaved" } else { "self_attn.q_proj" }
    }

    /// The layer that makes keys.
    pub(super) fn keys(self) -> &'static str {
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
    pub(in crate::text) fn head(&self) -> usize {
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
    pub(in crate::text) fn rope(&self, layers: Layers, places: &[[usize; 3]], like: &Tensor) -> Result<Rope> {
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
