//! Measures a device: transfers and copies in bytes per second, and matrix products in operations per second.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor};

use crate::{nn, residency::DeviceMemory};

/// Bytes per transfer: the size of a large block.
pub const TRANSFER: usize = 256 << 20;
/// Bytes of a tensor that no cache of a GPU holds.
const COPIED: usize = 128 << 20;
/// A product is large enough if it takes this long.
const LONG_ENOUGH: Duration = Duration::from_millis(4);

/// Bytes per second from memory allocated by `host` to the device: the median of the transfers that fit into
/// `time`.
///
/// # Errors
/// When [`TRANSFER`] bytes cannot be allocated, or a copy fails.
pub fn transfer(memory: &dyn DeviceMemory, host: &dyn DeviceMemory, time: Duration) -> Result<f64> {
    // As bytes: the last of the dtypes in a buffer.
    let sizes = [0, 0, 0, TRANSFER];
    let (from, to) = (host.allocate_host(&sizes)?, memory.allocate(&sizes)?);
    // The first transfer touches fresh pages.
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

/// Bytes per second that the device reads or writes in copies of a large tensor: the fastest of the copies that fit into
/// `time`.
///
/// # Errors
/// When twice as many bytes cannot be allocated.
pub fn copy(device: &Device, time: Duration) -> Result<f64> {
    let from = Tensor::zeros(COPIED / size_of::<f32>(), DType::F32, device)?;
    let (started, mut fastest) = (Instant::now(), f64::INFINITY);
    while started.elapsed() < time || fastest.is_infinite() {
        let begun = Instant::now();
        let copy = from.copy()?;
        device.synchronize()?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
        drop(copy);
    }
    Ok(2.0 * COPIED as f64 / fastest)
}

/// The side of the matrices (the first of `sides` that is large enough) and the operations per second of the
/// fastest of several runs. Each side is measured for `time`.
///
/// # Errors
/// When the device has no memory for the matrices, or cannot multiply in this dtype.
pub fn multiply(device: &Device, dtype: DType, sides: &[usize], time: Duration) -> Result<(usize, f64)> {
    let mut found = (0, 0.0);
    for &side in sides {
        let matrix = uneven(side, device)?.to_dtype(dtype)?;
        let timed = |products: u32| -> Result<Duration> {
            let started = Instant::now();
            for _ in 0..products {
                nn::computed::linear(&matrix, &matrix, None)?;
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

/// A square matrix of values between −1 and 1, because products of zeros are faster. Not random: a machine may lack the
/// library for random numbers on a GPU, which no run needs.
fn uneven(side: usize, device: &Device) -> Result<Tensor> {
    let angles = |step: f32| (0..side).map(|index| index as f32 * step).collect::<Vec<_>>();
    let rows = Tensor::from_vec(angles(1.7), (side, 1), device)?;
    rows.broadcast_add(&Tensor::from_vec(angles(0.9), (1, side), device)?)?.sin()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency::SimulatedCard;

    #[test]
    fn a_measured_matrix_has_other_values_everywhere() {
        let values = uneven(8, &Device::Cpu).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        assert!((0.9..=1.0).contains(&largest), "{values:?}");
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
    }

    #[test]
    fn a_copy_reads_and_writes() {
        let measured = copy(&Device::Cpu, Duration::from_millis(1)).unwrap();
        assert!((1e6..1e13).contains(&measured), "{measured}");
    }

    #[test]
    fn a_simulated_link_is_never_faster_than_it_should_be() {
        let gpu = SimulatedCard::new(1e9, 0.0);
        let measured = transfer(&gpu, &gpu, Duration::from_millis(1)).unwrap();
        assert!(measured > 0.0 && measured <= 1e9, "{measured}");
    }
}
