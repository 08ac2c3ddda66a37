//! What the device that a job would be given does at most, and what its kernels do.

use super::event::Failure;
use crate::{
    checkpoint::Role,
    hardware::Probe,
    memory::MemoryPreferences,
    nn::{
        Computes,
        cuda::{Trial, trials},
    },
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
    let target = target(preferences)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let measure = || {
        pipeline::ceilings(&target.machine.device, target.memory().as_ref(), dtype_of(Role::Denoiser, dtype))
    };
    let measured = pool.map_err(|error| failure(error.to_string()))?.install(measure);
    measured.map_err(|error| failure(format!("{} cannot be measured: {error}", target.machine.device)))
}

/// Runs every kernel for cards on the card that a job would be given, in this precision: what it computes, and how long
/// `rows` rows take. Nothing else should compute meanwhile.
///
/// # Errors
/// In words when this engine computes on no card, or the card fails.
pub fn kernel_trials(dtype: ComputeDtype, rows: usize) -> Result<Vec<Trial>, Failure> {
    let target = target(&MemoryPreferences::default())?;
    if target.computes() != Computes::Card {
        return Err(Failure {
            message: "this program computes on no graphics card, and kernels are for cards".to_owned(),
            advice: Some("Run `sluice-cuda bench kernels` on a machine with an NVIDIA card.".to_owned()),
        });
    }
    let dtype = dtype_of(Role::Denoiser, dtype);
    trials(target.memory().device(), dtype, rows).map_err(|error| Failure {
        message: format!("{} failed in the middle of a trial: {error}", target.machine.device),
        advice: None,
    })
}

fn target(preferences: &MemoryPreferences) -> Result<Target, Failure> {
    Target::choose(preferences, &Probe::new().sample(), 0, Pace::Here)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}
