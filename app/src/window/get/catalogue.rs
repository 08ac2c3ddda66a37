//! The catalogue: each model with its fit, size and licence.

use egui::{
    Align, Color32, ComboBox, CornerRadius, Frame, Label, Layout, Margin, RichText, Sense, Stroke, Ui, vec2,
};

use super::{GetPlace, Kind, heading, paragraph};
use crate::{
    downloads::{Listed, Phase, Version, catalogue::catalogue},
    language::{self, tr, units},
    window::{
        action::{Action, GetAction},
        fit, icons,
        state::{EntryId, Fit, State},
        tokens::{Palette, font, radius, size, space},
        widgets::{self, Weight},
    },
};

/// Height of a model, and of one whose fit is below its name.
const ROW: f32 = 62.0;
const TALL_ROW: f32 = 76.0;
/// Below this width it is.
const NARROW: f32 = 600.0;

/// Draws the catalogue.
pub fn show(ui: &mut Ui, state: &State, place: &mut GetPlace, actions: &mut Vec<Action>) {
    let suggested = state.first_models();
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        heading(ui, &tr!("get-catalogue"));
        for (kind, name, tip) in [
            (Kind::All, tr!("get-kind-all"), tr!("get-kind-all-tip")),
            (Kind::Images, tr!("get-kind-images"), tr!("get-kind-images-tip")),
            (Kind::Clips, tr!("get-kind-clips"), tr!("get-kind-clips-tip")),
        ] {
            if widgets::toggle_button(ui, &name, place.kind == kind).on_hover_text(tip).clicked() {
                place.kind = kind;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| free_space(ui, state));
    });
    if !suggested.is_empty() && place.kind != Kind::Clips {
        let title = match state.library.fits.device().filter(|device| *device != "CPU") {
            Some(device) => tr!("get-suits-device", device = device),
            None => tr!("get-suits-computer"),
        };
        group(ui, &title);
        for listed in &suggested {
            row(ui, state, place, listed, actions);
        }
        group(ui, &tr!("get-all-models"));
    }
    for listed in &catalogue().models {
        let is_clip = makes_clips(state, listed);
        let is_wanted = match place.kind {
            Kind::All => true,
            Kind::Images => !is_clip,
            Kind::Clips => is_clip,
        };
        let is_above = place.kind != Kind::Clips && suggested.iter().any(|other| other.id == listed.id);
        if is_wanted && !is_above {
            row(ui, state, place, listed, actions);
        }
    }
    let date = &catalogue().date;
    paragraph(ui, &tr!("get-catalogue-as-of", date = date));
    ui.add_space(space::L);
}

fn group(ui: &mut Ui, title: &str) {
    ui.add_space(space::XS);
    widgets::field_label(ui, title);
}

fn makes_clips(state: &State, listed: &Listed) -> bool {
    let known = state.library.known(&EntryId::Known(listed.id.clone()));
    known.is_some_and(|known| known.defaults.frames > 1)
}

fn free_space(ui: &mut Ui, state: &State) {
    if let Some(free) = state.downloads.free {
        let words = tr!("get-free", memory = units::memory(free));
        ui.label(RichText::new(words).small().color(Palette::of(ui).text_muted))
            .on_hover_text(tr!("get-free-tip"));
    }
}

