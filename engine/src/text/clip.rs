//! The text encoder of CLIP (Radford et al. 2021, arXiv:2103.00020).

use serde::Deserialize;

use super::{ClipTokenizer, Encoded, Given, Manner, TextEncoder, Tokens, open_clip_names};
use crate::{
    checkpoint::{
        BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, StoredTensor, TensorTable,
    },
    nn::{Mask, Result, Tensor, attention, gelu, quick_gelu},
    residency::{Blocks, RunError, Weights},
};

/// Index of the block with the embedding tables.
const EMBEDDINGS: usize = 0;
const TOKENS: &str = "embeddings.token_embedding.weight";
const PLACES: &str = "embeddings.position_embedding.weight";
/// Prefix of the names in published files.
const PREFIX: &str = "text_model.";
/// The projection of the pooled output to the joint space of text and images.
const PROJECTION: &str = "text_projection";
const PROJECTED: &str = "text_projection.weight";
/// The end token in configurations from before transformers read it from there.
const LEGACY_END: u32 = 2;

/// The shape of a CLIP text encoder, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ClipConfig {
    /// Number of token embeddings.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward layers.
    pub intermediate_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Attention heads.
    pub num_attention_heads: usize,
    /// Tokens per sequence.
    pub max_position_embeddings: usize,
    /// `quick_gelu` or `gelu`.
    pub hidden_act: String,
    /// Added to the variance in every norm.
    pub layer_norm_eps: f64,
    /// The end token, at whose position the pooled output is taken; 2 stands for the highest token.
    pub eos_token_id: u32,
    /// Width of the projected pooled output.
    pub projection_dim: usize,
}

/// Which outputs of a CLIP text encoder a family uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClipUse {
    /// Number of last layers that the hidden states skip; a request may skip more.
    pub skip: usize,
    /// Whether the hidden states go through the final norm.
    pub is_normed: bool,
    /// Whether the pooled output is projected.
    pub is_projected: bool,
    /// Whether only the pooled output is used.
    pub is_summary: bool,
    /// Whether tokens do not attend to padding.
    pub hides_padding: bool,
    /// Sequences are at most this long, and as long as a request says, in families that do not fill all places.
    pub longest: Option<usize>,
}

impl ClipUse {
    /// The last hidden states, and the unprojected pooled output.
    pub const LAST: Self = Self {
        skip: 0,
        is_normed: true,
        is_projected: false,
        is_summary: false,
        hides_padding: false,
        longest: None,
    };
    /// The hidden states before the last layer, and the projected pooled output.
    pub const PENULTIMATE: Self = Self { skip: 1, is_normed: false, is_projected: true, ..Self::LAST };
    /// The last hidden states before the norm, with padding hidden, and the projected pooled output.
    pub const CASCADE: Self =
        Self { is_normed: false, is_projected: true, hides_padding: true, ..Self::LAST };
    /// The last hidden states, with padding hidden.
    pub const WUERSTCHEN: Self = Self { hides_padding: true, ..Self::LAST };
    /// Only the pooled output.
    pub const SUMMARY: Self = Self { is_summary: true, ..Self::LAST };

    /// Number of layers to skip for a request's `clip_skip`, which counts like A1111: 1 is the last layer, 2
    /// the one before it. Never fewer than in the family's training.
    fn skipped(self, clip_skip: u32) -> usize {
        if self.is_summary { self.skip } else { self.skip.max((clip_skip as usize).saturating_sub(1)) }
    }
}

impl Default for ClipConfig {
    fn default() -> Self {
        Self {
            vocab_size: 49_408,
            hidden_size: 512,
            intermediate_size: 2048,
            num_hidden_layers: 12,
            num_attention_heads: 8,
            max_position_embeddings: 77,
            hidden_act: "quick_gelu".to_owned(),
            layer_norm_eps: 1e-5,
            eos_token_id: 49_407,
            projection_dim: 512,
        }
    }
}

