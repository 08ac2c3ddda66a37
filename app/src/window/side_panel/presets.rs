//! Settings that are kept under names, and those that the model starts with.

use egui::{Align, Id, Layout, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui, vec2};

use super::parts::Parts;
use crate::{
    language::tr,
    presets::NamedPreset,
    window::{
        action::{Action, Keeping},
        icons,
        state::State,
        tokens::{font, size, space},
        widgets::{self, Weight},
    },
};

/// Height of the list.
const HEIGHT: f32 = 280.0;

/// What is typed in the menu.
#[derive(Debug, Default)]
pub struct PresetMenu {
    name: String,
    with_model: bool,
    /// The preset that gets another name, and the name.
    renamed: Option<(String, String)>,
    /// The preset of which is shown what can be done with it.
    opened: Option<String>,
}

/// Draws the row with the button of the menu.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, menu: &mut PresetMenu) {
    let Parts { state, actions, .. } = parts;
    ui.horizontal(|ui| {
        ui.set_height(font::SMALL + 2.0 * space::XS);
        widgets::field_label(ui, &tr!("side-panel-saved-settings"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let button = widgets::disclosure(ui, &tr!("side-panel-presets"), icons::CHEVRON_DOWN, false)
                .on_hover_text(tr!("side-panel-presets-tip"));
            if button.clicked() {
                actions.push(Keeping::List.into());
            }
            Popup::menu(&button)
                .accessible_name(tr!("side-panel-presets"))
                .width(size::POPUP)
                .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
                .layout(Layout::top_down(Align::Min))
                .show(|ui| contents(ui, state, menu, actions));
        });
    });
}

fn contents(ui: &mut Ui, state: &State, menu: &mut PresetMenu, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = space::XS;
    if state.presets.is_empty() {
        widgets::hint(ui, tr!("side-panel-presets-nothing"));
    }
    ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
        for preset in &state.presets {
            row(ui, preset, menu, actions);
        }
    });
    ui.separator();
    save(ui, menu, actions);
    ui.separator();
    ui.add_enabled_ui(state.summary().is_some(), |ui| {
        if widgets::row_button(ui, icons::RESTORE, &tr!("side-panel-reset"), "", false)
            .on_hover_text(tr!("side-panel-reset-tip"))
            .clicked()
        {
            actions.push(Keeping::Reset.into());
            ui.close();
        }
    });
}

fn row(
    ui: &mut Ui,
    NamedPreset { name, preset }: &NamedPreset,
    PresetMenu { renamed, opened, .. }: &mut PresetMenu,
    actions: &mut Vec<Action>,
) {
    if let Some((_, new)) = renamed.as_mut().filter(|(old, _)| old == name) {
        let is_done = name_field(
            ui,
            name,
            new,
            &tr!("side-panel-preset-new-name", name = name),
            &tr!("side-panel-rename"),
        );
        if is_done {
            actions.push(Keeping::Rename(name.clone(), new.trim().to_owned()).into());
        }
        if is_done || ui.input(|input| input.key_pressed(egui::Key::Escape)) {
            *renamed = None;
        }
        return;
    }
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            if widgets::icon_button(ui, icons::TRASH, &tr!("side-panel-preset-delete", name = name)).clicked()
            {
                actions.push(Keeping::Delete(name.clone()).into());
            }
            if widgets::icon_button(ui, icons::TAG, &tr!("side-panel-preset-rename", name = name)).clicked() {
                *renamed = Some((name.clone(), name.clone()));
            }
            let detail = match preset {
                Ok(preset) => preset.summary(),
                Err(reason) => reason.clone(),
            };
            ui.add_enabled_ui(preset.is_ok(), |ui| {
                let row = widgets::row_button(ui, icons::SETTINGS, name, &detail, false);
                // A menu of its own would close the list.
                if row.secondary_clicked() {
                    *opened = (opened.as_ref() != Some(name)).then(|| name.clone());
                }
                if row.on_hover_text(tr!("side-panel-preset-use", settings = detail.as_str())).clicked() {
                    actions.push(Keeping::Apply(name.clone()).into());
                    ui.close();
                }
            });
        });
    });
    if opened.as_ref() != Some(name) {
        return;
    }
    let step = choices(ui, preset.is_ok(), true);
    if let Some(step) = step {
        *opened = None;
        match step {
            Choice::Use => actions.push(Keeping::Apply(name.clone()).into()),
            Choice::Rename => *renamed = Some((name.clone(), name.clone())),
            Choice::Duplicate => actions.push(Keeping::Duplicate(name.clone()).into()),
            Choice::Delete => actions.push(Keeping::Delete(name.clone()).into()),
        }
    }
}

/// What can be done with something that is kept under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Use it.
    Use,
    /// Give it another name.
    Rename,
    /// Keep a copy under another name.
    Duplicate,
    /// Delete it.
    Delete,
}

/// Draws what can be done, below a row. What cannot be read can only be deleted or renamed.
pub fn choices(ui: &mut Ui, can_be_used: bool, is_own: bool) -> Option<Choice> {
    let mut chosen = None;
    let tips = [
        tr!("side-panel-kept-use-tip"),
        tr!("side-panel-kept-rename-tip"),
        tr!("side-panel-kept-duplicate-tip"),
        tr!("side-panel-kept-delete-tip"),
    ];
    let all = [
        (Choice::Use, icons::PLAY, tr!("side-panel-kept-use"), can_be_used),
        (Choice::Rename, icons::TAG, tr!("side-panel-kept-rename"), is_own),
        (Choice::Duplicate, icons::COPY, tr!("side-panel-kept-duplicate"), can_be_used),
        (Choice::Delete, icons::TRASH, tr!("side-panel-kept-delete"), is_own),
    ];
    for ((choice, icon, name, is_there), tip) in all.into_iter().zip(tips) {
        if is_there && widgets::row_button(ui, icon, &name, "", false).on_hover_text(tip).clicked() {
            chosen = Some(choice);
        }
    }
    chosen
}

fn save(ui: &mut Ui, menu: &mut PresetMenu, actions: &mut Vec<Action>) {
    if name_field(ui, "", &mut menu.name, &tr!("side-panel-preset-name"), &tr!("side-panel-save")) {
        let name = std::mem::take(&mut menu.name).trim().to_owned();
        actions.push(Keeping::Save { name, with_model: menu.with_model }.into());
    }
    ui.checkbox(&mut menu.with_model, tr!("side-panel-preset-with-model"))
        .on_hover_text(tr!("side-panel-preset-with-model-tip"));
}

/// A field for the name of a new preset, or for a new name in place of an old one, with a button. Returns whether the
/// name is to be used.
fn name_field(ui: &mut Ui, old: &str, name: &mut String, label: &str, button: &str) -> bool {
    ui.horizontal(|ui| {
        let width = ui.available_width() - 84.0;
        let field = TextEdit::singleline(name)
            .id(Id::unique(("preset name", old)))
            .hint_text(label)
            .char_limit(80)
            .margin(egui::Margin::symmetric(10, 6));
        let response =
            ui.add_sized(vec2(width, size::CONTROL), field).on_hover_text(tr!("side-panel-preset-name-tip"));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, label));
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let can = !name.trim().is_empty();
        let pressed = ui.add_enabled_ui(can, |ui| {
            widgets::button(ui, None, button, Weight::Plain)
                .on_hover_text(tr!("side-panel-preset-save-tip"))
                .clicked()
        });
        can && (is_entered || pressed.inner)
    })
    .inner
}
