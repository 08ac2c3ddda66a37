//! The toolbar under the image: name, actions and zoom.

use egui::{Align, Align2, CornerRadius, Layout, Popup, Rect, RichText, Ui, Vec2, vec2};

use sluice_engine::{
    output::{Enlargement, Interpolated},
    request::Variation,
};

use super::{canvas::View, compare::Comparison};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        commands::{self, Entry, Now},
        files::ClipFormat,
        icons,
        image_menu::{self, Does, Row},
        image_settings::Changes,
        state::{Progress, Recent, RecentId, Shown, State, file_name},
        status_bar::stage_words,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Room for the beginning of the caption, and for the zoom in numbers.
const CAPTION: f32 = 60.0;
const PERCENT: f32 = 46.0;
/// Room for a button with an icon, and for a separator.
const ICON: f32 = size::CONTROL + space::XS;
const SEPARATOR: f32 = 1.0 + 2.0 * space::XS + 3.0 * space::XS;

/// Draws the bar.
pub fn show(
    ui: &mut Ui,
    state: &State,
    (view, comparison): (&mut View, &mut Comparison),
    area: Rect,
    now: f64,
    actions: &mut Vec<Action>,
) {
    let density = ui.pixels_per_point();
    if let Some((_, progress)) = state.jobs.running() {
        let top = ui.clip_rect().left_top();
        let edge = Rect::from_min_size(top, vec2(ui.clip_rect().width(), size::PROGRESS / 2.0));
        widgets::progress_bar(ui, edge, progress.fraction());
    }
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let (parts, size, recent) = match (state.images.shown, state.jobs.running()) {
            (Shown::Live, Some((job, progress))) => {
                let size = vec2(job.request().width as f32, job.request().height as f32);
                (vec![Part::kept(live_caption(progress, now))], size, None)
            }
            (Shown::Recent(id), _) => match state.images.recents.get(id) {
                Some(recent) => {
                    let [width, height] = recent.size();
                    let size = vec2(width as f32, height as f32);
                    (recent_caption(recent), size, Some(recent))
                }
                None => return,
            },
            (Shown::Input, _) => match state.masked_input() {
                Some((mask, _)) => {
                    let [width, height] = mask.size();
                    let name = file_name(&mask.image);
                    (
                        vec![Part::kept(tr!("viewer-masked", name = name))],
                        vec2(width as f32, height as f32),
                        None,
                    )
                }
                None => return,
            },
            _ => return,
        };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_compared = state.images.compared().is_some();
            let room = if is_compared { comparison.room(area) } else { area };
            let least = recent.map_or(0.0, |_| least_room(ui, state));
            zoom_controls(ui, (view, size), (room, least), density);
            if let Some(recent) = recent {
                separator(ui);
                if is_compared {
                    comparison_controls(ui, comparison, actions);
                    return;
                }
                compare(ui, state, recent, actions);
                image_actions(ui, state, recent, actions);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| caption(ui, parts));
        });
    });
}

/// A part of the caption.
struct Part {
    words: String,
    /// Whether others make room for it.
    is_kept: bool,
    named: Option<Named>,
}

/// The name in words, which is shortened first, and what makes words of a name.
struct Named {
    name: String,
    words_of: Box<dyn Fn(&str) -> String>,
}

impl Part {
    fn kept(words: String) -> Self {
        Self { words, is_kept: true, named: None }
    }

    fn more(words: String) -> Self {
        Self { words, is_kept: false, named: None }
    }

    fn about(name: &str, words_of: impl Fn(&str) -> String + 'static) -> Self {
        let words = words_of(name);
        let named = Named { name: name.to_owned(), words_of: Box::new(words_of) };
        Self { named: Some(named), ..Self::more(words) }
    }

    /// The words with less and less of the name.
    fn shorter(&self) -> impl Iterator<Item = String> {
        self.named.iter().flat_map(|Named { name, words_of }| {
            let ends = name.char_indices().rev();
            ends.map(move |(end, _)| words_of(&format!("{}…", name[..end].trim_end())))
        })
    }
}

fn joined(parts: &[Part]) -> String {
    parts.iter().map(|part| part.words.as_str()).collect::<Vec<_>>().join(" · ")
}

