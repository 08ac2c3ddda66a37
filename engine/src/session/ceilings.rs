//! What the device that a job would be given does at most.

use super::event::Failure;
use crate::{
    checkpoint::Role,
    hardware::Probe,
    memory::MemoryPreferences,
    pipeline::{self, Ceilings, Pace, Target, dtype_of},
    request::ComputeDtype,
};

/// Measures the device that `preferences` choose: its link, and products of matrices of this precision. Takes a few
/// seconds; nothing else should compute meanwhile.
///
/// # Errors
/// In words when there is no such device, or it fails.
pub fn ceilings(
    preferences: &MemoryPreferences,
    threads: Option<usize>,
    dtype: ComputeDtype,
) -> Result<Ceilings, Failure> {
    let failure = |message: String| Failure { message, advice: None };
    let target = Target::choose(preferences, &Probe::new().sample(), 0, Pace::Here)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice() })?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let measure = || {
        pipeline::ceilings(&target.machine.device, target.memory().as_ref(), dtype_of(Role::Denoiser, dtype))
    };
    let measured = pool.map_err(|error| failure(error.to_string()))?.install(measure);
    measured.map_err(|error| failure(format!("{} cannot be measured: {error}", target.machine.device)))
}
