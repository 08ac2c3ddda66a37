//! Buttons.

use egui::{
    Align2, Color32, CornerRadius, FontId, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

use super::{
    cut,
    fields::{elided, file_lines, two_lines},
};
use crate::language::tr;
use crate::window::{
    icons,
    tokens::{Palette, font, radius, size, space},
};

/// The visual weight of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The primary button.
    Primary,
    /// A normal button.
    Plain,
    /// Without a frame.
    Ghost,
    /// Selected.
    Selected,
}

/// A small button beside a label, and its icon.
const SMALL: Vec2 = vec2(OPENER + space::S, font::SMALL + 2.0 * space::XS);
const OPENER: f32 = font::SMALL + 2.0;

struct Look {
    fill: Color32,
    line: Color32,
    text: Color32,
}

fn look(ui: &Ui, response: &Response, weight: Weight) -> Look {
    let palette = Palette::of(ui);
    let held = response.is_pointer_button_down_on();
    let over = response.hovered() || response.highlighted();
    let clear = Color32::TRANSPARENT;
    let mut look = match weight {
        Weight::Primary => Look {
            fill: if over && !held { palette.accent_hover } else { palette.accent },
            line: clear,
            text: palette.on_accent,
        },
        Weight::Plain if held => Look { fill: palette.press, line: palette.line_strong, text: palette.text },
        Weight::Plain if over => Look { fill: palette.hover, line: palette.line_strong, text: palette.text },
        Weight::Plain => Look { fill: palette.raised, line: palette.line, text: palette.text },
        Weight::Ghost if held => Look { fill: palette.press, line: clear, text: palette.text },
        Weight::Ghost if over => Look { fill: palette.hover, line: clear, text: palette.text },
        Weight::Ghost => Look { fill: clear, line: clear, text: palette.text_muted },
        Weight::Selected => {
            Look { fill: palette.accent_soft, line: palette.accent.gamma_multiply(0.4), text: palette.text }
        }
    };
    if response.has_focus() {
        look.line = if weight == Weight::Primary { palette.text } else { palette.accent };
    }
    look
}

fn paint(ui: &Ui, rect: Rect, look: &Look) {
    let rounding = CornerRadius::same(radius::M);
    ui.painter().rect(rect, rounding, look.fill, Stroke::new(1.0, look.line), StrokeKind::Inside);
}

fn name(ui: &Ui, response: &Response, name: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
}

/// A square button with an icon; its label is also its tooltip.
pub fn icon_button(ui: &mut Ui, icon: &str, label: &str) -> Response {
    icon_button_of(ui, icon, label, Weight::Ghost)
}

/// A square toggle button.
pub fn icon_toggle(ui: &mut Ui, icon: &str, label: &str, on: bool) -> Response {
    let response = icon_square(ui, icon, if on { Weight::Selected } else { Weight::Ghost });
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), on, label));
    response.on_hover_text(label)
}

/// A square button with an icon, as high as the primary one.
pub fn tall_icon_button(ui: &mut Ui, icon: &str, label: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::PRIMARY), Sense::click());
    name(ui, &response, label);
    let weight = if response.enabled() { Weight::Plain } else { Weight::Ghost };
    paint_icon(ui, rect, &response, icon, weight);
    response
}

fn icon_button_of(ui: &mut Ui, icon: &str, label: &str, weight: Weight) -> Response {
    let response = icon_square(ui, icon, weight);
    name(ui, &response, label);
    response.on_hover_text(label)
}

/// A square button with an icon, without a name.
pub(super) fn icon_square(ui: &mut Ui, icon: &str, weight: Weight) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::CONTROL), Sense::click());
    paint_icon(ui, rect, &response, icon, weight);
    response
}

fn paint_icon(ui: &Ui, rect: Rect, response: &Response, icon: &str, weight: Weight) {
    let look = look(ui, response, weight);
    paint(ui, rect, &look);
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, icon, font::icons(font::ICON), look.text);
}

