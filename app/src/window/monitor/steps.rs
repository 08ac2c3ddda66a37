//! The duration of each denoising step: computation below, waiting for weights above.

use egui::{CornerRadius, Id, Rect, Role, Sense, Ui, WidgetInfo, pos2};
use sluice_engine::telemetry::StepRecord;

use super::row::named;
use crate::{
    language::{tr, units},
    window::{state::Watch, tokens::Palette},
};

/// Minimum width of a bar, including its gap.
const NARROWEST: f32 = 3.0;
/// Maximum width.
const WIDEST: f32 = 48.0;

/// Draws the bars.
pub fn show(ui: &mut Ui, row: Rect, run: &Watch) {
    let place = named(ui, row, &tr!("monitor-steps"));
    let palette = Palette::of(ui);
    let steps = run.history.steps();
    let response = ui.interact(place, Id::unique("sluice steps"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, summary(steps)));
    let ground = Rect::from_min_max(pos2(place.left(), place.bottom() - 1.0), place.max);
    ui.painter().rect_filled(ground, 0.0, palette.line);
    let Some(last) = run.history.last_step() else { return };
    let slots = (last.steps.max(last.step) as usize).max(steps.len()).max(1);
    let group = (slots as f32 * NARROWEST / place.width()).ceil().max(1.0) as usize;
    let width = (place.width() / slots.div_ceil(group) as f32).min(WIDEST);
    let slowest = steps.iter().map(|step| step.took).max().unwrap_or(0).max(1) as f32;
    let gap = (width * 0.2).clamp(0.5, 2.0);
    let pointer = response.hover_pos().filter(|pointer| place.contains(*pointer));
    let mut under = None;
    for (index, group) in steps.chunks(group).enumerate() {
        // A bar for several steps shows the slowest.
        let Some(step) = group.iter().max_by_key(|step| step.took) else { continue };
        let left = place.left() + index as f32 * width;
        let height = |micros: u64| micros as f32 / slowest * (place.height() - 2.0);
        let bar = |from: f32, to: f32| {
            Rect::from_min_max(
                pos2(left, place.bottom() - to),
                pos2(left + width - gap, place.bottom() - from),
            )
        };
        let wait = step.wait.min(step.took);
        let computed = height(step.took - wait);
        let rounding = CornerRadius::same(u8::from(width > 5.0));
        ui.painter().rect_filled(bar(0.0, computed), rounding, palette.activations);
        if wait > 0 {
            // Every measurable wait is visible.
            let top = (computed + height(wait)).max(computed + 1.0);
            ui.painter().rect_filled(bar(computed, top), CornerRadius::ZERO, palette.wait);
        }
        if pointer.is_some_and(|pointer| (left..left + width).contains(&pointer.x)) {
            under = Some(*step);
        }
    }
    if let Some(step) = under {
        response.on_hover_ui_at_pointer(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.strong(tr!("status-bar-step", step = step.step, steps = step.steps));
            ui.small(tr!("monitor-step-took", time = units::micros(step.took)));
            ui.small(tr!(
                "monitor-step-computing",
                time = units::micros(step.took.saturating_sub(step.wait))
            ));
            ui.small(tr!("monitor-step-waiting", time = units::micros(step.wait)));
            ui.small(tr!("monitor-step-copied", memory = units::memory(step.bytes)));
            if step.reused > 0 {
                ui.small(tr!("monitor-step-skipped"));
            }
        });
    }
}

fn summary(steps: &[StepRecord]) -> String {
    let (took, wait) = steps.iter().fold((0, 0), |(took, wait), step| (took + step.took, wait + step.wait));
    match steps.len() {
        0 => tr!("monitor-steps-none"),
        count => {
            let mean = units::micros(took / count as u64);
            let waited = units::percent(wait as f64 / took.max(1) as f64);
            tr!("monitor-steps-summary", count = count, time = mean, share = waited)
        }
    }
}
