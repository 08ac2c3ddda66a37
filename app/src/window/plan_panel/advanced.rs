//! All memory preferences, for advanced users.

use std::{collections::BTreeMap, ops::RangeInclusive};

use egui::{Response, Ui};
use sluice_engine::{
    memory::{Attention, Estimate, Keep, MemoryPreferences, OffloadMode, PartChoice, Residence, Wish},
    precision::Storage,
    session::ComponentSummary,
    units,
};

use crate::window::{
    icons,
    state::State,
    tokens::space,
    widgets::{self, Weight},
};

const GB: f64 = (1_u64 << 30) as f64;
const MOST_GB: f64 = 1024.0;
/// Tile sides to choose from, in latents.
const TILES: [u32; 6] = [16, 32, 48, 64, 96, 128];

/// Which folds are open.
#[derive(Debug, Default)]
pub struct Open {
    section: bool,
    parts: bool,
}

/// Draws the section.
pub fn show(ui: &mut Ui, state: &State, open: &mut Open, preferences: &mut MemoryPreferences) {
    let Open { section, parts } = open;
    widgets::fold(ui, "Advanced", section, |ui| opened(ui, state, parts, preferences));
}

fn opened(ui: &mut Ui, state: &State, parts: &mut bool, preferences: &mut MemoryPreferences) {
    let modes = OffloadMode::ALL.iter().copied();
    widgets::choice_row(ui, "Mode", &mut preferences.mode, modes, mode_name)
        .on_hover_text("Which parts of the model stay on the GPU.");
    let automatic = preferences.mode == OffloadMode::Auto;
    ui.add_enabled_ui(automatic, |ui| {
        let wishes = Wish::ALL.iter().copied();
        widgets::choice_row(ui, "Optimize for", &mut preferences.wish, wishes, wish_name)
            .on_hover_text("What the automatic mode prefers.");
    });
    residence(ui, "Text encoder", &mut preferences.text_encoder);
    residence(ui, "Denoiser", &mut preferences.denoiser);
    residence(ui, "Autoencoder", &mut preferences.autoencoder);
    precision(ui, "Denoiser weights", &mut preferences.denoiser_precision);
    precision(ui, "Text encoder weights", &mut preferences.text_precision);
    ui.add_enabled_ui(automatic, |ui| {
        ui.checkbox(&mut preferences.may_use_8_bit, "May use 8-bit weights").on_hover_text(
            "The automatic mode may hold weights in 8 bits where nothing else fits, or where that makes the run \
             notably faster or smaller. This changes the image slightly.",
        );
    });
    let keeps = Keep::ALL.iter().copied();
    widgets::choice_row(ui, "Keep loaded", &mut preferences.keep, keeps, keep_name)
        .on_hover_text("What stays in memory after a run, so that the next one starts sooner.");
    if let Some(summary) = state.summary() {
        widgets::fold(ui, "Each part", parts, |ui| {
            for part in &summary.components {
                ui.push_id(&part.name, |ui| single_part(ui, part, &mut preferences.parts));
            }
        });
    }
    let estimates = Estimate::ALL.iter().copied();
    widgets::choice_row(ui, "Estimate", &mut preferences.estimate, estimates, |estimate| match estimate {
        Estimate::Formula => "Calculated",
        Estimate::Dryrun => "Dry run",
    })
    .on_hover_text("How memory and time are predicted. A dry run also tries every function at its real size first, which takes longer.");
    let tiles = std::iter::once(None).chain(TILES.map(Some));
    widgets::choice_row(ui, "Decoder tiles", &mut preferences.tile, tiles, |tile| match tile {
        None => "Automatic".to_owned(),
        Some(side) => format!("{side} latents"),
    })
    .on_hover_text("Decodes the image in tiles of this size. Smaller tiles need less memory.");
    if let Some(bytes) = state.planning.forecast().map(|forecast| forecast.attention)
        && bytes.on_gpu.is_some()
    {
        let ways = Attention::ALL.iter().copied();
        widgets::choice_row(ui, "Attention", &mut preferences.attention, ways, |way| match way {
            Attention::Math => format!("Math, {}", units::memory_needed(bytes.math)),
            Attention::Tiled => format!("Tiled, {}", units::memory_needed(bytes.tiled)),
        })
        .on_hover_text(
            "How the GPU computes attention, and the most memory that takes at a time. Tiled uses a kernel on \
             tensor cores in 16 bits that no GPU has run yet. The choice changes the last digits of the image.",
        );
    }
    ui.add_space(space::XS);
    let mut prefetch = preferences.prefetch.map(f64::from);
    widgets::optional_row(ui, "Prefetch", &mut prefetch, 1.0, 0.0..=16.0, (0.05, " blocks"))
        .on_hover_text("How many blocks are copied to the GPU ahead of the computation.");
    preferences.prefetch = prefetch.map(|blocks| blocks.round() as u32);
    let device = state.planning.forecast().map(|forecast| &forecast.machine);
    let vram = device.map_or(8.0, |machine| machine.device_budget as f64 / GB);
    gigabytes(ui, "VRAM limit", &mut preferences.vram_budget, vram, 0.001..=MOST_GB)
        .on_hover_text("The most VRAM that Sluice may use.");
    let hardware = state.engine.hardware.as_ref();
    let ram = hardware.map_or(16.0, |sample| sample.ram_total as f64 / GB / 2.0);
    gigabytes(ui, "RAM limit", &mut preferences.ram_budget, ram, 0.0..=MOST_GB)
        .on_hover_text("The most RAM that Sluice may use for weights.");
    let shown = preferences.min_free_vram as f64 / GB;
    let mut free = shown;
    widgets::number_row(ui, "Reserve VRAM", &mut free, 0.0..=MOST_GB, (0.1, " GB"))
        .on_hover_text("VRAM that is left to the desktop and other programs.");
    if free != shown {
        preferences.min_free_vram = (free * GB).round() as u64;
    }
    ui.add_space(space::XS);
    let plain = MemoryPreferences { device: preferences.device.clone(), ..MemoryPreferences::default() };
    ui.add_enabled_ui(*preferences != plain, |ui| {
        if widgets::button(ui, Some(icons::RESTORE), "Reset", Weight::Plain)
            .on_hover_text("Set everything here back to automatic.")
            .clicked()
        {
            *preferences = plain;
        }
    });
}

