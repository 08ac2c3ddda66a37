//! What there is to choose from: three choices, and the table of all strategies. Each row has its resources, and says which
//! one is used.

use std::cmp::Ordering;

use egui::{
    Align2, Color32, FontId, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use sluice_engine::memory::{Alternative, Forecast, Machine, MemoryPreferences, Quality};

use crate::{
    language::{tr, units},
    window::{
        strategy_names::name_of,
        tokens::{Palette, font, radius, space},
        widgets::{self, MemoryBar},
    },
};

const ROW: f32 = 46.0;
/// Width of the bars and their numbers.
const BARS: f32 = 122.0;
const NUMBER: f32 = 52.0;

/// Which lists below the first are open.
#[derive(Debug, Default)]
pub struct OpenLists {
    too_large: bool,
    comparison: bool,
}

/// Draws the choices of the automatic mode, from fast to small, with the time of all images of the run. Clicking one applies its
/// preferences.
pub fn choices(ui: &mut Ui, forecast: &Forecast, images: f64, preferences: &mut MemoryPreferences) {
    let chosen = chosen(&forecast.choices, preferences).map(str::to_owned);
    ui.spacing_mut().item_spacing.y = 2.0;
    for choice in &forecast.choices {
        let used = chosen.as_deref() == Some(choice.id.as_str());
        if row(ui, (choice, images), &forecast.machine, used).clicked()
            && let Some(wanted) = &choice.preferences
        {
            preferences.clone_from(wanted);
        }
    }
}

/// How close the next image is to that of the stored weights, in a word or two, if it is one of the rows.
pub fn quality_in_force(forecast: &Forecast, preferences: &MemoryPreferences) -> Option<String> {
    let mut rows = forecast.choices.iter().chain(&forecast.alternatives);
    rows.find(|row| row.available && row.preferences.as_ref() == Some(preferences)).map(quality)
}

/// Draws the table: what fits, and what is in use; below that, closed at first, the rest. Clicking a selectable row
/// applies its preferences.
pub fn show(
    ui: &mut Ui,
    forecast: &Forecast,
    images: f64,
    open: &mut OpenLists,
    preferences: &mut MemoryPreferences,
) {
    let chosen = chosen(&forecast.alternatives, preferences);
    let (mut possible, others): (Vec<&Alternative>, Vec<_>) =
        forecast.alternatives.iter().partition(|alternative| alternative.available);
    possible.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal));
    let (first, too_large): (Vec<_>, Vec<_>) =
        possible.into_iter().partition(|row| fits(row) || chosen == Some(row.id.as_str()));
    ui.spacing_mut().item_spacing.y = 2.0;
    heading(ui, &tr!("plan-strategies"), &forecast.machine);
    let mut clicked = None;
    let mut rows = |ui: &mut Ui, alternatives: &[&Alternative]| {
        for alternative in alternatives {
            let used = chosen == Some(alternative.id.as_str());
            if row(ui, (alternative, images), &forecast.machine, used).clicked() {
                clicked.clone_from(&alternative.preferences);
            }
        }
    };
    rows(ui, &first);
    if !too_large.is_empty() {
        let title = tr!("plan-does-not-fit", count = too_large.len());
        widgets::fold(ui, (&title, tr!("plan-does-not-fit-tip")), &mut open.too_large, |ui| {
            rows(ui, &too_large)
        });
    }
    if !others.is_empty() {
        let title = tr!("plan-for-comparison", count = others.len());
        widgets::fold(ui, (&title, tr!("plan-for-comparison-tip")), &mut open.comparison, |ui| {
            rows(ui, &others)
        });
    }
    if let Some(wanted) = clicked {
        *preferences = wanted;
    }
}

/// Nothing is recommended that does not fit.
fn is_recommended(alternative: &Alternative) -> bool {
    alternative.recommended && fits(alternative)
}

