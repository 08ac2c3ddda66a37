//! Byte-level tokenizers of language models: a regular expression splits text into words, whose bytes are merged in pairs
//! (byte-pair encoding, Sennrich et al. 2016, arXiv:1508.07909).

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

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

use super::tokenizer_files::{Shared, caught, check_size, find_folder, from_file, ids, missing, pairs};
use crate::checkpoint::{Checkpoint, CheckpointError, Part, Vocabulary, read_vocabulary};

const FILE: &str = "tokenizer.json";

/// What distinguishes the tokenizers of one family of language models from those of another.
#[derive(Debug)]
pub struct ByteLevelKind {
    /// How text is split before merging: a regular expression.
    pub words: &'static str,
    /// Whether text is normalized first, to NFC.
    pub is_normalized: bool,
    /// Whether a word that is a token stays whole, even if merging would not make it.
    pub keeps_words: bool,
    /// Tokens that are recognised in text before it is split.
    pub special: &'static [&'static str],
    /// The published tokenizer, if it is among the program's assets.
    pub published: Option<&'static PublishedPairs>,
}

/// A published tokenizer among the program's assets.
#[derive(Debug)]
pub struct PublishedPairs {
    /// Its number of tokens.
    pub tokens: usize,
    /// Reads it.
    pub read: fn() -> Result<Pairs, CheckpointError>,
    /// The one that models share.
    pub shared: &'static Shared<Built>,
}

/// A tokenizer and where it is from.
#[derive(Debug)]
pub struct Built {
    tokenizer: Tokenizer,
    path: PathBuf,
}

/// The tokens of a tokenizer, and how they are merged.
#[derive(Debug)]
pub struct Pairs {
    /// Where it is from.
    pub path: PathBuf,
    /// The tokens and their ids.
    pub tokens: Vocab,
    /// Pairs of tokens to merge, highest priority first.
    pub merges: Merges,
}

/// Turns text into token ids.
#[derive(Debug)]
pub struct ByteLevelTokenizer(Arc<Built>);

impl ByteLevelTokenizer {
    /// Loads the tokenizer for a text encoder with this many embeddings: from the model's folder `name`,
    /// from next to the encoder's file, or from a folder of the file's name. Otherwise uses the tokenizer of
    /// the published models if there is one and the encoder is large enough for it, or else the one embedded in the
    /// encoder's file.
    ///
    /// # Errors
    /// When there is no tokenizer, it cannot be read, or it has more tokens than the encoder has embeddings.
    pub fn find(
        kind: &ByteLevelKind,
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        let found = match find_folder(checkpoint, encoder, name, |folder| folder.join(FILE).is_file()) {
            Some(folder) => Self::load(&folder)?,
            None => match kind.published {
                Some(published) if vocab_size >= published.tokens => {
                    return Self::published(kind, published);
                }
                _ => Self::carried(kind, encoder)?.ok_or_else(|| missing(checkpoint, name, FILE))?,
            },
        };
        check_size(&found.0.path, found.0.tokenizer.get_vocab_size(true), vocab_size)?;
        Ok(found)
    }