impl ClipConfig {
    /// Infers the shape from the tensors, for files without a configuration. Heads are 64 wide in all
    /// published encoders. The small encoders use OpenAI's activation unless their tensors have OpenCLIP
    /// names.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| stored(tensors, name).map(|tensor| tensor.shape().to_vec());
        let (tokens, places) = (shape(TOKENS)?, shape(PLACES)?);
        let width = *tokens.get(1)?;
        let layers = tensors
            .keys()
            .filter(|name| name.ends_with(".layer_norm1.weight") || name.ends_with(".ln_1.weight"))
            .filter(|name| !name.contains("vis"))
            .count();
        Some(Self {
            vocab_size: *tokens.first()?,
            hidden_size: width,
            intermediate_size: *shape("encoder.layers.0.mlp.fc1.weight")?.first()?,
            num_hidden_layers: layers,
            num_attention_heads: (width / 64).max(1),
            max_position_embeddings: *places.first()?,
            hidden_act: if width <= 768 && !open_clip_names::are_in(tensors) { "quick_gelu" } else { "gelu" }
                .to_owned(),
            eos_token_id: LEGACY_END,
            projection_dim: Clip::projection(tensors).unwrap_or(width),
            ..Self::default()
        })
    }

    /// Rejects values that no model can have.
    pub fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let wrong = |field, value: String, reason: &str| part.refuse(field, value, reason);
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let value = self.num_attention_heads.to_string();
            return wrong(
                "num_attention_heads",
                value,
                "the width must be a multiple of the number of heads",
            );
        }
        if self.max_position_embeddings < 3 {
            let value = self.max_position_embeddings.to_string();
            return wrong(
                "max_position_embeddings",
                value,
                "it must be at least 3: start, end and one token of the prompt",
            );
        }
        if !["quick_gelu", "gelu"].contains(&self.hidden_act.as_str()) {
            let value = self.hidden_act.clone();
            return wrong("hidden_act", value, "only quick_gelu and gelu are supported");
        }
        Ok(())
    }

    /// The blocks: embeddings, layers, final norm and projection.
    pub fn blueprint(&self, is_projected: bool) -> Vec<BlockSpec> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let layer = |index: usize| {
            BlockSpec::new(format!("encoder.layers.{index}"))
                .norm("layer_norm1", width)
                .linear("self_attn.q_proj", width, width)
                .linear("self_attn.k_proj", width, width)
                .linear("self_attn.v_proj", width, width)
                .linear("self_attn.out_proj", width, width)
                .norm("layer_norm2", width)
                .linear("mlp.fc1", inner, width)
                .linear("mlp.fc2", width, inner)
        };
        let mut blocks = vec![
            BlockSpec::stem("embeddings")
                .tensor(TOKENS, &[self.vocab_size, width])
                .tensor(PLACES, &[self.max_position_embeddings, width]),
        ];
        blocks.extend((0..self.num_hidden_layers).map(layer));
        let head = BlockSpec::stem("head").norm("final_layer_norm", width);
        blocks.push(if is_projected { head.matrix(PROJECTION, self.projection_dim, width) } else { head });
        blocks
    }
}

/// Finds a tensor by its own name, its name in published files, or its OpenCLIP name.
fn stored<'a>(tensors: &'a TensorTable, name: &str) -> Option<&'a StoredTensor> {
    let published = || tensors.get(&format!("{PREFIX}{name}"));
    let original = || tensors.get(&open_clip_names::original_name(name).name);
    tensors.get(name).or_else(published).or_else(original)
}

/// A CLIP text encoder.
#[derive(Debug, Clone)]
pub struct Clip {
    config: ClipConfig,
    usage: ClipUse,
}

impl Clip {
    /// Builds the encoder from its shape and the outputs to use.
    pub fn new(config: ClipConfig, usage: ClipUse) -> Self {
        Self { config, usage }
    }

    /// Whether the encoder in `tensors` has this many layers, or OpenCLIP names; files with those contain all
    /// layers.
    pub fn layers_of_open_clip(tensors: &TensorTable, layers: usize) -> bool {
        let last = format!("encoder.layers.{}.layer_norm1.weight", layers.saturating_sub(1));
        open_clip_names::are_in(tensors) || stored(tensors, &last).is_some()
    }

