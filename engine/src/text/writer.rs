//! Qwen3 (Yang et al. 2025, arXiv:2505.09388), Qwen2.5-VL and Qwen3-VL as what they were made for: language models that answer,
//! the latter two about images.

use std::path::Path;

use super::{
    Qwen2Tokenizer, Qwen3Chat, Qwen3Vl, Qwen25Vl, Seen,
    language_model::{EMBEDDINGS, LanguageModel, LanguageModelConfig, Layers},
    qwen2_5_vl::{AROUND, IMAGE, language_config, prefix},
    qwen3_vl,
    seen::{Placed, with_added, with_images},
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
const ARCHITECTURES: [&str; 3] = ["qwen2vl", "qwen3", "qwen3vl"];
/// The layer that makes scores of tokens from states.
const HEAD: &str = "lm_head";
/// The table of embeddings, which is that layer as well in models that have none.
const EMBEDDING: &str = "embed_tokens.weight";
/// The last norm, which encoders of prompts may lack.
const NORM: &str = "norm.weight";
/// The widest published model whose table of embeddings is that layer.
const WIDEST_TIED: usize = 2560;
/// The tokens that end an answer.
const ENDS: [&str; 2] = ["<|im_end|>", "<|endoftext|>"];
/// What comes before a chat about images in Qwen2.5-VL.
const SYSTEM: &str = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n";
/// An answer's beginning in models that would otherwise think first.
const UNTHINKING: &str = "<think>\n\n</think>\n\n";
/// What the chat templates of such models ask for.
const THINKS_IF_ASKED: &str = "enable_thinking";
/// In the names of models that are either made to think or not made to.
const ONE_WAY: &str = "2507";

/// A language model that answers in words, token by token.
#[derive(Debug)]
pub struct Writer {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    layers: Layers,
    ends: Vec<u32>,
    /// Whether it thinks first unless its answer is begun without.
    thinks: bool,
}

/// What a model keeps of the tokens that it has seen: their keys and values in each layer.
struct Kept {
    layers: Vec<[Tensor; 2]>,
    tokens: usize,
    /// The position of the next token, which is not their number after images.
    next: usize,
}

/// A kind of language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Qwen3,
    Qwen25Vl,
    Qwen3Vl,
}

impl Kind {
    /// That of a part, if it is such a model.
    fn of(part: &Part) -> Option<Self> {
        let tensors = &part.tensors;
        if Qwen25Vl::width_of(tensors).is_some() {
            Some(Self::Qwen25Vl)
        } else if Qwen3Vl::seeing_width_of(tensors).is_some() {
            Some(Self::Qwen3Vl)
        } else {
            Qwen3Chat::width_of(tensors).map(|_| Self::Qwen3)
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Qwen3 => "Qwen3",
            Self::Qwen25Vl => "Qwen2.5-VL",
            Self::Qwen3Vl => "Qwen3-VL",
        }
    }

    fn layers(self) -> Layers {
        match self {
            Self::Qwen25Vl => Layers::Qwen2,
            Self::Qwen3 | Self::Qwen3Vl => Layers::Qwen3,
        }
    }

    /// The shape of a model, inferred from its tensors.
    fn inferred(self, tensors: &TensorTable) -> Option<LanguageModelConfig> {
        let config = LanguageModelConfig::from_shapes_below(tensors, prefix(tensors))?;
        Some(match self {
            Self::Qwen3 | Self::Qwen25Vl => config,
            Self::Qwen3Vl => LanguageModelConfig { rope_theta: qwen3_vl::THETA, ..config },
        })
    }
}

fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::LanguageModel { path: path.to_owned(), reason: reason.into() }
}

impl Writer {
    /// Whether this is a model that can write: encoders of prompts may lack what makes words of states.
    pub fn is_one(part: &Part) -> bool {
        Kind::of(part).is_some() && Self::lacks(part).is_none()
    }

    /// Width of such a model's states.
    pub fn width_of(part: &Part) -> Option<usize> {
        let width =
            || part.tensors.get(&format!("{}{EMBEDDING}", prefix(&part.tensors)))?.shape().get(1).copied();
        Kind::of(part).and_then(|_| width())
    }

