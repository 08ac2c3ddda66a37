//! Anima's text conditioner: a small transformer that makes the network's prompt out of the states of Qwen3.
//!
//! Its tokens are those of T5, by a table of its own. They attend to each other and to Qwen3's states.

use serde::Deserialize;

use super::{Encoded, Given, T5Tokenizer, TextEncoder, Tokens};
use crate::{
    checkpoint::{
        BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, StoredTensor, TensorTable,
    },
    nn::{Device, Mask, Result, Rope, Tensor, add, attention, bail, gelu, rope_half},
    residency::{Blocks, RunError, Weights},
};

/// Index of the block with the embedding table.
const EMBEDDINGS: usize = 0;
const TABLE: &str = "embed.weight";
/// Prefix of the tensors in files of the transformer, which contain the conditioner.
const PREFIX: &str = "llm_adapter.";
/// Added to the mean square in every norm.
const EPS: f64 = 1e-6;
/// Base of the rotary frequencies.
const THETA: f32 = 10_000.0;

/// Shape of the conditioner, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct AnimaConditionerConfig {
    /// Width of the states that it reads.
    pub source_dim: usize,
    /// Width of its result, and of its embeddings.
    pub target_dim: usize,
    /// Width of the residual stream.
    pub model_dim: usize,
    /// Number of layers.
    pub num_layers: usize,
    /// Attention heads.
    pub num_attention_heads: usize,
    /// Width inside the feed-forward layers, as a multiple of the residual stream's.
    pub mlp_ratio: f64,
    /// Number of token embeddings.
    pub target_vocab_size: usize,
    /// Whether tokens attend to each other.
    pub use_self_attention: bool,
    /// Whether norms subtract the mean.
    pub use_layer_norm: bool,
    /// The network sees at least this many tokens; those after the prompt are zeros.
    pub min_sequence_length: usize,
}

impl Default for AnimaConditionerConfig {
    fn default() -> Self {
        Self {
            source_dim: 1024,
            target_dim: 1024,
            model_dim: 1024,
            num_layers: 6,
            num_attention_heads: 16,
            mlp_ratio: 4.0,
            target_vocab_size: 32_128,
            use_self_attention: true,
            use_layer_norm: false,
            min_sequence_length: 512,
        }
    }
}

impl AnimaConditionerConfig {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let &[vocabulary, target] = shape(TABLE)? else { return None };
        let &[_, source] = shape("blocks.0.cross_attn.k_proj.weight")? else { return None };
        let &[inner, dim] = shape("blocks.0.mlp.0.weight")? else { return None };
        let head = *shape("blocks.0.self_attn.q_norm.weight")?.first()?;
        Some(Self {
            source_dim: source,
            target_dim: target,
            model_dim: dim,
            num_layers: tensors.keys().filter(|name| name.ends_with(".mlp.0.weight")).count(),
            num_attention_heads: dim.checked_div(head)?,
            mlp_ratio: inner as f64 / dim as f64,
            target_vocab_size: vocabulary,
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let heads = self.num_attention_heads;
        if heads == 0 || !self.model_dim.is_multiple_of(2 * heads) {
            let reason = format!("the width {} must be a multiple of twice this", self.model_dim);
            return part.refuse("num_attention_heads", heads, reason);
        }
        if !self.use_self_attention {
            return part.refuse("use_self_attention", false, "only true is supported");
        }
        if self.use_layer_norm {
            return part.refuse("use_layer_norm", true, "only false is supported");
        }
        Ok(())
    }

    fn head(&self) -> usize {
        self.model_dim / self.num_attention_heads
    }

    /// Whether the embeddings have another width than the residual stream.
    fn has_projection(&self) -> bool {
        self.model_dim != self.target_dim
    }

    /// Index of the first layer.
    fn first(&self) -> usize {
        EMBEDDINGS + 1 + usize::from(self.has_projection())
    }

    /// The blocks: embeddings, layers, head.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, inner) = (self.model_dim, (self.model_dim as f64 * self.mlp_ratio) as usize);
        let attention = |spec: BlockSpec, name: &str, read: usize| {
            let layer = |layer: &str| format!("{name}.{layer}");
            spec.scale(&format!("norm_{name}"), dim)
                .matrix(&layer("q_proj"), dim, dim)
                .matrix(&layer("k_proj"), dim, read)
                .matrix(&layer("v_proj"), dim, read)
                .scale(&layer("q_norm"), self.head())
                .scale(&layer("k_norm"), self.head())
                .matrix(&layer("o_proj"), dim, dim)
        };
        let mut blocks =
            vec![BlockSpec::stem("embeddings").tensor(TABLE, &[self.target_vocab_size, self.target_dim])];
        if self.has_projection() {
            blocks.push(BlockSpec::stem("projection").linear("in_proj", dim, self.target_dim));
        }
        blocks.extend((0..self.num_layers).map(|layer| {
            let spec = attention(BlockSpec::new(format!("blocks.{layer}")), "self_attn", dim);
            attention(spec, "cross_attn", self.source_dim)
                .scale("norm_mlp", dim)
                .linear("mlp.0", inner, dim)
                .linear("mlp.2", dim, inner)
        }));
        let head = BlockSpec::stem("head").linear("out_proj", self.target_dim, dim);
        blocks.push(head.scale("norm", self.target_dim));
        blocks
    }
}

/// The conditioner and the tokenizer of T5.
#[derive(Debug)]
pub struct AnimaConditioner {
    tokenizer: T5Tokenizer,
    config: AnimaConditionerConfig,
}

