//! The memory plan for the next image, with reasons and alternatives.

mod advanced;
mod alternatives;
mod card;
mod presets;
mod stages;

use egui::{Align, Frame, Label, Layout, Margin, RichText, ScrollArea, Sense, Ui, vec2};
use sluice_engine::memory::{
    Bound, Forecast, Machine, MemoryPreferences, Outcome, Plan, PlanError, StageKind,
};

use super::{
    action::Action,
    icons, lanes, sentences,
    settings::Setting,
    side_panel::{accuracy_of, knows_time, lack},
    state::{Answer, State},
    tokens::{Palette, font, radius, size, space},
    widgets::{self, MemoryBar},
};
use crate::language::{self, said, tr, units};

/// View state of the panel; not saved.
#[derive(Debug, Default)]
pub struct PlanPanel {
    details: bool,
    /// The machine of the last forecast.
    machine: Option<Machine>,
    advanced: advanced::Open,
    lists: alternatives::OpenLists,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, state: &State, panel: &mut PlanPanel, actions: &mut Vec<Action>) {
    let before = &state.settings.memory.preferences;
    let mut preferences = before.clone();
    header(ui, actions);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let side = space::L as i8;
        Frame::new().inner_margin(Margin { left: side, right: side, top: 0, bottom: side }).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            lanes::choice(ui, state, actions);
            card::show(ui, state, &mut preferences, actions);
            if let Some(Forecast { machine, .. }) = state.planning.forecast()
                && panel.machine.as_ref() != Some(machine)
            {
                panel.machine = Some(machine.clone());
            }
            // They stay while another forecast is made, or if there is none.
            if let Some(machine) = &panel.machine {
                presets::show(ui, machine, &mut preferences);
            }
            ui.add_space(space::S);
            let lacks = state.mistake().map(|error| lack(state, &error)).or_else(|| state.unreadable_input());
            match (lacks, state.planning.answer()) {
                // What was answered last is about other settings.
                (Some(why), _) => no_plan(ui, why),
                (None, Some(Answer::Forecast(forecast))) => {
                    answer(ui, forecast, state, &mut preferences);
                    ui.add_space(space::S);
                    widgets::fold(
                        ui,
                        (&tr!("plan-details"), tr!("plan-details-tip")),
                        &mut panel.details,
                        |ui| {
                            details(ui, forecast, state, &mut panel.lists, &mut preferences);
                        },
                    );
                }
                (None, Some(Answer::Failure(failure))) => {
                    widgets::mistake(ui, &sentences::sentence(&failure.message));
                    if let Some(advice) = &failure.advice {
                        widgets::hint(ui, said(advice));
                    }
                }
                (None, None) if state.planning.is_asking() => {
                    widgets::hint(ui, tr!("plan-planning"));
                }
                (None, None) => {
                    widgets::hint(ui, tr!("plan-no-model"));
                }
            }
            advanced::show(ui, state, panel.machine.as_ref(), &mut panel.advanced, &mut preferences);
        });
    });
    if preferences != *before {
        actions.push(Action::Set(Setting::Memory(Box::new(preferences))));
    }
}

fn header(ui: &mut Ui, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let margin = Margin { left: space::L as i8, right: space::S as i8, top: 8, bottom: 4 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(
                RichText::new(tr!("plan-title")).font(font::semibold(font::HEADING)).color(palette.text),
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::icon_button(ui, icons::CHEVRON_RIGHT, &tr!("plan-close")).clicked() {
                    actions.push(Action::Set(Setting::PlanOpen(false)));
                }
            });
        });
    });
}

/// Says that there is no plan, and why.
fn no_plan(ui: &mut Ui, why: String) {
    let words = RichText::new(tr!("plan-none")).font(font::medium(font::BODY));
    ui.add(Label::new(words.color(Palette::of(ui).text)).wrap());
    widgets::hint(ui, why);
}

