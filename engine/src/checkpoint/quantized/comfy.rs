//! ComfyUI's quantized layers. Beside the weight is `comfy_quant`, whose bytes are JSON such as
//! `{"format": "nvfp4"}`; or the metadata of the header has `_quantization_metadata` with this JSON for each
//! layer (`comfy/ops.py`, and the layouts of comfy-kitchen).

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::Value;

use super::{
    CheckpointError, StoredTensor, TensorTable, description, join_rows, parsed,
    rotated::{Codes, Indices, Rotated, Smoothed},
};
use crate::{
    checkpoint::{safetensors::Notes, stored::BlockedForm},
    precision::{Format, LARGEST_ROTATION},
};

/// Name of the description beside a weight.
const BESIDE: &str = "comfy_quant";
/// Name of the descriptions in the header.
const IN_HEADER: &str = "_quantization_metadata";
/// Values that are rotated together, unless the description says otherwise.
const ROTATED: usize = 256;
/// Values per scale of W4A8, unless the description says otherwise.
const W4A8_GROUP: usize = 16;
/// Values per scale of MXFP8 and NVFP4.
const MXFP8_GROUP: usize = 32;
const NVFP4_GROUP: usize = 16;

/// The descriptions in the header.
#[derive(Debug, Deserialize)]
struct Layers {
    layers: BTreeMap<String, Layer>,
}

/// The description of a layer.
#[derive(Debug, Deserialize)]
struct Layer {
    format: Option<String>,
    /// Some versions put the numbers here.
    #[serde(default)]
    params: Value,
    #[serde(flatten)]
    numbers: BTreeMap<String, Value>,
}

impl Layer {
    fn value(&self, name: &str) -> Option<&Value> {
        self.numbers.get(name).or_else(|| self.params.get(name))
    }

