//! Everything a person can say about memory, for those who want to.

use std::ops::RangeInclusive;

use egui::Ui;
use sluice_engine::{
    memory::{Estimate, Keep, MemoryPreferences, OffloadMode, Residence, Wish},
    precision::Storage,
};

use crate::window::{
    icons,
    state::State,
    tokens::space,
    widgets::{self, Weight},
};

const GB: f64 = (1_u64 << 30) as f64;
const MOST_GB: f64 = 1024.0;
/// Sides of tiles that are offered, in latents.
const TILES: [u32; 6] = [16, 32, 48, 64, 96, 128];

/// Draws the fold.
pub fn show(ui: &mut Ui, state: &State, open: &mut bool, preferences: &mut MemoryPreferences) {
    widgets::fold(ui, "Advanced", open, |ui| opened(ui, state, preferences));
}

fn opened(ui: &mut Ui, state: &State, preferences: &mut MemoryPreferences) {
    let modes = OffloadMode::ALL.iter().copied();
    widgets::choice_row(ui, "Mode", &mut preferences.mode, modes, mode_name);
    let automatic = preferences.mode == OffloadMode::Auto;
    ui.add_enabled_ui(automatic, |ui| {
        widgets::choice_row(ui, "Wish", &mut preferences.wish, Wish::ALL.iter().copied(), wish_name);
    });
    residence(ui, "Text encoder", &mut preferences.text_encoder);
    residence(ui, "Denoiser", &mut preferences.denoiser);
    residence(ui, "Autoencoder", &mut preferences.autoencoder);
    precision(ui, "Denoiser weights", &mut preferences.denoiser_precision);
    precision(ui, "Text encoder weights", &mut preferences.text_precision);
    let keeps = Keep::ALL.iter().copied();
    widgets::choice_row(ui, "Keep for the next job", &mut preferences.keep, keeps, keep_name);
    let estimates = Estimate::ALL.iter().copied();
    widgets::choice_row(ui, "Estimate", &mut preferences.estimate, estimates, |estimate| match estimate {
        Estimate::Formula => "From the shapes",
        Estimate::Dryrun => "By a dry run",
    });
    let tiles = std::iter::once(None).chain(TILES.map(Some));
    widgets::choice_row(ui, "Decoder tiles", &mut preferences.tile, tiles, |tile| match tile {
        None => "As planned".to_owned(),
        Some(side) => format!("{side} latents"),
    });
    ui.add_space(space::XS);
    let mut prefetch = preferences.prefetch.map(f64::from);
    widgets::optional_row(ui, "Blocks ahead", &mut prefetch, 1.0, 0.0..=16.0, (0.05, ""));
    preferences.prefetch = prefetch.map(|blocks| blocks.round() as u32);
    let device = state.planning.forecast().map(|forecast| &forecast.machine);
    let vram = device.map_or(8.0, |machine| machine.device_budget as f64 / GB);
    gigabytes(ui, "VRAM budget", &mut preferences.vram_budget, vram, 0.001..=MOST_GB);
    let ram = state.hardware.as_ref().map_or(16.0, |sample| sample.ram_total as f64 / GB / 2.0);
    gigabytes(ui, "RAM budget", &mut preferences.ram_budget, ram, 0.0..=MOST_GB);
    let shown = preferences.min_free_vram as f64 / GB;
    let mut free = shown;
    widgets::number_row(ui, "VRAM left free", &mut free, 0.0..=MOST_GB, (0.1, " GB"));
    if free != shown {
        preferences.min_free_vram = (free * GB).round() as u64;
    }
    ui.add_space(space::XS);
    let plain = MemoryPreferences { device: preferences.device.clone(), ..MemoryPreferences::default() };
    ui.add_enabled_ui(*preferences != plain, |ui| {
        if widgets::button(ui, Some(icons::RESTORE), "Back to the defaults", Weight::Plain).clicked() {
            *preferences = plain;
        }
    });
}

/// An amount in GB. It is only written back when a hand has moved it, so that bytes are not rounded.
fn gigabytes(ui: &mut Ui, text: &str, bytes: &mut Option<u64>, otherwise: f64, range: RangeInclusive<f64>) {
    let shown = bytes.map(|bytes| bytes as f64 / GB);
    let mut value = shown;
    let rounded = ((otherwise * 10.0).round() / 10.0).max(0.1);
    widgets::optional_row(ui, text, &mut value, rounded, range, (0.1, " GB"));
    if value != shown {
        *bytes = value.map(|gigabytes| (gigabytes * GB).round() as u64);
    }
}

fn residence(ui: &mut Ui, text: &str, value: &mut Option<Residence>) {
    let all = std::iter::once(None).chain(Residence::ALL.iter().copied().map(Some));
    widgets::choice_row(ui, text, value, all, |residence| match residence {
        None => "As the mode says",
        Some(Residence::Resident) => "Stays",
        Some(Residence::Staged) => "There during its stage",
        Some(Residence::Streamed) => "Streamed",
        Some(Residence::OnDemand) => "From disk, on demand",
    });
}

/// What weights are held as. It changes the picture.
fn precision(ui: &mut Ui, text: &str, value: &mut Storage) {
    widgets::choice_row(ui, text, value, Storage::ALL.iter().copied(), |storage| match storage {
        Storage::Stored => "As they are stored",
        storage => storage.title(),
    });
}

/// A mode in words.
fn mode_name(mode: OffloadMode) -> &'static str {
    match mode {
        OffloadMode::Auto => "Automatic",
        OffloadMode::None => "Everything stays",
        OffloadMode::CondOnly => "Text encoder leaves",
        OffloadMode::CondDiffusion => "Only the autoencoder stays",
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
        Keep::Auto => "What the plan keeps",
        Keep::None => "Nothing",
        Keep::All => "Everything that fits",
    }
}
