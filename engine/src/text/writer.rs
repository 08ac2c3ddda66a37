//! Qwen3 (Yang et al. 2025, arXiv:2505.09388) as what it was made for: a language model that answers.

use std::path::Path;

use super::{
    Qwen2Tokenizer, Qwen3Chat,
    language_model::{EMBEDDINGS, LanguageModel, LanguageModelConfig, Layers},
};
use crate::{
    checkpoint::{
        BlockSpec, Checkpoint, CheckpointError, Component, ModelNotes, Part, Role, StoredName, TensorTable,
        read_json, read_model_notes,
    },
    nn::{DType, Error, Mask, Tensor, attention, bail, rms_norm},
    residency::{Blocks, RunError},
};

/// What llama.cpp calls such models.
const ARCHITECTURE: &str = "qwen3";
/// The layer that makes scores of tokens from states.
const HEAD: &str = "lm_head";
/// The table of embeddings, which is that layer as well in models that have none.
const EMBEDDING: &str = "embed_tokens.weight";
/// The tokens that end an answer.
const ENDS: [&str; 2] = ["<|im_end|>", "<|endoftext|>"];
/// An answer's beginning in models that would otherwise think first.
const UNTHINKING: &str = "<think>\n\n</think>\n\n";
/// What the chat templates of such models ask for.
const THINKS_IF_ASKED: &str = "enable_thinking";
/// In the names of models that are either made to think or not made to.
const ONE_WAY: &str = "2507";

/// A Qwen3 model that answers in words, token by token.
#[derive(Debug)]
pub struct Writer {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    ends: Vec<u32>,
    /// Whether it thinks first unless its answer is begun without.
    thinks: bool,
}

/// What a model keeps of the tokens that it has seen: their keys and values in each layer.
struct Seen {
    layers: Vec<[Tensor; 2]>,
    tokens: usize,
}

fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::LanguageModel { path: path.to_owned(), reason: reason.into() }
}

impl Writer {
    /// Whether these are the tensors of a model that can write: encoders of prompts may lack what makes words of states.
    pub fn is_one(tensors: &TensorTable) -> bool {
        Qwen3Chat::width_of(tensors).is_some() && tensors.contains_key("norm.weight")
    }

