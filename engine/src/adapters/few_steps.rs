//! LoRAs that let a model generate in a few steps, and the settings they are made for.
//!
//! Nothing in such a file says so, but the published ones are known by their names. The settings are those of their
//! authors' model cards; those of CausVid, FastWan and FusionX are the ones of Wan2GP's profiles. Words such as
//! `lightning` and `hyper` are also in the names of styles, so a kind needs more than one of them.

use std::path::Path;

use crate::request::{Request, Sampler, Schedule};

/// The settings that a LoRA is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewSteps {
    /// Denoising steps.
    pub steps: u32,
    /// The guidance scale; `None` leaves the model's.
    pub guidance: Option<f32>,
    /// The shift of the noise levels; `None` leaves the model's.
    pub shift: Option<f32>,
    /// The sampling method.
    pub sampler: Sampler,
    /// The noise schedule.
    pub schedule: Schedule,
    /// The LoRA's weight.
    pub weight: f32,
}

/// A published kind: the words that its file name has, in lower case, and its settings.
type Kind = (&'static [&'static str], FewSteps);

const fn flow(steps: u32, guidance: Option<f32>, shift: Option<f32>) -> FewSteps {
    FewSteps { steps, guidance, shift, sampler: Sampler::Euler, schedule: Schedule::Model, weight: 1.0 }
}

const fn unguided(steps: u32, sampler: Sampler, schedule: Schedule) -> FewSteps {
    FewSteps { sampler, schedule, ..flow(steps, Some(1.0), None) }
}

/// The first that fits counts.
const KINDS: [Kind; 13] = [
    // FLUX.1's guidance is an input of the model and stays.
    (&["hyper", "flux", "step"], FewSteps { weight: 0.125, ..flow(8, None, None) }),
    (&["flux", "turbo", "alpha"], flow(8, None, None)),
    (&["qwen", "lightning", "step"], flow(8, Some(1.0), Some(3.0))),
    (&["sdxl", "lightning", "step"], unguided(4, Sampler::Euler, Schedule::SgmUniform)),
    (&["hyper", "sd", "step"], unguided(8, Sampler::Ddim, Schedule::SgmUniform)),
    (&["dmd2"], unguided(4, Sampler::Lcm, Schedule::Model)),
    (&["lcm", "lora"], unguided(4, Sampler::Lcm, Schedule::Model)),
    (&["lightx2v"], flow(4, Some(1.0), Some(5.0))),
    (&["wan", "lightning"], flow(4, Some(1.0), Some(5.0))),
    (&["wan", "seko"], flow(4, Some(1.0), Some(5.0))),
    (&["causvid"], flow(8, Some(1.0), Some(2.0))),
    (&["fastwan"], flow(3, Some(1.0), Some(3.0))),
    (&["fusionx"], flow(10, Some(1.0), Some(2.0))),
];

impl FewSteps {
    /// The settings that a file is made for, by its name or that of its folder; `None` for other LoRAs. A number of
    /// steps in the name counts.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_stem()?.to_string_lossy().to_lowercase();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let folder = folder.to_string_lossy().to_lowercase();
        // Files in the authors' repositories often have names that say nothing.
        let (text, found) = [name, folder].into_iter().find_map(|text| {
            let fits = |words: &[&str]| words.iter().all(|word| text.contains(word));
            let found = KINDS.iter().find(|(words, _)| fits(words))?.1;
            Some((text, found))
        })?;
        Some(Self { steps: steps_in(&text).unwrap_or(found.steps), ..found })
    }

    /// The request with these settings.
    pub fn given_to(self, request: Request) -> Request {
        Request {
            steps: self.steps,
            guidance: self.guidance.unwrap_or(request.guidance),
            shift: self.shift.or(request.shift),
            sampler: self.sampler,
            schedule: self.schedule,
            ..request
        }
    }

    /// Such as `4 steps, guidance 1, shift 5`.
    pub fn in_words(self) -> String {
        let guidance = self.guidance.map(|guidance| format!(", guidance {guidance}")).unwrap_or_default();
        let shift = self.shift.map(|shift| format!(", shift {shift}")).unwrap_or_default();
        format!("{} steps{guidance}{shift}", self.steps)
    }
}

/// The number before `step` or `steps` in a name.
fn steps_in(name: &str) -> Option<u32> {
    let before = name.match_indices("step").map(|(at, _)| name[..at].trim_end_matches(['-', '_', ' ']));
    let numbers = before.filter_map(|before| {
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        before[before.len() - digits..].parse().ok()
    });
    numbers.into_iter().find(|steps| (1..=16).contains(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_files_are_known_by_their_names() {
        for (path, expected) in [
            (
                "wan2.2_t2v_lightx2v_4steps_lora_v1.1_high_noise.safetensors",
                Some("4 steps, guidance 1, shift 5"),
            ),
            (
                "Wan21_T2V_14B_lightx2v_cfg_step_distill_lora_rank32.safetensors",
                Some("4 steps, guidance 1, shift 5"),
            ),
            (
                "Wan2.2-Lightning_T2V-A14B-4steps-lora_HIGH_fp16.safetensors",
                Some("4 steps, guidance 1, shift 5"),
            ),
            (
                "Wan2.2-T2V-A14B-4steps-lora-rank64-Seko-V1/high_noise_model.safetensors",
                Some("4 steps, guidance 1, shift 5"),
            ),
            ("Wan21_CausVid_14B_T2V_lora_rank32.safetensors", Some("8 steps, guidance 1, shift 2")),
            ("sdxl_lightning_2step_lora.safetensors", Some("2 steps, guidance 1")),
            ("Hyper-SDXL-8steps-lora.safetensors", Some("8 steps, guidance 1")),
            ("Hyper-FLUX.1-dev-16steps-lora.safetensors", Some("16 steps")),
            ("dmd2_sdxl_4step_lora_fp16.safetensors", Some("4 steps, guidance 1")),
            ("lcm-lora-sdxl/pytorch_lora_weights.safetensors", Some("4 steps, guidance 1")),
            ("stepping_stones.safetensors", None),
            ("lightning storm.safetensors", None),
            ("hyperrealism_sdxl.safetensors", None),
            ("flux turbo cars.safetensors", None),
            ("ink wash.safetensors", None),
        ] {
            let found = FewSteps::of(Path::new(path)).map(FewSteps::in_words);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn what_a_lora_does_not_set_stays() {
        let before = Request { guidance: 3.5, shift: Some(2.0), seed: 7, ..Request::default() };
        let hyper = FewSteps::of(Path::new("Hyper-FLUX.1-dev-8steps-lora.safetensors")).unwrap();
        let after = hyper.given_to(before);
        assert_eq!((after.steps, after.guidance, after.shift, after.seed), (8, 3.5, Some(2.0), 7));
    }
}
