//! What the header of a language model's GGUF file says beside its tensors: the tokenizer, the chat template and the numbers of
//! its shape.

use std::{collections::BTreeMap, path::Path};

use super::{
    CheckpointError, FileKind,
    gguf::{ARRAY, Cursor, FLOAT32, INT8, STRING, UINT8, UINT32},
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

/// What a GGUF file says about its language model, without its tokens.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelNotes {
    /// The architecture, such as `qwen3`.
    pub architecture: String,
    /// How a chat is written, as a template in Jinja; empty if there is none.
    pub chat_template: String,
    /// Numbers of its architecture, such as `rope.freq_base`, without the name of the architecture.
    pub numbers: BTreeMap<String, f64>,
}

/// What a GGUF file says about its language model; `None` for files of other kinds. Of several shards, the first has it.
///
/// # Errors
/// Fails if the file cannot be read or its header is damaged.
pub fn read_model_notes(path: &Path) -> Result<Option<ModelNotes>, CheckpointError> {
    let files = files_of(path)?;
    let file = WeightFile::open(files.first().map_or(path, |first| first))?;
    if file.kind()? != FileKind::Gguf {
        return Ok(None);
    }
    let (mut cursor, _, values) = Cursor::begin(&file)?;
    let mut notes = ModelNotes::default();
    let mut numbers = BTreeMap::new();
    for _ in 0..values {
        let key = cursor.string()?;
        match (key.as_str(), cursor.u32()?) {
            ("general.architecture", STRING) => notes.architecture = cursor.string()?,
            ("tokenizer.chat_template", STRING) => notes.chat_template = cursor.string()?,
            (_, UINT32) => {
                numbers.insert(key, cursor.u32()?.into());
            }
            (_, FLOAT32) => {
                numbers.insert(key, f32::from_bits(cursor.u32()?).into());
            }
            (_, kind) => cursor.pass_over(kind, 0)?,
        }
    }
    let own = format!("{}.", notes.architecture);
    let numbers =
        numbers.into_iter().filter_map(|(key, value)| Some((key.strip_prefix(&own)?.to_owned(), value)));
    Ok(Some(ModelNotes { numbers: numbers.collect(), ..notes }))
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
