//! The prediction for the next image, below Generate.

use egui::{Align2, FontId, Label, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use sluice_engine::{
    memory::{Accuracy, Alternative, Forecast, MemoryPreferences, Plan, PlanError, Quality},
    request::Request,
    session::Failure,
};

use crate::{
    language::{said, tr, units},
    window::{
        action::Action,
        icons,
        sentences::{sentence, simulated},
        settings::Setting,
        state::{Answer, State, clip_words},
        strategy_names::name_of,
        tokens::{Palette, font, space},
        widgets::{self, Weight},
    },
};

/// Times that were off by more than this part of them are not worth a number: something else ran meanwhile.
const WIDE: f64 = 1.0;
/// Times that were off by no more are said without "about".
const KNOWN: f64 = 0.1;

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let asking = state.planning.is_asking();
    match state.planning.answer() {
        None if asking => {
            widgets::hint(ui, tr!("side-panel-planning"));
        }
        None => {}
        Some(Answer::Failure(failure)) => refused(ui, failure, asking),
        Some(Answer::Forecast(forecast)) => match &forecast.plan {
            Ok(plan) => fits(ui, state, forecast, plan, actions),
            Err(error) => does_not_fit(ui, state, forecast, error, actions),
        },
    }
}

/// What is wrong, and what to do; fainter while it is asked again.
fn refused(ui: &mut Ui, failure: &Failure, asking: bool) {
    let palette = Palette::of(ui);
    let color = if asking { palette.text_faint } else { palette.danger };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::icon(ui, icons::TRIANGLE_ALERT, 14.0, color);
        ui.vertical(|ui| {
            let words = RichText::new(sentence(&failure.message)).small().color(color);
            ui.add(Label::new(words).wrap());
            if let Some(advice) = &failure.advice {
                let words = RichText::new(sentence(advice)).small().color(palette.text_muted);
                ui.add(Label::new(words).wrap());
            }
        });
    });
}

/// Whether past runs were as long as was predicted, so that the time needs no "about".
pub fn knows_time(forecast: &Forecast, state: &State) -> bool {
    let time = forecast.accuracy.as_ref().and_then(|accuracy| accuracy.time.as_ref());
    !state.simulates() && time.is_some_and(|time| time.worst <= KNOWN)
}

fn fits(ui: &mut Ui, state: &State, forecast: &Forecast, plan: &Plan, actions: &mut Vec<Action>) {
    let (asking, is_upper_bound) = (state.planning.is_asking(), state.draft().request.step_cache > 0.0);
    let is_simulated = state.simulates();
    let palette = Palette::of(ui);
    let peak = plan.peak_device();
    let (memory, time) = (units::memory(peak), units::seconds(plan.seconds));
    let (memory, time) = (memory.as_str(), time.as_str());
    let is_known = knows_time(forecast, state);
    let words = match (is_upper_bound, is_simulated) {
        (false, false) if is_known => tr!("side-panel-fits", memory = memory, time = time),
        (false, false) => tr!("side-panel-fits-about", memory = memory, time = time),
        (true, false) => tr!("side-panel-fits-up-to", memory = memory, time = time),
        (false, true) => tr!("side-panel-fits-about-there", memory = memory, time = time),
        (true, true) => tr!("side-panel-fits-up-to-there", memory = memory, time = time),
    };
    let spoken = match is_upper_bound {
        false if is_known => tr!("side-panel-fits-spoken", memory = memory, time = time),
        false => tr!("side-panel-fits-about-spoken", memory = memory, time = time),
        true => tr!("side-panel-fits-up-to-spoken", memory = memory, time = time),
    };
    let (icon, color) = ("✓", if asking { palette.text_faint } else { palette.good });
    if line(ui, &words, &spoken, icon, color).on_hover_text(said(&forecast.sentence)).clicked() {
        actions.push(Action::Set(Setting::PlanOpen(true)));
    }
    if is_simulated {
        widgets::hint(ui, simulated(forecast.seconds_here));
    }
    if let Some(accuracy) = &forecast.accuracy {
        widgets::hint(ui, accuracy_of(accuracy)).on_hover_text(tr!("side-panel-accuracy-tip"));
    }
}

