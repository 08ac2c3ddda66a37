//! The menu of an image, and its offers.

use std::path::PathBuf;

use egui::Ui;

use super::{Change, Gallery, Item, Step};
use crate::window::{action::Action, icons, tokens::size, widgets};

/// Something that can be done with an image.
pub(super) struct Offer {
    pub(super) icon: &'static str,
    pub(super) name: &'static str,
    pub(super) tip: &'static str,
    pub(super) action: Action,
}

/// What can be done with one image, the most likely first.
pub(super) fn offers(item: &Item) -> Vec<Offer> {
    let path = || item.path.clone();
    let mut all = Vec::new();
    let mut add = |icon, name, tip, action| all.push(Offer { icon, name, tip, action });
    if item.broken.is_none() {
        add(icons::IMAGE, "Open", "Show it in the viewer. Key: Enter", Step::Show(path()).into());
    }
    if item.facts.is_some() {
        let tip = "Load the prompt, seed and all other settings that made this image.";
        add(icons::RESTORE, "Use settings", tip, Step::UseSettings(path()).into());
        add(icons::COPY, "Copy prompt", "Copy the prompt to the clipboard.", Step::CopyPrompt(path()).into());
    }
    if let Some(folder) = item.path.parent() {
        let action = Action::OpenFolder(folder.to_owned());
        add(icons::FOLDER_OPEN, "Show in folder", "Open the folder of this file.", action);
    }
    if item.broken.is_none() {
        let (name, tip) = match item.clip {
            None => ("Use as input image", "Start the next image from this one."),
            Some(_) => ("Use as input clip", "Start the next clip from this one."),
        };
        add(icons::FILE_UP, name, tip, Step::UseAsInput(path()).into());
    }
    all
}

/// What can be done with all that is selected.
pub(super) fn offers_for_all(has_images: bool) -> Vec<Offer> {
    let mut all = Vec::new();
    if has_images {
        let tip = "Write copies as PNG, JPEG or WebP, with or without settings. Key: Ctrl+E";
        all.push(Offer { icon: icons::DOWNLOAD, name: "Export…", tip, action: Step::AskExport.into() });
    }
    let tip = "Delete it, with a way back. Key: Del";
    all.push(Offer { icon: icons::TRASH, name: "Move to trash", tip, action: Step::Trash.into() });
    all
}

/// The menu of a right click, which selects the image first unless it is selected.
pub(super) fn show(ui: &mut Ui, gallery: &Gallery, item: &Item, actions: &mut Vec<Action>) {
    ui.set_min_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    let shelf = &gallery.shelf;
    let path: PathBuf = item.path.clone();
    let is_selected = shelf.selection().contains(&path);
    let (starred, name) = match shelf.is_starred(&path) {
        true => (false, "Remove star"),
        false => (true, "Star"),
    };
    let star = Offer {
        icon: icons::STAR,
        name,
        tip: "Mark it, to find it again.",
        action: Step::MarkOne(path, Change::Star(starred)).into(),
    };
    let all = offers(item).into_iter().chain([star]).chain(offers_for_all(item.clip.is_none()));
    for Offer { icon, name, tip, action } in all {
        if widgets::row_button(ui, icon, name, "", false).on_hover_text(tip).clicked() {
            if !is_selected
                && let Some(place) = shelf.shown().iter().position(|shown| shown.path == item.path)
            {
                actions.push(Step::Pick(place, super::How::Only).into());
            }
            actions.push(action);
            ui.close();
        }
    }
}
