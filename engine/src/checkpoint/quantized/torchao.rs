//! torchao's weights in safetensors files, as diffusers and transformers save them: the metadata of the header
//! has an entry per tensor with its class, and the tensors `NAME._weight_qdata`, `NAME._weight_scale` and so on
//! (torchao 0.18, `prototype/safetensors`).

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;

use super::{
    CheckpointError, StoredTensor, TensorTable,
    affine::{Affine, Integers, Zeros},
    join_rows, narrow_format, parsed, smoothed,
};
use crate::{
    checkpoint::safetensors::Notes,
    precision::{Encoding, Format},
};

/// The list of all tensors in the metadata.
const NAMES: &str = "tensor_names";
/// The class of a tensor that is not quantized.
const PLAIN: &str = "Tensor";

/// The entry of a tensor.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "_type")]
    class: String,
    #[serde(rename = "_data", default)]
    attributes: Attributes,
}

/// What an entry says about a tensor; classes that do not need one of these do not have it.
#[derive(Debug, Default, Deserialize)]
struct Attributes {
    #[serde(default)]
    block_size: Vec<usize>,
    #[serde(default)]
    shape: Vec<usize>,
}

type Parts = BTreeMap<String, StoredTensor>;

/// Joins weights of floats and integers; marks others with the name of their class.
pub fn join(tensors: &mut TensorTable, notes: &Notes) -> Result<(), CheckpointError> {
    let Some((names, any)) = notes.get(NAMES).zip(tensors.values().next().cloned()) else { return Ok(()) };
    let names: Vec<String> = parsed(NAMES, &any, names.as_bytes())?;
    for name in names {
        let Some(entry) = notes.get(&name) else { continue };
        let Entry { class, attributes } = parsed(&name, &any, entry.as_bytes())?;
        let Some((module, own)) = name.rsplit_once('.').filter(|_| class != PLAIN) else { continue };
        let start = format!("{module}._{own}_");
        let of_weight: Vec<String> = tensors.keys().filter(|key| key.starts_with(&start)).cloned().collect();
        let mut parts: Parts = of_weight
            .iter()
            .filter_map(|key| Some((key[start.len()..].to_owned(), tensors.remove(key)?)))
            .collect();
        let Some(weight) = parts.remove("qdata") else { continue };
        let factors = parts.remove("act_pre_scale");
        let mut weight = joined(weight, &class, &attributes, parts)?;
        if let Some(factors) = factors {
            weight = smoothed(weight, &factors)?;
        }
        tensors.insert(name, weight);
    }
    Ok(())
}

/// The weight with its scales and zero points.
fn joined(
    mut weight: StoredTensor,
    class: &str,
    attributes: &Attributes,
    mut parts: Parts,
) -> Result<StoredTensor, CheckpointError> {
    let scales = parts.remove("scale");
    let zeros = parts.remove("zero_point");
    let both = parts.remove("scale_and_zero");
    let fitting = match (class, scales, zeros, both) {
        ("Float8Tensor" | "Int8Tensor" | "IntxUnpackedToInt8Tensor", Some(scales), zeros, None) => {
            match zeros.map_or(Ok(None), |zeros| Ok(if is_zero(&zeros)? { None } else { Some(zeros) }))? {
                None => {
                    join_groups(&mut weight, scales);
                    return Ok(weight);
                }
                Some(zeros) => of_bytes(&weight, scales, zeros),
            }
        }
        ("Int4Tensor", Some(scales), Some(zeros), None) => of_halves(&weight, attributes, scales, zeros),
        ("Int4TilePackedTo4dTensor", None, None, Some(both)) => of_tiles(&weight, attributes, both),
        _ => {
            weight.refuse(format!("{class} of torchao"));
            return Ok(weight);
        }
    };
    Ok(match fitting {
        Some(affine) => weight.repacked_by(Arc::new(affine)),
        None => {
            weight.refuse(format!("{class} of torchao whose scales or zero points do not fit"));
            weight
        }
    })
}

