//! The tokenizer of CLIP: lower case, byte pairs with a mark at the end of words.

use std::path::{Path, PathBuf};

use tokenizers::{
    AddedToken, Tokenizer,
    models::bpe::BPE,
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
    chunks::Cut,
    tokenizer_files::{check_size, find_folder, ids, missing, padding_token},
    tokens::{Extent, Sequence, Tokens, Word, words},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part};

const VOCABULARY: &str = "vocab.json";
const MERGES: &str = "merges.txt";
const WHOLE: &str = "tokenizer.json";
const START: &str = "<|startoftext|>";
const END: &str = "<|endoftext|>";
/// A comma as a word of its own, as the merges have it.
const COMMA: &str = ",</w>";
/// How text is cut before merging.
const WORDS: &str =
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

/// Turns prompts into the ids of a CLIP text encoder.
#[derive(Debug)]
pub struct ClipTokenizer {
    tokenizer: Tokenizer,
    path: PathBuf,
    start: u32,
    end: u32,
    padding: u32,
    comma: Option<u32>,
}

impl ClipTokenizer {
    /// Loads the tokenizer in the folder `name` of a model, or from beside the encoder's file, for an encoder of this
    /// many embeddings.
    pub fn find(
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        let folder = find_folder(checkpoint, encoder, name, |folder| {
            folder.join(WHOLE).is_file() || has_pairs(folder)
        })
        .ok_or_else(|| missing(checkpoint, name, &format!("{VOCABULARY} and {MERGES}")))?;
        let tokenizer = Self::load(&folder)?;
        check_size(&tokenizer.path, tokenizer.tokenizer.get_vocab_size(true), vocab_size)?;
        Ok(tokenizer)
    }

    /// Loads `vocab.json` and `merges.txt`, or else the `tokenizer.json`, in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(if has_pairs(folder) { VOCABULARY } else { WHOLE });
        let wrong = |reason: String| CheckpointError::Tokenizer { path: path.clone(), reason };
        let loaded = if has_pairs(folder) { from_pairs(folder) } else { whole(&path) };
        let tokenizer = loaded.map_err(|error| wrong(error.to_string()))?;
        let id = |token: &str| {
            tokenizer.token_to_id(token).ok_or_else(|| wrong(format!("it has no token {token}")))
        };
        let (start, end) = (id(START)?, id(END)?);
        let padding = padding_token(folder)?.map_or(Ok(end), |token| id(&token))?;
        let comma = tokenizer.token_to_id(COMMA);
        Ok(Self { tokenizer, path, start, end, padding, comma })
    }

    /// A prompt in chunks, each of them between start and end and filled up to `length`.
    pub fn chunks(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let cut = Cut { length: inner(length), comma: self.comma, backtrack: Cut::BACKTRACK };
        let (chunks, extent) = cut.chunks(&words(prompt, |text| ids(&self.tokenizer, &self.path, text))?);
        let sequences = chunks.into_iter().map(|chunk| self.closed(chunk, length)).collect();
        Ok(Tokens { sequences, extent })
    }

    /// What of a prompt fits one sequence of `length`, and no more than the part before a `BREAK`. Weights have no
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

/// Tokens of a prompt in a sequence of `length`, between start and end.
fn inner(length: usize) -> usize {
    length.saturating_sub(2).max(1)
}

fn has_pairs(folder: &Path) -> bool {
    folder.join(VOCABULARY).is_file() && folder.join(MERGES).is_file()
}

fn whole(path: &Path) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_file(path)?;
    tokenizer.with_padding(None).with_truncation(None)?;
    Ok(tokenizer)
}

fn from_pairs(folder: &Path) -> tokenizers::Result<Tokenizer> {
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let pairs = BPE::from_file(&file(VOCABULARY), &file(MERGES))
        .unk_token(END.to_owned())
        .end_of_word_suffix("</w>".to_owned())
        .build()?;
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