    /// A published tokenizer, from the program's assets.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn published(kind: &ByteLevelKind, published: &PublishedPairs) -> Result<Self, CheckpointError> {
        published.shared.get(|| Self::build(kind, (published.read)()?, kind.special)).map(Self)
    }

    /// The tokenizer embedded in the encoder's own file, if there is one.
    fn carried(kind: &ByteLevelKind, encoder: &Part) -> Result<Option<Self>, CheckpointError> {
        if !encoder.path.is_file() {
            return Ok(None);
        }
        let Some(Vocabulary { tokens, merges, .. }) = read_vocabulary(&encoder.path)? else {
            return Ok(None);
        };
        let special: Vec<&str> = kind
            .special
            .iter()
            .copied()
            .filter(|special| tokens.iter().any(|token| token == special))
            .collect();
        let merges = pairs(merges.iter().map(String::as_str));
        let tokens = tokens.into_iter().zip(0..).collect();
        let built = Self::build(kind, Pairs { path: encoder.path.clone(), tokens, merges }, &special)?;
        Ok(Some(Self(Arc::new(built))))
    }

    /// A tokenizer of these tokens, with all special tokens of its kind.
    ///
    /// # Errors
    /// When the tokens do not fit together.
    pub fn of(kind: &ByteLevelKind, pairs: Pairs) -> Result<Self, CheckpointError> {
        Ok(Self(Arc::new(Self::build(kind, pairs, kind.special)?)))
    }

    fn build(kind: &ByteLevelKind, pairs: Pairs, special: &[&str]) -> Result<Built, CheckpointError> {
        let Pairs { path, tokens, merges } = pairs;
        match build(kind, tokens, merges, special) {
            Ok(tokenizer) => Ok(Built { tokenizer, path }),
            Err(error) => Err(CheckpointError::Tokenizer { path, reason: error.to_string() }),
        }
    }

    /// Loads the `tokenizer.json` in `folder`.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(CheckpointError::NotFound { path });
        }
        let mut tokenizer = from_file(&path)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        // The padding and truncation in a tokenizer.json are for training; here callers decide.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| CheckpointError::Tokenizer { path: path.clone(), reason: error.to_string() })?;
        Ok(Self(Arc::new(Built { tokenizer, path })))
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        &self.0.tokenizer
    }

    /// The id of a token.
    ///
    /// # Errors
    /// When the tokenizer does not have it.
    pub fn id_of(&self, token: &str) -> Result<u32, CheckpointError> {
        let missing = || CheckpointError::Tokenizer {
            path: self.0.path.clone(),
            reason: format!("{token} is missing"),
        };
        self.0.tokenizer.token_to_id(token).ok_or_else(missing)
    }

    /// The bytes that a token stands for; `None` if there is no such token. Tokens that are no text are written out.
    pub fn bytes_of(&self, id: u32) -> Option<Vec<u8>> {
        let token = self.0.tokenizer.id_to_token(id)?;
        let bytes: Option<Vec<u8>> = token.chars().map(byte_of_letter).collect();
        Some(bytes.unwrap_or_else(|| token.into_bytes()))
    }

    /// The token ids of a text, in which special tokens may be written out.
    ///
    /// # Errors
    /// When the tokenizer is damaged.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        ids(&self.0.tokenizer, &self.0.path, text)
    }
}

/// The letters that stand for bytes: printable ones for themselves, letters above 255 for the others in order.
pub fn letters_of_bytes() -> Vec<char> {
    let mut letters: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    letters.sort_unstable();
    letters
}

/// The byte that a letter stands for.
fn byte_of_letter(letter: char) -> Option<u8> {
    static BYTES: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
        let letters = letters_of_bytes();
        // Letters up to 255 stand for themselves; the bytes that are left have those above, in order.
        let own: HashMap<char, u8> =
            letters.iter().filter_map(|letter| Some((*letter, u8::try_from(*letter).ok()?))).collect();
        let left = (0..=u8::MAX).filter(|byte| !own.contains_key(&char::from(*byte)));
        let above = letters.iter().filter(|letter| u32::from(**letter) > 255).copied().zip(left);
        above.chain(own.iter().map(|(letter, byte)| (*letter, *byte))).collect()
    });
    BYTES.get(&letter).copied()
}

/// Every pair that makes a token, in the order of the tokens: some published files have only the tokens, and a pair's
/// priority is the place of what it makes.
pub fn pairs_of(tokens: &[&str]) -> Merges {
    let places: HashMap<&str, usize> =
        tokens.iter().enumerate().map(|(place, &token)| (token, place)).collect();
    let mut merges = Merges::new();
    for token in tokens {
        let cuts = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
        let mut own: Vec<_> =
            cuts.filter_map(|pair| Some(((*places.get(pair.0)?, *places.get(pair.1)?), pair))).collect();
        own.sort_unstable();
        merges.extend(own.into_iter().map(|(_, (first, second))| (first.to_owned(), second.to_owned())));
    }
    merges
}

fn build(
    kind: &ByteLevelKind,
    tokens: Vocab,
    merges: Merges,
    special: &[&str],
) -> tokenizers::Result<Tokenizer> {
    let pairs = BPE::builder().vocab_and_merges(tokens, merges).ignore_merges(kind.keeps_words);
    // A merge that is longer than all tokens makes it panic.
    let pairs = caught(|| pairs.build())?;
    let mut tokenizer = Tokenizer::new(pairs);
    let words =
        Split::new(SplitPattern::Regex(kind.words.to_owned()), SplitDelimiterBehavior::Isolated, false)?;
    let steps = [
        PreTokenizerWrapper::Split(words),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, false, false)),
    ];
    if kind.is_normalized {
        tokenizer.with_normalizer(Some(NFC))?;
    }
    tokenizer.with_pre_tokenizer(Some(Sequence::new(steps.into())));
    let special: Vec<AddedToken> =
        special.iter().map(|token| AddedToken::from(*token, true).normalized(false)).collect();
    tokenizer.add_special_tokens(special)?;
    Ok(tokenizer)
}
