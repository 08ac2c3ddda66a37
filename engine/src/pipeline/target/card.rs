//! The machine's first NVIDIA card.

use std::sync::{Arc, OnceLock};

use super::{Card, IN_BLOCKS, Link, PipelineError};
use crate::residency::cuda::{Ceilings, CudaMemory, measure};

/// Seconds until the first byte of a transfer arrives.
const LATENCY: f64 = 20e-6;
/// What a card on eight lanes of PCIe 4 has, where it could not be measured because it is full.
const GUESS: Ceilings = Ceilings { pinned: 12e9, pageable: 6e9, operations: 3e13 };

/// The card, and what it has at this moment.
///
/// # Errors
/// When there is none, or the driver does not answer.
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    static CEILINGS: OnceLock<Ceilings> = OnceLock::new();
    let memory = CudaMemory::of_card(0).map_err(PipelineError::Card)?;
    let ceilings = CEILINGS.get_or_init(|| {
        measure(&memory).unwrap_or_else(|error| {
            tracing::warn!(%error, "the card's speed could not be measured");
            GUESS
        })
    });
    let state = memory.state().map_err(PipelineError::Card)?;
    Ok(Some(Card {
        name: state.name,
        total: state.total,
        available: state.free + state.reserved,
        link: Link { bytes_per_second: ceilings.pinned, latency: LATENCY },
        operations_per_second: IN_BLOCKS * ceilings.operations,
        memory: Arc::clone(&memory) as _,
    }))
}