fn fits(alternative: &Alternative) -> bool {
    alternative.device_short == 0 && alternative.host_short == 0
}

/// Sorts the recommendation first if it fits, then what fits from fast to slow, then the rest by memory.
fn rank(alternative: &Alternative) -> (bool, u64, f64) {
    let short = alternative.device_short.saturating_add(alternative.host_short);
    (!is_recommended(alternative), short, alternative.seconds_per_image)
}

/// The active row; `None` if the preferences match no row.
fn chosen<'a>(rows: &'a [Alternative], preferences: &MemoryPreferences) -> Option<&'a str> {
    let in_force = |row: &&Alternative| row.available && row.preferences.as_ref() == Some(preferences);
    rows.iter().find(in_force).map(|row| row.id.as_str())
}

fn heading(ui: &mut Ui, text: &str, machine: &Machine) {
    let palette = Palette::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::hover());
    let (left, right) = (rect.left_center(), rect.right_center() - vec2(space::S, 0.0));
    ui.painter().text(left, Align2::LEFT_CENTER, text, font::medium(font::SMALL), palette.text_muted);
    let what = if machine.unified { tr!("plan-column-memory") } else { tr!("plan-column-vram-ram") };
    let tiny = FontId::proportional(font::TINY);
    ui.painter().text(right, Align2::RIGHT_CENTER, what, tiny, palette.text_faint);
}

fn row(ui: &mut Ui, (alternative, images): (&Alternative, f64), machine: &Machine, used: bool) -> Response {
    let palette = Palette::of(ui);
    let time = units::seconds(images * alternative.seconds_per_image);
    let enabled = alternative.available && alternative.preferences.is_some();
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), sense);
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, enabled, used, spoken(alternative, &time, machine))
    });
    let response = response.on_hover_text(explained(alternative, &time, machine));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let (fill, line) = match (used, response.hovered() && enabled) {
        (true, _) => (palette.accent_soft, palette.accent.gamma_multiply(0.4)),
        (false, true) => (palette.hover, Color32::TRANSPARENT),
        (false, false) => (Color32::TRANSPARENT, Color32::TRANSPARENT),
    };
    let line = if response.has_focus() { palette.accent } else { line };
    ui.painter().rect(rect, radius::M, fill, Stroke::new(1.0, line), StrokeKind::Inside);

    let ink = if alternative.available { palette.text } else { palette.text_faint };
    let left = rect.left() + space::S;
    let right = rect.right() - BARS - space::S;
    let name =
        widgets::cut(ui, &name_of(alternative), font::medium(font::BODY - 0.5), ink, right - left - space::S);
    let (detail, color) = detail(alternative, &time, palette);
    let detail = widgets::cut(ui, &detail, FontId::proportional(font::TINY), color, right - left - space::S);
    let top = rect.center().y - (name.size().y + detail.size().y) / 2.0;
    let below = top + name.size().y;
    ui.painter().galley(pos2(left, top), name, ink);
    ui.painter().galley(pos2(left, below), detail, color);

    let place = Rect::from_min_max(pos2(right, rect.top()), pos2(rect.right() - space::S, rect.bottom()));
    bars(ui, place, alternative, machine);
    response
}

fn bars(ui: &Ui, place: Rect, alternative: &Alternative, machine: &Machine) {
    let palette = Palette::of(ui);
    let faded = !alternative.available;
    let device = (
        alternative.device,
        super::shown_total(machine),
        machine.device_budget,
        alternative.device_short > 0,
    );
    let host = (alternative.host, machine.host_budget, machine.host_budget, alternative.host_short > 0);
    let rows: &[_] = if machine.unified { &[device] } else { &[device, host] };
    let step = if rows.len() == 1 { 0.0 } else { 8.0 };
    for (index, &(bytes, total, limit, short)) in rows.iter().enumerate() {
        let y = place.center().y + (index as f32 * 2.0 - 1.0) * step;
        let bar = Rect::from_min_max(pos2(place.left(), y - 3.0), pos2(place.right() - NUMBER, y + 3.0));
        let parts = [(bytes, palette.weights)];
        widgets::memory_bar(ui, bar, MemoryBar { parts: &parts, total, limit: Some(limit), faded });
        let color = match (short, alternative.available) {
            (true, true) => palette.danger,
            (_, false) => palette.text_faint,
            (false, true) => palette.text_muted,
        };
        let number = units::memory(bytes);
        let tiny = FontId::proportional(font::TINY);
        ui.painter().text(pos2(place.right(), y), Align2::RIGHT_CENTER, number, tiny, color);
    }
}

