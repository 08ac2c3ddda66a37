//! The machine's NVIDIA GPUs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use candle_core::DType;

use super::{Card, HardwareSample, Link, PipelineError};
use crate::{
    nn,
    pipeline::{copy, multiply, transfer},
    residency::{
        DeviceMemory,
        cuda::{CudaMemory, ordinal_of},
    },
};

/// Part of the speed of a matrix product that whole blocks reach.
const IN_BLOCKS: f64 = 0.75;
/// Latency of a transfer in seconds.
const LATENCY: f64 = 20e-6;
/// The assumed speed of a GPU that has no free memory to measure it: eight lanes of PCIe 4.
const GUESS: Speed = Speed { link: 12e9, halves: 3e13, singles: 1e13, memory: 3e11 };

/// The maximum speed of a GPU.
#[derive(Clone, Copy)]
struct Speed {
    /// Bytes per second from pinned memory.
    link: f64,
    /// Operations per second in matrix products of f16 or bf16.
    halves: f64,
    /// Operations per second in matrix products of f32.
    singles: f64,
    /// Bytes per second that its memory reads or writes.
    memory: f64,
}

impl Speed {
    /// Takes at most half a second, because a user waits for it.
    fn measure(memory: &CudaMemory) -> candle_core::Result<Self> {
        const SIDE: usize = 4096;
        const TIME: Duration = Duration::from_millis(60);
        let rate = |dtype| multiply(memory.device(), dtype, &[SIDE], TIME).map(|(_, rate)| rate);
        Ok(Self {
            link: transfer(memory, memory, TIME)?,
            halves: rate(DType::F16)?,
            singles: rate(DType::F32)?,
            memory: copy(memory.device(), TIME)?,
        })
    }
}

/// Checks that there is a GPU that can be used.
///
/// # Errors
/// When there is none, or the driver does not respond.
pub fn ready() -> Result<(), PipelineError> {
    CudaMemory::of_card(0).map(|_| ()).map_err(PipelineError::Card)
}

/// The first GPU in the driver's order, and its current free memory.
///
/// # Errors
/// The same as for [`ready`].
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    with_ordinal(0).map(Some)
}

/// The GPU with a number in the order of `sample`, and its current free memory.
///
/// # Errors
/// If there is no such GPU, and the same as for [`ready`].
pub fn numbered_card(number: u32, sample: &HardwareSample) -> Result<Card, PipelineError> {
    let gpu = sample.gpus.get(number as usize);
    let ordinal = match gpu.and_then(|gpu| gpu.uuid.as_deref()) {
        Some(uuid) => ordinal_of(uuid).map_err(PipelineError::Card)?,
        // Without NVML, CUDA's own order counts.
        None if sample.gpus.is_empty() => Some(number),
        None => gpu.map(|_| number),
    };
    let found = || sample.gpus.iter().map(|gpu| gpu.name.clone()).collect();
    let missing = || PipelineError::NoSuchGpu { number, found: found(), computes_on_gpus: true };
    with_ordinal(ordinal.ok_or_else(missing)?)
}

fn with_ordinal(ordinal: u32) -> Result<Card, PipelineError> {
    // Measured only once, because it takes memory that a run may need.
    static SPEEDS: Mutex<Option<HashMap<u32, Speed>>> = Mutex::new(None);
    let memory = CudaMemory::of_card(ordinal).map_err(PipelineError::Card)?;
    let state = memory.state().map_err(PipelineError::Card)?;
    let mut speeds = SPEEDS.lock().unwrap_or_else(PoisonError::into_inner);
    let speed = *speeds.get_or_insert_default().entry(ordinal).or_insert_with(|| {
        Speed::measure(&memory).unwrap_or_else(|error| {
            tracing::warn!(%error, "the GPU's speed could not be measured");
            GUESS
        })
    });
    Ok(Card {
        has_bf16: state.has_bf16,
        has_kernels: nn::cuda::serves(memory.device()),
        name: state.name,
        total: state.total,
        available: state.free + state.reserved,
        link: Some(Link { bytes_per_second: speed.link, latency: LATENCY }),
        allocates: 1.0,
        operations_per_second: IN_BLOCKS * speed.halves,
        f32_operations_per_second: IN_BLOCKS * speed.singles,
        memory_bytes_per_second: speed.memory,
        memory: Arc::clone(&memory) as _,
    })
}