    /// Finds every tensor of the model in a checkpoint of one file, and its tokenizer.
    ///
    /// # Errors
    /// When it is no such model, a tensor is missing or has another shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint) -> Result<(Self, Component), CheckpointError> {
        let path = &checkpoint.path;
        let notes = read_model_notes(path)?.unwrap_or_default();
        if !["", ARCHITECTURE].contains(&notes.architecture.as_str()) {
            let reason = format!("it is a model of the kind {:?}, not {ARCHITECTURE:?}", notes.architecture);
            return Err(refused(path, reason));
        }
        let own = checkpoint.parts.iter().find(|part| Qwen3Chat::width_of(&part.tensors).is_some());
        let part = own.ok_or_else(|| refused(path, "it is no Qwen3 language model"))?;
        if !Self::is_one(&part.tensors) {
            return Err(refused(path, "its last norm is missing: it only encodes prompts"));
        }
        let config = with_notes(part.config(LanguageModelConfig::from_shapes)?, &notes);
        config.check(part)?;
        let mut specs = config.blueprint(Layers::Qwen3);
        specs.push(BlockSpec::stem(HEAD).matrix(HEAD, config.vocab_size, config.hidden_size));
        let stored = |name: &str| match name.strip_prefix(HEAD) {
            Some(_) => StoredName::whole(EMBEDDING),
            None => StoredName::whole(name),
        };
        let component = Component::bind(Role::LanguageModel, "Qwen3", &specs, &part.tensors, stored, path)?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        let ends = ENDS.iter().filter_map(|end| tokenizer.inner().token_to_id(end)).collect();
        let thinks = thinks(part, &notes);
        Ok((Self { tokenizer, model: LanguageModel::new(config, Layers::Qwen3), ends, thinks }, component))
    }

    /// The token ids of a chat in which an instruction is followed for a prompt, up to where the answer begins.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn tokenize(&self, instruction: &str, prompt: &str) -> Result<Vec<u32>, CheckpointError> {
        let answer = if self.thinks { UNTHINKING } else { "" };
        self.tokenizer.encode(&format!(
            "<|im_start|>system\n{instruction}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n\
             <|im_start|>assistant\n{answer}"
        ))
    }

    /// The text of an answer so far, without what was thought before it. Characters whose last bytes are still to come are
    /// left out.
    pub fn text(&self, answer: &[u32]) -> String {
        let bytes: Vec<u8> = answer.iter().filter_map(|id| self.tokenizer.bytes_of(*id)).flatten().collect();
        without_thoughts(&decoded(&bytes)).to_owned()
    }

    /// Answers: calls `next` with the scores of all tokens, again and again, until it returns none or one that ends the
    /// answer, or the answer has `longest` tokens.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    pub fn answer(
        &self,
        blocks: Blocks<'_>,
        chat: &[u32],
        longest: usize,
        next: &mut dyn FnMut(&[f32]) -> Option<u32>,
    ) -> Result<(), RunError> {
        let mut seen = self.room(blocks, chat.len() + longest)?;
        let mut scores = self.scores(blocks, &mut seen, chat)?;
        for place in 1..=longest {
            let values = scores.into_computed()?.flatten_all()?.to_vec1::<f32>()?;
            let Some(token) = next(&values).filter(|token| !self.ends.contains(token)) else { break };
            if place == longest {
                break;
            }
            scores = self.scores(blocks, &mut seen, &[token])?;
        }
        Ok(())
    }

    /// The work of an answer, on shapes: the chat, then one token after the other as if all others were there.
    ///
    /// # Errors
    /// When the shapes do not fit together.
    pub fn trace(&self, blocks: Blocks<'_>, chat: &[u32], longest: usize) -> Result<(), RunError> {
        let room = chat.len() + longest;
        let mut seen = self.room(blocks, room)?;
        // On a processor, the values of scores are a copy.
        self.scores(blocks, &mut seen, chat)?.neg()?;
        blocks.repeat(longest.saturating_sub(1), |_| {
            seen.tokens = room - 2;
            self.scores(blocks, &mut seen, &[0])?.neg()?;
            Ok(())
        })
    }

    /// Bytes of what is kept of so many tokens while values have so many bytes.
    pub fn kept_bytes(&self, tokens: usize, value_bytes: usize) -> u64 {
        let config = self.model.config();
        let values = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head();
        (tokens * values * value_bytes) as u64
    }

    fn room(&self, blocks: Blocks<'_>, tokens: usize) -> Result<Seen, RunError> {
        let config = self.model.config();
        let shape = (1, tokens, config.num_key_value_heads, config.head());
        let empty = || Tensor::zeros(shape, blocks.dtype(), &blocks.device());
        let layers = (0..config.num_hidden_layers).map(|_| Ok([empty()?, empty()?]));
        Ok(Seen { layers: layers.collect::<Result<_, Error>>()?, tokens: 0 })
    }

    /// The scores `[1, 1, vocab_size]` in f32 of what follows tokens that come after those seen: the first ones, or one more.
    fn scores(&self, blocks: Blocks<'_>, seen: &mut Seen, tokens: &[u32]) -> Result<Tensor, RunError> {
        let (first, config) = (seen.tokens, self.model.config());
        let end = first + tokens.len();
        let x = blocks.rows(EMBEDDINGS, "weight", tokens)?;
        let places: Vec<[usize; 3]> = (first..end).map(|place| [place; 3]).collect();
        let rope = config.rope(Layers::Qwen3, &places, &x)?;
        let (norm, head) =
            (EMBEDDINGS + 1 + config.num_hidden_layers, EMBEDDINGS + 2 + config.num_hidden_layers);
        let mut x = x.unsqueeze(0)?;
        blocks.walk(EMBEDDINGS + 1..head + 1, |index, w| {
            x = if index == norm {
                rms_norm(&x.narrow(1, tokens.len() - 1, 1)?, &w.get("weight")?, config.rms_norm_eps)?
            } else if index == head {
                w.linear(HEAD, &x)?.to_dtype(DType::F32)?
            } else {
                let [keys, values] = &seen.layers[index - EMBEDDINGS - 1];
                self.model.layer(w, &x, &rope, |q, k, v| {
                    keys.overwrite(&k, 1, first)?;
                    values.overwrite(v, 1, first)?;
                    match (first, tokens.len()) {
                        (0, _) => attention(&q, &k, v, Mask::Causal),
                        (_, 1) => {
                            attention(&q, &keys.narrow(1, 0, end)?, &values.narrow(1, 0, end)?, Mask::None)
                        }
                        (_, count) => bail!("{count} tokens at once after {first} others"),
                    }
                })?
            };
            Ok(())
        })?;
        seen.tokens = end;
        Ok(x)
    }
}