fn row(ui: &mut Ui, state: &State, place: &mut GetPlace, listed: &Listed, actions: &mut Vec<Action>) {
    let is_narrow = ui.available_width() < NARROW;
    let height = if is_narrow { TALL_ROW } else { ROW };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    if !ui.is_rect_visible(rect) {
        return;
    }
    let palette = Palette::of(ui);
    let version = chosen(state, place, listed);
    let detail = detail(state, listed, version);
    let fit = version.and_then(|version| state.fit_of(listed, version));
    let fit = fit.map_or_else(|| tr!("get-checking-fit"), Fit::words);
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{}, {detail}, {fit}", listed.name))
    });
    let (fill, line) = (palette.raised, Stroke::new(1.0, palette.line));
    ui.painter().rect(rect, CornerRadius::same(radius::M), fill, line, egui::StrokeKind::Inside);
    let inner = rect.shrink2(vec2(space::M, 0.0));
    let mut child = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(inner)
            .layout(Layout::right_to_left(Align::Center))
            .id_salt(&listed.id),
    );
    let ui = &mut child;
    ui.spacing_mut().item_spacing.x = space::S;
    if let Some(version) = version {
        let language = language::current().tag;
        if place.start_language != language {
            (place.start_width, place.start_language) = (0.0, language);
        }
        // Formats are one below the other, however wide the buttons are.
        let slot = vec2(place.start_width, size::CONTROL);
        ui.allocate_ui_with_layout(slot, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_width(slot.x);
            let drawn = ui.scope(|ui| start_button(ui, state, listed, version, actions)).response.rect;
            if drawn.width() > place.start_width {
                place.start_width = drawn.width();
                ui.ctx().request_repaint();
            }
        });
        formats(ui, state, place, listed, version);
    }
    if !is_narrow {
        fit_badge(ui, state, listed, version);
    }
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let lines = font::BODY + font::SMALL + if is_narrow { font::SMALL + 2.0 } else { 0.0 };
            ui.add_space((height - lines - 10.0) / 2.0);
            ui.add(
                Label::new(RichText::new(&listed.name).font(font::medium(font::BODY)).color(palette.text))
                    .truncate(),
            );
            widgets::line(ui, RichText::new(&detail).small().color(palette.text_faint), &detail);
            if is_narrow {
                fit_line(ui, state, listed, version);
            }
        });
    });
}

/// Size, what is in the way, licence and repository.
fn detail(state: &State, listed: &Listed, version: Option<&Version>) -> String {
    let mut parts = Vec::new();
    parts.extend(version.and_then(|version| listed.bytes(version)).map(units::memory));
    if version.is_some_and(|version| state.lacks_space(listed, version).is_some()) {
        parts.push(tr!("get-lacks-space"));
    }
    parts.push(listed.licence.clone().unwrap_or_else(|| tr!("get-licence-on-page")));
    if version.is_some_and(|version| version.is_gated) {
        parts.push(tr!("get-needs-token"));
    }
    parts.push(listed.repository.clone());
    parts.join(" · ")
}

/// The version that is chosen for a model, or that for this computer.
fn chosen<'a>(state: &State, place: &GetPlace, listed: &'a Listed) -> Option<&'a Version> {
    let format = place.formats.get(&listed.id);
    format.and_then(|format| listed.version(format)).or_else(|| state.version_for(listed))
}

fn formats(ui: &mut Ui, state: &State, place: &mut GetPlace, listed: &Listed, version: &Version) {
    let width = 96.0;
    if listed.versions.len() < 2 {
        let words = RichText::new(&version.format).small().color(Palette::of(ui).text_muted);
        ui.add_sized(vec2(width, size::CONTROL), Label::new(words).truncate());
        return;
    }
    let mut format = version.format.clone();
    let list = ComboBox::from_id_salt(("format", &listed.id)).selected_text(&version.format).width(width);
    let list = widgets::drop_down(ui, list, |ui| {
        for other in &listed.versions {
            format_choice(ui, state, listed, other, &mut format);
        }
    });
    list.response
        .accessible_name(tr!("get-version-of", name = &listed.name))
        .on_hover_text(tr!("get-version-tip"));
    if format != version.format {
        place.formats.insert(listed.id.clone(), format);
    }
}

/// A version in the list of versions: its format, its size and how it runs.
fn format_choice(ui: &mut Ui, state: &State, listed: &Listed, version: &Version, format: &mut String) {
    let palette = Palette::of(ui);
    let fit = state.fit_of(listed, version);
    let mut parts = vec![version.format.clone()];
    parts.extend(listed.bytes(version).map(units::memory));
    parts.push(match (listed.known, fit) {
        (None, _) => tr!("get-fit-unknown"),
        (Some(_), None) => tr!("get-checking"),
        (Some(_), Some(fit)) => fit.words(),
    });
    let dot = RichText::new("● ").color(fit.map_or(palette.line_strong, |fit| fit::color(palette, fit)));
    let words = parts.join(" · ");
    let text = (dot, RichText::new(&words).color(palette.text));
    let response = widgets::entry(ui, format, version.format.clone(), text);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &words));
    if let Some(fit) = fit {
        response.on_hover_text(fit.sentence());
    }
}

