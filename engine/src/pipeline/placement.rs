//! Which components keep their weights in memory between uses.

use candle_core::DType;

use crate::{checkpoint::Component, residency::Residency};

/// Part of the memory that weights may take, as a fraction of what is available.
const SHARE: f64 = 0.7;

/// Decides for each component, given the bytes of memory that are available: those that fit stay, in the
/// order of `components`; the others are read again whenever they are needed.
pub fn residencies<const N: usize>(components: [(&Component, DType); N], available: u64) -> [Residency; N] {
    let mut left = (available as f64 * SHARE) as u64;
    components.map(|(component, dtype)| {
        let parameters: u64 = component.blocks.iter().map(|block| block.parameters()).sum();
        let bytes = parameters * dtype.size_in_bytes() as u64;
        if bytes <= left {
            left -= bytes;
            Residency::Resident
        } else {
            Residency::Streamed
        }
    })
}
