//! The GPU of a Mac with one of Apple's chips.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use candle_core::{DType, Device};

use super::{Card, HardwareSample, PipelineError};
use crate::{
    hardware::total_memory,
    pipeline::{copy, multiply},
    residency::{DeviceMemory as _, metal::MetalMemory},
};

/// Part of the speed of a matrix product that whole blocks reach, as on other GPUs.
const IN_BLOCKS: f64 = 0.75;
/// The tensor library rounds what it allocates up to powers of two: twice what is computed with at most.
const ROUNDED: f64 = 2.0;
/// The assumed speed of a GPU that has no free memory to measure it: an M1.
const GUESS: Speed = Speed { halves: 2e12, singles: 2e12, memory: 6e10, has_bf16: true };

/// What a GPU can do.
#[derive(Clone, Copy)]
struct Speed {
    /// Operations per second in matrix products of f16.
    halves: f64,
    /// Operations per second in matrix products of f32.
    singles: f64,
    /// Bytes per second that the memory reads or writes.
    memory: f64,
    /// Whether it multiplies in bf16, which takes macOS 14.
    has_bf16: bool,
}

impl Speed {
    /// Takes at most a second, because a user waits for it.
    fn measure(device: &Device) -> candle_core::Result<Self> {
        const SIDE: usize = 2048;
        const SMALL: usize = 64;
        const TIME: Duration = Duration::from_millis(60);
        let rate = |dtype| multiply(device, dtype, &[SIDE], TIME).map(|(_, rate)| rate);
        Ok(Self {
            halves: rate(DType::F16)?,
            singles: rate(DType::F32)?,
            memory: copy(device, TIME)?,
            has_bf16: multiply(device, DType::BF16, &[SMALL], Duration::ZERO).is_ok(),
        })
    }
}

/// Checks that there is a GPU that can be used.
///
/// # Errors
/// When there is none.
pub fn ready() -> Result<(), PipelineError> {
    MetalMemory::of_machine().map(|_| ()).map_err(PipelineError::Card)
}

/// The GPU, and what it may use.
///
/// # Errors
/// The same as for [`ready`].
pub fn first_card() -> Result<Option<Card>, PipelineError> {
    // Measured only once, because it takes memory that a run may need.
    static SPEED: Mutex<Option<Speed>> = Mutex::new(None);
    let memory = MetalMemory::of_machine().map_err(PipelineError::Card)?;
    let mut speed = SPEED.lock().unwrap_or_else(PoisonError::into_inner);
    let speed = *speed.get_or_insert_with(|| {
        Speed::measure(memory.device()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the GPU's speed could not be measured");
            GUESS
        })
    });
    Ok(Some(Card {
        has_bf16: speed.has_bf16,
        has_kernels: false,
        name: memory.name(),
        total: total_memory().unwrap_or_else(|| memory.limit()),
        available: memory.limit(),
        link: None,
        allocates: ROUNDED,
        operations_per_second: IN_BLOCKS * speed.halves,
        f32_operations_per_second: IN_BLOCKS * speed.singles,
        memory_bytes_per_second: speed.memory,
        memory: Arc::clone(&memory) as _,
    }))
}

/// The same by its number, which is 0: there is one.
///
/// # Errors
/// For another number, and the same as for [`ready`].
pub fn numbered_card(number: u32, _: &HardwareSample) -> Result<Card, PipelineError> {
    let found = |card: &Option<Card>| card.iter().map(|card| card.name.clone()).collect();
    let card = first_card()?;
    let missing = PipelineError::NoSuchGpu { number, found: found(&card), computes_on_gpus: true };
    card.filter(|_| number == 0).ok_or(missing)
}
