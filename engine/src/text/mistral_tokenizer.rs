//! Tekken, the byte-level tokenizer of Mistral's language models.

use std::path::Path;

use tokenizers::{Tokenizer, models::bpe::Vocab};

use super::{
    byte_level::{Built, ByteLevelKind, ByteLevelTokenizer, Pairs, PublishedPairs, pairs_of},
    tokenizer_files::{Shared, published_lines},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part};

/// The tokens of the published models, in the assets: one on each line, in the order of their ids.
const PUBLISHED: &str = "tokenizers/mistral/tokens.txt.gz";
/// Number of special tokens of the published models, which come first. Most have no meaning.
const PUBLISHED_SPECIAL: usize = 1000;
/// Number of tokens of the published models.
const PUBLISHED_TOKENS: usize = 131_072;
/// The token for padding.
const PADDING: &str = "<pad>";
/// The special tokens that have a meaning, in the order of their ids.
const SPECIAL: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    PADDING,
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];
/// How text is split before merging.
const WORDS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

static PAIRS: PublishedPairs = PublishedPairs { tokens: PUBLISHED_TOKENS, read: published, shared: &SHARED };
static SHARED: Shared<Built> = Shared::new();

static KIND: ByteLevelKind = ByteLevelKind {
    words: WORDS,
    is_normalized: false,
    keeps_words: true,
    special: &SPECIAL,
    published: Some(&PAIRS),
};

/// Turns prompts into token ids.
#[derive(Debug)]
pub struct MistralTokenizer(ByteLevelTokenizer);

impl MistralTokenizer {
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

    /// The token ids of what a model is told to do, and of a prompt as a user's chat turn.
    pub fn encode_chat(&self, system: &str, prompt: &str) -> Result<Vec<u32>, CheckpointError> {
        self.0.encode(&format!("<s>[SYSTEM_PROMPT]{system}[/SYSTEM_PROMPT][INST]{prompt}[/INST]"))
    }

    /// The token ids of a text after the token for the beginning.
    pub fn encode_plain(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        self.0.encode(&format!("<s>{text}"))
    }

    /// The token that prompts are padded with.
    ///
    /// # Errors
    /// When the tokenizer does not have it.
    pub fn padding(&self) -> Result<u32, CheckpointError> {
        self.0.id_of(PADDING)
    }
}

fn published() -> Result<Pairs, CheckpointError> {
    let (path, text) = published_lines(PUBLISHED)?;
    let tokens: Vec<&str> = text.lines().collect();
    let special = (0..PUBLISHED_SPECIAL).map(|id| match SPECIAL.get(id) {
        Some(token) => (*token).to_owned(),
        None => format!("<SPECIAL_{id}>"),
    });
    let all: Vocab = special.chain(tokens.iter().map(|&token| token.to_owned())).zip(0..).collect();
    let merges = pairs_of(&tokens);
    Ok(Pairs { path, tokens: all, merges })
}