/// The width of a button with a label and an optional icon.
pub fn button_width(ui: &Ui, icon: Option<&str>, label: &str) -> f32 {
    let font = font::medium(font::BODY);
    let text = ui.painter().layout_no_wrap(label.to_owned(), font, Color32::PLACEHOLDER);
    text.size().x + icon_width(icon) + 2.0 * space::M
}

fn icon_width(icon: Option<&str>) -> f32 {
    icon.map_or(0.0, |_| font::ICON + space::S - 1.0)
}

/// A button with a label and an optional icon.
pub fn button(ui: &mut Ui, icon: Option<&str>, label: &str, weight: Weight) -> Response {
    let text = ui.painter().layout_no_wrap(label.to_owned(), font::medium(font::BODY), Color32::PLACEHOLDER);
    let icon_width = icon_width(icon);
    let width = text.size().x + icon_width + 2.0 * space::M;
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL), Sense::click());
    name(ui, &response, label);
    let look = look(ui, &response, weight);
    paint(ui, rect, &look);
    let left = rect.left() + space::M;
    if let Some(icon) = icon {
        let place = pos2(left, rect.center().y);
        ui.painter().text(place, Align2::LEFT_CENTER, icon, font::icons(font::ICON - 1.0), look.text);
    }
    let place = pos2(left + icon_width, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(place, text, look.text);
    response
}

/// A toggle button with a label.
pub fn toggle_button(ui: &mut Ui, label: &str, on: bool) -> Response {
    let text = ui.painter().layout_no_wrap(label.to_owned(), font::medium(font::BODY), Color32::PLACEHOLDER);
    let (rect, response) =
        ui.allocate_exact_size(vec2(text.size().x + 2.0 * space::M, size::CONTROL), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Switch, ui.is_enabled(), on, label));
    let look = look(ui, &response, if on { Weight::Selected } else { Weight::Ghost });
    paint(ui, rect, &look);
    ui.painter().galley(rect.center() - text.size() / 2.0, text, look.text);
    response
}

/// The primary button, with its shortcut on the right.
pub fn primary_button(ui: &mut Ui, label: &str, shortcut: &str, width: f32) -> Response {
    wide_button(ui, label, shortcut, width, Weight::Primary)
}

/// A button as high as the primary one.
pub fn wide_button(ui: &mut Ui, label: &str, shortcut: &str, width: f32, weight: Weight) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::PRIMARY), Sense::click());
    name(ui, &response, label);
    let look = look(ui, &response, weight);
    paint(ui, rect, &look);
    let text = ui.painter().layout_no_wrap(label.to_owned(), font::semibold(font::BODY), look.text);
    let hint = ui.painter().layout_no_wrap(
        shortcut.to_owned(),
        FontId::proportional(font::TINY),
        look.text.gamma_multiply(0.75),
    );
    let has_room = text.size().x + space::S + hint.size().x + 2.0 * space::S <= width;
    let hint = if has_room {
        hint
    } else {
        ui.painter().layout_no_wrap(String::new(), FontId::default(), look.text)
    };
    let gap = if shortcut.is_empty() || !has_room { 0.0 } else { space::S };
    let left = rect.center().x - (text.size().x + gap + hint.size().x) / 2.0;
    let hint_left = left + text.size().x + gap;
    for (galley, left) in [(text, left), (hint, hint_left)] {
        let place = pos2(left, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(place, galley, look.text);
    }
    response
}

/// A small button with an icon, as high as a label beside it, without a name.
pub(super) fn small_icon(ui: &mut Ui, icon: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(SMALL, Sense::click());
    let look = look(ui, &response, Weight::Ghost);
    paint(ui, rect, &look);
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, icon, font::icons(OPENER), look.text);
    response
}

/// A small frameless label with an arrow before or after it, which opens something.
pub fn disclosure(ui: &mut Ui, label: &str, icon: &str, icon_first: bool) -> Response {
    disclosure_within(ui, label, icon, icon_first, f32::INFINITY)
}

/// The width of such a label.
pub fn disclosure_width(ui: &Ui, label: &str) -> f32 {
    let font = font::medium(font::SMALL);
    let text = ui.painter().layout_no_wrap(label.to_owned(), font, Color32::PLACEHOLDER);
    text.size().x + space::XS + font::SMALL + 2.0
}

