//! The machine's first NVIDIA card.

use std::sync::{Arc, OnceLock};

use candle_core::DType;

use super::{Card, IN_BLOCKS, Link, PipelineError};
use crate::{pipeline::ceilings::ceilings, residency::cuda::CudaMemory};

/// Seconds until the first byte of a transfer arrives.
const LATENCY: f64 = 20e-6;
/// Bytes and operations a second of a card on eight lanes of PCIe 4, where they could not be measured because it is full.
const GUESS: [f64; 2] = [12e9, 3e13];

/// Makes sure that there is one.
///
/// # Errors
/// When there is none, or the driver does not answer.
pub fn ready() -> Result<(), PipelineError> {
    CudaMemory::of_card(0).map(|_| ()).map_err(PipelineError::Card)
}

/// The card, and what it has at this moment.
///
/// # Errors
/// As those of [`ready`].
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    static RATES: OnceLock<[f64; 2]> = OnceLock::new();
    let memory = CudaMemory::of_card(0).map_err(PipelineError::Card)?;
    let state = memory.state().map_err(PipelineError::Card)?;
    let [link, operations] =
        *RATES.get_or_init(|| match ceilings(&state.name, memory.as_ref(), DType::BF16) {
            Ok(measured) => [measured.pinned_bytes_per_second, measured.operations_per_second],
            Err(error) => {
                tracing::warn!(%error, "the card's speed could not be measured");
                GUESS
            }
        });
    Ok(Some(Card {
        name: state.name,
        total: state.total,
        available: state.free + state.reserved,
        link: Link { bytes_per_second: link, latency: LATENCY },
        operations_per_second: IN_BLOCKS * operations,
        memory: Arc::clone(&memory) as _,
    }))
}
