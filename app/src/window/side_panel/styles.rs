//! Styles: named parts of prompts, several at once.

use egui::{Id, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui};

use super::parts::Parts;
use crate::window::{
    action::Action,
    files::Dialog,
    icons,
    kept::Keeping,
    tokens::{size, space},
    widgets,
};

/// Height of the list.
const HEIGHT: f32 = 320.0;
/// Rows that are drawn; a search finds the others.
const MOST: usize = 80;

/// Draws the button with the list.
pub fn menu(ui: &mut Ui, parts: &mut Parts<'_>) {
    let button = widgets::disclosure(ui, "Styles", icons::CHEVRON_DOWN, false)
        .on_hover_text("Named parts that are added to the prompts, from files of A1111 and Fooocus.");
    if button.clicked() {
        parts.actions.push(Keeping::ListStyles.into());
    }
    Popup::menu(&button)
        .accessible_name("Styles")
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
        let field =
            TextEdit::singleline(&mut search).id(id).hint_text("Search styles").desired_width(f32::INFINITY);
        ui.add(field).widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search styles"));
    } else {
        widgets::hint(
            ui,
            "No styles yet. A1111's styles.csv and Fooocus' sdxl_styles are found above the model's folder; or open a \
             file.",
        );
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
            let negative = match style.negative_prompt.as_str() {
                "" => String::new(),
                negative => format!("\nNegative prompt: {negative}"),
            };
            let tip = format!("{}{negative}", style.prompt);
            if widgets::row_button(ui, icons::TAG, &style.name, "", is_used).on_hover_text(tip).clicked() {
                match is_used {
                    true => chosen.retain(|used| used.name != style.name),
                    false => chosen.push(style),
                }
            }
        }
    });
    ui.separator();
    if widgets::row_button(ui, icons::FILE, "Open a file of styles…", "", false)
        .on_hover_text("A1111's CSV, or JSON of Fooocus.")
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Styles));
        ui.close();
    }
    ui.data_mut(|data| data.insert_temp(id, search));
}
