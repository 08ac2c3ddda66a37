//! Qwen3 (Yang et al. 2025, arXiv:2505.09388) as a text encoder.

use super::{
    Encoded, Extent, Qwen2Tokenizer, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Taken},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    residency::{Blocks, RunError},
};

/// A Qwen3 model that reads prompts as a user's chat turn.
#[derive(Debug)]
pub struct Qwen3Chat {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
}

impl Qwen3Chat {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let embedding = tensors.get("embed_tokens.weight")?;
        let is_qwen3 = tensors.contains_key("layers.0.self_attn.q_norm.weight");
        embedding.shape().get(1).copied().filter(|_| is_qwen3)
    }

    /// Finds every tensor of the model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let config = part.config(LanguageModelConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen3",
            &config.blueprint(Layers::Qwen3),
            &part.tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        Ok((Self { tokenizer, model: LanguageModel::new(config, Layers::Qwen3) }, component))
    }
}

impl TextEncoder for Qwen3Chat {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Nothing in the prompt is syntax: a language model reads brackets as they are. The chat template's
    /// tokens count.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        let mut ids = self.tokenizer.encode_chat(prompt, usize::MAX)?;
        let extent = Extent::whole(ids.len(), longest);
        ids.truncate(longest);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(&self, blocks: Blocks<'_>, sequences: &[&[u32]], _: u32) -> Result<Vec<Encoded>, RunError> {
        let states = self.model.states(blocks, sequences, Taken::Penultimate)?;
        Ok(states.into_iter().map(|states| Encoded { states, pooled: None }).collect())
    }
}