    /// Width of the projected pooled output of the encoder in `tensors`, if it has a projection.
    pub fn projection(tensors: &TensorTable) -> Option<usize> {
        let side = |name: &str, side: usize| tensors.get(name)?.shape().get(side).copied();
        side(PROJECTED, 0).or_else(|| side(PROJECTION, 1))
    }

    /// Number of places of the encoder in `tensors`, if there is one.
    pub fn places(tensors: &TensorTable) -> Option<usize> {
        stored(tensors, PLACES).and_then(|tensor| tensor.shape().first().copied())
    }

    /// Width of the encoder in `tensors`, if there is one.
    pub fn width(tensors: &TensorTable) -> Option<usize> {
        stored(tensors, PLACES).and_then(|tensor| tensor.shape().get(1).copied())
    }

    /// For each sequence, the selected hidden states `[tokens, hidden_size]` and the pooled output: the
    /// normalized last hidden state at the end token. `clip_skip` is that of the request.
    pub fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        clip_skip: u32,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let mut states = Vec::new();
        for ids in sequences {
            let places: Vec<u32> = (0..ids.len() as u32).collect();
            let tokens = blocks.rows(EMBEDDINGS, TOKENS, ids)?;
            states.push((tokens + blocks.rows(EMBEDDINGS, PLACES, &places)?)?.unsqueeze(0)?);
        }
        let last = EMBEDDINGS + 1 + self.config.num_hidden_layers;
        let wanted = last.saturating_sub(self.usage.skipped(clip_skip)).max(EMBEDDINGS + 1);
        let mut early: Vec<Tensor> = Vec::new();
        let mut encoded = Vec::new();
        blocks.walk(EMBEDDINGS + 1..last + 1, |index, w| {
            if index == wanted && wanted < last {
                early.clone_from(&states);
            }
            if index < last {
                for (x, ids) in states.iter_mut().zip(sequences) {
                    *x = self.layer(w, x, self.seen(ids))?;
                }
                return Ok(());
            }
            let mut early = std::mem::take(&mut early).into_iter();
            for (x, ids) in std::mem::take(&mut states).into_iter().zip(sequences) {
                encoded.push(self.head(w, x, early.next(), ids)?);
            }
            Ok(())
        })?;
        Ok(encoded)
    }

    /// Selects the outputs from the last hidden states and, if used, the earlier ones.
    fn head(&self, w: &Weights, last: Tensor, early: Option<Tensor>, ids: &[u32]) -> Result<Encoded> {
        let normed = |x: &Tensor| w.layer_norm("final_layer_norm", x, self.config.layer_norm_eps);
        let last_normed = normed(&last)?;
        let mut pooled = last_normed.get(0)?.get(self.end(ids))?;
        if self.usage.is_projected {
            pooled = w.linear(PROJECTION, &pooled.unsqueeze(0)?)?.squeeze(0)?;
        }
        let states = match early {
            Some(early) if self.usage.is_normed => normed(&early)?,
            Some(early) => early,
            None if self.usage.is_normed => last_normed,
            None => last,
        };
        Ok(Encoded { pooled: Some(pooled), ..Encoded::new(states.squeeze(0)?) })
    }

    /// Position of the first end token.
    fn end(&self, ids: &[u32]) -> usize {
        let end = match self.config.eos_token_id {
            LEGACY_END => ids.iter().copied().max(),
            end => Some(end),
        };
        ids.iter().position(|&id| Some(id) == end).unwrap_or(0)
    }

    /// How many first tokens are attended to.
    fn seen(&self, ids: &[u32]) -> usize {
        if self.usage.hides_padding { self.end(ids) + 1 } else { ids.len() }
    }

    /// A layer, in which only the first `seen` tokens are attended to.
    fn layer(&self, w: &Weights, x: &Tensor, seen: usize) -> Result<Tensor> {
        let eps = self.config.layer_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let h = w.layer_norm("layer_norm1", x, eps)?;
        let heads =
            |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.config.num_attention_heads, ()));
        let (q, k, v) = (heads("self_attn.q_proj")?, heads("self_attn.k_proj")?, heads("self_attn.v_proj")?);
        let attended = if seen == tokens {
            attention(&q, &k, &v, Mask::Causal)?
        } else {
            let [k, v] = [k.narrow(1, 0, seen)?, v.narrow(1, 0, seen)?];
            let read = attention(&q.narrow(1, 0, seen)?, &k, &v, Mask::Causal)?;
            let padding = attention(&q.narrow(1, seen, tokens - seen)?, &k, &v, Mask::None)?;
            Tensor::cat(&[read, padding], 1)?
        };
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.out_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);

        let active = {
            let h = w.linear("mlp.fc1", &w.layer_norm("layer_norm2", &x, eps)?)?;
            if self.config.hidden_act == "gelu" { gelu(&h)? } else { quick_gelu(&h)? }
        };
        x + w.linear("mlp.fc2", &active)?
    }
}

