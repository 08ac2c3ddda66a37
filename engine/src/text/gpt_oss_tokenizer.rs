//! o200k_harmony, the byte-level tokenizer of GPT-OSS.

use std::path::Path;

use tokenizers::{Tokenizer, models::bpe::Vocab};

use super::{
    byte_level::{Built, ByteLevelKind, ByteLevelTokenizer, Pairs, PublishedPairs, pairs_of},
    tokenizer_files::{Shared, published_lines},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part};

/// The tokens of the published models, in the assets: one on each line, in the order of their ids.
const PUBLISHED: &str = "tokenizers/gpt_oss/tokens.txt.gz";
/// Number of tokens of the published models; special tokens come last.
const PUBLISHED_TOKENS: usize = 201_088;
/// The special tokens that have a meaning, and their places among them.
const SPECIAL: [&str; 10] = [
    "<|startoftext|>",
    "<|endoftext|>",
    "<|return|>",
    "<|constrain|>",
    "<|channel|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|call|>",
    "<|endofprompt|>",
];
const PLACES: [usize; SPECIAL.len()] = [0, 1, 4, 5, 7, 8, 9, 10, 14, 20];
/// How text is split before merging.
const WORDS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

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
pub struct GptOssTokenizer(ByteLevelTokenizer);

impl GptOssTokenizer {
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

    /// The token ids of a text, in which special tokens may be written out.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        self.0.encode(text)
    }
}

fn published() -> Result<Pairs, CheckpointError> {
    let (path, text) = published_lines(PUBLISHED)?;
    let tokens: Vec<&str> = text.lines().collect();
    let special = (0..PUBLISHED_TOKENS.saturating_sub(tokens.len())).map(|place| {
        let meaning = PLACES.iter().position(|own| *own == place);
        meaning
            .map_or_else(|| format!("<|reserved_{}|>", tokens.len() + place), |own| SPECIAL[own].to_owned())
    });
    let all: Vocab = tokens.iter().map(|&token| token.to_owned()).chain(special).zip(0..).collect();
    let merges = pairs_of(&tokens);
    Ok(Pairs { path, tokens: all, merges })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_tokens_have_their_published_ids() {
        let tokenizer = GptOssTokenizer::published().unwrap();
        let ids = tokenizer
            .encode("<|start|>user<|message|>Hi<|end|><|return|><|channel|><|endofprompt|>")
            .unwrap();
        assert_eq!(ids, [200_006, 1428, 200_008, 12_194, 200_007, 200_002, 200_005, 200_018]);
        assert_eq!(tokenizer.inner().get_vocab_size(true), PUBLISHED_TOKENS);
    }
}