/// The line below the name: how much is missing, or speed and quality.
fn detail(alternative: &Alternative, time: &str, palette: &Palette) -> (String, Color32) {
    let short = short(alternative);
    let quality = quality(alternative);
    match short {
        Some(short) if alternative.available => (short, palette.danger),
        Some(short) => (format!("{} · {short}", missing()), palette.text_faint),
        None if !alternative.available => (format!("{} · {time}", missing()), palette.text_faint),
        None => (format!("{time} · {quality}"), palette.text_muted),
    }
}

fn short(alternative: &Alternative) -> Option<String> {
    let parts: Vec<_> = [(alternative.device_short, "VRAM"), (alternative.host_short, "RAM")]
        .into_iter()
        .filter(|&(bytes, _)| bytes > 0)
        .map(|(bytes, name)| tr!("plan-too-much", amount = units::memory_needed(bytes), memory = name))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Why a row cannot be selected, in a word or two.
fn missing() -> String {
    tr!("plan-diffusers-only")
}

/// How close the image is to that of the stored weights, in a word or two.
fn quality(alternative: &Alternative) -> String {
    match alternative.quality {
        Quality::Exact => tr!("plan-quality-exact"),
        Quality::Blended => tr!("plan-quality-blended"),
        Quality::EightBit => tr!("plan-quality-eight-bit"),
        Quality::FourBit => tr!("plan-quality-four-bit"),
    }
}

fn spoken(alternative: &Alternative, time: &str, machine: &Machine) -> String {
    let mut parts = vec![name_of(alternative), units::memory(alternative.device)];
    if !machine.unified {
        parts.push(tr!("plan-of-ram", memory = units::memory(alternative.host)));
    }
    parts.push(tr!("plan-per-run", time = time));
    parts.push(quality(alternative));
    match short(alternative) {
        Some(short) => parts.push(short),
        None => parts.push(tr!("plan-fits-word")),
    }
    if is_recommended(alternative) {
        parts.push(tr!("plan-recommended"));
    }
    if !alternative.available {
        parts.push(missing());
    }
    parts.join(", ")
}

fn explained(alternative: &Alternative, time: &str, machine: &Machine) -> String {
    let quality = match alternative.quality {
        Quality::Exact => tr!("plan-exact-explained"),
        Quality::Blended => tr!("plan-blended-explained"),
        Quality::EightBit => tr!("plan-eight-bit-explained"),
        Quality::FourBit => tr!("plan-four-bit-explained"),
    };
    let mut lines = vec![
        name_of(alternative),
        tr!("plan-per-step-and-run", step = units::seconds(alternative.seconds_per_step), run = time),
        match machine.unified {
            true => tr!("plan-of-memory", memory = units::memory(alternative.device)),
            false => tr!("plan-of-vram", memory = units::memory(alternative.device)),
        },
    ];
    if !machine.unified {
        lines.push(tr!("plan-of-ram", memory = units::memory(alternative.host)));
    }
    lines.push(quality);
    lines.extend(alternative.error.map(|error| tr!("plan-weights-off", share = units::percent(error))));
    lines.extend(short(alternative));
    if !alternative.available {
        lines.push(tr!("plan-diffusers-explained"));
    }
    lines.join("\n")
}
