//! What a device does at most: bytes over its link and operations in matrix products.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::{
    nn,
    residency::{CpuMemory, DeviceMemory},
};

/// Bytes of a transfer: those of a large block.
const TRANSFER: usize = 256 << 20;
/// How long each figure is measured at least.
const TIME: Duration = Duration::from_millis(400);
/// Sides of the matrices that are multiplied.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];
/// A product that takes this long is large enough.
const LONG_ENOUGH: Duration = Duration::from_millis(4);

/// The most that a device was seen to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// What the device is called.
    pub device: String,
    /// Whether it computes in the host's memory: transfers are copies within that then.
    pub unified: bool,
    /// Bytes of a transfer.
    pub transfer_bytes: u64,
    /// Bytes a second from memory of the host that the device takes them from by itself: the median.
    pub pinned_bytes_per_second: f64,
    /// Bytes a second from any other memory of the host, as the engine brings it up: the median.
    pub pageable_bytes_per_second: f64,
    /// The dtype of the products.
    pub dtype: String,
    /// Side of the square matrices.
    pub matrix_side: u64,
    /// Floating-point operations a second in linear layers.
    pub operations_per_second: f64,
}

/// Measures a device with the threads that this is called from.
///
/// # Errors
/// When the device has no memory for it, or cannot multiply matrices of this dtype.
pub fn ceilings(device: &str, memory: &dyn DeviceMemory, dtype: DType) -> Result<Ceilings> {
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

/// Bytes a second from memory as `host` gives it: the median of what was timed for so long.
pub(super) fn transfer(memory: &dyn DeviceMemory, host: &dyn DeviceMemory, time: Duration) -> Result<f64> {
    // As bytes, the last of the dtypes that a buffer has room for.
    let sizes = [0, 0, 0, TRANSFER];
    let (from, to) = (host.allocate_host(&sizes)?, memory.allocate(&sizes)?);
    // The first transfer meets pages that nobody has touched.
    memory.upload(&from, &to, &sizes, &|| true)?;
    let (started, mut times) = (Instant::now(), Vec::new());
    while started.elapsed() < time || times.len() < 3 {
        let begun = Instant::now();
        memory.upload(&from, &to, &sizes, &|| true)?;
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(TRANSFER as f64 / times[times.len() / 2])
}

/// The side of the matrices, the first of `sides` that is large enough, and operations a second in the fastest of some
/// runs, which take so long for each side.
pub(super) fn multiply(
    device: &Device,
    dtype: DType,
    sides: &[usize],
    time: Duration,
) -> Result<(usize, f64)> {
    let mut found = (0, 0.0);
    for &side in sides {
        let matrix = Tensor::randn(0f32, 1f32, (side, side), device)?.to_dtype(dtype)?;
        let timed = |products: u32| -> Result<Duration> {
            let started = Instant::now();
            for _ in 0..products {
                nn::linear(&matrix, &matrix, None)?;
            }
            device.synchronize()?;
            Ok(started.elapsed())
        };
        timed(1)?;
        let one = timed(1)?;
        let products = (time.as_secs_f64() / 4.0 / one.as_secs_f64()).ceil().max(1.0) as u32;
        let mut best = f64::INFINITY;
        for _ in 0..4 {
            best = best.min(timed(products)?.as_secs_f64() / f64::from(products));
        }
        found = (side, 2.0 * (side as f64).powi(3) / best);
        if Duration::from_secs_f64(best) >= LONG_ENOUGH {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency::SimulatedCard;

    #[test]
    fn a_simulated_link_is_as_fast_as_it_should_be() {
        let card = SimulatedCard::new(1e9, 0.0);
        let measured = transfer(&card, &card, TIME).unwrap();
        // How much slower it is depends on who else computes.
        assert!((0.5e9..=1e9).contains(&measured), "{measured}");
    }
}
