//! The tokenizer that a GGUF file of a text encoder carries among the values of its header.

use std::path::Path;

use super::{
    CheckpointError, FileKind,
    gguf::{ARRAY, Cursor, FLOAT32, INT8, STRING, UINT8},
    shards::files_of,
    weight_file::WeightFile,
};

/// Pieces of text by their numbers, with what decides between them. Lists that the file does not have are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    /// How text is cut, such as `t5` (pieces by probability) or `gpt2` (byte pairs).
    pub kind: String,
    /// Pieces; their numbers are the ids.
    pub tokens: Vec<String>,
    /// Logarithms of the probabilities of the pieces.
    pub scores: Vec<f32>,
    /// Pairs that are joined, the first before the others: two pieces with a space between them.
    pub merges: Vec<String>,
    /// SentencePiece's compiled table of what is replaced first.
    pub replacements: Vec<u8>,
}

/// The tokenizer in a file, if it is a GGUF file that has one. Of split files the first has it.
///
/// # Errors
/// When the file cannot be read or its header is damaged.
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
