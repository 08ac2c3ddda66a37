//! The machine's first NVIDIA card.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use candle_core::DType;

use super::{Card, IN_BLOCKS, Link, PipelineError};
use crate::{
    pipeline::{multiply, transfer},
    residency::{DeviceMemory, cuda::CudaMemory},
};

/// Seconds until the first byte of a transfer arrives.
const LATENCY: f64 = 20e-6;
/// A card on eight lanes of PCIe 4, where the one here could not be measured because it is full.
const GUESS: Speed = Speed { link: 12e9, halves: 3e13, singles: 1e13 };

/// What a card does at most.
#[derive(Clone, Copy)]
struct Speed {
    /// Bytes a second from pinned memory.
    link: f64,
    /// Operations a second in products of f16, which are those of bf16 too.
    halves: f64,
    /// The same of f32.
    singles: f64,
}

impl Speed {
    /// Within half a second, as somebody waits for it.
    fn measure(memory: &CudaMemory) -> candle_core::Result<Self> {
        const SIDE: usize = 4096;
        const TIME: Duration = Duration::from_millis(60);
        let rate = |dtype| multiply(memory.device(), dtype, &[SIDE], TIME).map(|(_, rate)| rate);
        Ok(Self {
            link: transfer(memory, memory, TIME)?,
            halves: rate(DType::F16)?,
            singles: rate(DType::F32)?,
        })
    }
}

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
    // Once, as it takes memory that a run may need.
    static SPEED: OnceLock<Speed> = OnceLock::new();
    let memory = CudaMemory::of_card(0).map_err(PipelineError::Card)?;
    let state = memory.state().map_err(PipelineError::Card)?;
    let speed = *SPEED.get_or_init(|| {
        Speed::measure(&memory).unwrap_or_else(|error| {
            tracing::warn!(%error, "the card's speed could not be measured");
            GUESS
        })
    });
    Ok(Some(Card {
        has_bf16: state.has_bf16,
        name: state.name,
        total: state.total,
        available: state.free + state.reserved,
        link: Link { bytes_per_second: speed.link, latency: LATENCY },
        operations_per_second: IN_BLOCKS * speed.halves,
        f32_operations_per_second: IN_BLOCKS * speed.singles,
        memory: Arc::clone(&memory) as _,
    }))
}