/// The shape with what a GGUF file says and its tensors do not show.
fn with_notes(config: LanguageModelConfig, notes: &ModelNotes) -> LanguageModelConfig {
    let number =
        |name: &str| notes.numbers.get(name).copied().filter(|value| value.is_finite() && *value > 0.0);
    LanguageModelConfig {
        rope_theta: number("rope.freq_base").unwrap_or(config.rope_theta),
        // An f32 in the file: 1e-6 without the digits that it gained there.
        rms_norm_eps: number("attention.layer_norm_rms_epsilon")
            .map_or(config.rms_norm_eps, |eps| format!("{:e}", eps as f32).parse().unwrap_or(eps)),
        ..config
    }
}

/// A text from its bytes. What is no text has a sign in its place, unless it may be the beginning of a character.
fn decoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let begins = |bytes| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if !chunk.invalid().is_empty() && (chunks.peek().is_some() || !begins(chunk.invalid())) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// Whether a model thinks before it answers unless it is asked not to, by its chat template or else by its name.
fn thinks(part: &Part, notes: &ModelNotes) -> bool {
    if !notes.chat_template.is_empty() {
        return notes.chat_template.contains(THINKS_IF_ASKED);
    }
    let folder = part.path.parent().unwrap_or(Path::new(""));
    let beside = folder.join("chat_template.jinja");
    if let Ok(template) = std::fs::read_to_string(&beside) {
        return template.contains(THINKS_IF_ASKED);
    }
    let config = read_json::<serde_json::Value>(&folder.join("tokenizer_config.json")).ok();
    if let Some(template) = config.as_ref().and_then(|config| config["chat_template"].as_str()) {
        return template.contains(THINKS_IF_ASKED);
    }
    !part.path.to_string_lossy().contains(ONE_WAY)
}

/// An answer without the thoughts before it; empty while it still thinks.
fn without_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, answer)| answer).trim_start(),
        // What is not yet more than the beginning of the tag.
        None if "<think>".starts_with(text) => "",
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_shown_when_all_of_it_is_there() {
        let all = "a 狐 🚂".as_bytes();
        for (count, text) in [(2, "a "), (3, "a "), (4, "a "), (5, "a 狐"), (8, "a 狐 "), (10, "a 狐 🚂")]
        {
            assert_eq!(decoded(&all[..count]), text, "{count}");
        }
        assert_eq!(decoded(b"\xff a\xe7\x8b b \xe7"), "\u{fffd} a\u{fffd} b ");
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        for (said, answer) in [
            ("a fox", "a fox"),
            ("<think>\nHm.\n</think>\n\na fox", "a fox"),
            ("\n<think>\nHm, a fox", ""),
            ("<thi", ""),
            ("", ""),
            ("<thin line", "<thin line"),
        ] {
            assert_eq!(without_thoughts(said), answer, "{said:?}");
        }
    }

    #[test]
    fn numbers_of_the_file_replace_the_usual_ones() {
        let numbers = [("rope.freq_base", 5e6), ("attention.layer_norm_rms_epsilon", f64::from(1e-5_f32))];
        let numbers = numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let config =
            with_notes(LanguageModelConfig::default(), &ModelNotes { numbers, ..ModelNotes::default() });
        assert_eq!((config.rope_theta, config.rms_norm_eps), (5e6, 1e-5));
        let usual = with_notes(LanguageModelConfig::default(), &ModelNotes::default());
        assert_eq!(usual, LanguageModelConfig::default());
    }
}
