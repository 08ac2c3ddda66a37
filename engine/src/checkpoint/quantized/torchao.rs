//! torchao's weights in safetensors files, as diffusers and transformers save them: the metadata of the header
//! has an entry per tensor with its class, and the tensors `NAME._weight_qdata`, `NAME._weight_scale` and so on
//! (torchao 0.18, `prototype/safetensors`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CheckpointError, StoredTensor, TensorTable, join_rows, narrow_format, parsed};
use crate::checkpoint::safetensors::Notes;

/// The list of all tensors in the metadata.
const NAMES: &str = "tensor_names";
/// The class of a tensor that is not quantized.
const PLAIN: &str = "Tensor";

/// The entry of a tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "_type")]
    class: String,
}

/// Joins float8 and int8 weights; marks others with the name of their class.
pub fn join(tensors: &mut TensorTable, notes: &Notes) -> Result<(), CheckpointError> {
    let Some((names, any)) = notes.get(NAMES).zip(tensors.values().next().cloned()) else { return Ok(()) };
    let names: Vec<String> = parsed(NAMES, &any, names.as_bytes())?;
    for name in names {
        let Some(entry) = notes.get(&name) else { continue };
        let Entry { class } = parsed(&name, &any, entry.as_bytes())?;
        let Some((module, own)) = name.rsplit_once('.').filter(|_| class != PLAIN) else { continue };
        let start = format!("{module}._{own}_");
        let of_weight: Vec<String> = tensors.keys().filter(|key| key.starts_with(&start)).cloned().collect();
        let mut parts: BTreeMap<String, StoredTensor> = of_weight
            .iter()
            .filter_map(|key| Some((key[start.len()..].to_owned(), tensors.remove(key)?)))
            .collect();
        let Some(mut weight) = parts.remove("qdata") else { continue };
        match (class.as_str(), parts.remove("scale")) {
            ("Float8Tensor" | "Int8Tensor" | "IntxUnpackedToInt8Tensor", Some(scale)) => {
                let plain = parts.remove("zero_point").map_or(Ok(true), |zero| is_zero(&zero))?;
                if plain && !parts.contains_key("act_pre_scale") {
                    join_groups(&mut weight, scale);
                } else {
                    weight.refuse(format!("{class} of torchao with zero points or input scales"));
                }
            }
            _ => weight.refuse(format!("{class} of torchao")),
        }
        tensors.insert(name, weight);
    }
    Ok(())
}

/// Joins scales of the tensor, of its rows, or of groups within rows.
fn join_groups(weight: &mut StoredTensor, scale: StoredTensor) {
    let rows = weight.shape().first().copied().unwrap_or(1) as u64;
    let scales = scale.elements();
    match narrow_format(weight) {
        Some(format) if scales > rows && scales.is_multiple_of(rows.max(1)) => {
            weight.join_scales(format, (weight.elements() / scales) as usize, scale);
        }
        _ => join_rows(weight, scale, 1.0),
    }
}

fn is_zero(zero: &StoredTensor) -> Result<bool, CheckpointError> {
    Ok(zero.read_raw()?.iter().all(|byte| *byte == 0))
}
