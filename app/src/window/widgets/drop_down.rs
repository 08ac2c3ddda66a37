//! Drop-down lists that work without a mouse, too.

use egui::{
    Align, ComboBox, Id, InnerResponse, IntoAtoms, Key, PopupCloseBehavior, Response, Ui,
    style::{ScrollAnimation, StyleModifier},
};

/// The opacity of the scroll bar of a list that is not pointed at: it shows that there is more.
pub const BAR: f32 = 0.6;
/// Passes in which a list is new: it is measured in the first one.
const NEW: u64 = 2;

/// Draws a list and its entries. Enter and Space take an entry and close the list, as a click does; Escape only closes it. Then
/// the box has the focus again. A click beside the entries closes nothing.
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
    let list = list
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .popup_style(StyleModifier::new(|style| style.spacing.scroll.dormant_handle_opacity = BAR));
    let shown = list.show_ui(ui, |ui| {
        // A click between two entries would take none.
        let gap = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
        ui.spacing_mut().interact_size.y += gap;
        open(ui);
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

/// An entry of a list, which takes a value. The chosen one is in sight when the list opens.
pub fn entry<'a, T: PartialEq>(
    ui: &mut Ui,
    value: &mut T,
    candidate: T,
    words: impl IntoAtoms<'a>,
) -> Response {
    let mut response = choice(ui, *value == candidate, words);
    if response.clicked() && *value != candidate {
        *value = candidate;
        response.mark_changed();
    }
    response
}

/// An entry of a list, which is the chosen one or not. A click on it closes the list.
pub fn choice<'a>(ui: &mut Ui, is_chosen: bool, words: impl IntoAtoms<'a>) -> Response {
    let response = ui.selectable_label(is_chosen, words);
    if response.clicked() {
        ui.close();
    }
    if is_chosen && is_new(ui) {
        response.scroll_to_me_animation(Some(Align::Center), ScrollAnimation::none());
    }
    response
}

/// The passes in which a list was drawn without a break: the first and the last.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    list: Id,
    first: u64,
    last: u64,
}

/// The only list that can be open.
fn drawn_id() -> Id {
    Id::unique("drop-down list")
}

/// Begins a list. A new one is at its top, wherever it was before.
fn open(ui: &mut Ui) {
    let (list, pass) = (ui.layer_id().id, ui.ctx().cumulative_pass_nr());
    ui.ctx().data_mut(|data| {
        let drawn = data.get_temp_mut_or(drawn_id(), Drawn { list, first: pass, last: pass });
        if drawn.list != list || drawn.last + 1 < pass {
            *drawn = Drawn { list, first: pass, last: pass };
        }
        drawn.last = pass;
    });
    if is_new(ui) {
        // If a press and its release come in one frame, egui draws the frame twice, and raises the dialog the second time.
        ui.ctx().move_to_top(ui.layer_id());
        ui.scroll_to_cursor_animation(Some(Align::TOP), ScrollAnimation::none());
    }
}

fn is_new(ui: &Ui) -> bool {
    let pass = ui.ctx().cumulative_pass_nr();
    ui.ctx().data(|data| data.get_temp::<Drawn>(drawn_id())).is_some_and(|drawn| pass < drawn.first + NEW)
}