    fn number(&self, name: &str, otherwise: usize) -> usize {
        let found = self.value(name).and_then(Value::as_u64);
        found.map_or(otherwise, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Values that are rotated together, if any are.
    fn rotation(&self) -> Option<usize> {
        let is_rotated = self.value("convrot").and_then(Value::as_bool).unwrap_or(false);
        is_rotated.then(|| self.number("convrot_groupsize", ROTATED))
    }
}

/// Joins the layers that are described.
pub fn join(tensors: &mut TensorTable, notes: &Notes) -> Result<(), CheckpointError> {
    let mut layers = BTreeMap::new();
    if let Some((text, any)) = notes.get(IN_HEADER).zip(tensors.values().next()) {
        let all: Layers = parsed(IN_HEADER, any, text.as_bytes())?;
        for (name, layer) in all.layers {
            layers.extend(stem_of(tensors, &name).map(|stem| (stem, layer)));
        }
    }
    let beside: Vec<String> = tensors
        .keys()
        .filter_map(|name| name.strip_suffix(BESIDE))
        .filter(|stem| stem.is_empty() || stem.ends_with('.'))
        .map(str::to_owned)
        .collect();
    for stem in beside {
        let Some(text) = tensors.remove(&format!("{stem}{BESIDE}")) else { continue };
        if let Some(layer) = description(&format!("{stem}{BESIDE}"), &text)? {
            layers.insert(stem, layer);
        }
    }
    layers.into_iter().try_for_each(|(stem, layer)| join_layer(tensors, &stem, &layer))
}

/// The start of the names of a layer's tensors. The header may name it without the prefix of the model.
fn stem_of(tensors: &TensorTable, layer: &str) -> Option<String> {
    let own = format!("{layer}.weight");
    if tensors.contains_key(&own) {
        return Some(format!("{layer}."));
    }
    let prefixed = format!(".{own}");
    let mut found = tensors.keys().filter(|name| name.ends_with(&prefixed));
    let name = found.next().filter(|_| found.next().is_none())?;
    Some(name.strip_suffix("weight")?.to_owned())
}

/// Joins the matrices of a stack, one for each expert. Each gets the expert's number in its name, before that of the layer.
fn join_stack(
    tensors: &mut TensorTable,
    stem: &str,
    layer: &Layer,
    weight: StoredTensor,
) -> Result<(), CheckpointError> {
    let parts = ["weight_scale", "weight_scale_2"];
    let scales = parts.map(|part| tensors.remove(&format!("{stem}{part}")));
    let experts = weight.shape().first().copied().unwrap_or(0);
    let (before, name) = stem.trim_end_matches('.').rsplit_once('.').unwrap_or(("", stem));
    // Without values, any number of experts could be claimed.
    let is_empty = weight.shape().contains(&0);
    // Bytes of codes have no encoding of their own.
    let Some(bytes) = weight.clone().seen_as(Format::I8).filter(|_| !is_empty) else {
        tensors.insert(format!("{stem}weight"), weight);
        return Ok(());
    };
    for expert in 0..experts {
        let own = |stack: &StoredTensor| {
            let part = stack.parts(expert..expert + 1, experts);
            // A single number counts for all experts.
            let shape = part.shape().get(1..).unwrap_or_default().to_vec();
            part.with_shape(&shape)
        };
        let mut take = |part: &str| {
            let place = parts.iter().position(|known| *known == part)?;
            scales[place].as_ref().map(own)
        };
        let weight = joined(own(&bytes), layer, &mut take)?;
        tensors.insert(format!("{before}.{expert}.{name}.weight"), weight);
    }
    Ok(())
}

fn join_layer(tensors: &mut TensorTable, stem: &str, layer: &Layer) -> Result<(), CheckpointError> {
    let name = format!("{stem}weight");
    let Some(weight) = tensors.remove(&name) else { return Ok(()) };
    if weight.shape().len() == 3 {
        return join_stack(tensors, stem, layer, weight);
    }
    let mut take = |part: &str| tensors.remove(&format!("{stem}{part}"));
    // The scale that inputs are quantized with: Sluice does not quantize them.
    take("input_scale");
    let smoothing = take("pre_quant_scale");
    let joined = joined(weight, layer, &mut take)?;
    let weight = match smoothing {
        Some(factors) => smoothed(joined, &factors)?,
        None => joined,
    };
    tensors.insert(name, weight);
    Ok(())
}

/// The weight with its scales; `take` gives the layer's other tensors.
fn joined(
    weight: StoredTensor,
    layer: &Layer,
    take: &mut impl FnMut(&str) -> Option<StoredTensor>,
) -> Result<StoredTensor, CheckpointError> {
    let is_integer = weight.dtype_name() == "I8";
    // A program that writes only 8-bit integers does not name the format.
    let format = layer.format.as_deref().or(is_integer.then_some("int8_tensorwise")).unwrap_or("none");
    let mut original = weight.clone();
    let values = |format, mut weight: StoredTensor, halved: bool| {
        if halved && let [rows, bytes] = *weight.shape() {
            weight.set_shape(vec![rows, bytes.saturating_mul(2)]);
        }
        weight.seen_as(format)
    };
    let scale = take("weight_scale");
    let result = match format {
        "float8_e4m3fn" => values(Format::F8E4m3, weight, false).map(|weight| scaled(weight, scale)),
        "float8_e5m2" => values(Format::F8E5m2, weight, false).map(|weight| scaled(weight, scale)),
        "int8_tensorwise" => match layer.rotation() {
            None => values(Format::I8, weight, false).map(|weight| scaled(weight, scale)),
            Some(group) => Some(rotated(weight, format, group, 1, scale, Codes::Bytes)),
        },
        "mxfp8" => values(Format::F8E4m3, weight, false).map(|mut weight| {
            match scale {
                Some(scale) => {
                    let form = BlockedForm::Exponent;
                    weight.join_blocked_scales(Format::F8E4m3, MXFP8_GROUP, scale, form, 1.0);
                }
                None => weight.refuse("mxfp8 without scales".to_owned()),
            }
            weight
        }),
        "nvfp4" => {
            let whole = take("weight_scale_2").map(|scale| single(&scale)).transpose()?.flatten();
            values(Format::E2m1, weight, true).map(|mut weight| {
                match (scale, whole) {
                    (Some(scale), Some(whole)) => {
                        let form = BlockedForm::Float;
                        weight.join_blocked_scales(Format::E2m1, NVFP4_GROUP, scale, form, whole);
                    }
                    _ => weight.refuse("nvfp4 without both of its scales".to_owned()),
                }
                weight
            })
        }
        "convrot_w4a4" => {
            let group = layer.number("convrot_groupsize", ROTATED);
            Some(rotated(weight, format, group, 2, scale, Codes::Halves))
        }
        "asym_w4a8_int8" => Some(w4a8(weight, layer, format, take)?),
        other => {
            original.refuse(format!("{other}, a format of ComfyUI"));
            return Ok(original);
        }
    };
    Ok(result.unwrap_or_else(|| {
        original.refuse(format!("{format} in {} of {:?}", original.dtype_name(), original.shape()));
        original
    }))
}

/// With the scales of the tensor or its rows, if it has any.
fn scaled(mut weight: StoredTensor, scale: Option<StoredTensor>) -> StoredTensor {
    if let Some(scale) = scale {
        join_rows(&mut weight, scale, 1.0);
    }
    weight
}

/// Rotated integers, `per_byte` in each byte, with one scale or one per row.
fn rotated(
    mut weight: StoredTensor,
    format: &str,
    group: usize,
    per_byte: usize,
    scales: Option<StoredTensor>,
    codes: impl FnOnce(StoredTensor) -> Codes,
) -> StoredTensor {
    let (rows, columns) = match *weight.shape() {
        [rows, bytes] if weight.raw_bytes() == (rows as u64).saturating_mul(bytes as u64) => {
            (rows, bytes.saturating_mul(per_byte))
        }
        _ => (0, 0),
    };
    let is_rotation =
        (4..=LARGEST_ROTATION).contains(&group) && group.is_power_of_two() && group.ilog2().is_multiple_of(2);
    let fits = |scales: &StoredTensor| {
        let count = scales.elements();
        scales.stored_encoding().is_some_and(|own| own.format.is_wide())
            && (count == 1 || count == rows as u64)
    };
    match scales.filter(fits) {
        Some(scales) if is_rotation && rows > 0 && columns > 0 && columns.is_multiple_of(group) => {
            let name = format!("{format} rotated by {group}");
            let codes = codes(weight.clone());
            weight.repacked_by(Arc::new(Rotated { codes, scales, rows, columns, rotation: group, name }))
        }
        _ => {
            weight.refuse(format!("{format} with groups of {group} or scales that do not fit"));
            weight
        }
    }
}

/// Rotated indices into a table, with a scale per group and one per row.
fn w4a8(
    mut weight: StoredTensor,
    layer: &Layer,
    format: &str,
    take: &mut impl FnMut(&str) -> Option<StoredTensor>,
) -> Result<StoredTensor, CheckpointError> {
    let group = layer.number("group_size", W4A8_GROUP);
    let (relative, rows, table) = (take("weight_s_rel"), take("weight_s_channel"), take("weight_codebook"));
    let table = match table {
        Some(table) if table.elements() == 16 => <[f32; 16]>::try_from(table.values()?).ok(),
        Some(_) => None,
        None => Some(std::array::from_fn(|code| code as f32 - 8.0)),
    };
    // Some files hold the 8-bit floats as plain bytes.
    let relative = relative.and_then(|relative| match relative.dtype_name().as_str() {
        "U8" => relative.seen_as(Format::F8E4m3),
        _ => relative.stored_encoding().is_some().then_some(relative),
    });
    let values = weight.elements().saturating_mul(2);
    let columns = weight.shape().get(1).map_or(0, |bytes| bytes.saturating_mul(2));
    let fits = |relative: &StoredTensor| {
        group > 0
            && group.is_multiple_of(2)
            && columns.is_multiple_of(group)
            && relative.elements().checked_mul(group as u64) == Some(values)
    };
    match (relative.filter(fits), table, take("weight_correction")) {
        (Some(relative), Some(table), None) => {
            let rotation = layer.number("convrot_groupsize", ROTATED);
            Ok(rotated(weight, format, rotation, 2, rows, |codes| {
                Codes::Indices(Box::new(Indices { codes, relative, table, group }))
            }))
        }
        _ => {
            weight.refuse(format!("{format} with a table or scales that do not fit"));
            Ok(weight)
        }
    }
}

/// The only value of a tensor.
fn single(tensor: &StoredTensor) -> Result<Option<f32>, CheckpointError> {
    if tensor.elements() != 1 || tensor.stored_encoding().is_none() {
        return Ok(None);
    }
    Ok(tensor.values()?.first().copied())
}

/// The weight with the factors of its inputs in its columns.
pub(super) fn smoothed(
    mut weight: StoredTensor,
    factors: &StoredTensor,
) -> Result<StoredTensor, CheckpointError> {
    if weight.stored_encoding().is_none() {
        return Ok(weight);
    }
    let fits = matches!(*weight.shape(), [_, columns] if columns as u64 == factors.elements());
    if !fits || factors.stored_encoding().is_none() {
        weight.refuse(format!("{} with input scales that do not fit", weight.dtype_name()));
        return Ok(weight);
    }
    let name = format!("{} with scaled inputs", weight.dtype_name());
    let factors = factors.values()?;
    Ok(weight.clone().repacked_by(Arc::new(Smoothed { weight, factors, name })))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use candle_core::{DType, Device};

    use crate::checkpoint::{TensorTable, read_header};

    /// A stack of this shape and these values, with one scale of 2.
    fn stack(shape: &str, values: &[u8]) -> TensorTable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stack.safetensors");
        let note = br#"{"format": "float8_e4m3fn"}"#;
        let ends = [values.len(), values.len() + 4, values.len() + 4 + note.len()];
        let header = format!(
            r#"{{"a.up.weight": {{"dtype": "F8_E4M3", "shape": {shape}, "data_offsets": [0, {}]}},
            "a.up.weight_scale": {{"dtype": "F32", "shape": [], "data_offsets": [{}, {}]}},
            "a.up.comfy_quant": {{"dtype": "U8", "shape": [{}], "data_offsets": [{}, {}]}}}}"#,
            ends[0],
            ends[0],
            ends[1],
            note.len(),
            ends[1],
            ends[2],
        );
        let length = (header.len() as u64).to_le_bytes();
        let parts = [&length, header.as_bytes(), values, &2f32.to_le_bytes(), note];
        fs::write(&path, parts.concat()).unwrap();
        read_header(&path).unwrap()
    }

    #[test]
    fn a_stack_without_values_is_not_joined_for_any_number_of_experts() {
        let tensors = stack("[1099511627776, 0, 1]", &[]);
        assert_eq!(tensors["a.up.weight"].shape(), [1 << 40, 0, 1]);
        assert!(!tensors.contains_key("a.0.up.weight"));
    }

    #[test]
    fn experts_of_a_stack_share_a_scale_that_is_one_number() {
        let tensors = stack("[2, 1, 2]", &[0x38, 0x40, 0x40, 0x38]);
        for (name, expected) in [("a.0.up.weight", [2.0, 4.0]), ("a.1.up.weight", [4.0, 2.0])] {
            let tensor = tensors[name].load(&Device::Cpu).unwrap().to_dtype(DType::F32).unwrap();
            assert_eq!(tensor.to_vec2::<f32>().unwrap(), [expected], "{name}");
        }
    }
}