/// The caption with as many of its parts as there is room for.
fn caption(ui: &mut Ui, mut parts: Vec<Part>) {
    let (whole, color) = (joined(&parts), Palette::of(ui).text_muted);
    let room = ui.available_width();
    let fits = |ui: &Ui, words: &str| {
        let font = egui::FontId::proportional(font::SMALL);
        ui.painter().layout_no_wrap(words.to_owned(), font, color).size().x <= room
    };
    let mut words = whole.clone();
    while !fits(ui, &words)
        && let Some(last) = parts
            .iter()
            .rposition(|part| !part.is_kept)
            // Half a number says something else.
            .or((parts.len() > 1).then(|| parts.len() - 1))
    {
        let shorter = parts[last].shorter().find(|words| {
            let mut all: Vec<&str> = parts.iter().map(|part| part.words.as_str()).collect();
            all[last] = words;
            fits(ui, &all.join(" · "))
        });
        if let Some(shorter) = shorter {
            parts[last] = Part::more(shorter);
            words = joined(&parts);
            break;
        }
        parts.remove(last);
        words = format!("{} · …", joined(&parts));
    }
    let is_cut = words != whole;
    let label = egui::Label::new(RichText::new(words).small().color(color));
    let label = ui.add(label.truncate().show_tooltip_when_elided(!is_cut));
    if is_cut {
        label.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &whole));
        label.on_hover_text(whole);
    }
}

fn separator(ui: &mut Ui) {
    ui.add_space(space::XS);
    let (rect, _) = ui.allocate_exact_size(vec2(1.0, 18.0), egui::Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, Palette::of(ui).line);
    ui.add_space(space::XS);
}

/// The width of what is to the left of the zoom, where there is little room for it.
fn least_room(ui: &Ui, state: &State) -> f32 {
    let buttons = match state.images.compared() {
        Some(_) => 3.0 * ICON,
        None => ICON + widgets::disclosure_width(ui, &tr!("viewer-actions")) + space::S + space::XS,
    };
    SEPARATOR + buttons
}

/// Laid out from right to left. What there is no room for is left out: first the zoom in numbers, then its buttons.
fn zoom_controls(ui: &mut Ui, (view, image): (&mut View, Vec2), (area, least): (Rect, f32), density: f32) {
    let percent = (view.zoom(image, area, density) * 100.0).round();
    let actual = (percent - 100.0).abs() < 0.5 && !view.is_fit();
    let weight = |on| if on { Weight::Selected } else { Weight::Ghost };
    let (free, fit) = (ui.available_width() - least, tr!("viewer-zoom-fit"));
    let fit_width = widgets::button_width(ui, None, &fit) + space::XS;
    let both = fit_width + widgets::button_width(ui, None, "100%") + space::XS;
    let tip = tr!("viewer-zoom-actual-tip");
    if free >= both && widgets::button(ui, None, "100%", weight(actual)).on_hover_text(tip).clicked() {
        view.actual();
    }
    let tip = tr!("viewer-zoom-fit-tip");
    if free >= fit_width
        && widgets::button(ui, None, &fit, weight(view.is_fit())).on_hover_text(tip).clicked()
    {
        view.fit();
    }
    if free < both + PERCENT + space::XS + CAPTION {
        return;
    }
    let color = Palette::of(ui).text_faint;
    let (rect, _) = ui.allocate_exact_size(vec2(PERCENT, size::CONTROL), egui::Sense::hover());
    let place = egui::pos2(rect.right() - space::XS, rect.center().y);
    let font = egui::FontId::proportional(font::SMALL);
    ui.painter().text(place, Align2::RIGHT_CENTER, format!("{percent}%"), font, color);
}

/// Starts to compare with another image. It is there without one, too, so that the second image moves no button.
fn compare(ui: &mut Ui, state: &State, recent: &Recent, actions: &mut Vec<Action>) {
    let other = state.images.comparable();
    let lacks = match recent.length {
        Some(_) => tr!("viewer-compare-lacks-clip"),
        None => tr!("viewer-compare-lacks-image"),
    };
    ui.add_enabled_ui(other.is_some(), |ui| {
        let button =
            widgets::explained_icon(ui, icons::COLUMNS, &tr!("viewer-compare"), &tr!("viewer-compare-tip"));
        if button.on_disabled_hover_text(lacks).clicked() {
            actions.push(Action::Compare(other));
        }
    });
}

/// Laid out from right to left.
fn comparison_controls(ui: &mut Ui, comparison: &mut Comparison, actions: &mut Vec<Action>) {
    let (stop, tip) = (tr!("viewer-compare-stop"), tr!("viewer-compare-stop-tip"));
    let worded = widgets::button_width(ui, Some(icons::X), &stop) + space::XS + 2.0 * ICON;
    let button = match ui.available_width() >= worded {
        true => widgets::button(ui, Some(icons::X), &stop, Weight::Ghost).on_hover_text(tip),
        false => widgets::explained_icon(ui, icons::X, &stop, &tip),
    };
    if button.clicked() {
        actions.push(Action::Compare(None));
    }
    if widgets::icon_button(ui, icons::ARROW_LEFT_RIGHT, &tr!("viewer-compare-swap")).clicked() {
        actions.push(Action::SwapCompared);
    }
    let is_on = comparison.is_side_by_side;
    let words = (tr!("viewer-compare-side-by-side"), tr!("viewer-compare-side-by-side-tip"));
    if widgets::explained_toggle(ui, icons::COLUMNS, (&words.0, &words.1), is_on).clicked() {
        comparison.is_side_by_side = !is_on;
    }
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let words = tr!("viewer-compare-choose");
        let color = Palette::of(ui).text_muted;
        ui.add(egui::Label::new(RichText::new(words).small().color(color)).truncate());
    });
}

