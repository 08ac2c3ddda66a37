//! Device memory over time, with stages and predictions, and host memory below.

use egui::{Align2, FontId, Rect, Response, Role, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};
use egui_plot::{Plot, PlotTransform};
use sluice_engine::{memory::Stage, telemetry::MemorySample};

use super::{
    row::{named, unit_of},
    series::{Column, Series},
    track::{GB, Kind, Level, Track},
};
use crate::{
    language::{
        self, tr,
        units::{self, MemoryUnit},
    },
    window::{
        history::History,
        sentences::stage_name,
        state::Watch,
        tokens::{Palette, font, size},
    },
};

/// The shortest visible interval in seconds.
const SHORTEST: f64 = 0.05;
/// Scroll distance in points that doubles or halves the visible interval.
const WHEEL: f64 = 180.0;

/// The visible interval, and cached columns.
#[derive(Debug, Default)]
pub struct Timeline {
    series: Series,
    /// In seconds; the whole run if absent.
    part: Option<(f64, f64)>,
    /// When the timeline was paused, in seconds.
    paused: Option<f64>,
    pointed_at: Option<f64>,
    levels: Vec<Level>,
    starts: Vec<f64>,
}

impl Timeline {
    /// Whether the timeline is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Whether only a part of the run is visible.
    pub fn is_zoomed(&self) -> bool {
        self.part.is_some()
    }

    /// Pauses or resumes the timeline.
    pub fn pause(&mut self, on: bool, history: &History) {
        self.paused = on.then(|| end(history));
    }

    /// Shows the whole run again.
    pub fn whole(&mut self) {
        self.part = None;
    }

    /// Memory use at the moment under the pointer.
    pub fn pointed_at(&self) -> Option<MemorySample> {
        self.pointed_at.and_then(|seconds| self.series.at(seconds)).map(|column| column.peak)
    }

    fn drawn(&self, history: &History) -> (f64, f64) {
        self.part.unwrap_or((0.0, self.paused.unwrap_or_else(|| end(history))))
    }

    /// Pans and zooms with the pointer.
    fn follow(&mut self, response: &Response, transform: &PlotTransform, longest: f64) {
        let (mut start, mut finish) = (transform.bounds().min()[0], transform.bounds().max()[0]);
        let seconds_a_point = (finish - start) / f64::from(transform.frame().width().max(1.0));
        let mut moved = false;
        if response.dragged() && response.drag_delta().x != 0.0 {
            let by = f64::from(response.drag_delta().x) * seconds_a_point;
            (start, finish, moved) = (start - by, finish - by, true);
        }
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) =
                response.ctx.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
            let factor = f64::from(pinch) * (f64::from(scroll.y) / WHEEL).exp2();
            if factor != 1.0 {
                let at = transform.value_from_position(pointer).x;
                (start, finish, moved) = (at - (at - start) / factor, at + (finish - at) / factor, true);
            }
            if scroll.x != 0.0 {
                let by = f64::from(scroll.x) * seconds_a_point;
                (start, finish, moved) = (start - by, finish - by, true);
            }
        }
        if response.double_clicked() {
            self.part = None;
        } else if moved {
            let length = (finish - start).clamp(SHORTEST, longest);
            let start = start.clamp(0.0, (longest - length).max(0.0));
            self.part = (length < longest * 0.999).then_some((start, start + length));
        }
    }
}

/// The end of the time axis for the whole run, in seconds.
fn end(history: &History) -> f64 {
    (history.latest() as f64 * 1e-6).max(SHORTEST)
}

