//! Safetensors: the header. [`quantized`] joins weights that are stored as several tensors.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Value, json};

use super::{CheckpointError, StoredTensor, TensorTable, quantized, weight_file::WeightFile};
use crate::precision::{Encoding, Format};

/// Metadata in the header, by name.
pub type Notes = BTreeMap<String, String>;

const LENGTH_BYTES: u64 = 8;
/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// Reads the headers of one file, or of the shards of one set of weights.
pub fn read(files: &[Arc<WeightFile>]) -> Result<TensorTable, CheckpointError> {
    let (mut tensors, mut notes) = (TensorTable::new(), Notes::new());
    for file in files {
        let (metadata, start) = described(file)?;
        tensors.append(&mut placed(file, &metadata, start));
        notes.append(&mut notes_in(&metadata));
    }
    quantized::join(&mut tensors, &notes)?;
    Ok(tensors)
}

fn placed(file: &Arc<WeightFile>, metadata: &Metadata, start: u64) -> TensorTable {
    let tensors = metadata.tensors().into_iter().map(|(name, info)| {
        let (first, last) = info.data_offsets;
        let range = start + first as u64..start + last as u64;
        (name, StoredTensor::new(file, encoding(info.dtype), info.shape.clone(), range))
    });
    tensors.collect()
}

fn notes_in(metadata: &Metadata) -> Notes {
    metadata.metadata().iter().flatten().map(|(name, text)| (name.clone(), text.clone())).collect()
}

/// The metadata in the header.
pub fn notes(file: &WeightFile) -> Result<Notes, CheckpointError> {
    let (metadata, _) = described(file)?;
    Ok(notes_in(&metadata))
}

/// The header, and the offset of the values.
fn described(file: &WeightFile) -> Result<(Metadata, u64), CheckpointError> {
    let (path, length) = (|| file.path().to_owned(), file.length());
    if length < LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path(), header: LENGTH_BYTES, length });
    }
    let mut announced = [0; LENGTH_BYTES as usize];
    file.read_at(&mut announced, 0)?;
    let header = u64::from_le_bytes(announced);
    if header > LONGEST_HEADER {
        return Err(CheckpointError::NotSafetensors { path: path() });
    }
    if header > length - LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path(), header, length });
    }
    let damaged = |reason: String| CheckpointError::Header { path: path(), reason };
    let mut described = vec![0; header as usize];
    file.read_at(&mut described, LENGTH_BYTES)?;
    let Described(metadata) =
        serde_json::from_slice(&described).map_err(|error| damaged(error.to_string()))?;
    let start = LENGTH_BYTES + header;
    let expected = start.saturating_add(metadata.data_len() as u64);
    match expected.cmp(&length) {
        std::cmp::Ordering::Greater => Err(CheckpointError::Truncated { path: path(), expected, length }),
        std::cmp::Ordering::Less => {
            Err(damaged(format!("it describes {expected} bytes, but the file has {length}")))
        }
        std::cmp::Ordering::Equal => Ok((metadata, start)),
    }
}

/// A header. [`Metadata`]'s own deserialization reads everything twice, which takes most of the time of a search through
/// thousands of files.
struct Described(Metadata);

impl<'de> Deserialize<'de> for Described {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Described;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the names of tensors with what they are")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Described, M::Error> {
                const NOTES: &str = "__metadata__";
                let mut notes: Option<HashMap<String, String>> = None;
                let mut tensors: Vec<(String, TensorInfo)> = Vec::new();
                while let Some(name) = entries.next_key::<String>()? {
                    if name == NOTES {
                        notes = entries.next_value()?;
                    } else {
                        tensors.push((name, entries.next_value()?));
                    }
                }
                tensors.sort_by_key(|(_, info)| info.data_offsets);
                let count = tensors.len();
                let metadata = Metadata::new(notes, tensors).map_err(M::Error::custom)?;
                match metadata.tensors().len() == count {
                    true => Ok(Described(metadata)),
                    false => Err(M::Error::custom("two tensors have the same name")),
                }
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Builds the header of a file of consecutive tensors, each given by name, dtype, shape and bytes; also
/// returns the offset of each tensor in the file.
pub fn header<'a>(
    tensors: impl Iterator<Item = (&'a str, &'a str, &'a Vec<usize>, u64)>,
) -> (Vec<u8>, Vec<u64>) {
    let (mut described, mut places, mut offset) = (Map::new(), Vec::new(), 0u64);
    described.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    for (name, dtype, shape, bytes) in tensors {
        let end = offset + bytes;
        let row = json!({ "dtype": dtype, "shape": shape, "data_offsets": [offset, end] });
        described.insert(name.to_owned(), row);
        places.push(offset);
        offset = end;
    }
    let mut text = Value::Object(described).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.extend(text);
    let start = header.len() as u64;
    (header, places.into_iter().map(|offset| start + offset).collect())
}

/// The encoding of a dtype, or the dtype's name if it is not supported.
fn encoding(dtype: Dtype) -> Result<Encoding, String> {
    Ok(match dtype {
        Dtype::F64 => Format::F64,
        Dtype::F32 => Format::F32,
        Dtype::F16 => Format::F16,
        Dtype::BF16 => Format::Bf16,
        Dtype::F8_E4M3 => Format::F8E4m3,
        Dtype::F8_E5M2 => Format::F8E5m2,
        other => return Err(format!("{other:?}")),
    }
    .into())
}
