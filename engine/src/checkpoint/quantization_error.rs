//! The quantization error of a component in each storage, measured on a sample of its matrices.

use std::collections::BTreeMap;

use super::{CheckpointError, Component, StoredTensor, quantization::encoding_of};
use crate::precision::{Encoding, Packed, Storage, encode};

/// Storage → root mean square error of the weights, relative to the root mean square of the weights.
pub type Errors = BTreeMap<Storage, f64>;

/// Maximum number of sampled matrices, spread evenly over all of them.
const MATRICES: usize = 48;
/// Sampled rows per matrix, spread evenly.
const ROWS: usize = 4;

/// Sums of squares.
#[derive(Default, Clone, Copy)]
struct Sums {
    values: f64,
    errors: f64,
}

/// Measures a few rows of a few matrices of a component, so that it takes a fraction of a second for any
/// model. Skips storages that would change nothing.
///
/// # Errors
/// Fails if the weights cannot be read.
pub fn sampled_errors(component: &Component) -> Result<Errors, CheckpointError> {
    let tensors = component.blocks.iter().flat_map(|block| {
        block.tensors.iter().map(|(name, tensor)| (format!("{}{name}", block.prefix), tensor))
    });
    let smaller = |name: &str, tensor: &StoredTensor| -> Vec<(Storage, Encoding)> {
        let count = tensor.elements() as usize;
        let stored = tensor.stored_encoding().map_or(0, |encoding| encoding.bytes(count));
        let encoded = |storage| Some((storage, encoding_of(storage, name, tensor)?));
        Storage::smaller()
            .filter_map(encoded)
            .filter(|(_, encoding)| encoding.bytes(count) < stored)
            .collect()
    };
    let matrices: Vec<_> = tensors
        .map(|(name, tensor)| (smaller(&name, tensor), tensor))
        .filter(|(smaller, _)| !smaller.is_empty())
        .collect();
    let mut sums: BTreeMap<Storage, Sums> = BTreeMap::new();
    let looked_at = matrices.len().min(MATRICES);
    for index in 0..looked_at {
        let (encodings, tensor) = &matrices[index * matrices.len() / looked_at];
        let rows = tensor.shape()[0];
        for row in 0..rows.min(ROWS) {
            // Spreads the rows over the parts of a concatenated matrix.
            let values = values_of(tensor, (2 * row + 1) * rows / (2 * rows.min(ROWS)))?;
            for (storage, encoding) in encodings {
                sums.entry(*storage).or_default().add(*encoding, &values);
            }
        }
    }
    let error = |sums: Sums| if sums.values > 0.0 { (sums.errors / sums.values).sqrt() } else { 0.0 };
    Ok(sums.into_iter().map(|(storage, sums)| (storage, error(sums))).collect())
}

fn values_of(tensor: &StoredTensor, row: usize) -> Result<Vec<f32>, CheckpointError> {
    let mut values = Vec::new();
    tensor.row(row)?.widened::<CheckpointError>(|_, piece| {
        values.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(values)
}

impl Sums {
    /// Adds a row. A per-matrix scale is taken from the row alone: the relative error of floats does not
    /// depend on it.
    fn add(&mut self, encoding: Encoding, values: &[f32]) {
        let encoding = match encoding.group {
            Some(group) if group.get() > values.len() => Encoding::scaled(encoding.format, values.len()),
            _ => encoding,
        };
        let Some(bytes) = encode(encoding, values) else { return };
        let Some(packed) = Packed::new(encoding, values.len(), &bytes) else { return };
        let mut back = vec![0.0; values.len()];
        packed.widen(0, &mut back);
        for (value, back) in values.iter().zip(&back) {
            self.values += f64::from(*value).powi(2);
            self.errors += f64::from(value - back).powi(2);
        }
    }
}
