//! The language model of Qwen2.5-VL (Bai et al. 2025, arXiv:2502.13923) as a text encoder, which may see images.

use serde_json::Value;

use super::{
    Encoded, Extent, Given, Qwen2Tokenizer, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Seen, Taken},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// Before the prompt: what the model is told to do with it.
const DESCRIBE: &str = "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, \
    spatial relationships of the objects and background:<|im_end|>\n<|im_start|>user\n";
const EDIT: &str = "<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, \
    objects, background), then explain how the user's text instruction should alter or modify the image. Generate a new \
    image that meets the user's requirements while maintaining consistency with the original input where \
    appropriate.<|im_end|>\n<|im_start|>user\n";
pub(super) const AFTER: &str = "<|im_end|>\n<|im_start|>assistant\n";
/// Around an image's tokens.
pub(super) const AROUND: [&str; 2] = ["<|vision_start|>", "<|vision_end|>"];
/// The token that stands for a part of an image.
pub(super) const IMAGE: &str = "<|image_pad|>";
/// Prefix of the language model's tensors in files that transformers 5 wrote, after `model.`.
const INNER: &str = "language_model.";

/// What the model is told to do with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// To describe an image.
    Describe,
    /// To change an image.
    Edit,
    /// To change images, which are numbered.
    EditSeveral,
}

impl Told {
    /// What comes before the prompt and its images, and the number of its tokens, whose states are left out.
    pub(super) fn before(self) -> (&'static str, usize) {
        match self {
            Self::Describe => (DESCRIBE, 34),
            Self::Edit | Self::EditSeveral => (EDIT, 64),
        }
    }

    /// What stands for images with these rows and columns of tokens.
    fn images(self, grids: &[[usize; 2]]) -> String {
        let image = |(index, [rows, columns]): (usize, &[usize; 2])| {
            let number =
                if self == Self::EditSeveral { format!("Picture {}: ", index + 1) } else { String::new() };
            let [start, end] = AROUND;
            format!("{number}{start}{}{end}", IMAGE.repeat(rows * columns))
        };
        grids.iter().enumerate().map(image).collect()
    }
}

/// A Qwen2.5-VL model that describes images, or says how they change.
#[derive(Debug)]
pub struct Qwen25Vl {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    told: Told,
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
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        told: Told,
    ) -> Result<(Self, Component), CheckpointError> {
        let (tokenizer, model, component) = open(checkpoint, part)?;
        Ok((Self { tokenizer, model, told }, component))
    }
}

/// Finds every tensor of the language model in `part`, and its tokenizer.
pub(super) fn open(
    checkpoint: &Checkpoint,
    part: &Part,
) -> Result<(Qwen2Tokenizer, LanguageModel, Component), CheckpointError> {
    let prefix = prefix(&part.tensors);
    let own = Part { config: language_config(part), ..part.clone() };
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
    Ok((tokenizer, LanguageModel::new(config, Layers::Qwen2), component))
}

/// The images of prompts for a model, if there are any.
pub(super) fn seen<'a>(tokenizer: &Qwen2Tokenizer, images: &'a [Tensor]) -> Option<Seen<'a>> {
    let token = tokenizer.inner().token_to_id(IMAGE).filter(|_| !images.is_empty())?;
    Some(Seen { token, images })
}

/// The configuration of a language model with a vision tower. Newer files have it inside; older ones have it beside that
/// of the tower.
pub(super) fn language_config(part: &Part) -> Option<Value> {
    let inner = part.config.as_ref().filter(|config| config.get("hidden_size").is_none());
    inner.and_then(|config| config.get("text_config")).or(part.config.as_ref()).cloned()
}

/// What the names of a language model's tensors begin with.
pub(super) fn prefix(tensors: &TensorTable) -> &'static str {
    if tensors.keys().any(|name| name.starts_with(INNER)) { INNER } else { "" }
}

impl TextEncoder for Qwen25Vl {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Nothing in the prompt is syntax. The tokens around the prompt do not count towards `longest`, as far as they come
    /// before it.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        self.tokenize_seeing(prompt, longest, &[])
    }

    /// Images and what stands around them do not count towards `longest` either, and are never cut.
    fn tokenize_seeing(
        &self,
        prompt: &str,
        longest: usize,
        grids: &[[usize; 2]],
    ) -> Result<Tokens, CheckpointError> {
        let (before, left_out) = self.told.before();
        let images = self.told.images(grids);
        // What a person writes is no image.
        let prompt = prompt.replace(IMAGE, "");
        let mut ids = self.tokenizer.encode(&format!("{before}{images}{prompt}{AFTER}"))?;
        let uncounted = match grids {
            [] => left_out,
            _ => self.tokenizer.encode(&format!("{before}{images}"))?.len(),
        };
        let extent = Extent::whole(ids.len().saturating_sub(uncounted), longest);
        ids.truncate(longest.saturating_add(uncounted));
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        clip_skip: u32,
    ) -> Result<Vec<Encoded>, RunError> {
        self.encode_given(blocks, sequences, clip_skip, Given::default())
    }

    fn encode_given(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: u32,
        Given { images, .. }: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let seen = seen(&self.tokenizer, images);
        let states = self.model.states_seeing(blocks, sequences, Taken::Last, seen)?;
        let (_, left_out) = self.told.before();
        states.into_iter().map(|states| Encoded::without_first(states, left_out)).collect()
    }
}
