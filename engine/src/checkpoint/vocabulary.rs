//! The tokenizer embedded in the header of a text encoder's GGUF file.

use std::path::Path;

use super::{
    CheckpointError, FileKind,
    gguf::{ARRAY, Cursor, FLOAT32, INT8, STRING, UINT8},
    shards::files_of,
    weight_file::WeightFile,
};

/// The tokens and the data that tokenization needs. Lists missing from the file are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    /// How text is split, such as `t5` (pieces by probability) or `gpt2` (byte pairs).
    pub kind: String,
    /// The tokens, by id.
    pub tokens: Vec<String>,
    /// Log probabilities of the tokens.
    pub scores: Vec<f32>,
    /// Pairs of tokens to merge, highest priority first: two tokens separated by a space.
    pub merges: Vec<String>,
    /// SentencePiece's compiled table of replacements, applied before splitting.
    pub replacements: Vec<u8>,
}

/// The tokenizer embedded in a GGUF file, if any. Of several shards, the first has it.
///
/// # Errors
/// Fails if the file cannot be read or its header is damaged.
pub fn read_vocabulary(path: &Path) -> Result<Option<Vocabulary>, CheckpointError> {
    let files = files_of(path)?;
    let file = WeightFile::open(files.first().map_or(path, |first| first))?;
    if file.kind()? != FileKind::Gguf {
        return Ok(None);
    }
    let (mut cursor, _, values) = Cursor::begin(&file)?;
    let mut vocabulary = Vocabulary::default();
    for _ in 0..values {
        let key = cursor.string()?;
        let kind = cursor.u32()?;
        match (key.strip_prefix("tokenizer.ggml."), kind) {
            (Some("model"), STRING) => vocabulary.kind = cursor.string()?,
            (Some("tokens"), ARRAY) => vocabulary.tokens = strings(&mut cursor)?,
            (Some("merges"), ARRAY) => vocabulary.merges = strings(&mut cursor)?,
            (Some("scores"), ARRAY) => {
                let bytes = plain(&mut cursor, &[FLOAT32], size_of::<f32>() as u64)?;
                let (values, _) = bytes.as_chunks();
                vocabulary.scores = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
            }
            (Some("precompiled_charsmap"), ARRAY) => {
                vocabulary.replacements = plain(&mut cursor, &[UINT8, INT8], 1)?;
            }
            (_, kind) => cursor.pass_over(kind, 0)?,
        }
    }
    Ok(Some(vocabulary).filter(|vocabulary| !vocabulary.tokens.is_empty()))
}

fn strings(cursor: &mut Cursor<'_>) -> Result<Vec<String>, CheckpointError> {
    let (kind, count) = (cursor.u32()?, cursor.u64()?);
    if kind != STRING {
        return Err(cursor.damaged("its tokenizer has entries that are not text".to_owned()));
    }
    (0..count).map(|_| cursor.string()).collect()
}

fn plain(cursor: &mut Cursor<'_>, kinds: &[u32], value_bytes: u64) -> Result<Vec<u8>, CheckpointError> {
    let (kind, count) = (cursor.u32()?, cursor.u64()?);
    if !kinds.contains(&kind) {
        return Err(cursor.damaged("its tokenizer has numbers of an unexpected type".to_owned()));
    }
    cursor.bytes(count.saturating_mul(value_bytes))
}
