//! Safetensors: the header, and the conventions for weights stored as several tensors.

use std::{collections::BTreeMap, sync::Arc};

use safetensors::{Dtype, tensor::Metadata};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{CheckpointError, StoredTensor, TensorTable, stored::NestedScales, weight_file::WeightFile};
use crate::precision::{Encoding, Format};

const LENGTH_BYTES: u64 = 8;
/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;
/// The longest description of a quantized tensor that is read.
const LONGEST_STATE: u64 = 1 << 16;
/// Suffix of the description that bitsandbytes adds to a weight.
const NF4_STATE: &str = ".quant_state.bitsandbytes__nf4";

/// Reads the headers of one file, or of the shards of one set of weights.
pub fn read(files: &[Arc<WeightFile>]) -> Result<TensorTable, CheckpointError> {
    let mut tensors = TensorTable::new();
    for file in files {
        tensors.append(&mut read_one(file)?);
    }
    attach_scales(&mut tensors);
    attach_normal_floats(&mut tensors)?;
    Ok(tensors)
}

fn read_one(file: &Arc<WeightFile>) -> Result<TensorTable, CheckpointError> {
    let (metadata, start) = described(file)?;
    let tensors = metadata.tensors().into_iter().map(|(name, info)| {
        let (first, last) = info.data_offsets;
        let range = start + first as u64..start + last as u64;
        (name, StoredTensor::new(file, encoding(info.dtype), info.shape.clone(), range))
    });
    Ok(tensors.collect())
}

/// The metadata in the header.
pub fn notes(file: &WeightFile) -> Result<BTreeMap<String, String>, CheckpointError> {
    let (metadata, _) = described(file)?;
    Ok(metadata.metadata().iter().flatten().map(|(name, text)| (name.clone(), text.clone())).collect())
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
    if header > length - LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path(), header, length });
    }
    let damaged = |reason: String| CheckpointError::Header { path: path(), reason };
    if header > LONGEST_HEADER {
        return Err(damaged(format!(
            "it has {header} bytes, but the format allows at most {LONGEST_HEADER}"
        )));
    }
    let mut described = vec![0; header as usize];
    file.read_at(&mut described, LENGTH_BYTES)?;
    let metadata: Metadata =
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

/// Attaches scales, per tensor or per row, to 8-bit weights under the names that ComfyUI uses.
fn attach_scales(tensors: &mut TensorTable) {
    let narrow = tensors.iter().filter(|(name, tensor)| {
        name.ends_with("weight") && matches!(tensor.dtype_name().as_str(), "F8_E4M3" | "F8_E5M2" | "I8")
    });
    let names: Vec<String> = narrow.map(|(name, _)| name.clone()).collect();
    for name in names {
        let stem = name.strip_suffix("weight").unwrap_or(&name);
        let scale = [format!("{stem}scale_weight"), format!("{name}_scale")];
        let Some(scale) = scale.iter().find_map(|name| tensors.remove(name)) else { continue };
        let Some(weight) = tensors.get_mut(&name) else { continue };
        let format = match weight.dtype_name().as_str() {
            "F8_E4M3" => Format::F8E4m3,
            "F8_E5M2" => Format::F8E5m2,
            _ => Format::I8,
        };
        let rows = weight.shape().first().copied().unwrap_or(1) as u64;
        let values = weight.elements();
        let group = match scale.elements() {
            1 => values,
            count if count == rows => values / rows.max(1),
            _ => 0,
        };
        weight.join_scales(format, group as usize, scale);
    }
}

/// bitsandbytes' description of an NF4 tensor.
#[derive(Debug, Deserialize)]
struct NormalFloats {
    quant_type: String,
    blocksize: usize,
    shape: Vec<usize>,
    #[serde(default)]
    nested_blocksize: Option<usize>,
    #[serde(default)]
    nested_offset: f32,
}

/// Attaches scales to 4-bit codes under the names that bitsandbytes uses. The scales may be quantized
/// themselves.
fn attach_normal_floats(tensors: &mut TensorTable) -> Result<(), CheckpointError> {
    let names: Vec<String> =
        tensors.keys().filter_map(|name| Some(name.strip_suffix(NF4_STATE)?.to_owned())).collect();
    for name in names {
        let Some(state) = tensors.remove(&format!("{name}{NF4_STATE}")) else { continue };
        if state.stored_bytes() > LONGEST_STATE {
            continue;
        }
        let state: NormalFloats = match serde_json::from_slice(&state.read_raw()?) {
            Ok(state) => state,
            Err(error) => {
                let reason = format!("its entry for {name} cannot be parsed: {error}");
                return Err(CheckpointError::Header { path: state.path().to_owned(), reason });
            }
        };
        if state.quant_type != "nf4" {
            continue;
        }
        let mut take = |part: &str| tensors.remove(&format!("{name}.{part}"));
        let (scales, _) = (take("absmax"), take("quant_map"));
        let (largest, map) = (take("nested_absmax"), take("nested_quant_map"));
        let (Some(scales), Some(weight)) = (scales, tensors.get_mut(&name)) else { continue };
        match (state.nested_blocksize, largest, map) {
            (None, ..) => {
                weight.set_shape(state.shape);
                weight.join_scales(Format::Nf4, state.blocksize, scales);
            }
            (Some(group), Some(largest), Some(map)) => {
                weight.set_shape(state.shape);
                let nested = NestedScales::new(&scales, largest, group, &map, state.nested_offset)?;
                weight.join_nested_scales(Format::Nf4, state.blocksize, scales, nested);
            }
            (Some(_), ..) => {}
        }
    }
    Ok(())
}