/// Draws the tracks: device memory, time axis, host memory.
pub fn show(ui: &mut Ui, [vram, times, ram]: [Rect; 3], run: &Watch, timeline: &mut Timeline) {
    let palette = Palette::of(ui);
    let part = timeline.drawn(&run.history);
    timeline.series.of(run, part);
    levels(timeline, run, part, palette);
    let peaks = run.history.peaks();
    let highest = height(timeline, run);

    // The processor computes in RAM, of which the device's part is above and the whole program's below.
    let is_cpu = run.history.is_on_cpu();
    let place = named(ui, vram, if is_cpu { "RAM" } else { "VRAM" });
    let kinds: [Kind; 3] = [
        (palette.weights, |sample| sample.weights),
        (palette.activations, |sample| sample.activations),
        (palette.others, |sample| sample.others),
    ];
    let track = Track::new(timeline.series.columns(), &kinds)
        .on(palette.free)
        .with_levels(&timeline.levels)
        .with_starts(&timeline.starts, palette.line_strong);
    let (mut response, transform) = plot(ui, place, "timeline of the device", part, highest, track);
    let unit = unit_of(run);
    scale(ui, vram, &transform, highest, unit);
    bands(ui, run, &transform);
    response.widget_info(|| {
        let all = run.history.plan().map_or(0, |plan| plan.device_total);
        let memory = language::memory_of(peaks.device, all);
        let words = match is_cpu {
            true => tr!("monitor-run-ram", memory = memory),
            false => tr!("monitor-vram", memory = memory),
        };
        WidgetInfo::labeled(Role::Image, true, words)
    });

    time_axis(ui, times, part, &transform);

    let place = named(ui, ram, if is_cpu { "Sluice" } else { "RAM" });
    let kinds: [Kind; 2] = [
        (palette.weights, |sample| sample.host),
        (palette.line_strong, |sample| sample.process.saturating_sub(sample.host)),
    ];
    let most = peaks.process.max(peaks.host).max(1);
    let track = Track::new(timeline.series.columns(), &kinds)
        .on(palette.free)
        .with_starts(&timeline.starts, palette.line_strong);
    let (below, _) = plot(ui, place, "timeline of the machine", part, most as f64 * 1.1 / GB, track);
    below.widget_info(|| {
        let words = match is_cpu {
            true => tr!("monitor-process-ram", memory = units::memory(most)),
            false => tr!("monitor-ram", memory = units::memory(most)),
        };
        WidgetInfo::labeled(Role::Image, true, words)
    });
    let tiny = FontId::proportional(font::TINY - 1.0);
    let at = pos2(place.left() - 4.0, ram.center().y);
    ui.painter().text(at, Align2::RIGHT_CENTER, units::in_unit(unit, most), tiny, palette.text_faint);

    let over = if response.contains_pointer() { &mut response } else { &mut below.clone() };
    timeline.pointed_at = over.hover_pos().map(|pointer| transform.value_from_position(pointer).x);
    if let Some(seconds) = timeline.pointed_at {
        let x = transform.position_from_point_x(seconds);
        for place in [vram, ram] {
            ui.painter().vline(x, place.y_range(), Stroke::new(1.0, palette.text_muted));
        }
        if let Some(column) = timeline.series.at(seconds) {
            let total = run.history.plan().map_or(0, |plan| plan.device_total);
            over.clone().on_hover_ui_at_pointer(|ui| readings(ui, seconds, column, total));
        }
    }
    let longest = timeline.paused.unwrap_or(0.0).max(end(&run.history));
    let over = over.clone();
    timeline.follow(&over, &transform, longest);
}

