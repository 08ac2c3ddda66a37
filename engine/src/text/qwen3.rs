//! Qwen3 (Yang et al. 2025, arXiv:2505.09388) as a text encoder.

use serde::Deserialize;

use super::{Encoded, Extent, Qwen2Tokenizer, Sequence, TextEncoder, Tokens};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Mask, Result, Rope, Tensor, attention, rope_half, silu_mul},
    residency::{Blocks, RunError, Weights},
};

/// Index of the block with the embedding table.
const EMBEDDINGS: usize = 0;

/// The shape of a Qwen3 model, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Qwen3Config {
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
    /// Width of a head.
    pub head_dim: usize,
    /// Added to the mean square in every norm.
    pub rms_norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
}

impl Default for Qwen3Config {
    /// The shape of Qwen3-4B.
    fn default() -> Self {
        Self {
            vocab_size: 151_936,
            hidden_size: 2560,
            intermediate_size: 9728,
            num_hidden_layers: 36,
            num_attention_heads: 32,
            num_key_value_heads: 8,
            head_dim: 128,
            rms_norm_eps: 1e-6,
            rope_theta: 1e6,
        }
    }
}

impl Qwen3Config {
    /// Infers the shape from the tensors, for files without a configuration. Epsilon and the rotary base,
    /// which shapes do not show, are those of all published Qwen3 models.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let embedding = shape("embed_tokens.weight")?;
        let head_dim = *shape("layers.0.self_attn.q_norm.weight")?.first()?;
        let rows = |name: &str| shape(name)?.first().copied();
        let layers = tensors.keys().filter(|name| name.ends_with(".self_attn.q_norm.weight")).count();
        Some(Self {
            vocab_size: *embedding.first()?,
            hidden_size: *embedding.get(1)?,
            intermediate_size: rows("layers.0.mlp.gate_proj.weight")?,
            num_hidden_layers: layers,
            num_attention_heads: rows("layers.0.self_attn.q_proj.weight")? / head_dim,
            num_key_value_heads: rows("layers.0.self_attn.k_proj.weight")? / head_dim,
            head_dim,
            rms_norm_eps: 1e-6,
            rope_theta: 1e6,
        })
    }

    /// Rejects numbers that no model can have.
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
        if self.head_dim == 0 || !self.head_dim.is_multiple_of(2) {
            return wrong("head_dim", self.head_dim, "it must be even".to_owned());
        }
        Ok(())
    }

    /// The blocks: embeddings, layers, final norm.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (width, inner, head) = (self.hidden_size, self.intermediate_size, self.head_dim);
        let (queries, keys) = (self.num_attention_heads * head, self.num_key_value_heads * head);
        let layer = |index: usize| {
            BlockSpec::new(format!("layers.{index}"))
                .scale("input_layernorm", width)
                .matrix("self_attn.q_proj", queries, width)
                .matrix("self_attn.k_proj", keys, width)
                .matrix("self_attn.v_proj", keys, width)
                .matrix("self_attn.o_proj", width, queries)
                .scale("self_attn.q_norm", head)
                .scale("self_attn.k_norm", head)
                .scale("post_attention_layernorm", width)
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

/// A Qwen3 model that returns the hidden states before its last layer.
#[derive(Debug, Clone)]
pub struct Qwen3 {
    config: Qwen3Config,
}

impl Qwen3 {
    /// Builds the model from its shape.
    pub fn new(config: Qwen3Config) -> Self {
        Self { config }
    }

    /// Its shape.
    pub fn config(&self) -> &Qwen3Config {
        &self.config
    }

    /// Width of the model in `tensors`, if there is one.
    pub fn width(tensors: &TensorTable) -> Option<usize> {
        let embedding = tensors.get("embed_tokens.weight")?;
        let is_qwen3 = tensors.contains_key("layers.0.self_attn.q_norm.weight");
        embedding.shape().get(1).copied().filter(|_| is_qwen3)
    }

    /// For each prompt, the hidden states `[tokens, hidden_size]` that enter the last layer
    /// (`hidden_states[-2]` in transformers). The last layer is never run and its weights are never read;
    /// every other layer is leased once for all prompts.
    pub fn penultimate(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut states = Vec::new();
        for ids in prompts {
            let x = blocks.rows(EMBEDDINGS, "weight", ids)?.unsqueeze(0)?;
            states.push((self.rope(ids.len(), &x)?, x));
        }
        blocks.walk(EMBEDDINGS + 1..self.config.num_hidden_layers, |_, weights| {
            for (rope, x) in &mut states {
                *x = self.layer(weights, x, rope)?;
            }
            Ok(())
        })?;
        Ok(states.into_iter().map(|(_, x)| x.squeeze(0)).collect::<Result<_>>()?)
    }

    fn layer(&self, w: &Weights, x: &Tensor, rope: &Rope) -> Result<Tensor> {
        let eps = self.config.rms_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let heads = |y: Tensor| y.reshape((batch, tokens, (), self.config.head_dim));

        let h = w.rms_norm("input_layernorm", x, eps)?;
        let q = w.rms_norm("self_attn.q_norm", &heads(w.linear("self_attn.q_proj", &h)?)?, eps)?;
        let k = w.rms_norm("self_attn.k_norm", &heads(w.linear("self_attn.k_proj", &h)?)?, eps)?;
        let v = heads(w.linear("self_attn.v_proj", &h)?)?;
        let attended = attention(&rope_half(&q, rope)?, &rope_half(&k, rope)?, &v, Mask::Causal)?;
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.o_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);

        let h = w.rms_norm("post_attention_layernorm", &x, eps)?;
        let (gate, up) = (w.linear("mlp.gate_proj", &h)?, w.linear("mlp.up_proj", &h)?);
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        x + w.linear("mlp.down_proj", &h)?
    }

    fn rope(&self, tokens: usize, like: &Tensor) -> Result<Rope> {
        let half = self.config.head_dim / 2;
        let frequency = |pair: usize| {
            let exponent = (2 * pair) as f32 / self.config.head_dim as f32;
            1.0 / (self.config.rope_theta as f32).powf(exponent)
        };
        let angles: Vec<f32> =
            (0..tokens).flat_map(|token| (0..half).map(move |pair| token as f32 * frequency(pair))).collect();
        Rope::from_angles(&angles, tokens, half, &like.device())
    }
}

/// A Qwen3 model that reads prompts as a user's chat turn.
#[derive(Debug)]
pub struct Qwen3Chat {
    tokenizer: Qwen2Tokenizer,
    model: Qwen3,
}

impl Qwen3Chat {
    /// Finds every tensor of the model in `part`, and its tokenizer.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(Qwen3Config::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen3",
            &config.blueprint(),
            &part.tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        Ok((Self { tokenizer, model: Qwen3::new(config) }, component))
    }
}

impl TextEncoder for Qwen3Chat {
    fn width(&self) -> usize {
        self.model.config.hidden_size
    }

    /// Nothing in the prompt is syntax: a language model reads brackets as they are. The chat template's
    /// tokens count.
    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        let mut ids = self.tokenizer.encode_chat(prompt, usize::MAX)?;
        let extent = Extent::whole(ids.len(), longest);
        ids.truncate(longest);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: u32,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let states = self.model.penultimate(blocks, sequences)?;
        Ok(states.into_iter().map(|states| Encoded { states, pooled: None }).collect())
    }
}
