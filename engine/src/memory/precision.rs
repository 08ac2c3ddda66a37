//! What weights take when they are stored in fewer bits.

use super::{BlockFootprint, ComponentFootprint, Footprint, Quality};
use crate::checkpoint::Role;

/// A way of storing matrices. Norms, biases and embeddings stay as they are, and so do autoencoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// As in the checkpoint.
    Stored,
    /// Eight-bit floating point, widened on the device: 1 byte a weight.
    Fp8,
    /// Eight-bit integers: 1 byte a weight. The scale of each row, 4 bytes for thousands of weights, is left
    /// out.
    Int8,
    /// Four-bit normal floats (Dettmers et al. 2023, arXiv:2305.14314) with a 4-byte scale for each 64
    /// weights, not quantised again: 0.5625 bytes a weight.
    Nf4,
}

impl Precision {
    /// How near pictures come.
    pub(super) fn quality(self) -> Quality {
        match self {
            Self::Stored => Quality::Exact,
            Self::Fp8 | Self::Int8 => Quality::EightBit,
            Self::Nf4 => Quality::FourBit,
        }
    }

    /// A model stored this way. What is smaller already does not grow.
    pub(super) fn store(self, footprint: &Footprint) -> Footprint {
        let components = footprint.components.iter().map(|component| match component.role {
            Role::Autoencoder => component.clone(),
            Role::TextEncoder | Role::Denoiser => self.store_component(component),
        });
        Footprint { model: footprint.model.clone(), components: components.collect() }
    }

    fn store_component(self, component: &ComponentFootprint) -> ComponentFootprint {
        let blocks = component.blocks.iter().map(|block| self.store_block(block)).collect();
        ComponentFootprint { blocks, ..component.clone() }
    }

    fn store_block(self, block: &BlockFootprint) -> BlockFootprint {
        let stored = match self {
            Self::Stored => block.matrix_bytes,
            Self::Fp8 | Self::Int8 => block.matrix_parameters,
            Self::Nf4 => block.matrix_parameters / 2 + block.matrix_parameters.div_ceil(64).saturating_mul(4),
        };
        let matrix_bytes = stored.min(block.matrix_bytes);
        let bytes = block.bytes.saturating_sub(block.matrix_bytes - matrix_bytes);
        let shrunk = u128::from(block.largest_tensor) * u128::from(matrix_bytes);
        let largest = shrunk.checked_div(block.matrix_bytes.into()).unwrap_or(block.largest_tensor.into());
        let largest_tensor = u64::try_from(largest).unwrap_or(u64::MAX).min(bytes);
        BlockFootprint { bytes, largest_tensor, matrix_bytes, ..block.clone() }
    }
}
