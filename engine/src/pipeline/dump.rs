//! Records the tensors of every stage, for comparison with other programs.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use candle_core::{DType, Device, Tensor};

use super::PipelineError;
use crate::hardware::unmetered;

/// Copies a tensor outside the accounting of the run's activations; floats as f32.
pub fn aside(tensor: &Tensor) -> candle_core::Result<Tensor> {
    unmetered(|| {
        let kept = if tensor.dtype().is_float() { tensor.to_dtype(DType::F32)? } else { tensor.clone() };
        kept.force_contiguous()
    })
}

/// Collects tensors by name, if a file was requested.
pub struct Dump {
    path: Option<PathBuf>,
    tensors: HashMap<String, Tensor>,
}

impl Dump {
    /// A recorder for `path`, or one that records nothing. Fails immediately if the file cannot be created.
    pub fn new(path: Option<&Path>) -> Result<Self, PipelineError> {
        if let Some(path) = path {
            std::fs::File::create(path)
                .map_err(|error| PipelineError::Dump { path: path.to_owned(), reason: error.to_string() })?;
        }
        Ok(Self { path: path.map(Path::to_owned), tensors: HashMap::new() })
    }

    /// Whether tensors are recorded.
    pub fn is_recording(&self) -> bool {
        self.path.is_some()
    }

    /// Records a tensor; floats as f32.
    pub fn add(&mut self, name: impl Into<String>, tensor: &Tensor) -> candle_core::Result<()> {
        if self.is_recording() {
            self.tensors.insert(name.into(), aside(tensor)?);
        }
        Ok(())
    }

    /// Records token ids `[rows, tokens]`; all rows have the same length.
    pub fn add_ids(&mut self, name: impl Into<String>, rows: &[&[u32]]) -> candle_core::Result<()> {
        let ids: Vec<i64> = rows.concat().into_iter().map(i64::from).collect();
        let shape = (rows.len(), ids.len() / rows.len().max(1));
        self.add(name, &Tensor::from_vec(ids, shape, &Device::Cpu)?)
    }

    /// Writes the recorded tensors.
    pub fn write(self) -> Result<(), PipelineError> {
        let Some(path) = self.path else { return Ok(()) };
        candle_core::safetensors::save(&self.tensors, &path)
            .map_err(|error| PipelineError::Dump { path, reason: error.to_string() })
    }
}
