//! The tokenizer of T5: splits words into pieces by probability.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokenizers::Tokenizer;

use super::{
    sentencepiece::Pieces,
    tokenizer_files::{Shared, built, check_size, find_folder, from_file, ids, missing, published},
    tokens::{Extent, Sequence, Tokens, Word, words},
};
use crate::checkpoint::{Checkpoint, CheckpointError, Part, asset, read_vocabulary};

const FILE: &str = "tokenizer.json";
/// The file that the authors publish.
const PIECES: &str = "spiece.model";
/// The same as a tensor of the encoder's own file, as in ComfyUI's files of UMT5.
const PIECES_TENSOR: &str = "spiece_model";
/// The tokenizer of the published models, in the assets.
const PUBLISHED_PIECES: &str = "tokenizers/t5/spiece.model.gz";
/// Number of tokens of the published models; their encoders have a few extra, unused embeddings.
const PUBLISHED_TOKENS: std::ops::RangeInclusive<usize> = 32_100..=32_128;
const END: &str = "</s>";
const PADDING: &str = "<pad>";

/// Converts prompts to the token ids of a T5 encoder.
#[derive(Debug)]
pub struct T5Tokenizer {
    tokenizer: Arc<Tokenizer>,
    path: PathBuf,
    end: u32,
    padding: u32,
}

impl T5Tokenizer {
    /// Loads the tokenizer from the model's folder `name` or from next to the encoder's file, for an encoder
    /// with this many embeddings. Otherwise uses the tokenizer of the published models if it fits, or else
    /// the one embedded in the encoder's file.
    pub fn find(
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        let has = |folder: &Path| folder.join(FILE).is_file() || folder.join(PIECES).is_file();
        let found = if let Some(folder) = find_folder(checkpoint, encoder, name, has) {
            Self::load(&folder, vocab_size)?
        } else if PUBLISHED_TOKENS.contains(&vocab_size) || encoder.is_hollow() {
            // Of a model without files, only the number of tokens matters.
            Self::published()?
        } else {
            Self::carried(encoder, vocab_size)?.ok_or_else(|| missing(checkpoint, name, FILE))?
        };
        check_size(&found.path, found.tokenizer.get_vocab_size(true), vocab_size)?;
        Ok(found)
    }

    /// Loads `tokenizer.json` from `folder`, or else `spiece.model`, for an encoder with this many
    /// embeddings.
    pub fn load(folder: &Path, vocab_size: usize) -> Result<Self, CheckpointError> {
        let path = folder.join(FILE);
        if path.is_file() {
            let tokenizer = unpadded(from_file(&path), &path)?;
            return Self::new(tokenizer.into(), path);
        }
        let path = folder.join(PIECES);
        match std::fs::read(&path) {
            Ok(bytes) => Self::of_pieces(Pieces::parse(&bytes), vocab_size, path),
            Err(source) => Err(CheckpointError::Io { path, source }),
        }
    }

    /// The tokenizer of the published models, from the program's assets.
    pub fn published() -> Result<Self, CheckpointError> {
        static SHARED: Shared<Tokenizer> = Shared::new();
        let tokenizer = SHARED.get(|| {
            let (path, bytes) = published(PUBLISHED_PIECES)?;
            of_pieces(Pieces::parse(&bytes), *PUBLISHED_TOKENS.start(), &path)
        })?;
        Self::new(tokenizer, asset(PUBLISHED_PIECES)?)
    }

    /// The tokenizer embedded in the encoder's own file, if there is one.
    fn carried(encoder: &Part, vocab_size: usize) -> Result<Option<Self>, CheckpointError> {
        if !encoder.path.is_file() {
            return Ok(None);
        }
        if let Some(model) = encoder.tensors.get(PIECES_TENSOR) {
            let pieces = Pieces::parse(&model.read_raw()?);
            return Self::of_pieces(pieces, vocab_size, encoder.path.clone()).map(Some);
        }
        let Some(vocabulary) = read_vocabulary(&encoder.path)? else { return Ok(None) };
        let pieces = Pieces::from_vocabulary(vocabulary);
        Self::of_pieces(pieces, vocab_size, encoder.path.clone()).map(Some)
    }

    fn of_pieces(pieces: Option<Pieces>, vocab_size: usize, path: PathBuf) -> Result<Self, CheckpointError> {
        let tokenizer = of_pieces(pieces, vocab_size, &path)?;
        Self::new(tokenizer.into(), path)
    }

    fn new(tokenizer: Arc<Tokenizer>, path: PathBuf) -> Result<Self, CheckpointError> {
        let wrong = |reason: String| CheckpointError::Tokenizer { path: path.clone(), reason };
        let id = |token: &str| {
            tokenizer.token_to_id(token).ok_or_else(|| wrong(format!("it lacks the token {token}")))
        };
        let (end, padding) = (id(END)?, id(PADDING)?);
        Ok(Self { tokenizer, path, end, padding })
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The token for padding.
    pub fn padding(&self) -> u32 {
        self.padding
    }

    /// The number of tokens without the padding at the end.
    pub fn without_padding(&self, ids: &[u32]) -> usize {
        ids.iter().rposition(|id| *id != self.padding).map_or(0, |last| last + 1)
    }

    /// A prompt with the end token, truncated or padded to `length`. `BREAK` is removed, because there are no
    /// chunks.
    pub fn padded(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let mut tokens = self.tokens(prompt, length)?;
        tokens.sequences.iter_mut().for_each(|sequence| sequence.resize(length, self.padding));
        Ok(tokens)
    }

    /// The same without padding.
    pub fn tokens(&self, prompt: &str, length: usize) -> Result<Tokens, CheckpointError> {
        let room = length.saturating_sub(1);
        let (mut sequence, mut count) = (Sequence::default(), 0);
        for word in words(prompt, |text| ids(&self.tokenizer, &self.path, text))? {
            let Word::Token(id, weight) = word else { continue };
            count += 1;
            if count <= room {
                sequence.push((id, weight));
            }
        }
        sequence.push((self.end, 1.0));
        Ok(Tokens::single(sequence, Extent::whole(count, room)))
    }
}

/// The tokenizer of these pieces.
fn of_pieces(pieces: Option<Pieces>, vocab_size: usize, path: &Path) -> Result<Tokenizer, CheckpointError> {
    let tokenizer = pieces.ok_or_else(|| "it has no pieces with scores".into());
    unpadded(tokenizer.and_then(|pieces: Pieces| pieces.t5_tokenizer(vocab_size)), path)
}

/// A tokenizer that neither pads nor cuts.
fn unpadded(tokenizer: tokenizers::Result<Tokenizer>, path: &Path) -> Result<Tokenizer, CheckpointError> {
    let mut tokenizer = built(tokenizer, path)?;
    let cut = tokenizer.with_padding(None).with_truncation(None).map(|_| ());
    cut.map_err(|error| CheckpointError::Tokenizer { path: path.to_owned(), reason: error.to_string() })?;
    Ok(tokenizer)
}
