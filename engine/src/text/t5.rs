//! The encoders of T5 1.1 (Raffel et al. 2020, arXiv:1910.10683; Shazeer 2020, arXiv:2002.05202) and of UMT5 (Chung et
//! al. 2023, arXiv:2304.09151), whose layers each have their own position bias.
//!
//! The residual stream is always f32, because it exceeds the range of f16.

use serde::Deserialize;

use super::{Encoded, Given, T5Tokenizer, TextEncoder, Tokens, umt5_names};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{DType, Result, Tensor, attention_with_bias, gelu_tanh_mul},
    residency::{Blocks, RunError, Weights},
};

/// Index of the block with the embedding table.
const EMBEDDINGS: usize = 0;
const TOKENS: &str = "shared.weight";
const BIAS: &str = "layer.0.SelfAttention.relative_attention_bias.weight";

/// `model_type` of UMT5.
const UMT5: &str = "umt5";

/// The shape of a T5 encoder, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct T5Config {
    /// Number of token embeddings.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of a head.
    pub d_kv: usize,
    /// Width inside the feed-forward layers.
    pub d_ff: usize,
    /// Number of layers.
    pub num_layers: usize,
    /// Attention heads.
    pub num_heads: usize,
    /// Number of relative position buckets.
    pub relative_attention_num_buckets: usize,
    /// All distances from here on share the last bucket.
    pub relative_attention_max_distance: usize,
    /// Added to the mean square in every norm.
    pub layer_norm_epsilon: f64,
    /// The kind of feed-forward layers: `gated-gelu`.
    pub feed_forward_proj: String,
    /// `t5` or `umt5`.
    pub model_type: String,
}

impl Default for T5Config {
    fn default() -> Self {
        Self {
            vocab_size: 32_128,
            d_model: 4096,
            d_kv: 64,
            d_ff: 10_240,
            num_layers: 24,
            num_heads: 64,
            relative_attention_num_buckets: 32,
            relative_attention_max_distance: 128,
            layer_norm_epsilon: 1e-6,
            feed_forward_proj: "gated-gelu".to_owned(),
            model_type: "t5".to_owned(),
        }
    }
}