/// A CLIP text encoder and its tokenizer.
#[derive(Debug)]
pub struct ClipEncoder {
    tokenizer: ClipTokenizer,
    model: Clip,
}

impl ClipEncoder {
    /// Finds every tensor of the encoder in `part`, and its tokenizer in the model's folder
    /// `tokenizer`.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        tokenizer: &str,
        usage: ClipUse,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(ClipConfig::from_shapes)?;
        config.check(part)?;
        let is_original = open_clip_names::are_in(&part.tensors);
        // OpenCLIP stores the projection as `[width, projection_dim]`.
        let is_turned =
            |name: &str| name == PROJECTED && is_original && !part.tensors.contains_key(PROJECTED);
        let mut blueprint = config.blueprint(usage.is_projected);
        let shapes = blueprint.iter_mut().flat_map(|block| &mut block.tensors);
        shapes.filter(|(name, _)| is_turned(name)).for_each(|(_, shape)| shape.reverse());
        let mut component = Component::bind(
            Role::TextEncoder,
            match config.hidden_size {
                ..=768 => "CLIP-L",
                769..=1024 => "CLIP-H",
                _ => "CLIP-G",
            },
            &blueprint,
            &part.tensors,
            |name| match is_original {
                true => open_clip_names::original_name(name),
                false => StoredName::whole(format!("{PREFIX}{name}")),
            },
            &part.path,
        )?;
        let tensors = component.blocks.iter_mut().flat_map(|block| &mut block.tensors);
        tensors
            .filter(|(name, _)| is_turned(name))
            .for_each(|(_, tensor)| *tensor = tensor.clone().transposed());
        let tokenizer = ClipTokenizer::find(checkpoint, part, tokenizer, config.vocab_size)?;
        Ok((Self { tokenizer, model: Clip::new(config, usage) }, component))
    }
}

impl TextEncoder for ClipEncoder {
    fn manner(&self) -> Manner {
        if self.model.usage.is_summary { Manner::Summary } else { Manner::Chunks }
    }

    fn width(&self) -> usize {
        self.model.config.hidden_size
    }

    /// All sequences have the full context length, whatever `longest` is, unless the family does not fill it.
    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        let places = self.model.config.max_position_embeddings;
        let length = self.model.usage.longest.map_or(places, |own| own.min(longest).min(places));
        match self.manner() {
            Manner::Summary => self.tokenizer.first(prompt, length),
            Manner::Chunks | Manner::Whole => self.tokenizer.chunks(prompt, length),
        }
    }

    fn fill(&self, tokens: &mut Tokens, chunks: usize) {
        if self.manner() == Manner::Chunks && tokens.sequences.len() < chunks {
            let empty = self.tokenizer.empty(self.model.config.max_position_embeddings);
            tokens.sequences.resize(chunks, empty);
        }
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        given: Given<'_>,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        self.model.encode(blocks, sequences, given.clip_skip)
    }
}