/// One plot with given bounds.
fn plot(
    ui: &mut Ui,
    place: Rect,
    name: &str,
    part: (f64, f64),
    highest: f64,
    track: Track<'_>,
) -> (Response, PlotTransform) {
    let mut inner = ui.new_child(UiBuilder::new().max_rect(place).id_salt(name));
    let shown = Plot::new(name)
        .width(place.width())
        .height(place.height())
        .min_size(vec2(32.0, 8.0))
        .show_axes(false)
        .show_grid(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .sense(Sense::click_and_drag())
        .show(&mut inner, move |plot| {
            plot.set_plot_bounds_x(part.0..=part.1.max(part.0 + SHORTEST));
            plot.set_plot_bounds_y(0.0..=highest.max(1e-6));
            plot.add(track);
        });
    (shown.response, shown.transform)
}

/// Top of the track in GB: all of the device's memory, unless the run uses too little of it to be visible.
fn height(timeline: &Timeline, run: &Watch) -> f64 {
    let Some(plan) = run.history.plan() else {
        return (run.history.peaks().device_total as f64 * 1.15 / GB).max(1e-6);
    };
    let predicted = plan.stages.iter().map(|stage| stage.predicted).max().unwrap_or(0);
    let drawn = timeline.series.columns().iter().map(Column::device).max().unwrap_or(0);
    let mut most = run.history.peaks().device_total.max(predicted).max(drawn).max(1);
    if plan.device_budget <= most.saturating_mul(4) {
        most = most.max(plan.device_budget);
    }
    let most = most as f64 * 1.12 / GB;
    let all = plan.device_total as f64 / GB;
    if most > all * 0.6 { most.min(all).max(all) } else { most }
}

/// The predictions of each stage, the budget, and the starts of stages.
fn levels(timeline: &mut Timeline, run: &Watch, part: (f64, f64), palette: &Palette) {
    let Timeline { levels, starts, .. } = timeline;
    levels.clear();
    starts.clear();
    let now = end(&run.history);
    let predicted = |stage: &Stage| {
        let plan = run.history.plan()?;
        plan.stages.iter().find(|mark| mark.stage == *stage).map(|mark| mark.predicted)
    };
    for band in run.history.stages() {
        let from = band.start as f64 * 1e-6;
        let to = band.finish.map_or(now, |finish| finish as f64 * 1e-6);
        if from > 0.0 {
            starts.push(from);
        }
        if let Some(bytes) = predicted(&band.stage) {
            let stroke = Stroke::new(2.0, palette.text);
            levels.push(Level { from, to, bytes, stroke, dashed: false });
        }
    }
    if let Some(plan) = run.history.plan() {
        let stroke = Stroke::new(1.0, palette.text_muted);
        let (from, to) = part;
        levels.push(Level { from, to, bytes: plan.device_budget, stroke, dashed: true });
    }
}

/// The axis labels of the device track.
fn scale(ui: &Ui, row: Rect, transform: &PlotTransform, highest: f64, unit: MemoryUnit) {
    let palette = Palette::of(ui);
    let tiny = FontId::proportional(font::TINY - 1.0);
    let in_gigabytes = unit.bytes() / GB;
    let highest = highest / in_gigabytes;
    let step = nice(highest / f64::from((row.height() / 26.0).max(1.0)));
    let digits = match step {
        1.0.. => 0,
        0.1.. => 1,
        _ => 2,
    };
    let right = row.left() + size::GUTTER - 4.0;
    let mut value = 0.0;
    while value <= highest * 1.0001 {
        let y = transform.position_from_point_y(value * in_gigabytes);
        // The outermost labels stay within the track.
        let y = y.clamp(row.top() + 5.0, row.bottom() - 5.0);
        let text = units::decimals(value, digits);
        ui.painter().text(pos2(right, y), Align2::RIGHT_CENTER, text, tiny.clone(), palette.text_faint);
        value += step;
    }
}

/// The next larger number of the form 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let step = step.max(1e-6);
    let power = 10_f64.powf(step.log10().floor());
    let factor = step / power;
    let factor = [1.0, 2.0, 5.0].into_iter().find(|&nice| factor <= nice * 1.0001).unwrap_or(10.0);
    factor * power
}

/// The names of the stages, where they fit.
fn bands(ui: &Ui, run: &Watch, transform: &PlotTransform) {
    let palette = Palette::of(ui);
    let frame = *transform.frame();
    let painter = ui.painter_at(frame);
    for band in run.history.stages() {
        let x = |micros: u64| transform.position_from_point_x(micros as f64 * 1e-6);
        let left = x(band.start).max(frame.left());
        let right = x(band.finish.unwrap_or_else(|| run.history.latest())).min(frame.right());
        let name = stage_name(&band.stage.name);
        let text = painter.layout_no_wrap(name, font::medium(font::TINY), palette.text);
        if right - left >= text.size().x + 14.0 {
            let place =
                Rect::from_min_size(pos2(left + 4.0, frame.top() + 3.0), text.size() + vec2(8.0, 0.0));
            painter.rect_filled(place, 3.0, palette.panel.gamma_multiply(0.8));
            painter.galley(pos2(place.left() + 4.0, place.top()), text, palette.text);
        }
    }
}