/// The same in at most this width, with a label that is shortened in the middle.
pub fn disclosure_within(ui: &mut Ui, label: &str, icon: &str, icon_first: bool, most: f32) -> Response {
    let gap = space::XS;
    let side = font::SMALL + 2.0;
    let text = elided(ui, label, font::medium(font::SMALL), Color32::PLACEHOLDER, most - gap - side);
    let wanted = vec2(text.size().x + gap + side, font::SMALL + 2.0 * space::XS);
    let (rect, response) = ui.allocate_exact_size(wanted, Sense::click());
    name(ui, &response, label);
    let look = look(ui, &response, Weight::Ghost);
    if response.has_focus() {
        paint(ui, rect.expand(2.0), &look);
    }
    let (icon_x, text_x) = match icon_first {
        true => (rect.left(), rect.left() + side + gap),
        false => (rect.right() - side, rect.left()),
    };
    let place = pos2(icon_x, rect.center().y);
    ui.painter().text(place, Align2::LEFT_CENTER, icon, font::icons(side), look.text);
    ui.painter().galley(pos2(text_x, rect.center().y - text.size().y / 2.0), text, look.text);
    response
}

/// Height of an opened section that has to be in sight.
const IN_SIGHT: f32 = 160.0;

/// The part that has to be in sight of a section that was just opened, which ends at `bottom`.
pub fn in_sight(heading: Rect, bottom: f32) -> Rect {
    heading.with_max_y(bottom.min(heading.top() + IN_SIGHT))
}

/// A collapsible section; `tip` is its tooltip. Its heading stays below the pointer, unless hardly anything of the section would be
/// in sight: then it is scrolled as far as that takes. Returns whether it was clicked.
pub fn fold(
    ui: &mut Ui,
    (title, tip): (&str, String),
    open: &mut bool,
    contents: impl FnOnce(&mut Ui),
) -> bool {
    let chevron = if *open { icons::CHEVRON_DOWN } else { icons::CHEVRON_RIGHT };
    let heading = disclosure(ui, title, chevron, true).on_hover_text(tip);
    if heading.clicked() {
        *open = !*open;
    }
    if *open {
        contents(ui);
        if heading.clicked() {
            ui.scroll_to_rect(in_sight(heading.rect, ui.min_rect().bottom()), None);
        }
    }
    heading.clicked()
}

/// A clickable row: an icon, a title that is truncated to the width, and an optional second line.
pub fn row_button(ui: &mut Ui, icon: &str, title: &str, detail: &str, selected: bool) -> Response {
    row(ui, icon, title, detail, selected, two_lines)
}

/// The same for a file, whose name is shortened in the middle.
pub fn file_button(ui: &mut Ui, icon: &str, name: &str, detail: &str, selected: bool) -> Response {
    row(ui, icon, name, detail, selected, file_lines)
}

fn row(
    ui: &mut Ui,
    icon: &str,
    title: &str,
    detail: &str,
    selected: bool,
    paint_lines: impl FnOnce(&Ui, egui::Pos2, f32, &str, &str),
) -> Response {
    let height = if detail.is_empty() { size::CONTROL + 2.0 } else { 44.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), selected, title));
    let look = look(ui, &response, if selected { Weight::Selected } else { Weight::Ghost });
    paint(ui, rect, &Look { line: if selected { Color32::TRANSPARENT } else { look.line }, ..look });
    let palette = Palette::of(ui);
    let left = rect.left() + space::S + 2.0;
    let muted = palette.text_muted;
    ui.painter().text(pos2(left, rect.center().y), Align2::LEFT_CENTER, icon, font::icons(font::ICON), muted);
    let left = left + font::ICON + space::S + 2.0;
    let width = rect.right() - space::S - left;
    paint_lines(ui, pos2(left, rect.center().y), width, title, detail);
    response
}

