//! The language model of Qwen2.5-VL (Bai et al. 2025, arXiv:2502.13923) as a text encoder, which may see images.

use serde_json::Value;

use super::{
    Encoded, Extent, Given, Qwen2Tokenizer, Seen, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Taken},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    residency::{Blocks, RunError},
};

/// Before the prompt: what the model is told to do with it.
const DESCRIBE: &str = "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, \
    spatial relationships of the objects and background:<|im_end|>\n<|im_start|>user\n";
const EDIT: &str = "<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, \
    objects, background), then explain how the user's text instruction should alter or modify the image. Generate a new \
    image that meets the user's requirements while maintaining consistency with the original input where \
    appropriate.<|im_end|>\n<|im_start|>user\n";
const COMPREHEND: &str = "<|im_start|>system\nComprehend and analyze the provided prompt.<|im_end|>\n";
const USER: &str = "<|im_start|>user\n";
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
    /// To comprehend the prompt, in which images are numbered.
    Comprehend,
}

impl Told {
    /// What comes before the prompt and its images.
    pub(super) fn before(self) -> String {
        match self {
            Self::Describe => DESCRIBE.to_owned(),
            Self::Edit | Self::EditSeveral => EDIT.to_owned(),
            Self::Comprehend => [COMPREHEND, USER].concat(),
        }
    }

    /// The number of the first tokens whose states are left out.
    pub(super) fn left_out(self, tokenizer: &Qwen2Tokenizer) -> Result<usize, CheckpointError> {
        match self {
            Self::Describe => Ok(34),
            Self::Edit | Self::EditSeveral => Ok(64),
            Self::Comprehend => Ok(tokenizer.encode(COMPREHEND)?.len()),
        }
    }

    /// What stands for images with these rows and columns of tokens.
    pub(super) fn images(self, grids: &[[usize; 2]]) -> String {
        let image = |(index, [rows, columns]): (usize, &[usize; 2])| {
            let number = match self {
                Self::Describe | Self::Edit => String::new(),
                Self::EditSeveral => format!("Picture {}: ", index + 1),
                Self::Comprehend if index == 0 => "<image1>".to_owned(),
                Self::Comprehend => format!(" <image{}>", index + 1),
            };
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
    /// See [`Told::left_out`].
    left_out: usize,
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
        let left_out = told.left_out(&tokenizer)?;
        Ok((Self { tokenizer, model, told, left_out }, component))
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
        let (before, images) = (self.told.before(), self.told.images(grids));
        // What a person writes is no image.
        let prompt = prompt.replace(IMAGE, "");
        let mut ids = self.tokenizer.encode(&format!("{before}{images}{prompt}{AFTER}"))?;
        let uncounted = match grids {
            [] => self.left_out,
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
        Given { images, .. }: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let seen = Seen::of(&self.tokenizer, images);
        let states = self.model.states_seeing(blocks, sequences, Taken::Last, seen)?;
        states.into_iter().map(|states| Encoded::without_first(states, self.left_out)).collect()
    }
}
