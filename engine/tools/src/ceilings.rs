//! Measures the ceilings of a device: bytes over its link, and operations in matrix products.

use std::time::Duration;

use candle_core::{DType, Result as TensorResult};
use serde::{Deserialize, Serialize};
use sluice_engine::{
    checkpoint::Role,
    hardware::Probe,
    memory::MemoryPreferences,
    pipeline::{Pace, TRANSFER, Target, dtype_of, multiply, transfer},
    request::ComputeDtype,
    residency::{CpuMemory, DeviceMemory},
    session::Failure,
};

/// Minimum duration of each measurement.
const TIME: Duration = Duration::from_millis(400);
/// Sides of the multiplied matrices.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// The highest measured performance of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// The device's name.
    pub device: String,
    /// Whether it computes in host memory; transfers are then copies within it.
    pub unified: bool,
    /// Bytes per transfer.
    pub transfer_bytes: u64,
    /// Bytes per second from pinned host memory: the median.
    pub pinned_bytes_per_second: f64,
    /// Bytes per second from pageable host memory, as the engine copies it: the median.
    pub pageable_bytes_per_second: f64,
    /// The dtype of the products.
    pub dtype: String,
    /// Side of the square matrices.
    pub matrix_side: u64,
    /// Floating-point operations per second in linear layers.
    pub operations_per_second: f64,
}

/// Measures the device that `preferences` select: its link, and matrix products in this precision. Takes a
/// few seconds, during which nothing else should compute.
///
/// # Errors
/// Fails if there is no such device, or it fails.
pub fn ceilings(
    preferences: &MemoryPreferences,
    threads: Option<usize>,
    dtype: ComputeDtype,
) -> Result<Ceilings, Failure> {
    let failure = |message: String| Failure { message, advice: None };
    let target = target(preferences)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let measured = pool.map_err(|error| failure(error.to_string()))?.install(|| {
        measure(&target.machine.device, target.memory().as_ref(), dtype_of(Role::Denoiser, dtype))
    });
    measured.map_err(|error| failure(format!("{} cannot be measured: {error}", target.machine.device)))
}

/// Measures a device on the current thread pool.
fn measure(device: &str, memory: &dyn DeviceMemory, dtype: DType) -> TensorResult<Ceilings> {
    let (matrix_side, operations_per_second) = multiply(memory.device(), dtype, &SIDES, TIME)?;
    Ok(Ceilings {
        device: device.to_owned(),
        unified: memory.is_unified(),
        transfer_bytes: TRANSFER as u64,
        pinned_bytes_per_second: transfer(memory, memory, TIME)?,
        pageable_bytes_per_second: transfer(memory, &CpuMemory, TIME)?,
        dtype: dtype.as_str().to_owned(),
        matrix_side: matrix_side as u64,
        operations_per_second,
    })
}

/// The device that a job would use.
pub(super) fn target(preferences: &MemoryPreferences) -> Result<Target, Failure> {
    Target::choose(preferences, &Probe::new().sample(), 0, Pace::Here)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}