/// A small chip of something that is in force, with a button to remove it. Returns the chip, for a menu, and whether it is to
/// be removed.
pub fn tag(ui: &mut Ui, icon: &str, text: &str, remove: &str) -> (Response, bool) {
    const HEIGHT: f32 = 24.0;
    const CROSS: f32 = 22.0;
    let palette = Palette::of(ui);
    let words = elided(ui, text, FontId::proportional(font::SMALL), palette.text, 150.0);
    let left = space::S + font::SMALL + space::XS;
    let size = vec2(left + words.size().x + CROSS, HEIGHT);
    // The button has the focus, and not the chip.
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    ui.painter().rect_filled(rect, CornerRadius::same(radius::M), palette.accent_soft);
    let middle = rect.left_center() + vec2(space::S, 0.0);
    ui.painter().text(middle, Align2::LEFT_CENTER, icon, font::icons(font::SMALL), palette.text_muted);
    let place = pos2(rect.left() + left, rect.center().y - words.size().y / 2.0);
    ui.painter().galley(place, words, palette.text);
    let cross = rect.with_min_x(rect.right() - CROSS);
    let button = ui.interact(cross, response.id.with(remove), Sense::click());
    button.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), remove));
    let is_lit = button.hovered() || button.has_focus();
    let ink = if is_lit { palette.text } else { palette.text_muted };
    let font = font::icons(font::SMALL - 1.0);
    ui.painter().text(cross.center(), Align2::CENTER_CENTER, icons::X, font, ink);
    (response.on_hover_text(text), button.on_hover_text(remove).clicked())
}

/// A segmented control: a few options side by side, one of them selected. Each has a label and a tooltip.
pub fn segmented<T: Copy + PartialEq>(
    ui: &mut Ui,
    value: T,
    choices: &[(T, impl AsRef<str>, String)],
) -> Option<T> {
    let mut chosen = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let count = choices.len() as f32;
        let width = (ui.available_width() - space::XS * (count - 1.0)) / count;
        for (choice, label, tip) in choices {
            let label = label.as_ref();
            let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL), Sense::click());
            let on = *choice == value;
            response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), on, label));
            let look = look(ui, &response, if on { Weight::Selected } else { Weight::Plain });
            paint(ui, rect, &look);
            let font = font::medium(font::BODY);
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, label, font, look.text);
            if response.on_hover_text(tip).clicked() && !on {
                chosen = Some(*choice);
            }
        }
    });
    chosen
}

/// A size preset: an outline of the aspect ratio, and its name.
pub fn aspect_button(ui: &mut Ui, aspect: (u32, u32), label: &str, selected: bool, width: f32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 48.0), Sense::click());
    let full = tr!("common-aspect", aspect = label);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), selected, &full));
    let look = look(ui, &response, if selected { Weight::Selected } else { Weight::Ghost });
    paint(ui, rect, &look);
    let palette = Palette::of(ui);
    let (across, down) = (aspect.0 as f32, aspect.1 as f32);
    let shape = vec2(across, down) * (18.0 / across.max(down));
    let outline = Rect::from_center_size(pos2(rect.center().x, rect.top() + 17.0), shape);
    let color = if selected { palette.accent } else { look.text };
    ui.painter().rect_stroke(outline, 2.0, Stroke::new(1.5, color), StrokeKind::Inside);
    let place = pos2(rect.center().x, rect.bottom() - 4.0);
    ui.painter().text(place, Align2::CENTER_BOTTOM, label, FontId::proportional(font::TINY), look.text);
    response
}

/// A suggestion.
pub fn chip(ui: &mut Ui, icon: &str, label: &str) -> Response {
    let palette = Palette::of(ui);
    let width = ui.available_width();
    let most = width - font::ICON - 2.0 * space::M - space::S;
    let text = cut(ui, label, FontId::proportional(font::BODY), Color32::PLACEHOLDER, most);
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL + 2.0), Sense::click());
    name(ui, &response, label);
    let look = look(ui, &response, Weight::Plain);
    paint(ui, rect, &look);
    let place = pos2(rect.left() + space::M, rect.center().y);
    ui.painter().text(place, Align2::LEFT_CENTER, icon, font::icons(font::ICON - 2.0), palette.accent);
    let place = pos2(place.x + font::ICON + space::XS, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(place, text, look.text);
    response
}
