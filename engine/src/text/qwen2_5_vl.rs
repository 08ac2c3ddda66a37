//! The language model of Qwen2.5-VL (Bai et al. 2025, arXiv:2502.13923) as a text encoder. Its vision tower is not read.

use super::{
    Encoded, Extent, Qwen2Tokenizer, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Taken},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// Before the prompt, in every prompt: what the model is told to do with it.
const BEFORE: &str = "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, \
    spatial relationships of the objects and background:<|im_end|>\n<|im_start|>user\n";
const AFTER: &str = "<|im_end|>\n<|im_start|>assistant\n";
/// Tokens of [`BEFORE`], whose states are left out.
const LEFT_OUT: usize = 34;
/// Prefix of the language model's tensors in files that transformers 5 wrote, after `model.`.
const INNER: &str = "language_model.";

/// A Qwen2.5-VL model that describes images.
#[derive(Debug)]
pub struct Qwen25Vl {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
}

impl Qwen25Vl {
    /// Width of the language model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let prefix = prefix(tensors);
        let embedding = tensors.get(&format!("{prefix}embed_tokens.weight"))?;
        let is_it = tensors.contains_key(&format!("{prefix}layers.0.self_attn.q_proj.bias"));
        embedding.shape().get(1).copied().filter(|_| is_it)
    }

    /// Finds every tensor of the language model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint, part: &Part) -> Result<(Self, Component), CheckpointError> {
        let prefix = prefix(&part.tensors);
        // Newer files have the language model's configuration inside; older ones have it beside that of the vision tower.
        let inner = part.config.as_ref().filter(|config| config.get("hidden_size").is_none());
        let inner = inner.and_then(|config| config.get("text_config")).cloned();
        let own = Part { config: inner.or_else(|| part.config.clone()), ..part.clone() };
        let config = own.config(LanguageModelConfig::from_shapes)?;
        config.check(&own)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen2.5-VL",
            &config.blueprint(Layers::Qwen2),
            &part.tensors,
            |name| StoredName::whole(format!("{prefix}{name}")),
            &part.path,
        )?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        Ok((Self { tokenizer, model: LanguageModel::new(config, Layers::Qwen2) }, component))
    }
}

fn prefix(tensors: &TensorTable) -> &'static str {
    if tensors.keys().any(|name| name.starts_with(INNER)) { INNER } else { "" }
}

impl TextEncoder for Qwen25Vl {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Nothing in the prompt is syntax. The tokens around the prompt do not count towards `longest`, as far as they come
    /// before it.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        let mut ids = self.tokenizer.encode(&format!("{BEFORE}{prompt}{AFTER}"))?;
        let extent = Extent::whole(ids.len().saturating_sub(LEFT_OUT), longest);
        ids.truncate(longest.saturating_add(LEFT_OUT));
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(&self, blocks: Blocks<'_>, sequences: &[&[u32]], _: u32) -> Result<Vec<Encoded>, RunError> {
        let states = self.model.states(blocks, sequences, Taken::Last)?;
        let told = |states: Tensor| {
            let (tokens, _) = states.dims2()?;
            let first = LEFT_OUT.min(tokens);
            Ok(Encoded { states: states.narrow(0, first, tokens - first)?, pooled: None })
        };
        states.into_iter().map(told).collect()
    }
}
