//! The token count of a prompt, next to its label.

use egui::{
    Align, Color32, FontId, Label, Layout, Rect, Response, RichText, Role, Ui, UiBuilder, WidgetInfo, pos2,
};
use sluice_engine::session::{Extent, Reading};

use crate::{
    language::tr,
    window::{
        tokens::{Palette, font, space},
        widgets,
    },
};

/// Draws it to the right of the prompt's label: `43 / 75`, or `118 / 150, 2 chunks`. Draws nothing while the
/// count is unknown.
pub fn show(ui: &mut Ui, beside: &Response, name: &str, readings: &[Reading]) {
    let Some(&Reading { extent, .. }) = leading(readings) else { return };
    let (tokens, room) = (extent.tokens, extent.room);
    let palette = Palette::of(ui);
    let color = if extent.cut > 0 { palette.danger } else { palette.text_faint };
    let spoken = tr!("side-panel-tokens-spoken", prompt = name, tokens = tokens, room = room);
    let corner = pos2(ui.max_rect().right(), beside.rect.bottom());
    let place = Rect::from_min_max(pos2(beside.rect.right() + space::S, beside.rect.top()), corner);
    let layout = Layout::left_to_right(Align::Center);
    let mut row = ui.new_child(UiBuilder::new().max_rect(place).layout(layout));
    let words = RichText::new(words_of(extent)).small().color(color);
    let label = row.add(Label::new(words).selectable(false));
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    label.on_hover_text(readings.iter().map(Reading::sentence).collect::<Vec<_>>().join("\n"));
}

/// Width of the widest count until there is another chunk, and of the space before it: what is beside it does not change while
/// somebody types.
pub fn width(ui: &Ui, readings: &[Reading]) -> f32 {
    let Some(Reading { extent, .. }) = leading(readings) else { return 0.0 };
    let widest = words_of(Extent { tokens: extent.tokens.max(extent.room), ..*extent });
    // Digits are not equally wide.
    let words: String = widest.chars().map(|sign| if sign.is_ascii_digit() { '0' } else { sign }).collect();
    let font = FontId::proportional(font::SMALL);
    space::S + ui.painter().layout_no_wrap(words, font, Color32::PLACEHOLDER).size().x
}

fn words_of(Extent { tokens, room, chunks, .. }: Extent) -> String {
    match chunks {
        ..=1 => tr!("side-panel-tokens", tokens = tokens, room = room),
        _ => tr!("side-panel-tokens-in-chunks", tokens = tokens, room = room, chunks = chunks),
    }
}

/// Shows which part of a prompt is not read.
pub fn unread(ui: &mut Ui, readings: &[Reading]) {
    for words in readings.iter().filter_map(Reading::unread) {
        widgets::mistake(ui, &words);
    }
}

/// The first encoder that uses more than the pooled output.
fn leading(readings: &[Reading]) -> Option<&Reading> {
    readings.iter().find(|reading| !reading.is_summary)
}
