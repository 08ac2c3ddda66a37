//! The memory use of a run: timeline, layers, steps. The last run stays visible.

mod layers;
mod row;
mod series;
mod steps;
mod timeline;
mod track;

use egui::{
    Align, FontId, Frame, Layout, Margin, Rect, RichText, Sense, Shape, Stroke, StrokeKind, Ui, pos2, vec2,
};

use super::{
    action::Action,
    icons, lanes,
    settings::Setting,
    state::{State, Watch},
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::{tr, units};
use row::unit_of;
use timeline::Timeline;

const HEADER: f32 = 28.0;
const TIMES: f32 = 15.0;
const GAP: f32 = 5.0;

/// View state of the panel; not saved.
#[derive(Debug, Default)]
pub struct Monitor {
    timeline: Timeline,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, state: &State, monitor: &mut Monitor, actions: &mut Vec<Action>) {
    let margin = Margin { left: space::M as i8, right: space::M as i8, top: 4, bottom: 8 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        // Keeps the height that the user has dragged the panel to, whatever its contents.
        ui.set_min_size(ui.available_size());
        ui.spacing_mut().item_spacing = vec2(space::S, 0.0);
        header(ui, state, monitor, actions);
        match &state.watches.run {
            Some(run) => tracks(ui, run, monitor),
            None => {
                ui.centered_and_justified(|ui| {
                    widgets::hint(ui, tr!("monitor-empty"));
                });
            }
        }
    });
}

fn header(ui: &mut Ui, state: &State, monitor: &mut Monitor, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), HEADER),
        Layout::left_to_right(Align::Center),
        |ui| {
            ui.spacing_mut().interact_size.y = HEADER;
            let title = match &state.watches.run {
                Some(run) => tr!("monitor-title-unit", unit = unit_of(run).name()),
                None => tr!("monitor-title"),
            };
            ui.label(RichText::new(title).font(font::semibold(font::BODY)).color(palette.text));
            if let Some(run) = state.watches.run.as_ref().filter(|_| ui.available_width() > 240.0) {
                let which = if run.over { tr!("monitor-last-run") } else { tr!("monitor-this-run") };
                ui.label(RichText::new(which).small().color(palette.text_faint));
                lanes::shown_name(ui, state);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = space::XS;
                if widgets::icon_button(ui, icons::CHEVRON_DOWN, &tr!("monitor-close")).clicked() {
                    actions.push(Action::Set(Setting::TimelineOpen(false)));
                }
                if let Some(run) = &state.watches.run {
                    controls(ui, run, &mut monitor.timeline);
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.add_space(space::S);
                        legend(ui, run, &monitor.timeline);
                    });
                }
            });
        },
    );
}

/// Laid out from right to left.
fn controls(ui: &mut Ui, run: &Watch, timeline: &mut Timeline) {
    if !run.over || timeline.is_paused() {
        let on = timeline.is_paused();
        let words = if on { tr!("monitor-resume") } else { tr!("monitor-pause") };
        if widgets::toggle_button(ui, &words, on).on_hover_text(tr!("monitor-pause-tip")).clicked() {
            timeline.pause(!on, &run.history);
        }
    }
    if timeline.is_zoomed()
        && widgets::button(ui, None, &tr!("monitor-whole"), Weight::Ghost)
            .on_hover_text(tr!("monitor-whole-tip"))
            .clicked()
    {
        timeline.whole();
    }
}

/// Colours and amounts: under the pointer, or now, or at the last run's peak.
fn legend(ui: &mut Ui, run: &Watch, timeline: &Timeline) {
    let palette = Palette::of(ui);
    let Some(plan) = run.history.plan() else { return };
    let unit = unit_of(run);
    let points = run.history.memory();
    let point = match run.over {
        true => points.iter().max_by_key(|point| point.peak.weights + point.peak.activations),
        false => points.last(),
    };
    let sample = timeline.pointed_at().or_else(|| point.map(|point| point.peak)).unwrap_or_default();
    let own = sample.weights + sample.activations;
    let predicted = plan.stages.iter().map(|stage| stage.predicted).max().unwrap_or(0);
    let free = plan.device_total.saturating_sub(own + sample.others);
    ui.spacing_mut().item_spacing.x = space::XS;
    // Entries that do not fit are omitted, least important first; the tooltip of the tracks has all of them.
    for (name, bytes, color) in [
        (tr!("monitor-weights"), sample.weights, palette.weights),
        (tr!("monitor-activations"), sample.activations, palette.activations),
        (tr!("monitor-others"), sample.others, palette.others),
        (tr!("monitor-free"), free, palette.free),
    ] {
        let Some(rect) = entry(ui, &name, units::in_unit(unit, bytes)) else { return };
        let square = Rect::from_center_size(rect.center(), vec2(10.0, 10.0));
        let line = Stroke::new(1.0, palette.line_strong);
        ui.painter().rect(square, 2.0, color, line, StrokeKind::Inside);
    }
    let Some(rect) = entry(ui, &tr!("monitor-predicted"), units::in_unit(unit, predicted)) else { return };
    ui.painter().hline(rect.x_range(), rect.center().y, Stroke::new(2.0, palette.text));
    let Some(rect) = entry(ui, &tr!("monitor-allowed"), units::in_unit(unit, plan.device_budget)) else {
        return;
    };
    let line = [rect.left_center(), rect.right_center()];
    ui.painter().extend(Shape::dashed_line(&line, Stroke::new(1.0, palette.text_muted), 3.0, 2.0));
}

/// A name and an amount, if they fit. Returns the place for their colour mark.
fn entry(ui: &mut Ui, name: &str, amount: String) -> Option<Rect> {
    let palette = Palette::of(ui);
    let layout = |text: String, font: FontId| ui.painter().layout_no_wrap(text, font, palette.text);
    let name = layout(name.to_owned(), FontId::proportional(font::SMALL));
    let amount = layout(amount, font::medium(font::SMALL));
    if ui.available_width() < 12.0 + name.size().x + amount.size().x + 2.0 * space::XS {
        return None;
    }
    let (rect, _) = ui.allocate_exact_size(vec2(12.0, 10.0), Sense::hover());
    ui.label(RichText::new(name.text()).small().color(palette.text_muted));
    ui.label(RichText::new(amount.text()).font(font::medium(font::SMALL)).color(palette.text));
    ui.add_space(space::S);
    Some(rect)
}

/// Stacked rows with their names in the gutter. The first row takes the remaining height.
fn tracks(ui: &mut Ui, run: &Watch, monitor: &mut Monitor) {
    let area = ui.available_rect_before_wrap();
    let fixed = TIMES + size::TRACK + size::CELLS + size::TRACK + 3.0 * GAP;
    let vram = (area.height() - fixed).max(24.0);
    let mut top = area.top();
    let mut row = |height: f32, gap: f32| {
        let rect = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + height));
        top += height + gap;
        rect
    };
    let (vram, times, ram) = (row(vram, 0.0), row(TIMES, 0.0), row(size::TRACK, GAP));
    let (cells, steps) = (row(size::CELLS, GAP), row(size::TRACK, GAP));
    timeline::show(ui, [vram, times, ram], run, &mut monitor.timeline);
    layers::show(ui, cells, run);
    steps::show(ui, steps, run);
    ui.advance_cursor_after_rect(area);
}
