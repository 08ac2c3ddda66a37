//! Weights that other programs store as several tensors: values, scales, and a description. Each is joined to
//! one [`StoredTensor`] under the weight's name.
//!
//! Weights stay as stored, in memory and on the link; only those that expect scaled inputs are held as floats.
//! Formats that only certain GPUs compute with are refused by name.

mod affine;
mod bitsandbytes;
mod comfy;
mod mxfp4;
mod refused;
mod rotated;
mod torchao;

use serde::de::DeserializeOwned;

use comfy::smoothed;

use super::{CheckpointError, StoredTensor, TensorTable, safetensors::Notes};
use crate::precision::Format;

/// The longest description of a quantized tensor that is read.
const LONGEST_STATE: u64 = 1 << 16;

/// Joins the parts of quantized weights. `notes` is the metadata of the files' headers.
///
/// # Errors
/// Fails if a description cannot be read, or if the weights are stored in a way that is refused.
pub fn join(tensors: &mut TensorTable, notes: &Notes) -> Result<(), CheckpointError> {
    refused::refuse_foreign(tensors)?;
    torchao::join(tensors, notes)?;
    comfy::join(tensors, notes)?;
    mxfp4::join(tensors);
    attach_scales(tensors);
    bitsandbytes::join(tensors)
}

/// Attaches scales, per tensor or per row, to 8-bit weights under the names that ComfyUI uses.
fn attach_scales(tensors: &mut TensorTable) {
    let narrow =
        tensors.iter().filter(|(name, tensor)| name.ends_with("weight") && narrow_format(tensor).is_some());
    let names: Vec<String> = narrow.map(|(name, _)| name.clone()).collect();
    for name in names {
        let stem = name.strip_suffix("weight").unwrap_or(&name);
        let scale = [format!("{stem}scale_weight"), format!("{name}_scale")];
        if tensors
            .get(&name)
            .is_none_or(|weight| weight.stored_encoding().is_some_and(|own| own.group.is_some()))
        {
            continue;
        }
        let Some(scale) = scale.iter().find_map(|name| tensors.remove(name)) else { continue };
        if let Some(weight) = tensors.get_mut(&name) {
            join_rows(weight, scale, 1.0);
        }
    }
}

/// The format of 8-bit values.
fn narrow_format(tensor: &StoredTensor) -> Option<Format> {
    match tensor.dtype_name().as_str() {
        "F8_E4M3" => Some(Format::F8E4m3),
        "F8_E5M2" => Some(Format::F8E5m2),
        "I8" => Some(Format::I8),
        _ => None,
    }
}

/// Joins scales of the whole tensor or of its rows, multiplied by a number.
fn join_rows(weight: &mut StoredTensor, scale: StoredTensor, factor: f32) {
    let Some(format) = narrow_format(weight) else { return };
    let rows = weight.shape().first().copied().unwrap_or(1) as u64;
    let values = weight.elements();
    let group = match scale.elements() {
        1 => values,
        count if count == rows => values / rows.max(1),
        _ => 0,
    };
    weight.join_scales_times(format, group as usize, scale, factor);
}

/// Parses the description of a tensor; `None` if it is too long to be one.
fn description<T: DeserializeOwned>(name: &str, tensor: &StoredTensor) -> Result<Option<T>, CheckpointError> {
    if tensor.raw_bytes() > LONGEST_STATE {
        return Ok(None);
    }
    parsed(name, tensor, &tensor.read_raw()?).map(Some)
}

/// Parses JSON about a tensor.
fn parsed<T: DeserializeOwned>(name: &str, tensor: &StoredTensor, text: &[u8]) -> Result<T, CheckpointError> {
    serde_json::from_slice(text).map_err(|error| {
        let reason = format!("its entry for {name} cannot be parsed: {error}");
        CheckpointError::Header { path: tensor.path().to_owned(), reason }
    })
}