/// Whether it has floats, or bytes that are seen as integers, as many as expected.
fn has(tensor: &StoredTensor, count: usize) -> bool {
    let is_number = |own: Encoding| own.format.is_wide() || own == Format::I8.into();
    tensor.stored_encoding().is_some_and(is_number) && tensor.elements() == count as u64
}

/// Integers of 8 bits whose zero points are integers, too.
fn of_bytes(codes: &StoredTensor, scales: StoredTensor, zeros: StoredTensor) -> Option<Affine> {
    let [rows, columns] = *codes.shape() else { return None };
    let zeros = if zeros.dtype_name() == "I8" { zeros.seen_as(Format::I8)? } else { zeros };
    let count = scales.elements() as usize;
    let group = match count {
        1 => columns,
        _ if count.is_multiple_of(rows.max(1)) => columns / (count / rows.max(1)).max(1),
        _ => 0,
    };
    let fits = group > 0
        && (count == 1 || rows * columns.div_ceil(group) == count)
        && codes.raw_bytes() == (rows * columns) as u64
        && has(&scales, count)
        && has(&zeros, count);
    fits.then(|| Affine {
        integers: Integers::Bytes,
        codes: codes.clone(),
        zeros: Zeros::Subtracted { scales, zeros },
        rows,
        columns,
        group,
        name: "int8 with zero points".to_owned(),
    })
}

/// The rows and columns of a matrix of 4-bit integers, and how many share a scale.
fn grouped(attributes: &Attributes) -> Option<(usize, usize, usize)> {
    let (&[rows, columns], &[1, group]) = (&*attributes.shape, &*attributes.block_size) else { return None };
    let fits = group > 0 && rows > 0 && columns > 0 && columns.is_multiple_of(group);
    (fits && rows.checked_mul(columns).is_some() && columns.is_multiple_of(2))
        .then_some((rows, columns, group))
}

/// Integers of 4 bits, row by row (`int4/int4_tensor.py`).
fn of_halves(
    codes: &StoredTensor,
    attributes: &Attributes,
    scales: StoredTensor,
    zeros: StoredTensor,
) -> Option<Affine> {
    let (rows, columns, group) = grouped(attributes)?;
    let groups = rows * (columns / group);
    let fits =
        codes.raw_bytes() == (rows * columns / 2) as u64 && has(&scales, groups) && has(&zeros, groups);
    fits.then(|| Affine {
        integers: Integers::Halves,
        codes: codes.clone(),
        zeros: Zeros::Added { scales, zeros },
        rows,
        columns,
        group,
        name: "int4 of torchao".to_owned(),
    })
}

/// Integers of 4 bits in tiles, padded with rows and columns (`int4/int4_tile_packed_to_4d_tensor.py`). AMD's
/// GPUs have other tiles in tensors of the same shape; nothing in the file tells them apart, and these are
/// read as NVIDIA's.
fn of_tiles(codes: &StoredTensor, attributes: &Attributes, both: StoredTensor) -> Option<Affine> {
    let (rows, columns, group) = grouped(attributes)?;
    let (&[bands, tiles, 32, 4], &[groups, all, 2]) = (codes.shape(), both.shape()) else { return None };
    let padded = tiles.checked_mul(128)?;
    let fits = columns <= padded
        && rows <= all
        && all == bands.checked_mul(8)?
        && groups == padded / group
        && padded.is_multiple_of(group)
        && codes.raw_bytes() == all.checked_mul(padded)? as u64 / 2
        && has(&both, groups.checked_mul(all)?.checked_mul(2)?);
    fits.then(|| Affine {
        integers: Integers::Tiles { padded },
        codes: codes.clone(),
        zeros: Zeros::InTurns { both, rows: all },
        rows,
        columns,
        group,
        name: "int4 of torchao in tiles".to_owned(),
    })
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
