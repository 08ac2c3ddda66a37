//! Sentences whose names are shortened before anything else is.

use egui::{Align, Color32, FontId, Label, Layout, Response, RichText, Role, Ui, WidgetInfo};

use super::fields::{shortened, shortened_until};
use crate::window::tokens::size;

/// The shortest that a name becomes so that its sentence fits into a line.
const SHORTEST: f32 = 90.0;
/// Lines that a sentence takes before the name in it is shortened.
const LINES: usize = 2;
/// What widths may be off by.
const ROUNDING: f32 = 2.0;

/// Draws a sentence in as many lines as it takes. If that is more than two, the name in it is shortened in the middle; the whole
/// sentence is then the tooltip.
pub fn told(ui: &mut Ui, text: &str, name: &str, (font, color): (FontId, Color32)) -> Response {
    let shown = in_lines(ui, (text, name), (&font, color), ui.available_width());
    let label = ui.add(Label::new(RichText::new(&shown).font(font).color(color)).wrap());
    if shown == text {
        return label;
    }
    label.widget_info(|| WidgetInfo::labeled(Role::Label, ui.is_enabled(), text));
    label.on_hover_text(text)
}

/// The same in the rest of a row that begins with buttons at its top: the first line is beside them.
pub fn told_beside(ui: &mut Ui, text: &str, name: &str, (font, color): (FontId, Color32)) {
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        let line = ui.fonts_mut(|fonts| fonts.row_height(&font));
        ui.add_space(((size::CONTROL - line) / 2.0).max(0.0));
        told(ui, text, name, (font, color));
    });
}

/// A sentence with a name that is as short as it has to be for a few lines.
fn in_lines(ui: &Ui, (text, name): (&str, &str), (font, color): (&FontId, Color32), width: f32) -> String {
    let lines =
        |text: &str| ui.painter().layout(text.to_owned(), font.clone(), color, width - ROUNDING).rows.len();
    if name.is_empty() || lines(text) <= LINES {
        return text.to_owned();
    }
    let Some((before, after)) = text.split_once(name) else { return text.to_owned() };
    let with = |name: &str| [before, name, after].concat();
    let short = shortened_until(name, |short| lines(&with(short)) <= LINES);
    match ui.painter().layout_no_wrap(short.clone(), font.clone(), color).size().x < SHORTEST {
        // The rest of the sentence needs the lines for itself.
        true => fitted(ui, (text, name), (font, color), width),
        false => with(&short),
    }
}

/// A sentence with a name that is as short as it has to be for one line: the rest of the sentence stays in the same line if the
/// name is long enough to be known there, and otherwise the name fits into a line of its own.
pub(super) fn fitted(
    ui: &Ui,
    (text, name): (&str, &str),
    (font, color): (&FontId, Color32),
    width: f32,
) -> String {
    let wide = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), color).size().x;
    if name.is_empty() || wide(text) <= width {
        return text.to_owned();
    }
    let Some((before, after)) = text.split_once(name) else { return text.to_owned() };
    let beside = width - wide(before) - wide(after) - ROUNDING;
    // A line ends with its space.
    let alone = width - wide(" ") - ROUNDING;
    let room = if beside >= SHORTEST { beside } else { alone };
    [before, &shortened(ui, name, (font, color), room), after].concat()
}
