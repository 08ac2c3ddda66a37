//! The tokenizer of CLIP: lower-cased byte-pair encoding with a marker at the end of words.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokenizers::{
    AddedToken, Tokenizer,
    models::bpe::{BPE, BpeBuilder, Vocab},
    normalizers::{
        NormalizerWrapper, Sequence as Normalizers,
        replace::{Replace, ReplacePattern},
        unicode::NFC,
        utils::Lowercase,
    },
    pre_tokenizers::{
        PreTokenizerWrapper,
        byte_level::ByteLevel,
        sequence::Sequence as PreTokenizers,
        split::{Split, SplitPattern},
    },
    tokenizer::SplitDelimiterBehavior,
};

use super::{
    Clip,
    chunks::Cut,
    tokenizer_files::{
        Shared, built, caught, check_size, find_folder, from_file, ids, missing, padding_token, pairs,
        published,
    },
    tokens::{Extent, Sequence, Tokens, Word, words},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part, asset};

const VOCABULARY: &str = "vocab.json";
const MERGES: &str = "merges.txt";
const WHOLE: &str = "tokenizer.json";
/// The merges of the published models, in the assets.
const PUBLISHED_MERGES: &str = "tokenizers/clip/merges.txt.gz";
/// Number of tokens of all published models.
const PUBLISHED_TOKENS: usize = 49_408;
/// The padding token of OpenCLIP's encoders, which are wider than OpenAI's; OpenAI's encoders pad with the
/// end token.
const OPEN_CLIP_PADDING: &str = "!";
/// Width of OpenAI's widest encoder.
const OPENAI_WIDTH: usize = 768;
const START: &str = "<|startoftext|>";
const END: &str = "<|endoftext|>";
/// A comma at the end of a word, as in the merges.
const COMMA: &str = ",</w>";
const END_OF_WORD: &str = "</w>";
/// How text is split before merging.
const WORDS: &str =
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

/// Converts prompts to the token ids of a CLIP text encoder.
#[derive(Debug)]
pub struct ClipTokenizer {
    tokenizer: Arc<Tokenizer>,
    path: PathBuf,
    start: u32,
    end: u32,
    padding: u32,
    comma: Option<u32>,
}

impl ClipTokenizer {
    /// Loads the tokenizer from the model's folder `name` or from next to the encoder's file, for an encoder
    /// with this many embeddings. Otherwise uses the tokenizer of the published models, if it fits.
    pub fn find(
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        let has = |folder: &Path| folder.join(WHOLE).is_file() || has_pairs(folder);
        let tokenizer = if let Some(folder) = find_folder(checkpoint, encoder, name, has) {
            Self::load(&folder)?
        } else if vocab_size == PUBLISHED_TOKENS {
            let is_open_clip = Clip::width(&encoder.tensors).is_some_and(|width| width > OPENAI_WIDTH);
            Self::published(if is_open_clip { OPEN_CLIP_PADDING } else { END })?
        } else {
            return Err(missing(checkpoint, name, &format!("{VOCABULARY} and {MERGES}")));
        };
        check_size(&tokenizer.path, tokenizer.tokenizer.get_vocab_size(true), vocab_size)?;
        Ok(tokenizer)
    }

