//! One-click presets for GPUs of common sizes.

use crate::language::{tr, units};
use egui::{Align2, FontId, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};
use sluice_engine::memory::{CardPreset, Machine, MemoryPreferences, card_presets};

use crate::window::{
    tokens::{Palette, font, radius, size, space},
    widgets,
};

/// Draws the presets if the plan is for a GPU, and costs and benefits of the active one. Those for smaller GPUs can be chosen, too:
/// they leave memory for other programs.
pub fn show(ui: &mut Ui, machine: &Machine, preferences: &mut MemoryPreferences) {
    let presets = card_presets();
    if presets.is_empty() || machine.unified {
        return;
    }
    let fits = |preset: &&CardPreset| least_total(preset) <= machine.device_total;
    let suited = presets.iter().rfind(fits);
    let applied = |preset: &CardPreset| {
        let is_suited = suited.is_some_and(|suited| suited.id == preset.id);
        applied(preset, is_suited, preferences)
    };
    let chosen = presets.iter().filter(fits).find(|preset| applied(preset) == *preferences);
    ui.add_space(2.0);
    widgets::field_label(ui, &tr!("plan-presets"));
    let mut wanted = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let count = presets.len() as f32;
        let width = (ui.available_width() - space::XS * (count - 1.0)) / count;
        for preset in presets {
            let larger = tr!("plan-preset-larger-gpu", memory = units::memory(machine.device_total));
            let on = chosen.is_some_and(|chosen| chosen.id == preset.id);
            let segment = ui.add_enabled_ui(fits(&preset), |ui| segment(ui, &preset.name, width, on)).inner;
            if segment.on_hover_text(&preset.summary).on_disabled_hover_text(larger).clicked() {
                wanted = Some(preset);
            }
        }
    });
    if let Some(preset) = chosen {
        widgets::hint(ui, preset.summary.as_str());
    }
    if let Some(preset) = wanted {
        *preferences = applied(preset);
    }
}

/// The least memory that counts as a preset's. Drivers keep some of what is printed on the box.
fn least_total(preset: &CardPreset) -> u64 {
    preset.vram - preset.vram / 16
}

/// The preferences with a preset applied. Keeps the device: a preset does not choose one. On a larger GPU than it is for, it limits
/// the VRAM to that of one that it is for.
fn applied(preset: &CardPreset, is_suited: bool, preferences: &MemoryPreferences) -> MemoryPreferences {
    let vram_budget = if is_suited { preset.memory.vram_budget } else { Some(preset.vram) };
    MemoryPreferences { device: preferences.device.clone(), vram_budget, ..preset.memory.clone() }
}

fn segment(ui: &mut Ui, name: &str, width: f32, on: bool) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL - 2.0), Sense::click());
    let spoken = tr!("plan-preset-for", name = name);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), on, &spoken));
    let over = response.hovered();
    let (fill, line) = match (on, over) {
        (true, _) => (palette.accent_soft, palette.accent.gamma_multiply(0.4)),
        (false, true) => (palette.hover, palette.line_strong),
        (false, false) => (palette.raised, palette.line),
    };
    let line = if response.has_focus() { palette.accent } else { line };
    ui.painter().rect(rect, radius::M, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    let font = FontId { size: font::SMALL + 0.5, ..font::medium(font::SMALL) };
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, name, font, palette.text);
    response
}
