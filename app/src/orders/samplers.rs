//! Samplers and schedules by the names that other programs have for them.

use sluice_engine::{
    adapters::nearest,
    request::{Sampler, Schedule},
};

use super::OrderError;

/// Endings of a sampler's name that name a schedule, as in older versions of A1111.
const ENDINGS: [(&str, Schedule); 3] = [
    ("karras", Schedule::Karras),
    ("exponential", Schedule::Exponential),
    ("sgm_uniform", Schedule::SgmUniform),
];

/// The sampler that a name such as `Euler a`, `k_dpmpp_2m` or `DPM++ 2M Karras` means, and the schedule in the name.
///
/// # Errors
/// When there is no such sampler. Nothing similar is taken instead.
pub fn sampler(name: &str) -> Result<(Sampler, Option<Schedule>), OrderError> {
    let whole = plain(name);
    if let Some(sampler) = exact(&whole) {
        return Ok((sampler, None));
    }
    let ending = ENDINGS.iter().find_map(|(ending, schedule)| {
        let rest = whole.strip_suffix(ending)?.trim_end_matches('_');
        exact(rest).map(|sampler| (sampler, Some(*schedule)))
    });
    ending.ok_or_else(|| unknown("sampler", name, Sampler::ALL.map(Sampler::title).to_vec()))
}

fn exact(plain_name: &str) -> Option<Sampler> {
    let name = plain_name.strip_prefix("k_").unwrap_or(plain_name);
    let short = match name {
        "euler_ancestral" => "euler_a",
        "dpm_2" => "dpm2",
        "dpmpp_2s_ancestral" => "dpmpp_2s_a",
        "uni_pc" => "unipc",
        other => other,
    };
    Sampler::ALL.into_iter().find(|known| plain(known.title()) == short || plain(known.name()) == short)
}

/// The schedule that a name such as `Karras` or `sgm_uniform` means.
///
/// # Errors
/// When there is no such schedule.
pub fn schedule(name: &str) -> Result<Schedule, OrderError> {
    let known = match plain(name).as_str() {
        "automatic" | "default" => Some(Schedule::Model),
        "uniform" => Some(Schedule::Normal),
        "ays" => Some(Schedule::AlignYourSteps),
        short => Schedule::ALL
            .into_iter()
            .find(|known| plain(known.title()) == short || plain(known.name()) == short),
    };
    known.ok_or_else(|| unknown("schedule", name, Schedule::ALL.map(Schedule::title).to_vec()))
}

fn unknown(kind: &'static str, name: &str, known: Vec<&'static str>) -> OrderError {
    let near = nearest(name, known.iter().copied()).map(str::to_owned);
    OrderError::Unknown {
        kind,
        name: name.to_owned(),
        near,
        known: known.into_iter().map(str::to_owned).collect(),
    }
}

/// In small letters, with `_` between words.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace("++", "pp").replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_programs_are_known() {
        for (name, expected, implied) in [
            ("Euler a", Sampler::EulerAncestral, None),
            ("euler-ancestral", Sampler::EulerAncestral, None),
            ("k_euler_ancestral", Sampler::EulerAncestral, None),
            ("DPM++ 2M Karras", Sampler::Dpmpp2m, Some(Schedule::Karras)),
            ("dpmpp_2m_sde_karras", Sampler::Dpmpp2mSde, Some(Schedule::Karras)),
            ("DPM++ 2S a", Sampler::Dpmpp2sAncestral, None),
            ("DPM++ SDE Karras", Sampler::DpmppSde, Some(Schedule::Karras)),
            ("k_dpm_2", Sampler::Dpm2, None),
            ("UniPC", Sampler::UniPc, None),
            ("uni_pc", Sampler::UniPc, None),
        ] {
            assert_eq!(sampler(name).unwrap(), (expected, implied), "{name}");
        }
        for known in Sampler::ALL {
            assert_eq!(sampler(known.name()).unwrap().0, known);
            assert_eq!(sampler(known.title()).unwrap().0, known);
        }
        assert!(sampler("DPM fast").is_err());
        let error = sampler("Euler b").unwrap_err();
        assert!(error.advice().contains("Euler"), "{}", error.advice());
    }

    #[test]
    fn schedules_have_names_too() {
        for (name, expected) in [
            ("Automatic", Schedule::Model),
            ("SGM Uniform", Schedule::SgmUniform),
            ("uniform", Schedule::Normal),
        ] {
            assert_eq!(schedule(name).unwrap(), expected, "{name}");
        }
        for known in Schedule::ALL {
            assert_eq!(schedule(known.name()).unwrap(), known);
            assert_eq!(schedule(known.title()).unwrap(), known);
        }
        assert!(schedule("Turbo").is_err());
    }
}
