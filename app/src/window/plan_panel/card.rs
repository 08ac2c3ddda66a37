//! Which card is planned for: what is here, or what another one would do.

use egui::{ComboBox, RichText, Ui};
use sluice_engine::{
    hardware::{CardProfile, GpuSample, card, cards},
    memory::{DeviceChoice, Machine, MemoryPreferences},
};

use crate::engines;
use crate::window::{icons, state::State, tokens::Palette, widgets, words};

/// Draws the choice and what may be taken.
pub fn show(ui: &mut Ui, state: &State, preferences: &mut MemoryPreferences) {
    let label = widgets::field_label(ui, "Card");
    let serving = state.serving.as_ref();
    let of_cards = serving.is_some_and(|serving| serving.engine == engines::CUDA);
    let gpus = state.hardware.as_ref().map_or(&[][..], |sample| &sample.gpus);
    let width = ui.available_width();
    ComboBox::from_id_salt("card")
        .selected_text(name(&preferences.device, of_cards))
        .width(width)
        .truncate()
        .show_ui(ui, |ui| choices(ui, gpus, of_cards, &mut preferences.device))
        .response
        .labelled_by(label.id);
    if let Some(forecast) = state.planning.forecast() {
        widgets::hint(ui, taken(&forecast.machine));
    }
    if let Some(budget) = preferences.vram_budget {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            widgets::hint(ui, format!("Limited to {} GB.", words::gb(budget)));
            if widgets::disclosure(ui, "Lift the limit", icons::X, false).clicked() {
                preferences.vram_budget = None;
            }
        });
    }
    if matches!(preferences.device, DeviceChoice::Simulated(_)) {
        widgets::hint(ui, "A run here has this card's memory and link, and this computer's speed.");
    }
    if let Some(instead_of) = serving.and_then(|serving| serving.instead_of.as_ref()) {
        let advice = instead_of.advice.as_deref().unwrap_or_default();
        widgets::hint(ui, "CUDA is not available.")
            .on_hover_text(format!("{}\n{advice}", instead_of.message));
    }
}

/// Offers the devices; `of_cards` says whether the engine computes on cards.
fn choices(ui: &mut Ui, gpus: &[GpuSample], of_cards: bool, device: &mut DeviceChoice) {
    let palette = Palette::of(ui);
    ui.selectable_value(device, DeviceChoice::Auto, name(&DeviceChoice::Auto, of_cards));
    if of_cards {
        ui.selectable_value(device, DeviceChoice::Processor, name(&DeviceChoice::Processor, of_cards));
    }
    for gpu in gpus.iter().filter(|_| !of_cards) {
        let found = format!("{} {} GB (found)", short_name(&gpu.name), words::gb(gpu.vram_total));
        match profile(gpu) {
            Some(profile) => {
                let choice = DeviceChoice::Simulated(profile.id.clone());
                // What is chosen is shown once, among the simulated ones.
                let tip = "This program computes on the processor. It can simulate this card.";
                if ui.selectable_label(false, found).on_hover_text(tip).clicked() {
                    *device = choice;
                }
            }
            None => {
                ui.add_enabled_ui(false, |ui| {
                    let tip =
                        "This program computes on the processor, and has no figures to simulate this card.";
                    ui.selectable_label(false, found).on_disabled_hover_text(tip);
                });
            }
        }
    }
    ui.separator();
    ui.label(RichText::new("What would another card do?").small().color(palette.text_faint));
    for card in cards() {
        let choice = DeviceChoice::Simulated(card.id.clone());
        let words = name(&choice, of_cards);
        ui.selectable_value(device, choice, words);
    }
}

/// A device in words; `of_cards` says whether the engine computes on cards.
pub fn name(device: &DeviceChoice, of_cards: bool) -> String {
    match device {
        DeviceChoice::Auto if of_cards => "This computer's card".to_owned(),
        DeviceChoice::Auto | DeviceChoice::Processor => "This computer (CPU)".to_owned(),
        DeviceChoice::Simulated(id) => {
            format!("{} (simulated)", card(id).map_or(id.as_str(), |card| card.name.as_str()))
        }
    }
}

fn taken(machine: &Machine) -> String {
    let device = words::of_gb(machine.device_budget, machine.device_total);
    if machine.unified {
        format!("{device} may be taken")
    } else {
        format!("{device} VRAM and {} GB RAM may be taken", words::gb(machine.host_budget))
    }
}

/// What people call a card.
fn short_name(name: &str) -> &str {
    name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ")
}

/// The figures for a card that was found.
fn profile(gpu: &GpuSample) -> Option<&'static CardProfile> {
    let name = short_name(&gpu.name).trim_end_matches(" Laptop GPU");
    let of_name = |card: &&CardProfile| {
        card.name.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.starts_with(|first: char| first.is_ascii_digit())
        })
    };
    let off = |card: &&CardProfile| card.vram.abs_diff(gpu.vram_total);
    cards().iter().filter(of_name).min_by_key(off).filter(|card| off(card) < 2 << 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_found_card_is_known_by_its_name_and_memory() {
        let found = |name: &str, gigabytes: u64| {
            let gpu = GpuSample {
                name: name.to_owned(),
                vram_total: gigabytes << 30,
                vram_used: 0,
                load: 0.0,
                temperature: None,
            };
            profile(&gpu).map(|card| card.vram >> 30)
        };
        assert_eq!(found("NVIDIA GeForce RTX 3060", 12), Some(12));
        assert_eq!(found("NVIDIA GeForce RTX 4060 Ti", 16), Some(16));
        assert_eq!(found("NVIDIA GeForce RTX 4060", 8), Some(8));
        assert_eq!(found("NVIDIA GeForce GT 710", 2), None);
    }
}
