//! The engines that share the queue: what each of them does, and which is shown.

use egui::{ComboBox, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{
    action::Action,
    state::{Lane, LanePhase, Progress, State},
    status_bar::stage_words,
    tokens::{Palette, font, radius, size, space},
    widgets,
};
use crate::language::{said, tr};

/// Height of the row of an engine.
const ROW: f32 = 48.0;

/// A choice of the engine that is shown, if there are several.
pub fn choice(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(shown) = state.lanes.shown() else { return };
    let label = widgets::field_label(ui, &tr!("engines-shown"));
    let mut chosen = shown;
    let title = |place: usize| state.lanes.all.get(place).map_or_else(String::new, Lane::title);
    let list =
        ComboBox::from_id_salt("engine").selected_text(title(shown)).width(ui.available_width()).truncate();
    let list = widgets::drop_down(ui, list, |ui| {
        for place in 0..state.lanes.all.len() {
            widgets::entry(ui, &mut chosen, place, title(place)).on_hover_text(tr!("engines-show-tip"));
        }
    });
    list.response.labelled_by(label.id).on_hover_text(tr!("engines-shown-tip"));
    if chosen != shown {
        actions.push(Action::ShowLane(chosen));
    }
}

/// A row for each engine: its name, what it does, and its progress. A click shows it.
pub fn list(ui: &mut Ui, state: &State, now: f64, actions: &mut Vec<Action>) {
    let Some(shown) = state.lanes.shown() else { return };
    widgets::field_label(ui, &tr!("engines-title"));
    for (place, lane) in state.lanes.all.iter().enumerate() {
        row(ui, state, (place, lane), place == shown, now, actions);
    }
    ui.separator();
}

fn row(
    ui: &mut Ui,
    state: &State,
    (place, lane): (usize, &Lane),
    is_shown: bool,
    now: f64,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::of(ui);
    let (words, details) = doing(state, place, lane, now);
    let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let title = lane.title();
    let name = format!("{title}, {words}");
    row.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_shown, &name));
    let over = row.hovered() || row.has_focus();
    if is_shown || over {
        let fill = if over { palette.hover } else { palette.raised };
        let line = if row.has_focus() { palette.accent } else { palette.line };
        ui.painter().rect(rect, radius::M, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    }
    let inner = rect.shrink2(vec2(space::S, 0.0));
    let middle = pos2(inner.left(), rect.center().y - 3.0);
    widgets::two_lines(ui, middle, inner.width(), &title, &words);
    let fraction = state.job_at(place).and_then(|(_, progress)| progress).map(Progress::fraction);
    if let Some(fraction) = fraction {
        let bar = Rect::from_min_max(
            pos2(inner.left(), rect.bottom() - 3.0 - size::BAR / 4.0),
            pos2(inner.right(), rect.bottom() - 3.0),
        );
        widgets::progress_bar(ui, bar, fraction);
    }
    let tip = details.unwrap_or_else(|| tr!("engines-show-tip"));
    if row.on_hover_text(tip).clicked() {
        actions.push(Action::ShowLane(place));
    }
}

/// What an engine does, in a line, and more about it.
fn doing(state: &State, place: usize, lane: &Lane, now: f64) -> (String, Option<String>) {
    if let Some((job, progress)) = state.job_at(place) {
        let prompt = job.request().prompt.trim().to_owned();
        let phase = match (job.cancelling, progress) {
            (true, _) => tr!("queue-cancelling"),
            (false, Some(progress)) => stage_words(progress),
            (false, None) => tr!("engines-begins"),
        };
        let left = progress.and_then(|progress| progress.words_left(now));
        let parts = [Some(phase), left, (!prompt.is_empty()).then_some(prompt)];
        return (parts.into_iter().flatten().collect::<Vec<_>>().join(" · "), None);
    }
    match &lane.phase {
        LanePhase::Starts => (tr!("engines-starts"), None),
        LanePhase::Restarts(failure) => (tr!("engines-restarts"), Some(said(&failure.message))),
        LanePhase::GivenUp(failure) => (tr!("engines-gone"), Some(said(&failure.message))),
        LanePhase::Serves(serving) => match lane.lacks(state.chosen_model()) {
            Some(failure) => (tr!("engines-lacks-model"), Some(said(&failure.message))),
            None => (tr!("engines-idle", engine = &serving.engine), None),
        },
    }
}

/// The name of the engine that is shown, where something of it is drawn.
pub fn shown_name(ui: &mut Ui, state: &State) {
    let lane = state.lanes.shown().and_then(|place| state.lanes.all.get(place));
    if let Some(lane) = lane {
        let color = Palette::of(ui).text_muted;
        let name = RichText::new(lane.title()).font(font::medium(font::SMALL)).color(color);
        widgets::line(ui, name, format!("{}\n{}", lane.title(), tr!("engines-shown-tip")));
    }
}