/// The button that downloads a model, or how far that is.
pub fn start_button(
    ui: &mut Ui,
    state: &State,
    listed: &Listed,
    version: &Version,
    actions: &mut Vec<Action>,
) {
    let name = &listed.name;
    match state.downloads.of(listed).map(|download| (&download.phase, download)) {
        Some((Phase::Done { opens, .. }, _)) => {
            if button(
                ui,
                icons::FOLDER_OPEN,
                [tr!("get-open"), tr!("get-open-named", name = name)],
                Weight::Primary,
            )
            .on_hover_text(tr!("get-open-tip"))
            .clicked()
            {
                actions.push(GetAction::Open(opens.clone()).into());
            }
        }
        Some((Phase::Failed(_), download)) => {
            if button(
                ui,
                icons::RESTORE,
                [tr!("get-try-again"), tr!("get-try-again-named", name = name)],
                Weight::Plain,
            )
            .on_hover_text(tr!("get-go-on-tip"))
            .clicked()
            {
                actions.push(GetAction::Resume(download.id).into());
            }
        }
        Some((Phase::Paused, download)) => {
            if button(ui, icons::PLAY, [tr!("get-go-on"), tr!("get-go-on-named", name = name)], Weight::Plain)
                .on_hover_text(tr!("get-go-on-tip"))
                .clicked()
            {
                actions.push(GetAction::Resume(download.id).into());
            }
        }
        Some((_, download)) => {
            let words = format!("{:.0} %", download.share() * 100.0);
            let words = RichText::new(words).font(font::medium(font::BODY)).color(Palette::of(ui).text);
            ui.add_sized(vec2(104.0, size::CONTROL), Label::new(words));
        }
        None => {
            let is_here = state.is_here(listed, version);
            let weight = if is_here { Weight::Ghost } else { Weight::Plain };
            let words = match is_here {
                true => [tr!("get-again"), tr!("get-again-named", name = name)],
                false => [tr!("get-download"), tr!("get-download-named", name = name)],
            };
            let (icon, tip) = match state.lacks_space(listed, version) {
                Some(free) => {
                    (icons::TRIANGLE_ALERT, tr!("get-lacks-space-tip", memory = units::memory(free)))
                }
                None if is_here => (icons::DOWNLOAD, tr!("get-again-tip")),
                None => (icons::DOWNLOAD, tr!("get-download-tip")),
            };
            if button(ui, icon, words, weight).on_hover_text(tip).clicked() {
                actions.push(GetAction::Start(listed.id.clone(), version.format.clone()).into());
            }
        }
    }
}

fn button(ui: &mut Ui, icon: &str, [label, name]: [String; 2], weight: Weight) -> egui::Response {
    let response = widgets::button(ui, Some(icon), &label, weight);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    response
}

/// How a model runs, with a dot in the colour of that. Laid out from right to left.
pub fn fit_badge(ui: &mut Ui, state: &State, listed: &Listed, version: Option<&Version>) {
    let palette = Palette::of(ui);
    let (words, dot, tip) = fit_words(palette, state, listed, version);
    let frame = Frame::new().inner_margin(Margin::symmetric(space::XS as i8, 0));
    let response = frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.label(RichText::new(words).small().color(palette.text));
            let (place, _) = ui.allocate_exact_size(vec2(8.0, 16.0), Sense::hover());
            ui.painter().circle_filled(place.center(), 4.0, dot);
        });
    });
    if !tip.is_empty() {
        response.response.on_hover_text(tip);
    }
}

/// The same as a line below a name.
pub fn fit_line(ui: &mut Ui, state: &State, listed: &Listed, version: Option<&Version>) {
    let palette = Palette::of(ui);
    let (words, dot, tip) = fit_words(palette, state, listed, version);
    let line = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (place, _) = ui.allocate_exact_size(vec2(8.0, 14.0), Sense::hover());
        ui.painter().circle_filled(place.center(), 4.0, dot);
        let label = Label::new(RichText::new(words).small().color(palette.text));
        ui.add(label.truncate().show_tooltip_when_elided(tip.is_empty()));
    });
    if !tip.is_empty() {
        line.response.on_hover_text(tip);
    }
}

/// How a model runs, the colour of that, and what there is to say about it.
fn fit_words(
    palette: &Palette,
    state: &State,
    listed: &Listed,
    version: Option<&Version>,
) -> (String, Color32, String) {
    let fit = version.and_then(|version| state.fit_of(listed, version));
    match (listed.known, fit) {
        (None, _) => (tr!("get-fit-unknown"), palette.line_strong, String::new()),
        (Some(_), Some(fit)) => (fit.words(), fit::color(palette, fit), fit.sentence()),
        (Some(_), None) => (tr!("get-checking"), palette.line_strong, String::new()),
    }
}
