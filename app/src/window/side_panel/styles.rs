//! Styles: named parts of prompts, several at once.

use egui::{Id, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui};

use super::parts::Parts;
use crate::{
    language::tr,
    window::{
        action::{Action, Keeping},
        files::Dialog,
        icons,
        tokens::{size, space},
        widgets::{self, Room},
    },
};

/// Height of the list.
const HEIGHT: f32 = 320.0;
/// Rows that are drawn; a search finds the others.
const MOST: usize = 80;

/// Draws the button with the list.
pub fn menu(ui: &mut Ui, parts: &mut Parts<'_>, room: Room) {
    let button = widgets::opener(ui, &tr!("side-panel-styles"), icons::TAG, room)
        .on_hover_text(tr!("side-panel-styles-tip"));
    if button.clicked() {
        parts.actions.push(Keeping::ListStyles.into());
    }
    Popup::menu(&button)
        .accessible_name(tr!("side-panel-styles"))
        .width(size::POPUP)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| list(ui, parts));
}

fn list(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Parts { state, draft, actions, .. } = parts;
    ui.spacing_mut().item_spacing.y = space::XS;
    let id = Id::unique("sluice style search");
    let mut search = ui.data_mut(|data| data.get_temp::<String>(id)).unwrap_or_default();
    if !state.styles.is_empty() {
        let field = TextEdit::singleline(&mut search)
            .id(id)
            .hint_text(tr!("side-panel-styles-search"))
            .desired_width(f32::INFINITY);
        let field = ui.add(field);
        field.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("side-panel-styles-search"))
        });
        field.on_hover_text(tr!("side-panel-styles-search-tip"));
    } else {
        widgets::hint(ui, tr!("side-panel-styles-nothing"));
    }
    let wanted = search.to_lowercase();
    let chosen = &mut draft.request.styles;
    // Those in use come first, also if their file is gone.
    let others = state.styles.iter().filter(|style| chosen.iter().all(|used| used.name != style.name));
    let all: Vec<_> = chosen
        .iter()
        .chain(others)
        .filter(|style| style.name.to_lowercase().contains(&wanted))
        .cloned()
        .collect();
    ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
        for style in all.into_iter().take(MOST) {
            let is_used = chosen.iter().any(|used| used.name == style.name);
            let tip = match style.negative_prompt.as_str() {
                "" => style.prompt.clone(),
                negative => {
                    format!("{}\n{}", style.prompt, tr!("side-panel-style-negative", prompt = negative))
                }
            };
            if widgets::row_button(ui, icons::TAG, &style.name, "", is_used).on_hover_text(tip).clicked() {
                match is_used {
                    true => chosen.retain(|used| used.name != style.name),
                    false => chosen.push(style),
                }
            }
        }
    });
    ui.separator();
    if widgets::row_button(ui, icons::FILE, &tr!("side-panel-styles-open"), "", false)
        .on_hover_text(tr!("side-panel-styles-open-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Styles));
        ui.close();
    }
    ui.data_mut(|data| data.insert_temp(id, search));
}
