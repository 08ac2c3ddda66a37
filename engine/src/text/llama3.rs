//! Llama 3 (Llama Team 2024, arXiv:2407.21783) as a text encoder.

use super::{
    Encoded, Extent, Given, LlamaTokenizer, MistralChat, Sequence, TextEncoder, Tokens,
    language_model::{
        LanguageModel, LanguageModelConfig, Layers, LongTexts, RopeScaling, RopeStretch, Taken,
    },
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    residency::{Blocks, RunError},
};

/// Number of tokens of the published models.
const PUBLISHED_TOKENS: usize = 128_256;

/// A Llama 3 model that reads prompts as they are. States of some of its layers are taken.
#[derive(Debug)]
pub struct Llama3 {
    tokenizer: LlamaTokenizer,
    model: LanguageModel,
    /// Numbers of layers after which the states are taken.
    taken: Vec<usize>,
    /// Prompts are truncated and padded to at most this many tokens.
    length: usize,
}

impl Llama3 {
    /// Width of the model in `tensors`, if there is one. Its tensors are those of Mistral.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        MistralChat::width_of(tensors).filter(|_| tensors.contains_key("embed_tokens.weight"))
    }

    /// The same for a model with the tokens of published ones.
    pub fn published_width_of(tensors: &TensorTable) -> Option<usize> {
        let tokens = tensors.get("embed_tokens.weight")?.shape().first().copied();
        Self::width_of(tensors).filter(|_| tokens == Some(PUBLISHED_TOKENS))
    }

    /// Number of layers of the model in `part`.
    ///
    /// # Errors
    /// When its configuration is wrong.
    pub fn layers_of(part: &Part) -> Result<usize, CheckpointError> {
        Ok(config_of(part)?.num_hidden_layers)
    }

    /// Finds every tensor of the model in `part`, and the tokenizer in the model's folder of this name, for the states of
    /// these layers, from 0 and ascending, of prompts of up to `length` tokens. Those of the last layer are taken after the
    /// final norm.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        tokenizer: &str,
        layers: &[usize],
        length: usize,
    ) -> Result<(Self, Component), CheckpointError> {
        let config = config_of(part)?;
        config.check(part)?;
        let is_interleaved = part.tensors.contains_key("layers.0.self_attn.q_proj_interleaved.weight");
        let kind = Layers::Mistral { is_interleaved };
        let component = Component::bind(
            Role::TextEncoder,
            "Llama 3",
            &config.blueprint(kind),
            &part.tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let tokenizer = LlamaTokenizer::find(checkpoint, part, tokenizer, config.vocab_size)?;
        let count = config.num_hidden_layers;
        let taken =
            layers.iter().map(|layer| if layer + 1 == count { count + 1 } else { layer + 1 }).collect();
        let model = LanguageModel::new(config, kind).padded_with(tokenizer.end());
        Ok((Self { tokenizer, model, taken, length }, component))
    }
}

/// The configuration, or for files without one the shape with the constants of Llama 3.1.
fn config_of(part: &Part) -> Result<LanguageModelConfig, CheckpointError> {
    part.config(|tensors| {
        let stretch = RopeStretch {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_max_position_embeddings: 8192.0,
        };
        Some(LanguageModelConfig {
            rms_norm_eps: 1e-5,
            rope_theta: 5e5,
            rope_scaling: Some(RopeScaling {
                mrope_section: None,
                long_texts: Some(LongTexts::Llama3(stretch)),
            }),
            ..LanguageModelConfig::from_shapes(tensors)?
        })
    })
}

impl TextEncoder for Llama3 {
    fn width(&self) -> usize {
        self.taken.len() * self.model.width()
    }

    /// Nothing in the prompt is syntax: a language model reads brackets as they are. The start token counts.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        let length = longest.min(self.length);
        let ids = self.tokenizer.encode(prompt)?;
        let extent = Extent::whole(ids.len(), length);
        let mut sequence = Sequence::plain(ids);
        sequence.resize(length, self.tokenizer.end());
        Ok(Tokens::single(sequence, extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let states = self.model.states(blocks, sequences, Taken::After(&self.taken))?;
        Ok(states.into_iter().map(Encoded::new).collect())
    }
}
