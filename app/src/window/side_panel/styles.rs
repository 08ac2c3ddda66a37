//! Styles: named parts of prompts, several at once.

use egui::{Align, Id, Layout, Margin, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui, vec2};
use sluice_engine::request::Request;

use super::{
    parts::Parts,
    presets::{Choice, choices},
};
use crate::{
    language::tr,
    window::{
        action::{Action, Keeping},
        files::Dialog,
        icons,
        tokens::{size, space},
        widgets::{self, Weight},
    },
};

/// Height of the list.
const HEIGHT: f32 = 320.0;
/// Rows that are drawn; a search finds the others.
const MOST: usize = 80;

/// Draws the button with the list.
pub fn menu(ui: &mut Ui, parts: &mut Parts<'_>) {
    let name = tr!("side-panel-styles");
    let button = widgets::opener(ui, icons::TAG, &name, &tr!("side-panel-styles-tip"));
    if button.clicked() {
        parts.actions.push(Keeping::ListStyles.into());
    }
    Popup::menu(&button)
        .accessible_name(name)
        .width(size::POPUP)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .layout(Layout::top_down(Align::Min))
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
            .margin(Margin::symmetric(10, 6))
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
    let open_id = Id::unique("sluice style opened");
    let mut opened = ui.data_mut(|data| data.get_temp::<Opened>(open_id)).unwrap_or_default();
    ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
        for style in all.into_iter().take(MOST) {
            let is_own = state.own_styles.iter().any(|own| own.name == style.name);
            let is_opened = opened.name == style.name;
            let (name, prompt) = (style.name.clone(), style.prompt.clone());
            let is_used = chosen.iter().any(|used| used.name == style.name);
            let tip = match style.negative_prompt.as_str() {
                "" => style.prompt.clone(),
                negative => {
                    format!("{}\n{}", style.prompt, tr!("side-panel-style-negative", prompt = negative))
                }
            };
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if is_own {
                        let delete = tr!("side-panel-style-delete", name = style.name.as_str());
                        if widgets::icon_button(ui, icons::TRASH, &delete).clicked() {
                            actions.push(Keeping::DeleteStyle(style.name.clone()).into());
                        }
                    }
                    let row = widgets::row_button(ui, icons::TAG, &style.name, "", is_used);
                    // A menu of its own would close the list.
                    if row.secondary_clicked() {
                        let name = if is_opened { String::new() } else { name.clone() };
                        opened = Opened { name, new: None };
                    }
                    if row.on_hover_text(tip).clicked() {
                        match is_used {
                            true => chosen.retain(|used| used.name != style.name),
                            false => chosen.push(style),
                        }
                    }
                });
            });
            if is_opened {
                below(ui, (&name, &prompt), is_own, &mut opened, actions);
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(open_id, opened));
    ui.separator();
    save(ui, &draft.request, actions);
    if widgets::row_button(ui, icons::FILE, &tr!("side-panel-styles-open"), "", false)
        .on_hover_text(tr!("side-panel-styles-open-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Styles));
        ui.close();
    }
    ui.data_mut(|data| data.insert_temp(id, search));
}

/// The style of which is shown what can be done with it.
#[derive(Debug, Clone, Default)]
struct Opened {
    /// Its name; empty if there is none.
    name: String,
    /// The name that it gets, while that is typed.
    new: Option<String>,
}

/// What can be done with a style, below its row.
fn below(
    ui: &mut Ui,
    (name, prompt): (&str, &str),
    is_own: bool,
    opened: &mut Opened,
    actions: &mut Vec<Action>,
) {
    if let Some(new) = &mut opened.new {
        let words = tr!("side-panel-style-new-name", name = name);
        let field = TextEdit::singleline(new)
            .hint_text(&words)
            .margin(Margin::symmetric(10, 6))
            .desired_width(f32::INFINITY);
        let field = ui.add(field);
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        field.on_hover_text(tr!("side-panel-style-new-name-tip")).accessible_name(words);
        let new = new.trim();
        if is_entered && !new.is_empty() {
            if new != name {
                actions.push(Keeping::RenameStyle(name.to_owned(), new.to_owned()).into());
            }
            *opened = Opened::default();
        }
        return;
    }
    let copy = widgets::row_button(ui, icons::COPY, &tr!("side-panel-chip-copy-style"), "", false);
    if copy.on_hover_text(tr!("side-panel-chip-copy-tip")).clicked() {
        actions.push(Action::CopyText(prompt.to_owned()));
        *opened = Opened::default();
        return;
    }
    let Some(choice) = choices(ui, true, is_own) else { return };
    let step = match choice {
        Choice::Use => Keeping::ToggleStyle(name.to_owned()),
        Choice::Rename => {
            opened.new = Some(name.to_owned());
            return;
        }
        Choice::Duplicate => Keeping::DuplicateStyle(name.to_owned()),
        Choice::Delete => Keeping::DeleteStyle(name.to_owned()),
    };
    actions.push(step.into());
    *opened = Opened::default();
}

/// A name, and a button that saves the prompts under it.
fn save(ui: &mut Ui, request: &Request, actions: &mut Vec<Action>) {
    let id = Id::unique("sluice style name");
    let mut name = ui.data_mut(|data| data.get_temp::<String>(id)).unwrap_or_default();
    let has_prompt =
        [&request.prompt, &request.negative_prompt].iter().any(|prompt| !prompt.trim().is_empty());
    ui.add_enabled_ui(has_prompt, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let can = !name.trim().is_empty();
                let button = ui.add_enabled_ui(can, |ui| {
                    widgets::button(ui, None, &tr!("side-panel-style-save"), Weight::Plain)
                });
                if button.inner.on_hover_text(tr!("side-panel-style-save-tip")).clicked() {
                    actions.push(Keeping::SaveStyle(name.trim().to_owned()).into());
                    name.clear();
                }
                let words = tr!("side-panel-style-name");
                let field =
                    TextEdit::singleline(&mut name).id(id).hint_text(&words).margin(Margin::symmetric(10, 6));
                ui.add_sized(vec2(ui.available_width(), size::CONTROL), field)
                    .on_hover_text(tr!("side-panel-style-name-tip"))
                    .accessible_name(words);
            });
        });
    });
    ui.data_mut(|data| data.insert_temp(id, name));
}
