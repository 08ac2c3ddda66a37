//! Memory settings for single parts of a model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Keep, PartFootprint, Residence};
use crate::checkpoint::Role;

/// What was chosen for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PartChoice {
    /// How it is placed.
    pub residence: Option<Residence>,
    /// What stays of it for the next job.
    pub keep: Option<Keep>,
}

/// The names of all parts of a kind.
fn of_role(role: Role) -> &'static [&'static str] {
    match role {
        Role::TextEncoder => &["text_encoders", "conditioning"],
        Role::Denoiser => &["denoisers", "diffusion"],
        Role::Autoencoder => &["autoencoders", "vae"],
        Role::Upscaler => &["upscalers"],
        Role::Interpolator => &["interpolators"],
        Role::Preprocessor => &["preprocessors"],
        Role::Segmenter => &["segmenters"],
        Role::Detector => &["detectors"],
        Role::LanguageModel => &["language_models"],
    }
}

/// The short name of an architecture: `t5` of a T5 encoder, `clip_l` of CLIP-L.
pub fn short_name(architecture: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let name: String = architecture.chars().map(plain).collect();
    name.strip_suffix("_encoder").map(str::to_owned).unwrap_or(name)
}

/// Whether a part answers to a name, and how exactly: 0 to its own, such as `text_encoder_2`, 1 to that of its
/// architecture, such as `t5`, 2 to one of all parts of its kind, such as `text_encoders`.
fn exactness(name: &str, part: &str, architecture: &str, role: Role) -> Option<usize> {
    let wanted = name.to_ascii_lowercase().replace('-', "_");
    let known = [wanted == part, wanted == short_name(architecture), of_role(role).contains(&&*wanted)];
    known.iter().position(|&same| same)
}

/// Whether a part answers to a name: its own, such as `text_encoder_2`, that of its architecture, such as `t5`, or one of
/// all parts of its kind, such as `text_encoders`. Capital letters and hyphens make no difference.
pub fn answers_to(name: &str, part: &str, architecture: &str, role: Role) -> bool {
    exactness(name, part, architecture, role).is_some()
}

/// What was chosen for a part under the most exact of its names.
pub(super) fn of<T>(
    choices: &BTreeMap<String, PartChoice>,
    part: &PartFootprint,
    choice: impl Fn(&PartChoice) -> Option<T>,
) -> Option<T> {
    let named = choices.iter().filter_map(|(name, given)| {
        Some((exactness(name, &part.name, &part.architecture, part.role)?, choice(given)?))
    });
    named.min_by_key(|(exactness, _)| *exactness).map(|(_, choice)| choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PublishedBlocks;

    #[test]
    fn the_most_exact_name_of_a_part_decides() {
        let part = |name: &str, architecture: &str| PartFootprint {
            name: name.to_owned(),
            role: Role::TextEncoder,
            architecture: architecture.to_owned(),
            blocks: Vec::new(),
            published: PublishedBlocks::default(),
            errors: BTreeMap::new(),
        };
        let keep = |keep| PartChoice { keep: Some(keep), ..PartChoice::default() };
        let choices = [
            ("text-encoders", keep(Keep::None)),
            ("T5", keep(Keep::All)),
            ("text_encoder_3", PartChoice { residence: Some(Residence::OnDemand), keep: None }),
        ];
        let choices = choices.map(|(name, choice)| (name.to_owned(), choice)).into();
        let found = |part: &PartFootprint| {
            (of(&choices, part, |choice| choice.keep), of(&choices, part, |choice| choice.residence))
        };
        assert_eq!(found(&part("text_encoder", "CLIP-L")), (Some(Keep::None), None));
        assert_eq!(found(&part("text_encoder_2", "T5 encoder")), (Some(Keep::All), None));
        let third = part("text_encoder_3", "T5 encoder");
        assert_eq!(found(&third), (Some(Keep::All), Some(Residence::OnDemand)));
        let decoder = PartFootprint { role: Role::Autoencoder, ..part("autoencoder", "AutoencoderKL") };
        assert_eq!(found(&decoder), (None, None));
        assert!(answers_to("vae", "autoencoder", "AutoencoderKL", Role::Autoencoder));
        assert!(!answers_to("t5", "text_encoder", "UMT5 encoder", Role::TextEncoder));
    }
}
