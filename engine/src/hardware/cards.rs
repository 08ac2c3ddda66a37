//! Performance figures of GPUs, for simulating them and for planning without one.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

/// The performance of a GPU, in figures that programs reach.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardProfile {
    /// Identifier, such as `rtx-3060`.
    pub id: String,
    /// Display name, with memory and link.
    pub name: String,
    /// Bytes of VRAM.
    pub vram: u64,
    /// NVIDIA's compute capability: 7.5 for Turing, 8.6 for Ampere.
    pub compute_capability: f32,
    /// Bytes per second from pinned host memory.
    pub link_bytes_per_second: f64,
    /// Seconds until the first byte of a copy arrives.
    pub link_latency: f64,
    /// Floating-point operations per second in transformer blocks, in 16 bits with 32-bit accumulation.
    pub operations_per_second: f64,
    /// Bytes per second of its own memory.
    pub memory_bytes_per_second: f64,
    /// Sources of the figures: titles and addresses.
    pub sources: Vec<String>,
}

impl CardProfile {
    /// f32 operations per second on its shaders alone. Tensor cores, in 16 bits with 32-bit accumulation, are
    /// four times as fast on Turing and twice as fast since.
    pub fn f32_operations_per_second(&self) -> f64 {
        self.operations_per_second / if self.compute_capability < 8.0 { 4.0 } else { 2.0 }
    }

    /// Whether it computes in bf16, which takes compute capability 8.0.
    pub fn has_bf16(&self) -> bool {
        self.compute_capability >= 8.0
    }
}

/// All GPUs in `presets/cards.toml`, ordered by VRAM.
pub fn cards() -> &'static [CardProfile] {
    static CARDS: LazyLock<Vec<CardProfile>> = LazyLock::new(|| {
        read(include_str!("../../../presets/cards.toml")).unwrap_or_else(|error| {
            tracing::error!(error, "presets/cards.toml cannot be read");
            Vec::new()
        })
    });
    &CARDS
}

/// The GPU with this identifier, ignoring case.
pub fn card(id: &str) -> Option<&'static CardProfile> {
    cards().iter().find(|card| card.id.eq_ignore_ascii_case(id))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Short name → title and address.
    sources: BTreeMap<String, String>,
    card: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    name: String,
    /// GiB.
    vram: u64,
    compute_capability: f32,
    link_bytes_per_second: f64,
    link_latency: f64,
    operations_per_second: f64,
    memory_bytes_per_second: f64,
    /// Short names.
    sources: Vec<String>,
}

fn read(text: &str) -> Result<Vec<CardProfile>, String> {
    let File { sources, card } = toml::from_str(text).map_err(|error| error.to_string())?;
    let source =
        |name: String| sources.get(&name).cloned().ok_or_else(|| format!("there is no source {name}"));
    let profile = |entry: Entry| {
        Ok(CardProfile {
            id: entry.id,
            name: entry.name,
            vram: entry.vram << 30,
            compute_capability: entry.compute_capability,
            link_bytes_per_second: entry.link_bytes_per_second,
            link_latency: entry.link_latency,
            operations_per_second: entry.operations_per_second,
            memory_bytes_per_second: entry.memory_bytes_per_second,
            sources: entry.sources.into_iter().map(source).collect::<Result<_, String>>()?,
        })
    };
    card.into_iter().map(profile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_sound() {
        let cards = read(include_str!("../../../presets/cards.toml")).unwrap();
        for card in &cards {
            assert!((4 << 30..=128 << 30).contains(&card.vram), "{card:?}");
            assert!((6e9..=60e9).contains(&card.link_bytes_per_second), "{card:?}");
            assert!((1e-6..=1e-4).contains(&card.link_latency), "{card:?}");
            assert!((10e12..=200e12).contains(&card.operations_per_second), "{card:?}");
            assert!(card.memory_bytes_per_second > card.link_bytes_per_second, "{card:?}");
            assert!(card.sources.iter().all(|source| source.contains("https://")), "{card:?}");
            assert_eq!(cards.iter().filter(|other| other.id == card.id).count(), 1, "{card:?}");
        }
        assert!(cards.is_sorted_by_key(|card| card.vram));
    }

    #[test]
    fn every_common_size_has_a_card() {
        for gibibytes in [6, 8, 12, 16, 24, 32] {
            assert!(cards().iter().any(|card| card.vram == gibibytes << 30), "{gibibytes}");
        }
    }

    #[test]
    fn a_card_is_found_by_its_identifier() {
        assert!(card("RTX-3060").is_some_and(|card| card.name == "RTX 3060 12 GB · PCIe 4 x16"));
        assert!(card("rtx-3060-pcie3").is_some_and(|card| card.link_bytes_per_second < 13e9));
        assert!(card("rtx").is_none());
    }

    #[test]
    fn half_the_lanes_carry_half_the_bytes() {
        let rate = |id| card(id).unwrap().link_bytes_per_second;
        assert!((rate("rtx-4090") / rate("rtx-4060") - 2.0).abs() < 0.01);
    }

    #[test]
    fn a_source_without_a_title_is_an_error() {
        let text = "[sources]\n[[card]]\nid = 'a'\nname = 'A'\nvram = 8\ncompute_capability = 7.5\n\
                    link_bytes_per_second = 1e9\n\
                    link_latency = 1e-5\noperations_per_second = 1e12\nmemory_bytes_per_second = 1e11\n\
                    sources = ['x']";
        assert_eq!(read(text).unwrap_err(), "there is no source x");
    }
}