impl T5Config {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| {
            let tensor = tensors.get(name).or_else(|| tensors.get(&umt5_names::original_name(name)));
            tensor.map(|tensor| tensor.shape().to_vec())
        };
        let table = shape(TOKENS).or_else(|| shape("encoder.embed_tokens.weight"))?;
        let has_layer =
            |layer: &usize| shape(&format!("encoder.block.{layer}.layer.0.SelfAttention.q.weight"));
        let has_second_bias = shape(&format!("encoder.block.1.{BIAS}")).is_some();
        let bias = shape(&format!("encoder.block.0.{BIAS}"))?;
        let heads = *bias.get(1)?;
        let inner = *shape("encoder.block.0.layer.0.SelfAttention.q.weight")?.first()?;
        Some(Self {
            vocab_size: *table.first()?,
            d_model: *table.get(1)?,
            d_kv: inner.checked_div(heads)?,
            d_ff: *shape("encoder.block.0.layer.1.DenseReluDense.wi_0.weight")?.first()?,
            num_layers: (0..).take_while(|layer| has_layer(layer).is_some()).count(),
            num_heads: heads,
            relative_attention_num_buckets: *bias.first()?,
            model_type: if has_second_bias { UMT5 } else { "t5" }.to_owned(),
            ..Self::default()
        })
    }

    /// Rejects values that no model can have.
    pub fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: &str| part.refuse(field, value, reason);
        if self.feed_forward_proj != "gated-gelu" {
            let value = self.feed_forward_proj.clone();
            return wrong("feed_forward_proj", value, "only gated-gelu is supported (T5 1.1)");
        }
        let buckets = self.relative_attention_num_buckets;
        if buckets < 4 || !buckets.is_multiple_of(4) {
            let reason = "it must be a multiple of 4";
            return wrong("relative_attention_num_buckets", buckets.to_string(), reason);
        }
        let distance = self.relative_attention_max_distance;
        if distance <= buckets / 4 {
            let reason = "it must be more than a quarter of relative_attention_num_buckets";
            return wrong("relative_attention_max_distance", distance.to_string(), reason);
        }
        Ok(())
    }

    /// The blocks: embeddings, layers, final norm.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (width, inner, heads) = (self.d_model, self.d_ff, self.num_heads * self.d_kv);
        let layer = |index: usize| {
            let block = BlockSpec::new(format!("encoder.block.{index}"))
                .scale("layer.0.layer_norm", width)
                .matrix("layer.0.SelfAttention.q", heads, width)
                .matrix("layer.0.SelfAttention.k", heads, width)
                .matrix("layer.0.SelfAttention.v", heads, width)
                .matrix("layer.0.SelfAttention.o", width, heads)
                .scale("layer.1.layer_norm", width)
                .matrix("layer.1.DenseReluDense.wi_0", inner, width)
                .matrix("layer.1.DenseReluDense.wi_1", inner, width)
                .matrix("layer.1.DenseReluDense.wo", width, inner);
            if index > 0 && !self.is_umt5() {
                return block;
            }
            block.tensor(BIAS, &[self.relative_attention_num_buckets, self.num_heads])
        };
        let mut blocks = vec![BlockSpec::stem("embeddings").tensor(TOKENS, &[self.vocab_size, width])];
        blocks.extend((0..self.num_layers).map(layer));
        blocks.push(BlockSpec::stem("head").scale("encoder.final_layer_norm", width));
        blocks
    }

    /// Whether each layer has its own position bias, and padding is invisible.
    pub fn is_umt5(&self) -> bool {
        self.model_type == UMT5
    }

    /// The bucket of a distance from query to key: one per position nearby, then ever wider ones.
    fn bucket(&self, distance: i64) -> usize {
        let buckets = self.relative_attention_num_buckets / 2;
        let direction = if distance > 0 { buckets } else { 0 };
        let (places, near) = (distance.unsigned_abs() as usize, buckets / 2);
        if places < near {
            return direction + places;
        }
        let octaves = (self.relative_attention_max_distance as f64 / near as f64).ln() as f32;
        let beyond = (places as f32 / near as f32).ln() / octaves * (buckets - near) as f32;
        direction + (near + beyond as usize).min(buckets - 1)
    }
}

/// A T5 encoder.
#[derive(Debug, Clone)]
pub struct T5 {
    config: T5Config,
    /// The token that prompts are padded with, if no token sees it.
    unseen: Option<u32>,
}

impl T5 {
    /// Builds the encoder from its shape.
    pub fn new(config: T5Config) -> Self {
        Self { config, unseen: None }
    }

    /// The same for prompts that end in padding, this token, which no token sees.
    pub fn not_seeing(self, padding: u32) -> Self {
        Self { unseen: Some(padding), ..self }
    }

    /// Width of the encoder in `tensors`, if there is one.
    pub fn width(tensors: &TensorTable) -> Option<usize> {
        let get = |name: &str| tensors.get(name).or_else(|| tensors.get(&umt5_names::original_name(name)));
        let norm = get("encoder.final_layer_norm.weight")?;
        get(&format!("encoder.block.0.{BIAS}")).and_then(|_| norm.shape().first().copied())
    }