/// An amount in GB. It is written back only when edited, so that the exact bytes are kept.
fn gigabytes(
    ui: &mut Ui,
    text: &str,
    bytes: &mut Option<u64>,
    otherwise: f64,
    range: RangeInclusive<f64>,
) -> Response {
    let shown = bytes.map(|bytes| bytes as f64 / GB);
    let mut value = shown;
    let rounded = ((otherwise * 10.0).round() / 10.0).max(0.1);
    let response = widgets::optional_row(ui, text, &mut value, rounded, range, (0.1, " GB"));
    if value != shown {
        *bytes = value.map(|gigabytes| (gigabytes * GB).round() as u64);
    }
    response
}

/// The choices for one part of the model.
fn single_part(ui: &mut Ui, part: &ComponentSummary, choices: &mut BTreeMap<String, PartChoice>) {
    let before = choices.get(&part.name).copied().unwrap_or_default();
    let mut choice = before;
    residence(ui, &part.architecture, &mut choice.residence);
    let keeps = std::iter::once(None).chain(Keep::ALL.iter().copied().map(Some));
    let title = format!("Keep {}", part.architecture);
    widgets::choice_row(ui, &title, &mut choice.keep, keeps, |keep| keep.map_or("Default", keep_name))
        .on_hover_text("What stays of it in memory after a run.");
    if choice == PartChoice::default() {
        choices.remove(&part.name);
    } else if choice != before {
        choices.insert(part.name.clone(), choice);
    }
}

fn residence(ui: &mut Ui, text: &str, value: &mut Option<Residence>) {
    let all = std::iter::once(None).chain(Residence::ALL.iter().copied().map(Some));
    widgets::choice_row(ui, text, value, all, |residence| match residence {
        None => "Default",
        Some(Residence::Resident) => "Always loaded",
        Some(Residence::Staged) => "Loaded when needed",
        Some(Residence::Streamed) => "Streamed from RAM",
        Some(Residence::OnDemand) => "Streamed from disk",
    })
    .on_hover_text("Where its weights are. Default leaves that to the mode.");
}

/// The weight type, which changes the image.
fn precision(ui: &mut Ui, text: &str, value: &mut Storage) {
    widgets::choice_row(ui, text, value, Storage::ALL.iter().copied(), |storage| match storage {
        Storage::Stored => "Original",
        storage => storage.title(),
    })
    .on_hover_text("Fewer bits need less memory and change the image.");
}

/// The display name of a mode.
fn mode_name(mode: OffloadMode) -> &'static str {
    match mode {
        OffloadMode::Auto => "Automatic",
        OffloadMode::None => "Everything on GPU",
        OffloadMode::CondOnly => "Offload text encoder",
        OffloadMode::CondDiffusion => "Only the autoencoder",
        OffloadMode::Aggressive => "Only what is in use",
        OffloadMode::LayerStreaming => "Layer streaming",
    }
}

fn wish_name(wish: Wish) -> &'static str {
    match wish {
        Wish::Balanced => "Balanced",
        Wish::Quality => "Quality",
        Wish::Speed => "Speed",
        Wish::Memory => "Least memory",
    }
}

fn keep_name(keep: Keep) -> &'static str {
    match keep {
        Keep::Auto => "Automatic",
        Keep::None => "Nothing",
        Keep::All => "Everything that fits",
    }
}
