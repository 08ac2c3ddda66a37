//! Mistral Small 3 and Ministral 3 (Mistral AI 2025) as text encoders.

use super::{
    Encoded, Extent, Given, MistralTokenizer, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, RopeParameters, Taken},
    qwen2_5_vl::language_config,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result as NnResult, Tensor},
    residency::{Blocks, RunError},
};

/// What the model is told to do with a prompt.
const SYSTEM: &str = "You are an AI that reasons about image descriptions. You give structured responses focusing on object \
    relationships, object\nattribution and actions without speculation.";
/// The token that stands for a part of an image.
const IMAGE: &str = "[IMG]";
/// Prefixes of the language model's tensors in files that also have a vision tower.
const PREFIXES: [&str; 4] = ["", "language_model.", "language_model.model.", "model.language_model."];
/// Added to the mean square in every norm of the published models.
const EPS: f64 = 1e-5;
/// Base of the rotary frequencies of Mistral Small 3.
const THETA: f64 = 1e9;
/// Layers of the published model. Files for FLUX.2 are also published without the last quarter, which it does not read.
const LAYERS: usize = 40;

/// A Mistral model that reads prompts as a user's chat turn. States of three layers are taken.
#[derive(Debug)]
pub struct MistralChat {
    tokenizer: MistralTokenizer,
    model: LanguageModel,
    /// The token before prompts that are shorter than the longest.
    padding: u32,
    /// Numbers of layers after which the states are taken.
    taken: Vec<usize>,
}

impl MistralChat {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        width_of(tensors)
    }

    /// Finds every tensor of the language model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let of_published = |shapes| LanguageModelConfig { rope_theta: THETA, ..shapes };
        let Opened { tokenizer, model, component, layers, has_norm } = open(checkpoint, part, of_published)?;
        let padding = tokenizer.padding()?;
        let is_whole = has_norm && layers != LAYERS * 3 / 4;
        let taken = (1..=3).map(|part| (layers * part / if is_whole { 4 } else { 3 }).max(1)).collect();
        let model = model.padded_before_with(padding);
        Ok((Self { tokenizer, model, padding, taken }, component))
    }

    /// The number of tokens of padding that a prompt begins with.
    fn padding_of(&self, ids: &[u32]) -> usize {
        ids.iter().take_while(|id| **id == self.padding).count()
    }
}

/// A Mistral model that reads prompts as they are, after a token for the beginning. The states are those that enter the last
/// layer.
#[derive(Debug)]
pub struct MinistralPlain {
    tokenizer: MistralTokenizer,
    model: LanguageModel,
}

impl MinistralPlain {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        width_of(tensors)
    }

    /// Finds every tensor of the language model in `part`, and its tokenizer. Without a configuration, the constants are those of
    /// Ministral 3.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let of_published = |shapes| {
            let rope_parameters = Some(RopeParameters::ministral3());
            LanguageModelConfig { rope_parameters, ..shapes }
        };
        let Opened { tokenizer, model, component, .. } = open(checkpoint, part, of_published)?;
        Ok((Self { tokenizer, model }, component))
    }
}

/// What was found of a language model.
struct Opened {
    tokenizer: MistralTokenizer,
    model: LanguageModel,
    component: Component,
    /// Number of layers.
    layers: usize,
    /// Whether the norm after the last layer is there.
    has_norm: bool,
}

/// Finds every tensor of the language model in `part`, and its tokenizer. Without a configuration, `of_published` adds the
/// constants that shapes do not show.
fn open(
    checkpoint: &Checkpoint,
    part: &Part,
    of_published: impl Fn(LanguageModelConfig) -> LanguageModelConfig,
) -> Result<Opened, CheckpointError> {
    let prefix = prefix(&part.tensors).unwrap_or_default();
    let own = Part { config: language_config(part), ..part.clone() };
    let config = own.config(|tensors| {
        let shapes = LanguageModelConfig::from_shapes_below(tensors, prefix)?;
        Some(of_published(LanguageModelConfig { rms_norm_eps: EPS, ..shapes }))
    })?;
    config.check(&own)?;
    let is_interleaved =
        part.tensors.contains_key(&format!("{prefix}layers.0.self_attn.q_proj_interleaved.weight"));
    let has_norm = part.tensors.contains_key(&format!("{prefix}norm.weight"));
    let layers = config.num_hidden_layers;
    let kind = Layers::Mistral { is_interleaved };
    let component = Component::bind(
        Role::TextEncoder,
        "Mistral",
        &config.blueprint(kind)[..layers + 1 + usize::from(has_norm)],
        &part.tensors,
        |name| StoredName::whole(format!("{prefix}{name}")),
        &part.path,
    )?;
    let tokenizer = MistralTokenizer::find(checkpoint, part, config.vocab_size)?;
    Ok(Opened { tokenizer, model: LanguageModel::new(config, kind), component, layers, has_norm })
}

/// Width of the Mistral model in `tensors`, if there is one.
fn width_of(tensors: &TensorTable) -> Option<usize> {
    let prefix = prefix(tensors)?;
    let has = |name: &str| tensors.contains_key(&format!("{prefix}layers.0.{name}"));
    let is_it = has("self_attn.v_proj.weight")
        && !has("self_attn.v_proj.bias")
        && !has("self_attn.q_norm.weight")
        && !has("pre_feedforward_layernorm.weight");
    let embedding = tensors.get(&format!("{prefix}embed_tokens.weight"))?;
    embedding.shape().get(1).copied().filter(|_| is_it)
}

/// What the names of the language model's tensors begin with.
fn prefix(tensors: &TensorTable) -> Option<&'static str> {
    PREFIXES.into_iter().find(|prefix| tensors.contains_key(&format!("{prefix}embed_tokens.weight")))
}

impl TextEncoder for MistralChat {
    fn width(&self) -> usize {
        self.taken.len() * self.model.width()
    }

    /// Nothing in the prompt is syntax: a language model reads brackets as they are. The tokens around the prompt count.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        // What a person writes is no image.
        let mut ids = self.tokenizer.encode_chat(SYSTEM, &prompt.replace(IMAGE, ""))?;
        let extent = Extent::whole(ids.len(), longest);
        ids.truncate(longest);
        let mut padded = vec![self.padding; longest - ids.len()];
        padded.append(&mut ids);
        Ok(Tokens::single(Sequence::plain(padded), extent))
    }

    /// Tokens of padding see nothing, so that all have the same states, which are computed once.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let paddings: Vec<usize> = sequences.iter().map(|ids| self.padding_of(ids)).collect();
        let once: Vec<&[u32]> =
            sequences.iter().zip(&paddings).map(|(ids, padding)| &ids[padding.saturating_sub(1)..]).collect();
        let states = self.model.states(blocks, &once, Taken::After(&self.taken))?;
        let repeated =
            |(states, padding): (Tensor, usize)| Encoded::with_repeated(states, 0, padding.saturating_sub(1));
        Ok(states.into_iter().zip(paddings).map(repeated).collect::<NnResult<_>>()?)
    }
}

impl TextEncoder for MinistralPlain {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Nothing in the prompt is syntax. The token at the beginning counts.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        // What a person writes is no image.
        let mut ids = self.tokenizer.encode_plain(&prompt.replace(IMAGE, ""))?;
        let extent = Extent::whole(ids.len(), longest);
        ids.truncate(longest);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let states = self.model.states(blocks, sequences, Taken::Penultimate)?;
        Ok(states.into_iter().map(Encoded::new).collect())
    }
}
