//! The byte-level tokenizer of the Qwen 2 and Qwen 3 language models.

use std::path::Path;

use tokenizers::Tokenizer;

use super::{
    byte_level::{Built, ByteLevelKind, ByteLevelTokenizer, Pairs, PublishedPairs, letters_of_bytes},
    tokenizer_files::{Shared, pairs, published_lines},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part};

/// The merges of the published models, in the assets.
const PUBLISHED_MERGES: &str = "tokenizers/qwen2/merges.txt.gz";
/// Number of tokens of the published models that are bytes or merges; special tokens follow.
const PUBLISHED_TOKENS: usize = 151_643;
/// The token for padding.
const PADDING: &str = "<|endoftext|>";
const SPECIAL: [&str; 26] = [
    PADDING,
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
];
/// How text is split before merging.
const WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

static PAIRS: PublishedPairs =
    PublishedPairs { tokens: PUBLISHED_TOKENS + SPECIAL.len(), read: published, shared: &SHARED };
static SHARED: Shared<Built> = Shared::new();

static KIND: ByteLevelKind = ByteLevelKind {
    words: WORDS,
    is_normalized: true,
    keeps_words: false,
    special: &SPECIAL,
    published: Some(&PAIRS),
};

/// Turns prompts into token ids.
#[derive(Debug)]
pub struct Qwen2Tokenizer(ByteLevelTokenizer);

impl Qwen2Tokenizer {
    /// Loads the tokenizer for a text encoder with this many embeddings, as [`ByteLevelTokenizer::find`] does.
    pub fn find(checkpoint: &Checkpoint, encoder: &Part, vocab_size: usize) -> Result<Self, CheckpointError> {
        ByteLevelTokenizer::find(&KIND, checkpoint, encoder, "tokenizer", vocab_size).map(Self)
    }

    /// The tokenizer of the published models, from the program's assets.
    pub fn published() -> Result<Self, CheckpointError> {
        ByteLevelTokenizer::published(&KIND, &PAIRS).map(Self)
    }

    /// Loads the `tokenizer.json` in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        ByteLevelTokenizer::load(folder).map(Self)
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        self.0.inner()
    }

    /// The token ids of a prompt as a user's chat turn, and of the beginning of the model's answer.
    pub fn encode_chat(&self, prompt: &str, answer: &str) -> Result<Vec<u32>, CheckpointError> {
        self.encode(&format!("<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n{answer}"))
    }

    /// The token that prompts are padded with.
    ///
    /// # Errors
    /// When the tokenizer does not have it.
    pub fn padding(&self) -> Result<u32, CheckpointError> {
        self.0.id_of(PADDING)
    }

    /// The bytes that a token stands for; `None` if there is no such token.
    pub fn bytes_of(&self, id: u32) -> Option<Vec<u8>> {
        self.0.bytes_of(id)
    }

    /// The token ids of a text, in which special tokens may be written out.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        self.0.encode(text)
    }
}

fn published() -> Result<Pairs, CheckpointError> {
    let (path, text) = published_lines(PUBLISHED_MERGES)?;
    let merges = pairs(text.lines());
    let joined = merges.iter().map(|(first, second)| format!("{first}{second}"));
    let tokens = letters_of_bytes().into_iter().map(String::from).chain(joined);
    Ok(Pairs { path, tokens: tokens.zip(0..).collect(), merges })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_tokenizer_gives_the_published_ids() {
        let tokenizer = Qwen2Tokenizer::published().unwrap();
        // From transformers' AutoTokenizer with Qwen3's files.
        let ids = tokenizer.encode_chat("a photo of an astronaut riding a horse on mars", "").unwrap();
        let start = [151_644, 872, 198];
        let end = [151_645, 198, 151_644, 77_091, 198];
        let photo = [64, 6548, 315, 458, 46_633, 19_837, 264, 15_223, 389, 47_349];
        assert_eq!(ids, [&start[..], &photo, &end].concat());
        let ids = tokenizer.encode_chat("造相 Café 🚂", "").unwrap();
        assert_eq!(ids, [&start[..], &[66_078, 48_921, 65_671, 11_162, 248, 224], &end].concat());
    }
}