fn time_axis(ui: &Ui, row: Rect, (start, finish): (f64, f64), transform: &PlotTransform) {
    let palette = Palette::of(ui);
    let tiny = FontId::proportional(font::TINY - 1.0);
    let frame = *transform.frame();
    let step = nice_time((finish - start) / f64::from((frame.width() / 90.0).max(1.0)));
    let mut tick = (start / step).ceil() * step;
    while tick <= finish {
        let x = transform.position_from_point_x(tick);
        let text = ui.painter().layout_no_wrap(clock(tick, step), tiny.clone(), palette.text_faint);
        let left = (x - text.size().x / 2.0).clamp(frame.left(), frame.right() - text.size().x);
        ui.painter().galley(pos2(left, row.center().y - text.size().y / 2.0), text, palette.text_faint);
        tick += step;
    }
}

/// The next larger round interval of time.
fn nice_time(step: f64) -> f64 {
    const LONG: [f64; 10] = [15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14_400.0];
    if step <= 10.0 {
        return nice(step.max(SHORTEST / 10.0));
    }
    LONG.into_iter().find(|&long| step <= long).unwrap_or(86_400.0)
}

fn clock(seconds: f64, step: f64) -> String {
    let whole = seconds.round() as u64;
    match step {
        _ if step < 0.01 => format!("{} s", units::decimals(seconds, 3)),
        _ if step < 0.1 => format!("{} s", units::decimals(seconds, 2)),
        _ if step < 1.0 => format!("{} s", units::decimals(seconds, 1)),
        _ if seconds < 60.0 => format!("{whole} s"),
        _ if seconds < 3600.0 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60),
    }
}

fn readings(ui: &mut Ui, seconds: f64, column: &Column, total: u64) {
    let palette = Palette::of(ui);
    let MemorySample { weights, activations, others, host, pinned, process, .. } = column.peak;
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.spacing_mut().interact_size.y = 0.0;
    ui.strong(format!("{} s", units::decimals(seconds, 2)));
    let free = total.saturating_sub(column.device());
    let memory = units::memory;
    let in_ram = match pinned {
        0 => tr!("monitor-sample-host", memory = memory(host)),
        _ => tr!("monitor-sample-host-pinned", memory = memory(host), pinned = memory(pinned)),
    };
    for (color, words) in [
        (palette.weights, tr!("monitor-sample-weights", memory = memory(weights))),
        (palette.activations, tr!("monitor-sample-activations", memory = memory(activations))),
        (palette.others, tr!("monitor-sample-others", memory = memory(others))),
        (palette.free, tr!("monitor-sample-free", memory = memory(free))),
        (palette.weights, in_ram),
        (palette.line_strong, tr!("monitor-sample-process", memory = memory(process))),
    ] {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter().rect_filled(rect, 2.0, color);
            ui.small(words);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_steps_that_people_count_in() {
        for (wanted, step) in [(0.004, 0.005), (0.9, 1.0), (3.0, 5.0), (5.1, 10.0), (2.0, 2.0)] {
            assert!((nice(wanted) / step - 1.0).abs() < 1e-9, "{wanted}");
        }
        for (wanted, step) in [(3.0, 5.0), (11.0, 15.0), (50.0, 60.0), (1000.0, 1800.0)] {
            assert!((nice_time(wanted) / step - 1.0).abs() < 1e-9, "{wanted}");
        }
        assert_eq!(clock(7325.0, 60.0), "2:02:05");
        assert_eq!(clock(75.0, 15.0), "1:15");
        assert_eq!(clock(0.25, 0.05), "0.25 s");
    }
}