    /// For each prompt, the normalized last hidden states `[tokens, d_model]`.
    pub fn encode(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut states = Vec::new();
        for ids in prompts {
            states.push(blocks.rows(EMBEDDINGS, TOKENS, ids)?.to_dtype(DType::F32)?.unsqueeze(0)?);
        }
        let mut biases = Vec::new();
        let (first, last) = (EMBEDDINGS + 1, EMBEDDINGS + 1 + self.config.num_layers);
        blocks.walk(first..last + 1, |index, w| {
            if index == first || (index < last && self.config.is_umt5()) {
                biases = prompts.iter().map(|ids| self.bias(w, ids.len())).collect::<Result<_>>()?;
            }
            for ((x, bias), ids) in states.iter_mut().zip(&biases).zip(prompts) {
                *x = if index == last {
                    w.rms_norm("encoder.final_layer_norm", x, self.config.layer_norm_epsilon)?
                } else {
                    self.layer(w, x, bias, self.seen(ids), blocks.dtype())?
                };
            }
            Ok(())
        })?;
        Ok(states.into_iter().map(|x| x.squeeze(0)?.to_dtype(blocks.dtype())).collect::<Result<_>>()?)
    }

    /// The number of tokens that others see.
    fn seen(&self, ids: &[u32]) -> usize {
        ids.iter().rposition(|id| Some(*id) != self.unseen).map_or(ids.len(), |last| last + 1)
    }

    /// A layer, in which no token sees those from `seen` on.
    fn layer(&self, w: &Weights, x: &Tensor, bias: &Tensor, seen: usize, dtype: DType) -> Result<Tensor> {
        let eps = self.config.layer_norm_epsilon;
        let (batch, tokens, _) = x.dims3()?;
        let h = w.rms_norm("layer.0.layer_norm", x, eps)?.to_dtype(dtype)?;
        let heads = |name: &str| {
            let name = format!("layer.0.SelfAttention.{name}");
            w.linear(&name, &h)?.reshape((batch, tokens, self.config.num_heads, self.config.d_kv))
        };
        let (q, k, v) = (heads("q")?, heads("k")?, heads("v")?);
        let attended = {
            let (k, v) = (k.narrow(1, 0, seen)?, v.narrow(1, 0, seen)?);
            let attended = attention_with_bias(&q, &k, &v, &bias.narrow(1, 0, tokens + seen - 1)?)?;
            drop((h, q, k, v));
            attended.flatten_from(2)?.to_dtype(DType::F32)?
        };
        let x = (x + w.linear("layer.0.SelfAttention.o", &attended)?)?;
        drop(attended);

        let h = w.rms_norm("layer.1.layer_norm", &x, eps)?.to_dtype(dtype)?;
        let inner = |name: &str| w.linear(&format!("layer.1.DenseReluDense.{name}"), &h);
        let (gate, up) = (inner("wi_0")?, inner("wi_1")?);
        let product = gelu_tanh_mul(&gate, &up)?;
        drop((h, gate, up));
        x + w.linear("layer.1.DenseReluDense.wo", &product.to_dtype(DType::F32)?)?
    }

    /// The relative position bias of each head, f32 `[heads, 2 · tokens − 1]`.
    fn bias(&self, w: &Weights, tokens: usize) -> Result<Tensor> {
        let places = tokens as i64;
        let distances = 1 - places..places;
        let buckets: Vec<u32> = distances.map(|distance| self.config.bucket(distance) as u32).collect();
        let rows = w.get(BIAS)?.to_dtype(DType::F32)?.index_select(&buckets)?;
        rows.transpose(0, 1)?.contiguous()
    }
}

/// A T5 encoder and its tokenizer.
#[derive(Debug)]
pub struct T5Encoder {
    tokenizer: T5Tokenizer,
    model: T5,
    /// Prompts are truncated and padded to at most this many tokens.
    length: usize,
    padding: Padding,
}

/// What becomes of the padding of short prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    /// It is read like the prompt. UMT5 does not see it; zeros take the place of its states, as in Wan.
    Read,
    /// It is read, and its states are dropped.
    Dropped,
    /// There is none.
    Absent,
    /// There is one token of it, which no token sees.
    One,
}

