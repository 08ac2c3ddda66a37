//! The GPU to plan for: one in this machine, or a simulated one.

use egui::{ComboBox, RichText, Ui};
use sluice_engine::{
    hardware::{CardProfile, GpuSample, card, cards},
    memory::{DeviceChoice, Machine, MemoryPreferences},
};

use crate::{
    engines,
    language::{self, said, tr, units},
    window::{action::Action, cuda_offer, icons, state::State, tokens::Palette, widgets},
};

/// Draws the selection and the budget.
pub fn show(ui: &mut Ui, state: &State, preferences: &mut MemoryPreferences, actions: &mut Vec<Action>) {
    let label = widgets::field_label(ui, "GPU");
    let serving = state.engine.serving.as_ref();
    let of_cards = serving.is_some_and(|serving| engines::computes_on_gpus(&serving.engine));
    let gpus = state.engine.hardware.as_ref().map_or(&[][..], |sample| &sample.gpus);
    let width = ui.available_width();
    let list = ComboBox::from_id_salt("gpu")
        .selected_text(name(&preferences.device, of_cards, gpus))
        .width(width)
        .truncate();
    widgets::drop_down(ui, list, |ui| choices(ui, gpus, of_cards, &mut preferences.device))
        .response
        .labelled_by(label.id)
        .on_hover_text(tr!("plan-gpu-tip"));
    if let Some(forecast) = state.planning.forecast() {
        widgets::hint(ui, allowed(&forecast.machine));
    }
    if let Some(budget) = preferences.vram_budget {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            widgets::hint(ui, tr!("plan-limited", memory = units::memory(budget)));
            if widgets::disclosure(ui, &tr!("plan-remove-limit"), icons::X, false)
                .on_hover_text(tr!("side-panel-remove-limit-tip"))
                .clicked()
            {
                preferences.vram_budget = None;
            }
        });
    }
    // Why this computer's own GPU is not used says nothing about a simulated one.
    if matches!(preferences.device, DeviceChoice::Simulated(_)) {
        widgets::hint(ui, tr!("plan-simulated-hint"));
        return;
    }
    let is_here = !state.lanes.shown_is_elsewhere();
    let has_none = is_here && !of_cards && state.engine.hardware.is_some() && gpus.is_empty();
    let other = state.surroundings.gpu.as_deref().filter(|name| has_none && is_of_another_maker(name));
    if let Some(name) = other {
        widgets::hint(ui, tr!("plan-other-gpu", name = name)).on_hover_text(tr!("plan-other-gpu-tip"));
    } else if let Some(instead_of) = serving.and_then(|serving| serving.instead_of.as_ref()) {
        let advice = said(instead_of.advice.as_deref().unwrap_or_default());
        let why = format!("{}\n{advice}", said(&instead_of.message));
        let (words, why) = match is_here {
            true => (tr!("plan-no-cuda"), why),
            false => (tr!("plan-no-cuda-there"), tr!("engines-there", words = why)),
        };
        widgets::hint(ui, words).on_hover_text(why);
        if state.offers_cuda() && is_here {
            cuda_offer::show(ui, state, actions);
        }
    }
}

/// Lists the devices; `of_cards` is whether the engine computes on GPUs.
fn choices(ui: &mut Ui, gpus: &[GpuSample], of_cards: bool, device: &mut DeviceChoice) {
    let palette = Palette::of(ui);
    let mut offer = |ui: &mut Ui, choice: DeviceChoice| {
        let words = name(&choice, of_cards, gpus);
        widgets::entry(ui, device, choice, words).on_hover_text(tr!("plan-here-tip"));
    };
    offer(ui, DeviceChoice::Auto);
    if of_cards {
        if gpus.len() > 1 {
            (0..).zip(gpus).for_each(|(number, _)| offer(ui, DeviceChoice::Gpu(number)));
        }
        offer(ui, DeviceChoice::Processor);
    }
    for gpu in gpus.iter().filter(|_| !of_cards) {
        let found =
            tr!("plan-gpu-found", name = short_name(&gpu.name), memory = units::memory(gpu.vram_total));
        match profile(gpu) {
            Some(profile) => {
                let choice = DeviceChoice::Simulated(profile.id.clone());
                // The selected device is listed once, among the simulated ones.
                let tip = tr!("plan-gpu-can-simulate");
                if widgets::choice(ui, false, found).on_hover_text(tip).clicked() {
                    *device = choice;
                }
            }
            None => {
                ui.add_enabled_ui(false, |ui| {
                    let tip = tr!("plan-gpu-cannot-simulate");
                    widgets::choice(ui, false, found).on_disabled_hover_text(tip);
                });
            }
        }
    }
    ui.separator();
    ui.label(RichText::new(tr!("plan-simulate-another")).small().color(palette.text_faint));
    for card in cards() {
        let choice = DeviceChoice::Simulated(card.id.clone());
        let words = name(&choice, of_cards, gpus);
        widgets::entry(ui, device, choice, words).on_hover_text(tr!("plan-simulate-tip"));
    }
}

/// The display name of a device; `of_cards` is whether the engine computes on GPUs, and `gpus` are this machine's.
pub fn name(device: &DeviceChoice, of_cards: bool, gpus: &[GpuSample]) -> String {
    match device {
        DeviceChoice::Auto if of_cards => tr!("plan-this-gpu"),
        DeviceChoice::Auto | DeviceChoice::Processor => tr!("plan-this-cpu"),
        DeviceChoice::Gpu(number) => match gpus.get(*number as usize) {
            Some(gpu) => format!("GPU {number}, {} {}", short_name(&gpu.name), units::memory(gpu.vram_total)),
            None => format!("GPU {number}"),
        },
        DeviceChoice::Simulated(id) => {
            tr!("plan-simulated", name = card(id).map_or(id.as_str(), |card| card.name.as_str()))
        }
    }
}

fn allowed(machine: &Machine) -> String {
    let device = language::memory_of(machine.device_budget, machine.device_total);
    if machine.unified {
        tr!("plan-up-to", memory = device)
    } else {
        tr!("plan-up-to-vram-and-ram", vram = device, ram = units::memory(machine.host_budget))
    }
}

/// The short name of a GPU.
fn short_name(name: &str) -> &str {
    name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ")
}

/// Whether the GPU that renders the window is one that Sluice cannot compute on, by its name. Programs that render in its
/// place, such as llvmpipe, are not.
fn is_of_another_maker(name: &str) -> bool {
    ["AMD", "Radeon", "Intel", "Apple"].iter().any(|maker| name.contains(maker))
}

/// The profile of a detected GPU.
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
    fn a_found_gpu_is_known_by_its_name_and_memory() {
        let found = |name: &str, gigabytes: u64| {
            let gpu = GpuSample {
                name: name.to_owned(),
                uuid: None,
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

    #[test]
    fn gpus_that_cannot_compute_are_known_by_their_names() {
        for name in [
            "AMD Radeon RX 7800 XT (RADV NAVI32)",
            "Radeon RX 580 Series",
            "Intel(R) UHD Graphics 620 (KBL GT2)",
            "Mesa Intel(R) Arc(tm) A770 Graphics (DG2)",
            "Apple M2",
        ] {
            assert!(is_of_another_maker(name), "{name}");
        }
        for name in
            ["NVIDIA GeForce RTX 3060", "llvmpipe (LLVM 15.0.6, 256 bits)", "Microsoft Basic Render Driver"]
        {
            assert!(!is_of_another_maker(name), "{name}");
        }
    }
}
