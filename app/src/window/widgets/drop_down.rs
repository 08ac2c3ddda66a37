//! Drop-down lists that work without a mouse, too.

use egui::{ComboBox, InnerResponse, Key, Ui, style::StyleModifier};

/// The opacity of the scroll bar of a list that is not pointed at: it shows that there is more.
pub const BAR: f32 = 0.6;

/// Draws a list and its entries. Enter and Space take an entry and close the list, as a click does; Escape only closes it. Then
/// the box has the focus again.
pub fn drop_down<R>(
    ui: &mut Ui,
    list: ComboBox<'_>,
    entries: impl FnOnce(&mut Ui) -> R,
) -> InnerResponse<Option<R>> {
    let (takes, leaves) = ui.input(|input| {
        let takes = input.key_pressed(Key::Enter) || input.key_pressed(Key::Space);
        (takes, input.key_pressed(Key::Escape))
    });
    let focused = ui.memory(|memory| memory.focused());
    let mut closes = false;
    let list =
        list.popup_style(StyleModifier::new(|style| style.spacing.scroll.dormant_handle_opacity = BAR));
    let shown = list.show_ui(ui, |ui| {
        let inner = entries(ui);
        let entry = focused.and_then(|id| ui.ctx().read_response(id));
        let is_entry = entry.is_some_and(|entry| entry.layer_id == ui.layer_id());
        closes = leaves || takes && is_entry;
        if closes {
            ui.close();
        }
        inner
    });
    if closes {
        shown.response.request_focus();
        ui.ctx().request_repaint();
    }
    shown
}
