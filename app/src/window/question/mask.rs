//! Asks what becomes of a painted mask.

use egui::{RichText, Ui};

use crate::{
    language::tr,
    window::{
        action::Action,
        tokens::{Palette, font},
        widgets::{self, Weight},
    },
};

/// Draws it.
pub(super) fn contents(ui: &mut Ui, actions: &mut Vec<Action>) {
    let title = RichText::new(tr!("viewer-mask-ask")).font(font::semibold(font::HEADING));
    ui.label(title.color(Palette::of(ui).text));
    widgets::hint(ui, tr!("viewer-mask-ask-hint"));
    if widgets::is_entered(ui) {
        actions.push(Action::ApplyMask);
    }
    ui.horizontal_wrapped(|ui| {
        for (name, tip, weight, action) in [
            (tr!("viewer-mask-apply"), tr!("viewer-mask-apply-tip"), Weight::Primary, Action::ApplyMask),
            (tr!("viewer-mask-discard"), tr!("viewer-mask-discard-tip"), Weight::Plain, Action::CancelMask),
            (tr!("viewer-mask-go-on"), tr!("viewer-mask-go-on-tip"), Weight::Plain, Action::CloseQuestion),
        ] {
            if widgets::button(ui, None, &name, weight).on_hover_text(tip).clicked() {
                actions.push(action);
            }
        }
    });
}
