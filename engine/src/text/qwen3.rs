//! Qwen3 (Yang et al. 2025, arXiv:2505.09388) as a text encoder.

use super::{
    Encoded, Extent, Given, Piece, Qwen2Tokenizer, Sequence, TextEncoder, Tokens,
    emphasis::parse,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Taken},
    qwen3_vl::sees,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// The answer's beginning, where the model does not think about it.
const UNTHINKING: &str = "<think>\n\n</think>\n\n";

/// A Qwen3 model that reads prompts as a user's chat turn.
#[derive(Debug)]
pub struct Qwen3Chat {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    /// The token that prompts are padded with; the states are then those of [`Taken::Quarters`], also of the padding.
    padding: Option<u32>,
}

impl Qwen3Chat {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let embedding = tensors.get("embed_tokens.weight")?;
        let is_qwen3 = tensors.contains_key("layers.0.self_attn.q_norm.weight") && !sees(tensors);
        embedding.shape().get(1).copied().filter(|_| is_qwen3)
    }

    /// Finds every tensor of the model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let (tokenizer, model, component) = found(checkpoint, part)?;
        Ok((Self { tokenizer, model, padding: None }, component))
    }

    /// The same for FLUX.2: prompts are padded, the answer begins without thinking, and states of three layers are taken.
    ///
    /// # Errors
    /// When the tokenizer has no token for padding.
    pub fn padded(self) -> Result<Self, CheckpointError> {
        let padding = self.tokenizer.padding()?;
        Ok(Self { model: self.model.padded_with(padding), padding: Some(padding), ..self })
    }
}

/// The tokenizer, the model and the location of its weights.
fn found(
    checkpoint: &Checkpoint,
    part: &Part,
) -> Result<(Qwen2Tokenizer, LanguageModel, Component), CheckpointError> {
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
    Ok((tokenizer, LanguageModel::new(config, Layers::Qwen3), component))
}

/// A Qwen3 model that reads prompts without a chat around them, of which the last states are taken.
#[derive(Debug)]
pub struct Qwen3Plain {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
}

impl Qwen3Plain {
    /// Finds every tensor of the model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// As [`Qwen3Chat::open`].
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let (tokenizer, model, component) = found(checkpoint, part)?;
        Ok((Self { tokenizer, model }, component))
    }
}

impl TextEncoder for Qwen3Plain {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Weights in the prompt are left to the encoder that reads these states; here they are no part of the text.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        let pieces = parse(prompt).into_iter().filter_map(|piece| match piece {
            Piece::Text { text, .. } => Some(text),
            Piece::Break => None,
        });
        let mut ids = self.tokenizer.encode(&pieces.collect::<String>())?;
        let extent = Extent::whole(ids.len(), longest);
        ids.truncate(longest);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    /// The states of an empty prompt are one row of zeros.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let read: Vec<&[u32]> = sequences.iter().filter(|ids| !ids.is_empty()).copied().collect();
        let mut read = self.model.states(blocks, &read, Taken::Last)?.into_iter().peekable();
        let mut encoded = Vec::new();
        for ids in sequences {
            let states = match read.next_if(|_| !ids.is_empty()) {
                Some(states) => states,
                None => Tensor::zeros((1, self.model.width()), blocks.dtype(), &blocks.device())?,
            };
            encoded.push(Encoded::new(states));
        }
        Ok(encoded)
    }
}

impl TextEncoder for Qwen3Chat {
    fn width(&self) -> usize {
        if self.padding.is_some() { 3 * self.model.width() } else { self.model.width() }
    }

    /// Nothing in the prompt is syntax: a language model reads brackets as they are. The tokens of the chat template take
    /// their part of `longest`, and are none of the prompt.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        let answer = if self.padding.is_some() { UNTHINKING } else { "" };
        let ids = self.tokenizer.encode_chat(prompt, answer)?;
        let around = self.tokenizer.encode_chat("", answer)?.len();
        let extent = Extent::within(ids.len(), around, longest);
        let mut sequence = Sequence::plain(ids);
        let length = if self.padding.is_some() { longest } else { longest.min(sequence.ids.len()) };
        sequence.resize(length, self.padding.unwrap_or_default());
        Ok(Tokens::single(sequence, extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let taken = if self.padding.is_some() { Taken::Quarters } else { Taken::Penultimate };
        let states = self.model.states(blocks, sequences, taken)?;
        Ok(states.into_iter().map(Encoded::new).collect())
    }
}
