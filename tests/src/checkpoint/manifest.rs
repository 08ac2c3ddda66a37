//! Tensors that a manifest describes, and whose values are hashes of their names.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Result, ensure};
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;

use super::read_json;
use crate::{hash_weights, original_names::Tensors};

/// A row of a manifest: dtype, shape and, unless it is 1, scale.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Row {
    Plain(String, Vec<usize>),
    Scaled(String, Vec<usize>, f32),
}

#[derive(Debug, Clone, Deserialize)]
struct Entry {
    seed: String,
    tensors: BTreeMap<String, Row>,
}

impl Entry {
    fn tensors(&self) -> Result<Tensors> {
        let mut tensors = Tensors::new();
        for (name, row) in &self.tensors {
            let (dtype, shape, scale) = match row {
                Row::Plain(dtype, shape) => (dtype, shape, 1.0),
                Row::Scaled(dtype, shape, scale) => (dtype, shape, *scale),
            };
            if dtype == "I64" {
                // The count of a batch norm, which changes nothing.
                let count = Tensor::zeros(shape.as_slice(), DType::I64, &Device::Cpu)?;
                tensors.insert(name.clone(), count);
                continue;
            }
            ensure!(dtype == "F32", "{name} is {dtype}");
            let values = hash_weights::weight(&format!("{}.{name}", self.seed), shape, scale);
            tensors.insert(name.clone(), Tensor::from_vec(values, shape.as_slice(), &Device::Cpu)?);
        }
        Ok(tensors)
    }
}

/// The tensors of every weight file in the `manifest.json` of `folder`, by the file's path.
pub fn manifest_tensors(folder: &Path) -> Result<BTreeMap<String, Tensors>> {
    let manifest: BTreeMap<String, Entry> = read_json(&folder.join("manifest.json"))?;
    manifest.iter().map(|(path, entry)| Ok((path.clone(), entry.tensors()?))).collect()
}