fn does_not_fit(
    ui: &mut Ui,
    state: &State,
    forecast: &Forecast,
    error: &PlanError,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::of(ui);
    let limit = own_limit(&state.settings.memory.preferences, error);
    let (needed, budget, is_ram) = match error {
        PlanError::Device { needed, budget, .. } => (*needed, *budget, false),
        PlanError::Host { needed, budget } => (*needed, *budget, true),
    };
    let (needed, allowed) = (units::memory_needed(needed), units::memory(budget));
    let words = match (is_ram, limit) {
        (false, Some(_)) => tr!("side-panel-needs-limit", needed = needed, allowed = allowed),
        (false, None) => tr!("side-panel-needs", needed = needed, allowed = allowed),
        (true, Some(_)) => tr!("side-panel-needs-ram-limit", needed = needed, allowed = allowed),
        (true, None) => tr!("side-panel-needs-ram", needed = needed, allowed = allowed),
    };
    let spoken = tr!("side-panel-needs-spoken", reason = words.as_str());
    let pressed = line(ui, &words, &spoken, icons::TRIANGLE_ALERT, palette.danger);
    if pressed.on_hover_text(said(&forecast.sentence)).clicked() {
        actions.push(Action::Set(Setting::PlanOpen(true)));
    }
    ways_to_fit(ui, state, forecast, error, actions);
}

/// The limit of the user's own that a run is over, if there is one.
fn own_limit(preferences: &MemoryPreferences, error: &PlanError) -> Option<u64> {
    match error {
        PlanError::Device { .. } => preferences.vram_budget,
        PlanError::Host { .. } => preferences.ram_budget,
    }
}

/// Buttons for what makes a run fit that does not.
pub fn ways_to_fit(
    ui: &mut Ui,
    state: &State,
    forecast: &Forecast,
    error: &PlanError,
    actions: &mut Vec<Action>,
) {
    let preferences = &state.settings.memory.preferences;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if own_limit(preferences, error).is_some()
            && widgets::button(ui, None, &tr!("side-panel-remove-limit"), Weight::Plain)
                .on_hover_text(tr!("side-panel-remove-limit-tip"))
                .clicked()
        {
            let mut without = preferences.clone();
            match error {
                PlanError::Device { .. } => without.vram_budget = None,
                PlanError::Host { .. } => without.ram_budget = None,
            }
            actions.push(Action::Set(Setting::Memory(Box::new(without))));
        }
        let ways = ways_out(forecast);
        for (alternative, preferences) in &ways {
            let words = match (alternative.quality, alternative.recommended) {
                (Quality::Exact, true) => tr!("side-panel-use-recommended"),
                (Quality::Exact, false) => {
                    tr!("side-panel-use-way", way = in_a_sentence(&name_of(alternative)))
                }
                (Quality::Blended, _) => tr!("side-panel-use-tiles"),
                (Quality::EightBit, _) => tr!("side-panel-use-8-bit"),
                (Quality::FourBit, _) => tr!("side-panel-use-4-bit"),
            };
            let tip = format!(
                "{}: {}, {}",
                name_of(alternative),
                units::memory(alternative.device),
                units::seconds(state.planning.images() * alternative.seconds_per_image)
            );
            if widgets::button(ui, None, &words, Weight::Plain).on_hover_text(tip).clicked() {
                actions.push(Action::Set(Setting::Memory(Box::new((*preferences).clone()))));
            }
        }
        if !ways.iter().any(|(alternative, _)| alternative.quality == Quality::Exact) {
            smaller(ui, state, forecast, actions);
        }
    });
}