/// The answer at a glance: whether it fits, how long it takes, the memory, and the three choices.
fn answer(ui: &mut Ui, forecast: &Forecast, state: &State, preferences: &mut MemoryPreferences) {
    let machine = &forecast.machine;
    at_a_glance(ui, forecast, state, preferences);
    ui.add_space(2.0);
    match &forecast.plan {
        Ok(plan) => bars(ui, machine, plan),
        Err(PlanError::Device { needed, budget, .. }) => {
            let parts = [(*needed, Palette::of(ui).weights)];
            let total = shown_total(machine);
            let bar = MemoryBar { parts: &parts, total, limit: Some(*budget), faded: false };
            measured(ui, &device_name(machine), *needed, total, bar);
        }
        Err(PlanError::Host { needed, budget }) => {
            let parts = [(*needed, Palette::of(ui).weights)];
            let bar = MemoryBar { parts: &parts, total: *budget, limit: Some(*budget), faded: false };
            measured(ui, "RAM", *needed, *budget, bar);
        }
    }
    ui.add_space(space::XS);
    alternatives::choices(ui, forecast, state.planning.images(), preferences);
}

/// One line: whether it fits, how long the run takes, and whether the image stays the same.
fn at_a_glance(ui: &mut Ui, forecast: &Forecast, state: &State, preferences: &MemoryPreferences) {
    let palette = Palette::of(ui);
    let (words, color) = match &forecast.plan {
        Ok(plan) => {
            let quality = alternatives::quality_in_force(forecast, preferences);
            let time = units::seconds(plan.seconds);
            let is_known = knows_time(forecast, state) && state.draft().request.step_cache == 0.0;
            let words = match (quality, is_known) {
                (Some(quality), true) => tr!("plan-fits-quality", time = time, quality = quality),
                (Some(quality), false) => tr!("plan-fits-about-quality", time = time, quality = quality),
                (None, true) => tr!("plan-fits", time = time),
                (None, false) => tr!("plan-fits-about", time = time),
            };
            let is_old = state.planning.is_asking();
            (words, if is_old { palette.text_muted } else { palette.good })
        }
        Err(PlanError::Device { needed, budget, .. } | PlanError::Host { needed, budget }) => {
            let (needed, allowed) = (units::memory_needed(*needed), units::memory(*budget));
            (tr!("plan-too-large", needed = needed, allowed = allowed), palette.danger)
        }
    };
    ui.add(
        Label::new(RichText::new(words).font(font::medium(font::BODY)).color(color)).wrap().selectable(true),
    );
}

/// Why the plan is as it is, its stages, how good forecasts were, and everything else that could be done.
fn details(
    ui: &mut Ui,
    forecast: &Forecast,
    state: &State,
    lists: &mut alternatives::OpenLists,
    preferences: &mut MemoryPreferences,
) {
    let palette = Palette::of(ui);
    let reason = RichText::new(said(&forecast.sentence)).color(palette.text);
    ui.add(Label::new(reason).wrap().selectable(true));
    if let Ok(plan) = &forecast.plan {
        pace(ui, plan);
        stages::show(ui, plan, state);
    }
    if let Some(accuracy) = &forecast.accuracy {
        widgets::hint(ui, accuracy_of(accuracy));
    }
    let last = state.watches.outcome.as_deref();
    if let Some(outcome) = last.filter(|outcome| outcome.model == forecast.model) {
        last_run(ui, outcome);
    }
    if !forecast.alternatives.is_empty() {
        ui.add_space(space::S);
        alternatives::show(ui, forecast, state.planning.images(), lists, preferences);
    }
}

/// The full length of the device bar: all of its memory, or the budget if that is far less.
fn shown_total(machine: &Machine) -> u64 {
    let Machine { device_total, device_budget, .. } = *machine;
    if device_budget < device_total / 4 { device_budget } else { device_total }
}

/// The name of the device's memory.
fn device_name(machine: &Machine) -> String {
    if machine.unified { tr!("plan-memory") } else { "VRAM".to_owned() }
}

