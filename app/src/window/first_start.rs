//! What the window shows to somebody who has opened no model yet: the computer and the models that were found, and others
//! that suit it.

use egui::{
    Align, CornerRadius, Label, Layout, RichText, Sense, Stroke, TextStyle, TextWrapMode, Ui, WidgetText,
    vec2,
};

use super::{
    action::{Action, GetAction, LibraryAction},
    get::{fit_badge, fit_line, start_button},
    icons,
    state::{Fit, State, Way},
    tokens::{Palette, font, radius, space},
    widgets::{self, Weight},
};
use crate::{
    downloads::Listed,
    language::{tr, units},
};

/// Height of a model; of one whose fit is below its name; and of one whose button is below that, too.
const ROW: f32 = 58.0;
const TALL_ROW: f32 = 70.0;
const TALLEST_ROW: f32 = 106.0;
/// Widths below which the fit and the button move.
const NARROW: f32 = 480.0;
const NARROWEST: f32 = 300.0;
/// Height of what is around the models.
const AROUND: f32 = 176.0;
/// How many models there are.
const MODELS: f32 = 3.0;
/// How many examples of prompts are offered above it.
pub const EXAMPLES: usize = 3;
/// Width of everything.
pub const WIDTH: f32 = 680.0;

/// Height of everything at a width.
pub fn height(width: f32) -> f32 {
    AROUND + MODELS * row_height(width)
}

fn row_height(width: f32) -> f32 {
    match width {
        ..NARROWEST => TALLEST_ROW,
        ..NARROW => TALL_ROW,
        _ => ROW,
    }
}

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.spacing_mut().item_spacing.y = space::S;
    let found = state.found_device().unwrap_or_else(|| tr!("start-looking"));
    ui.horizontal(|ui| {
        widgets::icon(ui, icons::GPU, font::ICON, palette.text_muted);
        ui.add(Label::new(RichText::new(found).color(palette.text_muted)).truncate());
    });
    let suited = state.first_models();
    let words = [tr!("start-finding"), tr!("start-quickest"), tr!("start-suited")];
    let height = words.iter().map(|words| heading_height(ui, words)).fold(0.0, f32::max);
    let [finding, quickest, fitting] = words;
    let words = match suited.is_empty() {
        true => finding,
        false if suited.iter().all(|listed| is_slow(state, listed)) => quickest,
        false => fitting,
    };
    // Nothing moves when the models are there.
    ui.scope(|ui| {
        ui.set_min_height(height);
        ui.label(RichText::new(words).font(font::medium(font::BODY)).color(palette.text));
    });
    for listed in &suited {
        row(ui, state, listed, actions);
    }
    if suited.is_empty() {
        let width = ui.available_width();
        let height = MODELS * row_height(width) + (MODELS - 1.0) * space::S;
        ui.allocate_exact_size(vec2(width, height), Sense::hover());
    }
    ui.horizontal_wrapped(|ui| {
        if widgets::button(ui, Some(icons::DOWNLOAD), &tr!("start-get-others"), Weight::Plain)
            .on_hover_text(tr!("start-get-others-tip"))
            .clicked()
        {
            actions.push(GetAction::Show(true).into());
        }
        let (words, tip, weight) = match state.library.models_found() {
            0 => (tr!("start-have-models"), tr!("start-have-models-tip"), Weight::Ghost),
            count => {
                let words = tr!("start-models-found", count = count);
                (words, tr!("start-models-found-tip"), Weight::Primary)
            }
        };
        if widgets::button(ui, Some(icons::LAYERS), &words, weight).on_hover_text(tip).clicked() {
            actions.push(Action::Library(LibraryAction::Show(true)));
        }
    });
}

fn heading_height(ui: &Ui, words: &str) -> f32 {
    let words = WidgetText::from(RichText::new(words).font(font::medium(font::BODY)));
    words.into_galley(ui, Some(TextWrapMode::Wrap), ui.available_width(), TextStyle::Body).size().y
}

fn is_slow(state: &State, listed: &Listed) -> bool {
    let fit = state.version_for(listed).and_then(|version| state.fit_of(listed, version));
    matches!(fit, Some(Fit::Runs { way: Way::Slowly | Way::VerySlowly, .. }))
}

fn row(ui: &mut Ui, state: &State, listed: &Listed, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, row_height(width)), Sense::hover());
    let version = state.version_for(listed);
    let bytes = version.and_then(|version| listed.bytes(version)).map_or_else(String::new, units::memory);
    let licence = listed.licence.clone().unwrap_or_else(|| tr!("start-licence"));
    let detail = format!("{bytes} · {licence}");
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{}, {detail}", listed.name))
    });
    let line = Stroke::new(1.0, palette.line);
    ui.painter().rect(rect, CornerRadius::same(radius::M), palette.raised, line, egui::StrokeKind::Inside);
    let inner = rect.shrink2(vec2(space::M, 0.0));
    let (is_narrow, is_narrowest) = (width < NARROW, width < NARROWEST);
    let layout = match is_narrowest {
        true => Layout::top_down(Align::Min),
        false => Layout::right_to_left(Align::Center),
    };
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(inner).layout(layout).id_salt(&listed.id));
    let ui = &mut child;
    ui.spacing_mut().item_spacing.x = space::S;
    let words = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let lines = font::BODY + font::SMALL + if is_narrow { font::SMALL + 2.0 } else { 0.0 };
        let height = if is_narrowest { TALL_ROW } else { inner.height() };
        ui.add_space((height - lines) / 2.0 - 5.0);
        let title = RichText::new(&listed.name).font(font::medium(font::BODY)).color(palette.text);
        ui.add(Label::new(title).truncate());
        ui.add(Label::new(RichText::new(&detail).small().color(palette.text_faint)).truncate());
        if is_narrow {
            fit_line(ui, state, listed, version);
        }
    };
    if is_narrowest {
        words(ui);
        ui.add_space(space::XS);
    }
    if let Some(version) = version {
        start_button(ui, state, listed, version, actions);
    }
    if !is_narrow {
        fit_badge(ui, state, listed, version);
    }
    if !is_narrowest {
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.vertical(words));
    }
}
