//! All memory preferences, for advanced users.

use std::{collections::BTreeMap, ops::RangeInclusive};

use crate::language::{tr, units};
use egui::{RichText, Ui};
use sluice_engine::{
    memory::{
        Attention, Estimate, Keep, Machine, MemoryPreferences, OffloadMode, PartChoice, PartPlan, Plan,
        Residence, Wish,
    },
    precision::Storage,
    session::ComponentSummary,
};

use crate::window::{
    icons,
    sentences::{capitalised, role_name},
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
pub fn show(
    ui: &mut Ui,
    state: &State,
    machine: Option<&Machine>,
    open: &mut Open,
    preferences: &mut MemoryPreferences,
) {
    let Open { section, parts } = open;
    widgets::fold(ui, (&tr!("plan-advanced"), tr!("plan-advanced-tip")), section, |ui| {
        opened(ui, state, machine, parts, preferences)
    });
}

fn opened(
    ui: &mut Ui,
    state: &State,
    machine: Option<&Machine>,
    parts: &mut bool,
    preferences: &mut MemoryPreferences,
) {
    let modes = OffloadMode::ALL.iter().copied();
    widgets::choice_row(ui, &tr!("plan-mode"), &mut preferences.mode, modes, mode_name)
        .on_hover_text(tr!("plan-mode-tip"));
    let automatic = preferences.mode == OffloadMode::Auto;
    ui.add_enabled_ui(automatic, |ui| {
        let wishes = Wish::ALL.iter().copied();
        widgets::choice_row(ui, &tr!("plan-wish"), &mut preferences.wish, wishes, wish_name)
            .on_hover_text(tr!("plan-wish-tip"));
    });
    residence(ui, (&tr!("plan-text-encoder"), ""), &mut preferences.text_encoder);
    residence(ui, (&tr!("plan-denoiser"), ""), &mut preferences.denoiser);
    residence(ui, (&tr!("plan-autoencoder"), ""), &mut preferences.autoencoder);
    precision(ui, &tr!("plan-denoiser-weights"), &mut preferences.denoiser_precision);
    precision(ui, &tr!("plan-text-encoder-weights"), &mut preferences.text_precision);
    ui.add_enabled_ui(automatic, |ui| {
        ui.checkbox(&mut preferences.may_use_8_bit, RichText::new(tr!("plan-eight-bit")).small())
            .on_hover_text(tr!("plan-eight-bit-tip"));
    });
    let keeps = Keep::ALL.iter().copied();
    widgets::choice_row(ui, &tr!("plan-keep"), &mut preferences.keep, keeps, keep_name)
        .on_hover_text(tr!("plan-keep-tip"));
    if let Some(summary) = state.summary() {
        widgets::fold(ui, (&tr!("plan-each-part"), tr!("plan-each-part-tip")), parts, |ui| {
            for (name, title) in single_parts(&summary.components, state.planning.plan()) {
                ui.push_id(&name, |ui| {
                    single_part(ui, (name.as_str(), title.as_str()), &mut preferences.parts)
                });
            }
            if !state.draft().request.control_nets.is_empty() {
                widgets::hint(ui, tr!("plan-control-nets"));
            }
        });
    }
    let estimates = Estimate::ALL.iter().copied();
    widgets::choice_row(ui, &tr!("plan-estimate"), &mut preferences.estimate, estimates, |estimate| {
        match estimate {
            Estimate::Formula => tr!("plan-estimate-formula"),
            Estimate::Dryrun => tr!("plan-estimate-dry-run"),
        }
    })
    .on_hover_text(tr!("plan-estimate-tip"));
    let tiles = std::iter::once(None).chain(TILES.map(Some));
    widgets::choice_row(ui, &tr!("plan-tiles"), &mut preferences.tile, tiles, |tile| match tile {
        None => tr!("plan-automatic"),
        Some(side) => tr!("plan-tile", side = side),
    })
    .on_hover_text(tr!("plan-tiles-tip"));
    if let Some(bytes) = state.planning.forecast().map(|forecast| forecast.attention)
        && bytes.on_gpu.is_some()
    {
        let ways = Attention::ALL.iter().copied();
        widgets::choice_row(ui, &tr!("plan-attention"), &mut preferences.attention, ways, |way| match way {
            Attention::Math => tr!("plan-attention-math", memory = units::memory_needed(bytes.math)),
            Attention::Tiled => tr!("plan-attention-tiled", memory = units::memory_needed(bytes.tiled)),
        })
        .on_hover_text(tr!("plan-attention-tip"));
    }
    ui.add_space(space::XS);
    let mut prefetch = preferences.prefetch.map(f64::from);
    widgets::optional_row(
        ui,
        &tr!("plan-prefetch"),
        &mut prefetch,
        1.0,
        0.0..=16.0,
        (0.05, &format!(" {}", tr!("plan-blocks"))),
    )
    .on_hover_text(tr!("plan-prefetch-tip"));
    preferences.prefetch = prefetch.map(|blocks| blocks.round() as u32);
    // One memory for everything has one limit, and one reserve.
    let is_unified = machine.is_some_and(|machine| machine.unified);
    let [limit, limit_tip, reserve, reserve_tip] = match is_unified {
        true => [
            tr!("plan-memory-limit"),
            tr!("plan-memory-limit-tip"),
            tr!("plan-reserve-memory"),
            tr!("plan-reserve-memory-tip"),
        ],
        false => {
            [tr!("plan-vram-limit"), tr!("plan-vram-limit-tip"), tr!("plan-reserve"), tr!("plan-reserve-tip")]
        }
    };
    let most = machine.map_or(8.0, |machine| machine.device_budget as f64 / GB);
    gigabytes(ui, &limit, &mut preferences.vram_budget, most, 0.001..=MOST_GB).on_hover_text(limit_tip);
    if !is_unified || preferences.ram_budget.is_some() {
        let hardware = state.engine.hardware.as_ref();
        let ram = hardware.map_or(16.0, |sample| sample.ram_total as f64 / GB / 2.0);
        gigabytes(ui, &tr!("plan-ram-limit"), &mut preferences.ram_budget, ram, 0.0..=MOST_GB)
            .on_hover_text(tr!("plan-ram-limit-tip"));
    }
    let shown = preferences.min_free_vram as f64 / GB;
    let mut free = shown;
    widgets::number_row(ui, &reserve, &mut free, 0.0..=MOST_GB, (0.1, " GB")).on_hover_text(reserve_tip);
    if free != shown {
        preferences.min_free_vram = (free * GB).round() as u64;
    }
    ui.add_space(space::XS);
    let plain = MemoryPreferences { device: preferences.device.clone(), ..MemoryPreferences::default() };
    ui.add_enabled_ui(*preferences != plain, |ui| {
        if widgets::button(ui, Some(icons::RESTORE), &tr!("plan-reset"), Weight::Plain)
            .on_hover_text(tr!("plan-reset-tip"))
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
) -> widgets::Labelled {
    let shown = bytes.map(|bytes| bytes as f64 / GB);
    let mut value = shown;
    let rounded = ((otherwise * 10.0).round() / 10.0).max(0.1);
    let response = widgets::optional_row(ui, text, &mut value, rounded, range, (0.1, " GB"));
    if value != shown {
        *bytes = value.map(|gigabytes| (gigabytes * GB).round() as u64);
    }
    response
}

/// The name and the title of each part of the model, and of what is planned beside it, such as ControlNets and upscalers.
fn single_parts(components: &[ComponentSummary], plan: Option<&Plan>) -> Vec<(String, String)> {
    let own = components.iter().map(|part| (part.name.clone(), part.architecture.clone()));
    let is_beside = |part: &&PartPlan| components.iter().all(|own| own.name != part.name);
    let beside = plan.into_iter().flat_map(|plan| &plan.parts).filter(is_beside);
    let titled = |part: &PartPlan| {
        // Further ones have a number.
        let rest = part.name.strip_prefix(part.role.id());
        let title = match rest.map(|rest| rest.replace('_', " ")) {
            Some(number) => role_name(part.role) + &number,
            None => capitalised(&part.name.replace('_', " ")),
        };
        (part.name.clone(), title)
    };
    own.chain(beside.map(titled)).collect()
}

/// The choices for one part.
fn single_part(ui: &mut Ui, (name, shown): (&str, &str), choices: &mut BTreeMap<String, PartChoice>) {
    let before = choices.get(name).copied().unwrap_or_default();
    let mut choice = before;
    residence(ui, (shown, shown), &mut choice.residence);
    let keeps = std::iter::once(None).chain(Keep::ALL.iter().copied().map(Some));
    let title = tr!("plan-keep-part", name = shown);
    widgets::choice_row_about(ui, (&title, shown), &mut choice.keep, keeps, |keep| {
        keep.map_or_else(|| tr!("plan-default"), keep_name)
    })
    .on_hover_text(tip(shown, tr!("plan-keep-part-tip")));
    if choice == PartChoice::default() {
        choices.remove(name);
    } else if choice != before {
        choices.insert(name.to_owned(), choice);
    }
}

/// A tooltip that begins with the name of a part, which its label may shorten.
fn tip(name: &str, tip: String) -> String {
    if name.is_empty() { tip } else { format!("{name}\n{tip}") }
}

fn residence(ui: &mut Ui, (text, about): (&str, &str), value: &mut Option<Residence>) {
    let all = std::iter::once(None).chain(Residence::ALL.iter().copied().map(Some));
    widgets::choice_row_about(ui, (text, about), value, all, |residence| match residence {
        None => tr!("plan-default"),
        Some(Residence::Resident) => tr!("plan-resident"),
        Some(Residence::Staged) => tr!("plan-staged"),
        Some(Residence::Streamed) => tr!("plan-streamed"),
        Some(Residence::OnDemand) => tr!("plan-on-demand"),
    })
    .on_hover_text(tip(about, tr!("plan-residence-tip")));
}

/// The weight type, which changes the image.
fn precision(ui: &mut Ui, text: &str, value: &mut Storage) {
    widgets::choice_row(ui, text, value, Storage::ALL.iter().copied(), |storage| match storage {
        Storage::Stored => tr!("plan-stored"),
        storage => storage.title().to_owned(),
    })
    .on_hover_text(tr!("plan-precision-tip"));
}

/// The display name of a mode.
fn mode_name(mode: OffloadMode) -> String {
    match mode {
        OffloadMode::Auto => tr!("plan-automatic"),
        OffloadMode::None => tr!("plan-mode-none"),
        OffloadMode::CondOnly => tr!("plan-mode-cond-only"),
        OffloadMode::CondDiffusion => tr!("plan-mode-cond-diffusion"),
        OffloadMode::Aggressive => tr!("plan-mode-aggressive"),
        OffloadMode::LayerStreaming => tr!("plan-mode-layer-streaming"),
    }
}

fn wish_name(wish: Wish) -> String {
    match wish {
        Wish::Balanced => tr!("plan-wish-balanced"),
        Wish::Quality => tr!("plan-wish-quality"),
        Wish::Speed => tr!("plan-wish-speed"),
        Wish::Memory => tr!("plan-wish-memory"),
    }
}

fn keep_name(keep: Keep) -> String {
    match keep {
        Keep::Auto => tr!("plan-automatic"),
        Keep::None => tr!("plan-keep-none"),
        Keep::All => tr!("plan-keep-all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_called_here_what_the_engine_calls_them() {
        for mode in OffloadMode::ALL.iter().copied() {
            assert_eq!(mode_name(mode), mode.title());
        }
    }
}
