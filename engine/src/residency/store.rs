//! The weights of one component, block by block.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
};

use candle_core::{DType, Device};

use super::Weights;
use crate::checkpoint::{CheckpointError, Component};

/// What happens to a block's weights when its forward pass is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residency {
    /// They stay.
    Resident,
    /// They go, and are read again for the next pass.
    Streamed,
}

/// Gives out the weights of a component's blocks, reading them from disk when they are not here.
#[derive(Debug)]
pub struct WeightStore {
    component: Component,
    dtype: DType,
    device: Device,
    residency: Vec<Residency>,
    resident: Mutex<Vec<Option<Arc<Weights>>>>,
}

/// The weights of one block for the time of a forward pass.
#[derive(Debug)]
pub struct Lease {
    weights: Arc<Weights>,
}

impl Deref for Lease {
    type Target = Weights;

    fn deref(&self) -> &Weights {
        &self.weights
    }
}

impl WeightStore {
    /// A store that has read nothing yet. `residency` decides for each block, by its number.
    pub fn new(
        component: Component,
        dtype: DType,
        device: Device,
        residency: impl Fn(usize) -> Residency,
    ) -> Self {
        let residency: Vec<_> = (0..component.blocks.len()).map(residency).collect();
        let resident = Mutex::new(vec![None; residency.len()]);
        Self { component, dtype, device, residency, resident }
    }

    /// What the store gives out.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// The dtype in which weights are given out.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where weights are given out.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The weights of block `index`, read from disk unless they are here.
    ///
    /// # Errors
    /// When the file has become unreadable or shorter since it was opened.
    pub fn lease(&self, index: usize) -> Result<Lease, CheckpointError> {
        let here = self.resident.lock().unwrap_or_else(PoisonError::into_inner)[index].clone();
        if let Some(weights) = here {
            return Ok(Lease { weights });
        }
        let block = &self.component.blocks[index];
        let mut tensors = HashMap::with_capacity(block.tensors.len());
        for (name, stored) in &block.tensors {
            tensors.insert(name.clone(), stored.load(self.dtype, &self.device)?);
        }
        let weights = Arc::new(Weights::new(tensors));
        if self.residency[index] == Residency::Resident {
            let mut resident = self.resident.lock().unwrap_or_else(PoisonError::into_inner);
            resident[index] = Some(Arc::clone(&weights));
        }
        Ok(Lease { weights })
    }

    /// Lets go of all weights; leases that are out keep theirs.
    pub fn evict(&self) {
        self.resident.lock().unwrap_or_else(PoisonError::into_inner).fill(None);
    }

    /// Bytes of weights that are here.
    pub fn resident_bytes(&self) -> u64 {
        let resident = self.resident.lock().unwrap_or_else(PoisonError::into_inner);
        resident.iter().flatten().map(|weights| weights.bytes()).sum()
    }
}
