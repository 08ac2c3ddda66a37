//! The byte-level tokenizer of the Qwen 2 and Qwen 3 language models.

use std::path::{Path, PathBuf};

use tokenizers::{
    AddedToken, Tokenizer,
    models::bpe::{BPE, Merges, Vocab},
    normalizers::unicode::NFC,
    pre_tokenizers::{
        PreTokenizerWrapper,
        byte_level::ByteLevel,
        sequence::Sequence,
        split::{Split, SplitPattern},
    },
    tokenizer::SplitDelimiterBehavior,
};

use super::tokenizer_files::{check_size, find_folder, ids, missing, pairs};
use crate::checkpoint::{Checkpoint, CheckpointError, Part, Vocabulary, asset, read_vocabulary};

const FILE: &str = "tokenizer.json";
/// The merges of the published models, in the assets.
const PUBLISHED_MERGES: &str = "tokenizers/qwen2/merges.txt";
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

/// Turns prompts into token ids.
#[derive(Debug)]
pub struct Qwen2Tokenizer {
    tokenizer: Tokenizer,
    path: PathBuf,
}

impl Qwen2Tokenizer {
    /// Loads the tokenizer for a text encoder with this many embeddings: from the model's folder `tokenizer`,
    /// from next to the encoder's file, or from a folder of the file's name. Otherwise uses the tokenizer of
    /// the published models if the encoder is large enough for it, or else the one embedded in the encoder's
    /// file.
    pub fn find(checkpoint: &Checkpoint, encoder: &Part, vocab_size: usize) -> Result<Self, CheckpointError> {
        match find_folder(checkpoint, encoder, "tokenizer", |folder| folder.join(FILE).is_file()) {
            Some(folder) => {
                let found = Self::load(&folder)?;
                check_size(&found.path, found.tokenizer.get_vocab_size(true), vocab_size)?;
                Ok(found)
            }
            None if vocab_size >= PUBLISHED_TOKENS + SPECIAL.len() => Self::published(),
            None => {
                let found = Self::carried(encoder)?.ok_or_else(|| missing(checkpoint, "tokenizer", FILE))?;
                check_size(&found.path, found.tokenizer.get_vocab_size(true), vocab_size)?;
                Ok(found)
            }
        }
    }

    /// The tokenizer embedded in the encoder's own file, if there is one.
    fn carried(encoder: &Part) -> Result<Option<Self>, CheckpointError> {
        if !encoder.path.is_file() {
            return Ok(None);
        }
        let Some(Vocabulary { tokens, merges, .. }) = read_vocabulary(&encoder.path)? else {
            return Ok(None);
        };
        let merges = pairs(merges.iter().map(String::as_str));
        let special: Vec<&str> =
            SPECIAL.into_iter().filter(|special| tokens.iter().any(|token| token == special)).collect();
        let path = encoder.path.clone();
        match build(tokens.into_iter().zip(0..).collect(), merges, &special) {
            Ok(tokenizer) => Ok(Some(Self { tokenizer, path })),
            Err(error) => Err(CheckpointError::Tokenizer { path, reason: error.to_string() }),
        }
    }

    /// The tokenizer of the published models, from the program's assets.
    pub fn published() -> Result<Self, CheckpointError> {
        let path = asset(PUBLISHED_MERGES)?;
        let text = std::fs::read_to_string(&path)
            .map_err(|source| CheckpointError::Io { path: path.clone(), source })?;
        match from_merges(&text) {
            Ok(tokenizer) => Ok(Self { tokenizer, path }),
            Err(error) => Err(CheckpointError::Tokenizer { path, reason: error.to_string() }),
        }
    }

    /// Loads the `tokenizer.json` in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(CheckpointError::NotFound { path });
        }
        let mut tokenizer = Tokenizer::from_file(&path)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        // The padding and truncation in a tokenizer.json are for training; here callers decide.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        Ok(Self { tokenizer, path })
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        &self.tokenizer
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
        let missing = || CheckpointError::Tokenizer {
            path: self.path.clone(),
            reason: format!("{PADDING} is missing"),
        };
        self.tokenizer.token_to_id(PADDING).ok_or_else(missing)
    }

    /// The token ids of a text, in which special tokens may be written out.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        ids(&self.tokenizer, &self.path, text)
    }
}

fn from_merges(text: &str) -> tokenizers::Result<Tokenizer> {
    let merges = pairs(text.lines());
    // Printable bytes stand for themselves and come first; the others follow in order.
    let mut bytes: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    bytes.sort_unstable();
    let joined = merges.iter().map(|(first, second)| format!("{first}{second}"));
    let tokens = bytes.into_iter().map(String::from).chain(joined);
    build(tokens.zip(0..).collect(), merges, &SPECIAL)
}

fn build(vocab: Vocab, merges: Merges, special: &[&str]) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(BPE::builder().vocab_and_merges(vocab, merges).build()?);
    let words = Split::new(SplitPattern::Regex(WORDS.to_owned()), SplitDelimiterBehavior::Isolated, false)?;
    let steps = [
        PreTokenizerWrapper::Split(words),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, false, false)),
    ];
    tokenizer.with_normalizer(Some(NFC))?;
    tokenizer.with_pre_tokenizer(Some(Sequence::new(steps.into())));
    let special: Vec<AddedToken> =
        special.iter().map(|token| AddedToken::from(*token, true).normalized(false)).collect();
    tokenizer.add_special_tokens(special)?;
    Ok(tokenizer)
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