/// Offers the largest size and the longest clip that fit.
fn smaller(ui: &mut Ui, state: &State, forecast: &Forecast, actions: &mut Vec<Action>) {
    let mut offer = |words: String, tip: String, change: &dyn Fn(&mut Request)| {
        if widgets::button(ui, None, &words, Weight::Plain).on_hover_text(tip).clicked() {
            let mut draft = state.draft().clone();
            change(&mut draft.request);
            actions.push(Action::Edit(Box::new(draft)));
        }
    };
    if let Some([width, height]) = forecast.fitting_size {
        let words = tr!("side-panel-use-size", width = width, height = height);
        offer(words, tr!("side-panel-use-size-smaller-tip"), &|request| {
            (request.width, request.height) = (width, height);
        });
    }
    if let Some(frames) = forecast.fitting_frames {
        let length = clip_words(frames, state.draft().request.frame_rate);
        let words = tr!("side-panel-use-length", length = length.as_str());
        offer(words, tr!("side-panel-use-fewer-frames-tip"), &|request| request.frames = frames);
    }
}

/// The alternatives to suggest: one with the same image if any fits, otherwise what changes the image least and, if that
/// are tiles, 8-bit weights too. Of each quality, the recommendation or else, of those that are about as fast as the
/// fastest, the one with the plainest name.
fn ways_out(forecast: &Forecast) -> Vec<(&Alternative, &MemoryPreferences)> {
    const ABOUT_AS_FAST: f64 = 1.02;
    let fitting: Vec<_> = forecast
        .alternatives
        .iter()
        .filter(|row| row.available && row.device_short == 0 && row.host_short == 0)
        .filter_map(|row| Some((row, row.preferences.as_ref()?)))
        .collect();
    let best_of = |quality: Quality| {
        let of_quality = || fitting.iter().copied().filter(|(row, _)| row.quality == quality);
        let fastest = of_quality().map(|(row, _)| row.seconds_per_image).reduce(f64::min)?;
        let is_fast = |row: &Alternative| row.seconds_per_image <= ABOUT_AS_FAST * fastest;
        of_quality().min_by_key(|(row, _)| (!row.recommended, !is_fast(row), row.name.len()))
    };
    let [exact, blended, eight, four] =
        [Quality::Exact, Quality::Blended, Quality::EightBit, Quality::FourBit].map(best_of);
    match (exact, blended, eight) {
        (Some(exact), ..) => vec![exact],
        (None, None, None) => four.into_iter().collect(),
        (None, blended, eight) => blended.into_iter().chain(eight).collect(),
    }
}

/// A name as it stands within a sentence.
fn in_a_sentence(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The largest error of earlier predictions as text.
pub fn accuracy_of(accuracy: &Accuracy) -> String {
    let Accuracy { runs, memory, time } = *accuracy;
    let memory = units::percent(memory.worst);
    match time {
        Some(time) if time.worst > WIDE => {
            tr!("side-panel-accuracy-time-varies", memory = memory, count = runs)
        }
        Some(time) => {
            tr!("side-panel-accuracy", memory = memory, time = units::percent(time.worst), count = runs)
        }
        None => tr!("side-panel-accuracy-of-memory", memory = memory, count = runs),
    }
}

/// A line to click for details.
fn line(ui: &mut Ui, text: &str, spoken: &str, icon: &str, color: egui::Color32) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, spoken));
    if response.has_focus() || response.hovered() {
        let line = if response.has_focus() { palette.accent } else { palette.hover };
        let stroke = egui::Stroke::new(1.0, line);
        ui.painter().rect_stroke(rect.expand2(vec2(4.0, 0.0)), 4.0, stroke, egui::StrokeKind::Inside);
    }
    let font = if icon == "✓" { FontId::proportional(font::BODY) } else { font::icons(14.0) };
    ui.painter().text(pos2(rect.left() + 7.0, rect.center().y), Align2::CENTER_CENTER, icon, font, color);
    let ink = if color == palette.danger { palette.danger } else { palette.text };
    let text = widgets::cut(ui, text, font::medium(font::BODY), ink, rect.width() - 22.0);
    let place = pos2(rect.left() + 22.0, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(place, text, ink);
    response
}
