//! The folders that are searched.

use egui::{Align, Frame, Label, Layout, Margin, Popup, PopupCloseBehavior, RichText, ScrollArea, Ui};

use super::LibraryAction;
use crate::{
    units,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{Library, SearchedFolder},
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the button with its list.
pub fn show(ui: &mut Ui, library: &Library, actions: &mut Vec<Action>) {
    let button = widgets::button(ui, Some(icons::FOLDER), "Folders", Weight::Plain)
        .on_hover_text("Shows where models are searched for.");
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Folders")
        .frame(Frame::popup(ui.style()).inner_margin(Margin::same(space::M as i8)))
        .width(size::CARD)
        .show(|ui| {
            ui.set_width(size::CARD);
            ui.spacing_mut().item_spacing.y = space::XS;
            if library.folders.is_empty() {
                widgets::hint(ui, "No folder of another program was found on this computer.");
            }
            ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
                for folder in &library.folders {
                    row(ui, library, folder, actions);
                }
            });
            ui.separator();
            ui.horizontal(|ui| {
                add(ui, Weight::Plain, actions);
                if widgets::button(ui, Some(icons::RESTORE), "Look again", Weight::Ghost)
                    .on_hover_text("Searches the folders now. They are also searched when this place opens.")
                    .clicked()
                {
                    actions.push(Action::Library(LibraryAction::Search));
                }
            });
        });
}

/// The button that adds a folder.
pub fn add(ui: &mut Ui, weight: Weight, actions: &mut Vec<Action>) {
    if widgets::button(ui, Some(icons::FOLDER_OPEN), "Add a folder…", weight)
        .on_hover_text("Searches another folder and its subfolders. Nothing in it is moved or changed.")
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::LibraryFolder));
    }
}

fn row(ui: &mut Ui, library: &Library, folder: &SearchedFolder, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let path = folder.path();
    let inside = library.inventory.items.iter().filter(|item| item.path.starts_with(path)).count();
    let whose = match folder {
        SearchedFolder::Found(place) => place.program,
        SearchedFolder::Named(_) => "Named at the start",
        SearchedFolder::Added(_) => "Added",
    };
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let SearchedFolder::Added(path) = folder
                && widgets::icon_button(ui, icons::X, &format!("Remove {}", path.display())).clicked()
            {
                actions.push(Action::Library(LibraryAction::RemoveFolder(path.clone())));
            }
            if widgets::icon_button(ui, icons::FOLDER_OPEN, &format!("Open {}", path.display())).clicked() {
                actions.push(Action::OpenFolder(path.clone()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 1.0;
                    let words = format!("{whose} · {}", units::counted(inside, "model file"));
                    ui.label(RichText::new(words).font(font::medium(font::BODY)).color(palette.text));
                    let path = path.display().to_string();
                    let words = RichText::new(&path).small().color(palette.text_muted);
                    ui.add(Label::new(words).truncate()).on_hover_text(path);
                });
            });
        });
    });
}
