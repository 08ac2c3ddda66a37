//! The token count of a prompt, next to its label.

use egui::{Align, Label, Layout, Rect, Response, RichText, Role, Ui, UiBuilder, WidgetInfo, pos2};
use sluice_engine::session::{Extent, Reading};

use crate::{
    language::tr,
    window::{
        tokens::{Palette, space},
        widgets,
    },
};

/// Draws it between the prompt's label and the left edge of the buttons: `43 / 75`, or `118 / 150, 2 chunks`. Draws nothing while
/// the count is unknown.
pub fn show(ui: &mut Ui, (beside, buttons): (&Response, f32), name: &str, readings: &[Reading]) {
    let Some(&Reading { extent, .. }) = leading(readings) else { return };
    let (tokens, room) = (extent.tokens, extent.room);
    let palette = Palette::of(ui);
    let color = if extent.cut > 0 { palette.danger } else { palette.text_faint };
    let spoken = tr!("side-panel-tokens-spoken", prompt = name, tokens = tokens, room = room);
    let left = beside.rect.right() + space::S;
    let corner = pos2(buttons.max(left), beside.rect.bottom());
    let place = Rect::from_min_max(pos2(left, beside.rect.top()), corner);
    let layout = Layout::left_to_right(Align::Center);
    let mut row = ui.new_child(UiBuilder::new().max_rect(place).layout(layout));
    let words = RichText::new(words_of(extent)).small().color(color);
    let label = row.add(Label::new(words).selectable(false).truncate().show_tooltip_when_elided(false));
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    label.on_hover_text(readings.iter().map(Reading::sentence).collect::<Vec<_>>().join("\n"));
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