fn bars(ui: &mut Ui, machine: &Machine, plan: &Plan) {
    let palette = Palette::of(ui);
    let peak = plan.stages.iter().max_by_key(|stage| stage.device());
    let (weights, activations) = peak.map_or((0, 0), |stage| (stage.weights, stage.activations));
    let parts = [(weights, palette.weights), (activations, palette.activations)];
    let total = shown_total(machine);
    let bar = MemoryBar { parts: &parts, total, limit: Some(machine.device_budget), faded: false };
    let row = measured(ui, &device_name(machine), plan.peak_device(), total, bar);
    row.on_hover_ui(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for stage in &plan.stages {
            ui.small(stages::figures(stage));
        }
        ui.small(tr!("plan-allowed", memory = units::memory(machine.device_budget)));
    });
    if !machine.unified {
        let host = plan.peak_host();
        let parts = [(host, palette.weights)];
        let bar = MemoryBar { parts: &parts, total: machine.host_budget, limit: None, faded: false };
        measured(ui, "RAM", host, machine.host_budget, bar).on_hover_text(tr!("plan-ram-tip"));
    }
}

/// A row with a name, a bar and an amount.
fn measured(ui: &mut Ui, name: &str, part: u64, whole: u64, bar: MemoryBar<'_>) -> egui::Response {
    let palette = Palette::of(ui);
    let height = 18.0;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), height),
        Layout::left_to_right(Align::Center),
        |ui| {
            ui.spacing_mut().interact_size.y = height;
            let (rect, _) = ui.allocate_exact_size(vec2(52.0, height), Sense::hover());
            let left = rect.left_center();
            let small = font::medium(font::SMALL);
            ui.painter().text(left, egui::Align2::LEFT_CENTER, name, small, palette.text_muted);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let amount =
                    ui.label(RichText::new(language::memory_of(part, whole)).small().color(palette.text));
                let (rect, response) =
                    ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
                let place = egui::Rect::from_center_size(rect.center(), vec2(rect.width(), size::BAR));
                widgets::memory_bar(ui, place, bar);
                amount.union(response)
            })
            .inner
        },
    )
    .inner
}

fn pace(ui: &mut Ui, plan: &Plan) {
    let step = units::seconds(plan.seconds_per_step);
    let all = units::seconds(plan.seconds);
    widgets::hint(
        ui,
        match plan.first_of(StageKind::Denoise).map(|stage| stage.bound) {
            Some(Bound::Compute) => tr!("plan-pace-compute", step = step, run = all),
            Some(Bound::Link) => tr!("plan-pace-link", step = step, run = all),
            Some(Bound::Disk) => tr!("plan-pace-disk", step = step, run = all),
            None => tr!("plan-pace", step = step, run = all),
        },
    );
}

/// Prediction and measurement of the last run. Omits what was not measured.
fn last_run(ui: &mut Ui, outcome: &Outcome) {
    let palette = Palette::of(ui);
    let mut lines = Vec::new();
    if outcome.measured_device > 0 {
        let predicted = units::memory(outcome.predicted_device);
        let measured = units::memory(outcome.measured_device);
        lines.push(tr!("plan-last-memory", predicted = predicted, measured = measured));
    }
    if outcome.measured_step_seconds > 0.0 {
        let predicted = units::seconds(outcome.predicted_step_seconds);
        let measured = units::seconds(outcome.measured_step_seconds);
        lines.push(tr!("plan-last-step", predicted = predicted, measured = measured));
    }
    if lines.is_empty() {
        return;
    }
    Frame::new().fill(palette.raised).corner_radius(radius::M).inner_margin(Margin::symmetric(10, 7)).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.set_width(ui.available_width());
            widgets::field_label(ui, &tr!("plan-last-run"));
            for words in lines {
                ui.label(RichText::new(words).small().color(palette.text));
            }
        },
    );
}