impl AnimaConditioner {
    /// Width of the result of the conditioner in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let norm = tensors.get("norm.weight")?;
        let is_it = tensors.contains_key(TABLE) && tensors.contains_key("blocks.0.norm_cross_attn.weight");
        norm.shape().first().copied().filter(|_| is_it)
    }

    /// The conditioner in the file of a transformer, if it is there.
    pub fn inside(transformer: &Part) -> Option<Part> {
        let own = |(name, tensor): (&String, &StoredTensor)| {
            Some((name.strip_prefix(PREFIX)?.to_owned(), tensor.clone()))
        };
        let tensors: TensorTable = transformer.tensors.iter().filter_map(own).collect();
        let (path, loose) = (transformer.path.clone(), transformer.loose.clone());
        (!tensors.is_empty()).then_some(Part { role: Role::TextEncoder, path, config: None, tensors, loose })
    }

    /// Finds every tensor of the conditioner in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(AnimaConditionerConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Anima text conditioner",
            &config.blueprint(),
            &part.tensors,
            |name| StoredName::whole(format!("{PREFIX}{name}")),
            &part.path,
        )?;
        let tokenizer = T5Tokenizer::find(checkpoint, part, "t5_tokenizer", config.target_vocab_size)?;
        Ok((Self { tokenizer, config }, component))
    }

    /// Its shape.
    pub fn config(&self) -> &AnimaConditionerConfig {
        &self.config
    }

    /// Attention of `x` to what is `read`, after norms of queries and keys; each has its own positions.
    fn attend(
        &self,
        w: &Weights,
        name: &str,
        x: &Tensor,
        read: &Tensor,
        [own, of_read]: [&Rope; 2],
    ) -> Result<Tensor> {
        let heads = |layer: &str, x: &Tensor| {
            let (batch, tokens, _) = x.dims3()?;
            w.linear(&format!("{name}.{layer}"), x)?.reshape((batch, tokens, (), self.config.head()))
        };
        let q = w.rms_norm(&format!("{name}.q_norm"), &heads("q_proj", x)?, EPS)?;
        let k = w.rms_norm(&format!("{name}.k_norm"), &heads("k_proj", read)?, EPS)?;
        let v = heads("v_proj", read)?;
        let h = attention(&rope_half(&q, own)?, &rope_half(&k, of_read)?, &v, Mask::None)?;
        w.linear(&format!("{name}.o_proj"), &h.flatten_from(2)?)
    }

    fn layer(&self, w: &Weights, prompt: &Stream) -> Result<Tensor> {
        let Stream { x, source, ropes: [own, of_source] } = prompt;
        let h = w.rms_norm("norm_self_attn", x, EPS)?;
        let x = add(x, &self.attend(w, "self_attn", &h, &h, [own, own])?)?;
        let h = w.rms_norm("norm_cross_attn", &x, EPS)?;
        let x = add(&x, &self.attend(w, "cross_attn", &h, source, [own, of_source])?)?;
        let h = gelu(&w.linear("mlp.0", &w.rms_norm("norm_mlp", &x, EPS)?)?)?;
        add(&x, &w.linear("mlp.2", &h)?)
    }

    fn rope(&self, tokens: usize, device: &Device) -> Result<Rope> {
        let (head, half) = (self.config.head(), self.config.head() / 2);
        let frequency = |pair: usize| 1.0 / THETA.powf((2 * pair) as f32 / head as f32);
        let angles = (0..tokens).flat_map(|place| (0..half).map(move |pair| place as f32 * frequency(pair)));
        Rope::from_angles(&angles.collect::<Vec<f32>>(), tokens, half, device)
    }
}

/// A prompt on its way through the layers.
struct Stream {
    /// `[1, tokens, width]`.
    x: Tensor,
    /// The states that it reads, `[1, tokens, width]`.
    source: Tensor,
    /// The positions of its tokens and of those of the states.
    ropes: [Rope; 2],
}

impl TextEncoder for AnimaConditioner {
    fn width(&self) -> usize {
        self.config.target_dim
    }

    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        self.tokenizer.tokens(prompt, longest)
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        given: Given<'_>,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let states_of = |prompt: usize| match given.states.get(prompt) {
            Some(states) => Ok(states),
            None => bail!("the conditioner reads the states of an encoder before it"),
        };
        let mut prompts = Vec::new();
        for (index, ids) in sequences.iter().enumerate() {
            let states = states_of(index)?;
            let ropes =
                [self.rope(ids.len(), &blocks.device())?, self.rope(states.dim(0)?, &blocks.device())?];
            let x = blocks.rows(EMBEDDINGS, TABLE, ids)?.unsqueeze(0)?;
            prompts.push(Stream { x, source: states.unsqueeze(0)?, ropes });
        }
        let first = self.config.first();
        let last = first + self.config.num_layers;
        blocks.walk(EMBEDDINGS + 1..last + 1, |index, w| {
            for prompt in &mut prompts {
                prompt.x = match index {
                    _ if index < first => w.linear("in_proj", &prompt.x)?,
                    _ if index == last => w.rms_norm("norm", &w.linear("out_proj", &prompt.x)?, EPS)?,
                    _ => self.layer(w, prompt)?,
                };
            }
            Ok(())
        })?;
        let encoded = |Stream { x, .. }: Stream| Ok(Encoded::new(x.squeeze(0)?));
        prompts.into_iter().map(encoded).collect()
    }
}