/// What can be done with an image or a clip, the most likely first.
const OFFERS: [Entry; 24] = [
    commands::USE_SETTINGS,
    commands::UPSCALE,
    commands::DETAIL,
    commands::DESCRIBE,
    commands::INTERPOLATE,
    commands::VARIATIONS,
    commands::SIMILAR,
    commands::USE_AS_INPUT,
    commands::INPAINT,
    commands::USE_AS_PREVIEW,
    commands::EXTEND,
    commands::USE_AS_CLIP,
    commands::USE_FRAME_AS_END,
    commands::USE_FRAME,
    commands::SAVE_FRAME,
    commands::COPY_FRAME,
    commands::SAVE_AS,
    commands::COPY_IMAGE,
    commands::COPY_FILE,
    commands::COPY_PROMPT,
    commands::OPEN_CONTAINING_FOLDER,
    commands::ADD_STAR,
    commands::REMOVE_STAR,
    commands::TRASH,
];
/// Those whose buttons have words, and those that are only in menus.
const WORDED_OFFERS: [&str; 2] = [commands::USE_SETTINGS.name, commands::EXTEND.name];
const ONLY_IN_MENUS: [&str; 11] = [
    commands::DETAIL.name,
    commands::DESCRIBE.name,
    commands::INPAINT.name,
    commands::USE_AS_PREVIEW.name,
    commands::USE_AS_CLIP.name,
    commands::SAVE_AS.name,
    commands::COPY_FILE.name,
    commands::COPY_PROMPT.name,
    commands::ADD_STAR.name,
    commands::REMOVE_STAR.name,
    commands::TRASH.name,
];
/// Between copying and saving frames is the button for the other kinds of files.
const BEFORE_EXPORT: &str = commands::COPY_FRAME.name;

fn offers<'a>(state: &'a State, recent: &'a Recent) -> impl Iterator<Item = (&'static Entry, Action)> + 'a {
    OFFERS.iter().filter_map(|entry| Some((entry, entry.action_with(state, recent)?)))
}

/// Laid out from right to left. Where there is no room for the buttons, there is a menu.
fn image_actions(ui: &mut Ui, state: &State, recent: &Recent, actions: &mut Vec<Action>) {
    let is_clip = recent.length.is_some();
    let is_worded = |entry: &Entry| WORDED_OFFERS.contains(&entry.name);
    let mut offers: Vec<(&Entry, Action)> =
        offers(state, recent).filter(|(entry, _)| !ONLY_IN_MENUS.contains(&entry.name)).collect();
    let button = |(entry, _): &(&Entry, Action)| match is_worded(entry) {
        true => widgets::button_width(ui, Some(entry.icon), &entry.title()) + space::XS,
        false => ICON,
    };
    let export = if is_clip { ICON } else { 0.0 };
    let room = offers.iter().map(button).sum::<f32>() + export + CAPTION;
    if ui.available_width() < room {
        return menu(ui, state, recent, actions);
    }
    offers.reverse();
    for (entry, action) in offers {
        let is_ready = entry.is_ready(recent);
        ui.add_enabled_ui(is_ready, |ui| {
            let button = match is_worded(entry) {
                true => widgets::button(ui, Some(entry.icon), &entry.title(), Weight::Ghost)
                    .on_hover_text(entry.sentence()),
                false => widgets::explained_icon(ui, entry.icon, &entry.title(), &entry.sentence()),
            };
            if button.clicked() {
                actions.push(action);
            }
        });
        if entry.name == BEFORE_EXPORT {
            ui.add_enabled_ui(is_ready, |ui| self::export(ui, recent, actions));
        }
    }
}

/// The same as a menu.
fn menu(ui: &mut Ui, state: &State, recent: &Recent, actions: &mut Vec<Action>) {
    let button = widgets::disclosure(ui, &tr!("viewer-actions"), icons::CHEVRON_DOWN, false)
        .on_hover_text(tr!("viewer-actions-tip"));
    ui.add_space(space::S);
    Popup::menu(&button)
        .accessible_name(tr!("viewer-actions-spoken"))
        .width(size::MENU)
        .show(|ui| context_menu(ui, state, recent, actions));
}

