//! Names that other programs have for samplers and schedules.

use crate::request::{Sampler, Schedule};

/// A sampler by another program's name, with the schedule that the name implies, and whether it is the same method.
pub(in crate::output) struct Known {
    pub sampler: Sampler,
    pub schedule: Option<Schedule>,
    pub is_same: bool,
}

/// Endings that name a schedule.
const ENDINGS: [(&str, Schedule); 7] = [
    ("_karras", Schedule::Karras),
    ("_k", Schedule::Karras),
    ("_exponential", Schedule::Exponential),
    ("_ays", Schedule::AlignYourSteps),
    ("_trailing", Schedule::SgmUniform),
    ("_sgm_uniform", Schedule::SgmUniform),
    ("_simple", Schedule::Simple),
];

/// The sampler that a name such as `k_dpmpp_2m`, `DPM++ 2M Karras` or `unipc` means.
pub(in crate::output) fn sampler(name: &str) -> Option<Known> {
    let plain = plain(name);
    let ending = ENDINGS.iter().find_map(|(ending, schedule)| Some((plain.strip_suffix(ending)?, *schedule)));
    let (plain, schedule) = ending.map_or((plain.as_str(), None), |(rest, schedule)| (rest, Some(schedule)));
    let plain = plain.strip_suffix("_gpu").unwrap_or(plain);
    let (sampler, is_same) = match plain.strip_prefix("k_").unwrap_or(plain) {
        "euler" => (Sampler::Euler, true),
        "euler_a" | "euler_ancestral" => (Sampler::EulerAncestral, true),
        "heun" => (Sampler::Heun, true),
        "dpm2" | "dpm_2" | "kdpm_2" => (Sampler::Dpm2, true),
        "dpmpp_2s_a" | "dpmpp_2s_ancestral" | "dpmpp2s_a" => (Sampler::Dpmpp2sAncestral, true),
        "dpmpp_2s" => (Sampler::Dpmpp2sAncestral, false),
        "dpmpp_sde" => (Sampler::DpmppSde, true),
        "dpmpp_2m" | "dpmpp2m" => (Sampler::Dpmpp2m, true),
        "dpmpp2mv2" => (Sampler::Dpmpp2m, false),
        "dpmpp_2m_sde" => (Sampler::Dpmpp2mSde, true),
        "dpmpp_3m_sde" => (Sampler::Dpmpp3mSde, true),
        "dpmpp_3m" => (Sampler::Dpmpp3mSde, false),
        "ddim" | "ddim_v3" => (Sampler::Ddim, true),
        "lms" => (Sampler::Lms, true),
        "ipndm" => (Sampler::Ipndm, true),
        "plms" | "pndm" => (Sampler::Ipndm, false),
        "uni_pc" | "unipc" => (Sampler::UniPc, true),
        "uni_pc_bh2" => (Sampler::UniPc, false),
        "lcm" => (Sampler::Lcm, true),
        "er_sde" => (Sampler::ErSde, true),
        "res_multistep" => (Sampler::ResMultistep, true),
        "tcd" => (Sampler::Tcd, true),
        _ => return None,
    };
    Some(Known { sampler, schedule, is_same })
}

/// The schedule that a name means.
pub(in crate::output) fn schedule(name: &str) -> Option<Schedule> {
    Some(match plain(name).as_str() {
        "normal" | "uniform" => Schedule::Normal,
        "karras" => Schedule::Karras,
        "exponential" | "polyexponential" => Schedule::Exponential,
        "sgm_uniform" | "trailing" => Schedule::SgmUniform,
        "simple" => Schedule::Simple,
        "beta" => Schedule::Beta,
        "linear_quadratic" => Schedule::LinearQuadratic,
        "kl_optimal" => Schedule::KlOptimal,
        "ays" | "align_your_steps" => Schedule::AlignYourSteps,
        "automatic" | "native" | "default" | "discrete" => Schedule::Model,
        _ => return None,
    })
}

/// In small letters, with `_` between words.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace("++", "pp").replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_programs_mean_the_same() {
        for (name, expected, implied, same) in [
            ("k_euler_a", Sampler::EulerAncestral, None, true),
            ("k_euler_ancestral", Sampler::EulerAncestral, None, true),
            ("Euler A Trailing", Sampler::EulerAncestral, Some(Schedule::SgmUniform), true),
            ("DPM++ 2M Karras", Sampler::Dpmpp2m, Some(Schedule::Karras), true),
            ("DPM++ 2M AYS", Sampler::Dpmpp2m, Some(Schedule::AlignYourSteps), true),
            ("dpmpp_2m_sde_k", Sampler::Dpmpp2mSde, Some(Schedule::Karras), true),
            ("dpmpp_2m_sde_gpu", Sampler::Dpmpp2mSde, None, true),
            ("dpm++2s_a", Sampler::Dpmpp2sAncestral, None, true),
            ("k_dpmpp_sde", Sampler::DpmppSde, None, true),
            ("dpmpp_2s", Sampler::Dpmpp2sAncestral, None, false),
            ("plms", Sampler::Ipndm, None, false),
            ("UniPC", Sampler::UniPc, None, true),
            ("ddim_v3", Sampler::Ddim, None, true),
        ] {
            let Some(known) = sampler(name) else { panic!("{name}") };
            assert_eq!((known.sampler, known.schedule, known.is_same), (expected, implied, same), "{name}");
        }
        assert!(sampler("restart").is_none());
        assert_eq!(schedule("SGM Uniform"), Some(Schedule::SgmUniform));
        assert_eq!(schedule("turbo"), None);
    }

    #[test]
    fn our_own_names_are_known_too() {
        for known in Sampler::ALL {
            let stored = serde_json::to_value(known).unwrap();
            assert_eq!(sampler(stored.as_str().unwrap()).map(|known| known.sampler), Some(known));
        }
    }
}
