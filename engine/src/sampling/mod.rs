//! From noise to latents: noise generation, noise levels and samplers. And from the scores of tokens to one of them.

mod aligned;
mod ancestral;
mod beta;
mod cosine;
mod discrete;
mod dpm_solver;
mod enlarge;
mod er_sde;
mod guide;
mod inpaint;
mod levels;
mod mixing;
mod multistep;
mod next_token;
mod regions;
mod schedule;
mod single_step;
mod slerp;
mod step_cache;
mod training;
mod unipc;
mod walk;

use candle_core::Tensor;

pub use crate::nn::{NoiseStream, randn};
use crate::request::Sampler;

pub use aligned::AlignedSteps;
pub use ancestral::{between_2s, dpmpp_2s_ancestral, euler_ancestral, tcd};
pub use cosine::Cosine;
pub use discrete::{BetaSchedule, Discrete, DiscreteConfig, PredictionType, Spacing};
pub use dpm_solver::{between_sde, dpmpp_2m, dpmpp_2m_sde, dpmpp_3m_sde, dpmpp_sde};
pub use enlarge::enlarged;
pub use er_sde::er_sde;
pub use guide::{Guide, KeptNorms};
pub use inpaint::{Inpaint, Kept};
pub use levels::Levels;
pub use mixing::Mixing;
pub use multistep::{ipndm, lms, res_multistep};
pub use next_token::TokenChoice;
pub use regions::RegionShares;
pub use schedule::{FlowShift, LastLevel, OwnLevels, Shift};
pub use single_step::{between_dpm2, ddim, dpm2, euler, heun, lcm};
pub use slerp::slerp;
pub use step_cache::StepCache;
pub use training::{Training, variance_preserving};
pub use unipc::unipc;
pub use walk::{Prediction, Step, Walk};

/// Runs the named sampler from `x`, noise at the first level, to the image.
pub fn walk<E: From<candle_core::Error>>(
    sampler: Sampler,
    walk: Walk<'_, E>,
    x: Tensor,
) -> Result<Tensor, E> {
    match sampler {
        Sampler::Euler => euler(walk, x),
        Sampler::EulerAncestral => euler_ancestral(walk, x),
        Sampler::Heun => heun(walk, x),
        Sampler::Dpm2 => dpm2(walk, x),
        Sampler::Dpmpp2sAncestral => dpmpp_2s_ancestral(walk, x),
        Sampler::DpmppSde => dpmpp_sde(walk, x),
        Sampler::Dpmpp2m => dpmpp_2m(walk, x),
        Sampler::Dpmpp2mSde => dpmpp_2m_sde(walk, x),
        Sampler::Dpmpp3mSde => dpmpp_3m_sde(walk, x),
        Sampler::Ddim => ddim(walk, x),
        Sampler::Lms => lms(walk, x),
        Sampler::Ipndm => ipndm(walk, x),
        Sampler::UniPc => unipc(walk, x),
        Sampler::Lcm => lcm(walk, x),
        Sampler::ErSde => er_sde(walk, x),
        Sampler::ResMultistep => res_multistep(walk, x),
        Sampler::Tcd => tcd(walk, x),
    }
}

/// The exact noise levels at which a sampler calls the model, in call order.
pub fn called(sampler: Sampler, mixing: Mixing, sigmas: &[f32]) -> Vec<f32> {
    let second = |from, to| match sampler {
        Sampler::Heun => Some(to),
        Sampler::Dpm2 => Some(between_dpm2(from, to)),
        Sampler::Dpmpp2sAncestral => Some(between_2s(mixing, from, to)),
        Sampler::DpmppSde => Some(between_sde(mixing, from, to)),
        _ => None,
    };
    let mut levels = Vec::new();
    for pair in sigmas.windows(2) {
        levels.push(pair[0]);
        levels.extend(second(pair[0], pair[1]).filter(|_| pair[1] > 0.0));
    }
    levels
}

/// The same without consecutive duplicates.
pub fn evaluated(sampler: Sampler, mixing: Mixing, sigmas: &[f32]) -> Vec<f32> {
    let mut levels = called(sampler, mixing, sigmas);
    if sampler == Sampler::Heun {
        levels.dedup();
    }
    levels
}