/// The menu of a right click.
pub(super) fn context_menu(ui: &mut Ui, state: &State, recent: &Recent, actions: &mut Vec<Action>) {
    let row =
        |(entry, action): (&Entry, Action)| Row::of(entry, Some(action).filter(|_| entry.is_ready(recent)));
    let mut rows: Vec<Row<'_>> = offers(state, recent).map(row).collect();
    if recent.length.is_some() {
        let id = recent.id;
        rows.push(Row {
            key: image_menu::EXPORT_RANGE,
            icon: icons::SCISSORS,
            name: tr!("viewer-export-range"),
            tip: tr!("viewer-export-range-tip"),
            does: Does::Open(Box::new(move |ui, actions| export_choices(ui, id, actions))),
        });
    }
    image_menu::show(ui, rows, actions);
}

/// The menu of a right click on the live preview.
pub(super) fn live_menu(ui: &mut Ui, now: &Now<'_>, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    for entry in [commands::CANCEL, commands::PAUSE] {
        Row::of(&entry, entry.action(now)).show(ui, actions);
    }
}

fn export_choices(ui: &mut Ui, id: RecentId, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    for format in ClipFormat::ALL {
        let row = widgets::row_button(ui, icons::SCISSORS, &format.title(), "", false);
        if row.on_hover_text(tr!("viewer-export-range-tip")).clicked() {
            actions.push(Action::Export(id, format));
            ui.close();
        }
    }
}

/// A menu of the kinds of files that the played range can be written to.
fn export(ui: &mut Ui, recent: &Recent, actions: &mut Vec<Action>) {
    let button = widgets::icon_button(ui, icons::SCISSORS, &tr!("viewer-export-range"));
    Popup::menu(&button)
        .accessible_name(tr!("viewer-export"))
        .width(size::MENU)
        .show(|ui| export_choices(ui, recent.id, actions));
}

fn live_caption(progress: &Progress, now: f64) -> String {
    let stage = stage_words(progress);
    match progress.words_left(now) {
        Some(left) => format!("{stage} · {left}"),
        None => stage,
    }
}

fn recent_caption(recent: &Recent) -> Vec<Part> {
    let [width, height] = recent.size();
    let mut parts = vec![Part::kept(format!("{width} × {height}"))];
    if let Some(scale) = recent.enlarged() {
        parts.push(Part::more(tr!("viewer-caption-upscaled", scale = units::number(scale))));
    }
    if let Some(Changes { enlarged, interpolated, .. }) = &recent.changes {
        parts.extend(enlarged.iter().map(|Enlargement { upscaler, scale }| {
            let scale = units::number(*scale);
            Part::about(upscaler, move |name| {
                tr!("viewer-caption-upscaled-with", scale = scale.as_str(), upscaler = name)
            })
        }));
        parts.extend(interpolated.iter().map(|Interpolated { model, factor }| {
            let factor = *factor;
            Part::about(model, move |name| {
                tr!("viewer-caption-interpolated-with", factor = factor, model = name)
            })
        }));
    }
    if let Some(length) = recent.length {
        parts.push(Part::more(tr!("viewer-caption-frames", count = length.frames)));
        parts.push(Part::more(tr!("viewer-caption-rate", rate = units::number(length.rate))));
        parts.push(Part::more(units::seconds(length.seconds())));
    }
    if let Some(request) = &recent.request {
        // The images of a grid may have others.
        if !recent.is_composed {
            parts.push(Part::kept(tr!("viewer-caption-seed", seed = request.seed.to_string())));
            if let Some(variation) = request.variation.filter(Variation::is_felt) {
                let seed = variation.seed.to_string();
                parts.push(Part::more(tr!("viewer-caption-variation", seed = seed)));
            }
        }
        parts.push(Part::more(tr!("viewer-caption-steps", count = request.steps)));
        parts.push(Part::more(tr!("viewer-caption-guidance", guidance = units::number(request.guidance))));
    }
    if let Some(seconds) = recent.seconds {
        let seconds = units::seconds(seconds);
        parts.push(Part::more(match recent.length {
            Some(_) => tr!("viewer-caption-took", time = seconds),
            None => seconds,
        }));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shortened_letter_by_letter() {
        let part = Part::about("4x ÜB", |name| format!("upscaled with {name}"));
        assert_eq!(part.words, "upscaled with 4x ÜB");
        let shorter: Vec<String> = part.shorter().collect();
        let names = ["4x Ü…", "4x…", "4x…", "4…", "…"];
        assert_eq!(shorter, names.map(|name| format!("upscaled with {name}")));
        assert_eq!(Part::more("5 steps".to_owned()).shorter().count(), 0);
    }

    #[test]
    fn each_offer_has_a_place_in_the_menu() {
        for entry in &OFFERS {
            assert!(image_menu::place_of(entry.name).is_some(), "{}", entry.name);
        }
    }
}
