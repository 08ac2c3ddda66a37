//! The window's own file dialog, for desktops without one.

use std::path::PathBuf;

use egui::{Align, Context, Frame, Id, Layout, Margin, Modal, RichText, ScrollArea, Ui};

use super::{
    action::{Action, Browse},
    files::{Dialog, Entry},
    icons,
    state::file_name,
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::tr;

/// Height of the list.
const LIST: f32 = 320.0;

/// The open dialog.
#[derive(Debug)]
pub struct Browser {
    /// What it asks for.
    pub dialog: Dialog,
    /// The folder that is listed.
    pub folder: PathBuf,
    /// What is in it, once it is read.
    pub entries: Option<Result<Vec<Entry>, String>>,
}

/// Draws it over the window.
pub fn show(ctx: &Context, browser: &Browser, actions: &mut Vec<Action>) {
    let modal = Modal::new(Id::unique("sluice browser")).show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| contents(ui, browser, actions))
    });
    if modal.backdrop_response.clicked() {
        actions.push(Action::Browse(Browse::Close));
    }
}

fn contents(ui: &mut Ui, browser: &Browser, actions: &mut Vec<Action>) {
    ui.set_width(size::CARD);
    ui.spacing_mut().item_spacing.y = space::XS;
    let title = RichText::new(browser.dialog.title()).font(font::semibold(font::HEADING));
    ui.label(title.color(Palette::of(ui).text));
    head(ui, browser, actions);
    ScrollArea::vertical().min_scrolled_height(LIST).max_height(LIST).auto_shrink(false).show(ui, |ui| {
        list(ui, browser, actions);
    });
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        if browser.dialog.filter().is_none()
            && widgets::button(ui, Some(icons::FOLDER), &tr!("files-use-folder"), Weight::Primary).clicked()
        {
            actions.push(Action::Browse(Browse::Choose(browser.folder.clone())));
        }
        if widgets::button(ui, None, &tr!("common-close"), Weight::Plain)
            .on_hover_text(tr!("common-close-tip"))
            .clicked()
        {
            actions.push(Action::Browse(Browse::Close));
        }
    });
}

/// The folder, and a way up.
fn head(ui: &mut Ui, browser: &Browser, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(parent) = browser.folder.parent()
                && widgets::button(ui, None, &tr!("files-up"), Weight::Plain)
                    .on_hover_text(tr!("files-up-tip"))
                    .clicked()
            {
                actions.push(Action::Browse(Browse::Enter(parent.to_owned())));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let path = browser.folder.display().to_string();
                let words = RichText::new(&path).small().color(Palette::of(ui).text_muted);
                ui.add(egui::Label::new(words).truncate()).on_hover_text(path);
            });
        });
    });
}

fn list(ui: &mut Ui, browser: &Browser, actions: &mut Vec<Action>) {
    let entries = match &browser.entries {
        None => {
            widgets::hint(ui, tr!("files-reading"));
            return;
        }
        Some(Err(message)) => return widgets::mistake(ui, message),
        Some(Ok(entries)) if entries.is_empty() => {
            widgets::hint(ui, tr!("files-nothing-here"));
            return;
        }
        Some(Ok(entries)) => entries,
    };
    Frame::new().inner_margin(Margin::same(2)).show(ui, |ui| {
        for Entry { path, is_folder } in entries {
            let icon = if *is_folder { icons::FOLDER } else { icons::FILE };
            let tip = if *is_folder { tr!("files-folder-tip") } else { tr!("files-file-tip") };
            if widgets::file_button(ui, icon, &file_name(path), "", false).on_hover_text(tip).clicked() {
                let step = if *is_folder { Browse::Enter } else { Browse::Choose };
                actions.push(Action::Browse(step(path.clone())));
            }
        }
    });
}
