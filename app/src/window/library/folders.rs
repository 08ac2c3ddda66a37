//! The folders that are searched.

use std::path::Path;

use egui::{Align, Frame, Layout, Margin, Popup, PopupCloseBehavior, RichText, ScrollArea, Ui};

use crate::{
    folders::downloads_folder,
    language::tr,
    window::{
        action::{Action, LibraryAction},
        files::Dialog,
        icons,
        state::{SearchedFolder, State},
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the button with its list.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let library = &state.library;
    let button = widgets::button(ui, Some(icons::FOLDER), &tr!("library-folders"), Weight::Plain)
        .on_hover_text(tr!("library-folders-tip"));
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(tr!("library-folders"))
        .frame(Frame::popup(ui.style()).inner_margin(Margin::same(space::M as i8)))
        .width(size::CARD)
        .show(|ui| {
            ui.set_width(size::CARD);
            ui.spacing_mut().item_spacing.y = space::XS;
            if library.folders.is_empty() {
                widgets::hint(ui, tr!("library-folders-nothing"));
            }
            ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
                for folder in &library.folders {
                    row(ui, state, folder, actions);
                }
            });
            ui.separator();
            ui.horizontal(|ui| {
                add(ui, Weight::Plain, actions);
                if widgets::button(ui, Some(icons::RESTORE), &tr!("library-search-folders"), Weight::Ghost)
                    .on_hover_text(tr!("library-search-folders-tip"))
                    .clicked()
                {
                    actions.push(Action::Library(LibraryAction::Search));
                }
            });
        });
}

/// The button that adds a folder.
pub fn add(ui: &mut Ui, weight: Weight, actions: &mut Vec<Action>) {
    if widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("library-folder-add"), weight)
        .on_hover_text(tr!("library-folder-add-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::LibraryFolder));
    }
}

/// Whether a folder is the one into which models are downloaded unless another one is chosen.
fn is_own(state: &State, folder: &Path) -> bool {
    state.downloads.folder.as_deref() == Some(folder) || downloads_folder().as_deref() == Some(folder)
}

fn row(ui: &mut Ui, state: &State, folder: &SearchedFolder, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let path = folder.path();
    let inside = state.library.inventory.items.iter().filter(|item| item.path.starts_with(path)).count();
    let whose = match folder {
        SearchedFolder::Found(place) => place.program.to_owned(),
        SearchedFolder::Named(path) if is_own(state, path) => tr!("library-folder-own"),
        SearchedFolder::Named(_) => tr!("library-folder-named"),
        SearchedFolder::Added(_) => tr!("library-folder-added"),
    };
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let SearchedFolder::Added(path) = folder
                && widgets::icon_button(ui, icons::X, &tr!("library-folder-remove", path = path.display()))
                    .clicked()
            {
                actions.push(Action::Library(LibraryAction::RemoveFolder(path.clone())));
            }
            if widgets::icon_button(
                ui,
                icons::FOLDER_OPEN,
                &tr!("library-folder-open", path = path.display()),
            )
            .clicked()
            {
                actions.push(Action::OpenFolder(path.clone()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 1.0;
                    let words = format!("{whose} · {}", tr!("library-model-files", count = inside));
                    ui.label(RichText::new(words).font(font::medium(font::BODY)).color(palette.text));
                    let path = path.display().to_string();
                    let words = RichText::new(&path).small().color(palette.text_muted);
                    widgets::line(ui, words, path);
                });
            });
        });
    });
}
