//! Memory settings for common sizes of cards, chosen in one click.

use std::{collections::BTreeSet, sync::LazyLock};

use serde::Deserialize;

use super::MemoryPreferences;

/// Memory settings that suit cards of a size.
#[derive(Debug, Clone, PartialEq)]
pub struct CardPreset {
    /// Identifier, such as `8gb`.
    pub id: &'static str,
    /// Name in words.
    pub name: String,
    /// What it costs and gains, in sentences.
    pub summary: String,
    /// The least VRAM of a GPU that it is for, in bytes.
    pub vram: u64,
    /// What it sets.
    pub memory: MemoryPreferences,
    /// What is known to fit with it.
    pub models: Vec<PresetModel>,
}

/// A model that fits with a preset.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetModel {
    /// Identifier of a known model.
    pub model: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

const FILES: [(&str, &str); 4] = [
    ("8gb", include_str!("../../../presets/8gb.toml")),
    ("12gb", include_str!("../../../presets/12gb.toml")),
    ("16gb", include_str!("../../../presets/16gb.toml")),
    ("24gb", include_str!("../../../presets/24gb.toml")),
];

/// The presets of `presets/*gb.toml`, from small cards to large ones.
pub fn card_presets() -> &'static [CardPreset] {
    static PRESETS: LazyLock<Vec<CardPreset>> = LazyLock::new(|| {
        let preset = |(id, text)| {
            read(id, text)
                .inspect_err(|error| tracing::error!(error, "presets/{id}.toml cannot be read"))
                .ok()
        };
        FILES.into_iter().filter_map(preset).collect()
    });
    &PRESETS
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    summary: String,
    /// GiB.
    vram: u64,
    memory: toml::Table,
    models: Vec<PresetModel>,
}

fn read(id: &'static str, text: &str) -> Result<CardPreset, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let known = serde_json::to_value(MemoryPreferences::default()).map_err(|error| error.to_string())?;
    let known: BTreeSet<&str> =
        known.as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect();
    if let Some(key) = file.memory.keys().find(|key| !known.contains(key.as_str())) {
        return Err(format!("there is no memory setting {key}"));
    }
    Ok(CardPreset {
        id,
        name: file.name,
        summary: file.summary,
        vram: file.vram << 30,
        memory: file.memory.try_into().map_err(|error: toml::de::Error| error.to_string())?,
        models: file.models,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{DeviceChoice, OffloadMode};

    #[test]
    fn every_file_is_sound() {
        for (id, text) in FILES {
            let preset = read(id, text).unwrap();
            assert_eq!(preset.id, format!("{}gb", preset.vram >> 30));
            assert_eq!(preset.memory.mode, OffloadMode::Auto, "{id}");
            assert_eq!(preset.memory.device, DeviceChoice::Auto, "{id} is for the person's own card");
            assert_eq!((preset.memory.vram_budget, preset.memory.ram_budget), (None, None), "{id}");
            assert!(preset.memory.min_free_vram < preset.vram / 4, "{id}");
            assert!(preset.summary.ends_with('.'), "{id}");
            assert!(!preset.models.is_empty(), "{id}");
        }
    }

    #[test]
    fn presets_go_from_small_cards_to_large_ones() {
        assert_eq!(card_presets().len(), FILES.len());
        assert!(card_presets().is_sorted_by_key(|preset| preset.vram));
    }

    #[test]
    fn a_setting_that_does_not_exist_is_an_error() {
        let preset = "name = 'a'\nsummary = 'A.'\nvram = 8\nmodels = []\n[memory]\n";
        assert!(read("a", preset).is_ok());
        let error = read("a", &format!("{preset}min_free = 1\n")).unwrap_err();
        assert_eq!(error, "there is no memory setting min_free");
        assert!(read("a", &format!("{preset}mode = 'fast'\n")).is_err());
    }
}