    /// Loads `vocab.json` and `merges.txt` from `folder`, or else `tokenizer.json`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(if has_pairs(folder) { VOCABULARY } else { WHOLE });
        let loaded = if has_pairs(folder) { from_pairs(folder) } else { whole(&path) };
        let tokenizer = built(loaded, &path)?.into();
        Self::new(tokenizer, path, padding_token(folder)?.as_deref().unwrap_or(END))
    }

    /// The tokenizer of the published models, from the program's assets.
    pub fn published(padding: &str) -> Result<Self, CheckpointError> {
        static SHARED: Shared<Tokenizer> = Shared::new();
        let tokenizer = SHARED.get(|| {
            let (path, bytes) = published(PUBLISHED_MERGES)?;
            built(from_merges(&String::from_utf8_lossy(&bytes)), &path)
        })?;
        Self::new(tokenizer, asset(PUBLISHED_MERGES)?, padding)
    }

    fn new(tokenizer: Arc<Tokenizer>, path: PathBuf, padding: &str) -> Result<Self, CheckpointError> {
        let wrong = |reason: String| CheckpointError::Tokenizer { path: path.clone(), reason };
        let id = |token: &str| {
            tokenizer.token_to_id(token).ok_or_else(|| wrong(format!("it lacks the token {token}")))
        };
        let (start, end, padding) = (id(START)?, id(END)?, id(padding)?);
        let comma = tokenizer.token_to_id(COMMA);
        Ok(Self { tokenizer, path, start, end, padding, comma })
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// A prompt in chunks, each with start and end tokens and padded to `length`.
    pub fn chunks(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let cut = Cut { length: inner(length), comma: self.comma, backtrack: Cut::BACKTRACK };
        let (chunks, extent) = cut.chunks(&words(prompt, |text| ids(&self.tokenizer, &self.path, text))?);
        let sequences = chunks.into_iter().map(|chunk| self.closed(chunk, length)).collect();
        Ok(Tokens { sequences, extent })
    }

    /// The part of a prompt that fits one sequence of `length`, at most up to a `BREAK`. Weights have no
    /// effect.
    pub fn first(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let words = words(prompt, |text| ids(&self.tokenizer, &self.path, text))?;
        let token = |word: &Word| match word {
            Word::Token(id, _) => Some(*id),
            Word::Break => None,
        };
        let before = words.iter().map_while(token).take(inner(length));
        let sequence = Sequence::plain(before.collect());
        let (read, all) = (sequence.ids.len(), words.iter().filter_map(token).count());
        let extent = Extent { cut: all - read, ..Extent::whole(all, inner(length)) };
        Ok(Tokens::single(self.closed(sequence, length), extent))
    }

    /// A sequence without words.
    pub fn empty(&self, length: usize) -> Sequence {
        self.closed(Sequence::default(), length)
    }

    fn closed(&self, words: Sequence, length: usize) -> Sequence {
        let mut closed = Sequence::plain(vec![self.start]);
        words.ids.into_iter().zip(words.weights).for_each(|word| closed.push(word));
        closed.push((self.end, 1.0));
        closed.resize(length, self.padding);
        closed
    }
}

/// Number of prompt tokens in a sequence of `length`, between start and end.
fn inner(length: usize) -> usize {
    length.saturating_sub(2).max(1)
}

fn has_pairs(folder: &Path) -> bool {
    folder.join(VOCABULARY).is_file() && folder.join(MERGES).is_file()
}

fn whole(path: &Path) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = from_file(path)?;
    tokenizer.with_padding(None).with_truncation(None)?;
    Ok(tokenizer)
}

fn from_pairs(folder: &Path) -> tokenizers::Result<Tokenizer> {
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    build(BPE::from_file(&file(VOCABULARY), &file(MERGES)))
}

/// Builds the vocabulary: bytes, bytes at the end of a word, the result of each merge, then start and end.
fn from_merges(text: &str) -> tokenizers::Result<Tokenizer> {
    let merges = pairs(text.lines());
    let mut bytes: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    bytes.sort_unstable();
    let ending = bytes.iter().map(|byte| format!("{byte}{END_OF_WORD}"));
    let joined = merges.iter().map(|(first, second)| format!("{first}{second}"));
    let tokens = bytes.iter().map(char::to_string).chain(ending).chain(joined);
    let vocab: Vocab = tokens.chain([START, END].map(str::to_owned)).zip(0..).collect();
    build(BPE::builder().vocab_and_merges(vocab, merges))
}

fn build(pairs: BpeBuilder) -> tokenizers::Result<Tokenizer> {
    let pairs = pairs.unk_token(END.to_owned()).end_of_word_suffix(END_OF_WORD.to_owned());
    // A merge that is longer than all tokens makes it panic.
    let pairs = caught(|| pairs.build())?;
    let mut tokenizer = Tokenizer::new(pairs);
    let spaces = Replace::new(ReplacePattern::Regex(r"\s+".to_owned()), " ")?;
    tokenizer.with_normalizer(Some(Normalizers::new(vec![
        NormalizerWrapper::from(NFC),
        NormalizerWrapper::from(spaces),
        NormalizerWrapper::from(Lowercase),
    ])))?;
    let words = Split::new(SplitPattern::Regex(WORDS.to_owned()), SplitDelimiterBehavior::Removed, true)?;
    let steps = [
        PreTokenizerWrapper::Split(words),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, true, true)),
    ];
    tokenizer.with_pre_tokenizer(Some(PreTokenizers::new(steps.into())));
    tokenizer
        .add_special_tokens([START, END].map(|token| AddedToken::from(token, true).normalized(false)))?;
    Ok(tokenizer)
}