    /// What a model of a known kind lacks to write.
    fn lacks(part: &Part) -> Option<&'static str> {
        let (tensors, prefix) = (&part.tensors, prefix(&part.tensors));
        if !tensors.contains_key(&format!("{prefix}{NORM}")) {
            return Some("its last norm is missing: it only encodes prompts");
        }
        if tensors.contains_key(&format!("{HEAD}.weight")) {
            return None;
        }
        let said = part.config.as_ref().and_then(|config| {
            let inner = config.get("text_config").and_then(|text| text.get("tie_word_embeddings"));
            config.get("tie_word_embeddings").or(inner)?.as_bool()
        });
        let is_tied = said.unwrap_or_else(|| Self::width_of(part).is_some_and(|width| width <= WIDEST_TIED));
        (!is_tied)
            .then_some("its last layer, lm_head, is missing: it only encodes prompts and cannot make words")
    }

    /// Finds every tensor of the model in a checkpoint of one file, and its tokenizer.
    ///
    /// # Errors
    /// When it is no such model, a tensor is missing or has another shape, or there is no tokenizer.
    pub fn open(checkpoint: &Checkpoint) -> Result<(Self, Component), CheckpointError> {
        let path = &checkpoint.path;
        let notes = read_model_notes(path)?.unwrap_or_default();
        if !notes.architecture.is_empty() && !ARCHITECTURES.contains(&notes.architecture.as_str()) {
            let kinds = ARCHITECTURES.join(", ");
            let reason = format!("it is a model of the kind {:?}, not one of {kinds}", notes.architecture);
            return Err(refused(path, reason));
        }
        let own = checkpoint.parts.iter().find_map(|part| Some((part, Kind::of(part)?)));
        let (part, kind) =
            own.ok_or_else(|| refused(path, "it is no language model of Qwen3, Qwen2.5-VL or Qwen3-VL"))?;
        if let Some(lacks) = Self::lacks(part) {
            return Err(refused(path, lacks));
        }
        let own = Part { config: language_config(part), ..part.clone() };
        let config = with_notes(own.config(|tensors| kind.inferred(tensors))?, &notes);
        config.check(&own)?;
        let layers = kind.layers();
        let mut specs = config.blueprint(layers);
        specs.push(BlockSpec::stem(HEAD).matrix(HEAD, config.vocab_size, config.hidden_size));
        let prefix = prefix(&part.tensors);
        let stored = |name: &str| match name.strip_prefix(HEAD) {
            Some(_) => StoredName::whole(format!("{prefix}{EMBEDDING}")),
            None => StoredName::whole(format!("{prefix}{name}")),
        };
        let component =
            Component::bind(Role::LanguageModel, kind.name(), &specs, &part.tensors, stored, path)?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        let ends = ENDS.iter().filter_map(|end| tokenizer.inner().token_to_id(end)).collect();
        let thinks = kind == Kind::Qwen3 && thinks(part, &notes);
        Ok((Self { tokenizer, model: LanguageModel::new(config, layers), layers, ends, thinks }, component))
    }

    /// Width of its states.
    pub fn width(&self) -> usize {
        self.model.width()
    }

    /// Whether its tokenizer has a token that stands for a part of an image.
    pub fn has_image_token(&self) -> bool {
        self.tokenizer.inner().token_to_id(IMAGE).is_some()
    }

    /// The token ids of a chat in which an instruction is followed for a prompt, up to where the answer begins.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn tokenize(&self, instruction: &str, prompt: &str) -> Result<Vec<u32>, CheckpointError> {
        self.tokenizer.encode(&format!(
            "<|im_start|>system\n{instruction}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n{}",
            self.answer_begun()
        ))
    }

    /// The same for an instruction about images with these rows and columns of tokens, which come before it.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn tokenize_seeing(
        &self,
        instruction: &str,
        grids: &[[usize; 2]],
    ) -> Result<Vec<u32>, CheckpointError> {
        let system = if self.layers == Layers::Qwen2 { SYSTEM } else { "" };
        let [start, end] = AROUND;
        let image = |[rows, columns]: &[usize; 2]| format!("{start}{}{end}", IMAGE.repeat(rows * columns));
        let images: String = grids.iter().map(image).collect();
        // What a person writes is no image.
        let instruction = instruction.replace(IMAGE, "");
        let answer = self.answer_begun();
        self.tokenizer.encode(&format!("{system}<|im_start|>user\n{images}{instruction}<|im_end|>\n{answer}"))
    }

    fn answer_begun(&self) -> String {
        format!("<|im_start|>assistant\n{}", if self.thinks { UNTHINKING } else { "" })
    }

    /// The text of an answer so far, without what was thought before it and without the token that ends it. Characters whose
    /// last bytes are still to come are left out.
    pub fn text(&self, answer: &[u32]) -> String {
        let said = answer.iter().filter(|id| !self.ends.contains(id));
        let bytes: Vec<u8> = said.filter_map(|id| self.tokenizer.bytes_of(*id)).flatten().collect();
        without_thoughts(&decoded(&bytes)).to_owned()
    }

    /// Answers a chat about images, each `[rows, columns, width]` as its vision tower sees it: calls `next` with the scores of
    /// all tokens, again and again, until it returns none or one that ends the answer, or the answer has `longest` tokens.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    pub fn answer(
        &self,
        blocks: Blocks<'_>,
        (chat, images): (&[u32], &[Tensor]),
        longest: usize,
        next: &mut dyn FnMut(&[f32]) -> Option<u32>,
    ) -> Result<(), RunError> {
        let mut kept = self.room(blocks, chat.len() + longest)?;
        let mut scores = self.scores(blocks, &mut kept, chat, images)?;
        for place in 1..=longest {
            let values = scores.into_computed()?.flatten_all()?.to_vec1::<f32>()?;
            let Some(token) = next(&values).filter(|token| !self.ends.contains(token)) else { break };
            if place == longest {
                break;
            }
            scores = self.scores(blocks, &mut kept, &[token], &[])?;
        }
        Ok(())
    }

    /// The work of an answer, on shapes: the chat, then one token after the other as if all others were there.
    ///
    /// # Errors
    /// When the shapes do not fit together.
    pub fn trace(
        &self,
        blocks: Blocks<'_>,
        (chat, images): (&[u32], &[Tensor]),
        longest: usize,
    ) -> Result<(), RunError> {
        let room = chat.len() + longest;
        let mut kept = self.room(blocks, room)?;
        // On a processor, the values of scores are a copy.
        self.scores(blocks, &mut kept, chat, images)?.neg()?;
        blocks.repeat(longest.saturating_sub(1), |_| {
            kept.tokens = room - 2;
            self.scores(blocks, &mut kept, &[0], &[])?.neg()?;
            Ok(())
        })
    }

    /// Bytes of what is kept of so many tokens while values have so many bytes.
    pub fn kept_bytes(&self, tokens: usize, value_bytes: usize) -> u64 {
        let config = self.model.config();
        let values = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head();
        (tokens * values * value_bytes) as u64
    }

    fn room(&self, blocks: Blocks<'_>, tokens: usize) -> Result<Kept, RunError> {
        let config = self.model.config();
        let shape = (1, tokens, config.num_key_value_heads, config.head());
        let empty = || Tensor::zeros(shape, blocks.dtype(), &blocks.device());
        let layers = (0..config.num_hidden_layers).map(|_| Ok([empty()?, empty()?]));
        Ok(Kept { layers: layers.collect::<Result<_, Error>>()?, tokens: 0, next: 0 })
    }

    /// The scores `[1, 1, vocab_size]` in f32 of what follows tokens that come after those kept: the first ones, with the
    /// images that they stand for, or one more.
    fn scores(
        &self,
        blocks: Blocks<'_>,
        kept: &mut Kept,
        tokens: &[u32],
        images: &[Tensor],
    ) -> Result<Tensor, RunError> {
        let (first, config) = (kept.tokens, self.model.config());
        let end = first + tokens.len();
        let x = blocks.rows(EMBEDDINGS, "weight", tokens)?;
        let Placed { x, places, added } = match Seen::of(&self.tokenizer, images) {
            Some(seen) => with_images(x, tokens, seen)?,
            None => Placed::text(x)?,
        };
        let places: Vec<[usize; 3]> =
            places.into_iter().map(|place| place.map(|axis| axis + kept.next)).collect();
        let rope = config.rope(self.layers, &places, &x)?;
        let (norm, head) =
            (EMBEDDINGS + 1 + config.num_hidden_layers, EMBEDDINGS + 2 + config.num_hidden_layers);
        let mut x = x.unsqueeze(0)?;
        blocks.walk(EMBEDDINGS + 1..head + 1, |index, w| {
            x = if index == norm {
                rms_norm(&x.narrow(1, tokens.len() - 1, 1)?, &w.get("weight")?, config.rms_norm_eps)?
            } else if index == head {
                w.linear(HEAD, &x)?.to_dtype(DType::F32)?
            } else {
                let layer = index - EMBEDDINGS - 1;
                let [keys, values] = &kept.layers[layer];
                let after = self.model.layer(w, &x, &rope, |q, k, v| {
                    keys.overwrite(&k, 1, first)?;
                    values.overwrite(v, 1, first)?;
                    match (first, tokens.len()) {
                        (0, _) => attention(&q, &k, v, Mask::Causal),
                        (_, 1) => {
                            attention(&q, &keys.narrow(1, 0, end)?, &values.narrow(1, 0, end)?, Mask::None)
                        }
                        (_, count) => bail!("{count} tokens at once after {first} others"),
                    }
                })?;
                with_added(after, &added, layer)?
            };
            Ok(())
        })?;
        // The last of a chat is no image: its places are the same on all axes.
        kept.next = places.last().map_or(kept.next, |[place, ..]| place + 1);
        kept.tokens = end;
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