impl T5Encoder {
    /// Finds every tensor of the encoder in `part`, and the tokenizer in the model's folder of this name, for
    /// prompts of up to `length` tokens.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        tokenizer: &str,
        length: usize,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(T5Config::from_shapes)?;
        config.check(part)?;
        let is_original = part.tensors.contains_key("token_embedding.weight");
        let original = |name: &str| match name {
            _ if is_original => StoredName::whole(umt5_names::original_name(name)),
            TOKENS => StoredName::whole("encoder.embed_tokens.weight"),
            _ => StoredName::whole(name),
        };
        let component = Component::bind(
            Role::TextEncoder,
            if config.is_umt5() { "UMT5 encoder" } else { "T5 encoder" },
            &config.blueprint(),
            &part.tensors,
            original,
            &part.path,
        )?;
        let tokenizer = T5Tokenizer::find(checkpoint, part, tokenizer, config.vocab_size)?;
        Ok((Self { tokenizer, model: T5::new(config), length, padding: Padding::Read }, component))
    }
}

impl T5Encoder {
    /// The same for a model that does not see the states of the padding.
    pub fn dropping_padding(self) -> Self {
        Self { padding: Padding::Dropped, ..self }
    }

    /// The same for a model that sees the states of the padding, which the encoder's tokens do not see.
    pub fn hiding_padding(self) -> Self {
        let model = self.model.not_seeing(self.tokenizer.padding());
        Self { model, ..self }
    }

    /// The same for a model whose encoder does not see the padding either.
    pub fn without_padding(self) -> Self {
        Self { padding: Padding::Absent, ..self }
    }

    /// The same for a model that reads one token of padding, which the encoder's other tokens do not see.
    pub fn with_one_padding(self) -> Self {
        let model = self.model.not_seeing(self.tokenizer.padding());
        Self { padding: Padding::One, model, ..self }
    }
}

impl TextEncoder for T5Encoder {
    fn width(&self) -> usize {
        self.model.config.d_model
    }

    /// Pads shorter prompts, because most models that use T5 were trained with padding.
    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        let length = longest.min(self.length);
        match self.padding {
            Padding::Read | Padding::Dropped => self.tokenizer.padded(prompt, length),
            Padding::Absent => self.tokenizer.tokens(prompt, length),
            Padding::One => {
                let mut tokens = self.tokenizer.tokens(prompt, length)?;
                for sequence in &mut tokens.sequences {
                    sequence.resize(length.min(sequence.ids.len() + 1), self.tokenizer.padding());
                }
                Ok(tokens)
            }
        }
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let is_umt5 = self.model.config.is_umt5();
        let seen = |ids: &&[u32]| if is_umt5 { self.tokenizer.without_padding(ids) } else { ids.len() };
        let read: Vec<&[u32]> = sequences.iter().map(|ids| &ids[..seen(ids)]).collect();
        let states = self.model.encode(blocks, &read)?;
        let padded = states.into_iter().zip(sequences).map(|(states, ids)| {
            if self.padding == Padding::Dropped {
                let states = states.narrow(0, 0, self.tokenizer.without_padding(ids))?;
                return Ok(Encoded::new(states));
            }
            let missing = ids.len() - states.dim(0)?;
            Ok(Encoded::new(states.pad_with_zeros(0, 0, missing)?))
        });
        Ok(padded.collect::<Result<_>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_the_buckets_of_transformers() {
        let config = T5Config::default();
        // From T5Attention._relative_position_bucket.
        let cases = [
            (0, 0),
            (-1, 1),
            (1, 17),
            (-7, 7),
            (-8, 8),
            (8, 24),
            (-11, 8),
            (-12, 9),
            (-16, 10),
            (16, 26),
            (-22, 10),
            (-23, 11),
            (-32, 12),
            (-64, 14),
            (-90, 14),
            (-91, 15),
            (-128, 15),
            (500, 31),
        ];
        for (distance, bucket) in cases {
            assert_eq!(config.bucket(distance), bucket, "{distance}");
        }
    }
}
