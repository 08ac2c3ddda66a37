//! The seed.

use egui::{Id, Margin, TextEdit, Ui, vec2};

use super::parts::Parts;
use crate::{
    language::tr,
    window::{
        action::Action,
        icons,
        tokens::{size, space},
        widgets,
    },
};

/// Draws the seed; `text` is the text being typed.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, text: &mut String) {
    let draft = &mut *parts.draft;
    let label = widgets::field_label(ui, &tr!("side-panel-seed"));
    let id = Id::unique("sluice seed");
    if !ui.memory(|memory| memory.has_focus(id)) {
        *text = draft.request.seed.to_string();
    }
    ui.horizontal(|ui| {
        let width = ui.available_width() - 2.0 * (size::CONTROL + space::XS);
        ui.spacing_mut().item_spacing.x = space::XS;
        let field = TextEdit::singleline(text)
            .id(id)
            .char_limit(20)
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        let response = ui
            .add_sized(vec2(width, size::CONTROL), field)
            .labelled_by(label.id)
            .on_hover_text(tr!("side-panel-seed-tip"));
        if response.changed() {
            text.retain(|character| character.is_ascii_digit());
            if let Ok(seed) = text.parse() {
                draft.request.seed = seed;
                draft.seed_locked = true;
            }
        }
        let icon = if draft.seed_locked { icons::LOCK } else { icons::LOCK_OPEN };
        if widgets::icon_toggle(ui, icon, &tr!("side-panel-seed-lock"), draft.seed_locked).clicked() {
            draft.seed_locked = !draft.seed_locked;
        }
        if widgets::icon_button(ui, icons::DICES, &tr!("side-panel-seed-randomize")).clicked() {
            parts.actions.push(Action::RandomizeSeed);
        }
    });
    widgets::hint(
        ui,
        if draft.seed_locked { tr!("side-panel-seed-locked") } else { tr!("side-panel-seed-random") },
    );
}
