//! The window's own file dialog, for desktops without one.

use std::{
    env,
    path::{self, Path, PathBuf},
};

use egui::{Align, Context, Frame, Key, Layout, Margin, Popup, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::{
    action::{Action, Browse},
    files::{Dialog, Entry, named_image},
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
    /// The name of the file to save, if one is saved.
    pub name: Option<String>,
    /// The path of the folder, as it is typed.
    typed: String,
    /// Whether it was not drawn yet.
    is_new: bool,
}

/// What is wrong with the name of a file to save.
enum Unfit {
    /// It is empty, or not only a name.
    NoName,
    /// A file has it.
    Taken,
}

impl Browser {
    /// A dialog that waits for what is in a folder, with the name of a file to save.
    pub fn new(dialog: Dialog, folder: PathBuf, name: Option<String>) -> Self {
        let typed = folder.display().to_string();
        Self { dialog, folder, entries: None, name, typed, is_new: true }
    }

    /// The file to save.
    fn file(&self, name: &str) -> Result<PathBuf, Unfit> {
        let name = name.trim();
        let is_name = Path::new(name).file_name().is_some_and(|own| own == name);
        let Some(Ok(entries)) = self.entries.as_ref().filter(|_| is_name) else { return Err(Unfit::NoName) };
        let (path, _) = named_image(&self.folder.join(name));
        let own = file_name(&path).to_lowercase();
        match entries.iter().any(|entry| file_name(&entry.path).to_lowercase() == own) {
            true => Err(Unfit::Taken),
            false => Ok(path),
        }
    }
}

/// Draws it over the window.
pub fn show(ctx: &Context, browser: &mut Browser, actions: &mut Vec<Action>) {
    // The menu that it was opened from stays behind it otherwise.
    if std::mem::take(&mut browser.is_new) {
        Popup::close_all(ctx);
    }
    let modal = widgets::dialog(ctx, "sluice browser").show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| contents(ui, browser, actions))
    });
    if widgets::is_clicked_beside(&modal) {
        actions.push(Action::Browse(Browse::Close));
    }
}

fn contents(ui: &mut Ui, browser: &mut Browser, actions: &mut Vec<Action>) {
    ui.set_width(size::CARD);
    ui.spacing_mut().item_spacing.y = space::XS;
    let title = RichText::new(browser.dialog.title()).font(font::semibold(font::HEADING));
    ui.label(title.color(Palette::of(ui).text));
    head(ui, browser, actions);
    ScrollArea::vertical().min_scrolled_height(LIST).max_height(LIST).auto_shrink(false).show(ui, |ui| {
        list(ui, browser, actions);
    });
    ui.add_space(space::S);
    let file = name_field(ui, browser);
    ui.horizontal(|ui| {
        if let Some(file) = file {
            save(ui, file, actions);
        }
        if browser.dialog.filter().is_none() {
            let is_there = matches!(browser.entries, Some(Ok(_)));
            let button = ui.add_enabled_ui(is_there, |ui| {
                widgets::button(ui, Some(icons::FOLDER), &tr!("files-use-folder"), Weight::Primary)
            });
            if button.inner.clicked() {
                actions.push(Action::Browse(Browse::Choose(browser.folder.clone())));
            }
        }
        if widgets::button(ui, None, &tr!("common-close"), Weight::Plain)
            .on_hover_text(tr!("common-close-tip"))
            .clicked()
        {
            actions.push(Action::Browse(Browse::Close));
        }
    });
}

/// The field for the name of the file to save. Returns the file, if one is saved.
fn name_field(ui: &mut Ui, browser: &mut Browser) -> Option<Result<PathBuf, Unfit>> {
    let mut name = browser.name.take()?;
    let label = widgets::field_label(ui, &tr!("gallery-export-name"));
    let field =
        TextEdit::singleline(&mut name).id_salt("name of the file to save").margin(Margin::symmetric(10, 6));
    ui.add_sized(vec2(ui.available_width(), size::CONTROL), field)
        .labelled_by(label.id)
        .on_hover_text(tr!("files-save-name-tip"));
    let file = browser.file(&name);
    if matches!(file, Err(Unfit::Taken)) {
        widgets::mistake(ui, &tr!("files-name-taken"));
    }
    browser.name = Some(name);
    Some(file)
}

fn save(ui: &mut Ui, file: Result<PathBuf, Unfit>, actions: &mut Vec<Action>) {
    ui.add_enabled_ui(file.is_ok(), |ui| {
        let button = widgets::button(ui, Some(icons::IMAGE_DOWN), &tr!("files-save"), Weight::Primary);
        if button.on_hover_text(tr!("files-save-tip")).clicked()
            && let Ok(file) = file
        {
            actions.push(Action::Browse(Browse::Choose(file)));
        }
    });
}

/// A path that was typed while a folder is listed. `~` is the folder of the user.
fn typed_path(folder: &Path, typed: &str, home: Option<PathBuf>) -> PathBuf {
    let rest = typed.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(path::is_separator));
    match (rest, home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches(path::is_separator)),
        _ => folder.join(typed),
    }
}

/// The path of the folder, and a way up.
fn head(ui: &mut Ui, browser: &mut Browser, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(parent) = browser.folder.parent()
                && widgets::button(ui, None, &tr!("files-up"), Weight::Plain)
                    .on_hover_text(tr!("files-up-tip"))
                    .clicked()
            {
                actions.push(Action::Browse(Browse::Enter(parent.to_owned())));
            }
            let field = TextEdit::singleline(&mut browser.typed)
                .id_salt("path of the folder")
                .margin(Margin::symmetric(10, 6));
            let field = ui
                .add_sized(vec2(ui.available_width(), size::CONTROL), field)
                .on_hover_text(tr!("files-path-tip"))
                .accessible_name(tr!("files-path"));
            let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let typed = browser.typed.trim();
            if is_entered && !typed.is_empty() {
                actions.push(Action::Browse(Browse::Enter(typed_path(
                    &browser.folder,
                    typed,
                    env::home_dir(),
                ))));
            }
        });
    });
}

fn list(ui: &mut Ui, browser: &mut Browser, actions: &mut Vec<Action>) {
    let Browser { dialog, entries, name, .. } = browser;
    let asks_for_folder = dialog.filter().is_none();
    let entries = match &*entries {
        None => {
            widgets::hint(ui, tr!("files-reading"));
            return;
        }
        Some(Err(message)) => {
            return widgets::mistake(ui, &tr!("files-folder-unreadable", reason = message.as_str()));
        }
        Some(Ok(entries)) if entries.is_empty() => {
            let words = if asks_for_folder { tr!("files-no-folders") } else { tr!("files-nothing-here") };
            widgets::hint(ui, words);
            return;
        }
        Some(Ok(entries)) => entries,
    };
    Frame::new().inner_margin(Margin::same(2)).show(ui, |ui| {
        for Entry { path, is_folder, is_pickle } in entries {
            if *is_pickle {
                ui.add_enabled_ui(false, |ui| {
                    widgets::file_button(ui, icons::FILE, &file_name(path), &tr!("files-pickle"), false)
                        .on_hover_text(tr!("files-pickle-tip"))
                        .on_disabled_hover_text(tr!("files-pickle-tip"));
                });
                continue;
            }
            if asks_for_folder && !is_folder {
                ui.add_enabled_ui(false, |ui| {
                    widgets::file_button(ui, icons::IMAGE, &file_name(path), "", false)
                        .on_hover_text(tr!("files-in-folder-tip"))
                        .on_disabled_hover_text(tr!("files-in-folder-tip"));
                });
                continue;
            }
            let icon = if *is_folder { icons::FOLDER } else { icons::FILE };
            let tip = match (is_folder, &name) {
                (true, _) => tr!("files-folder-tip"),
                (false, None) => tr!("files-file-tip"),
                (false, Some(_)) => tr!("files-take-name-tip"),
            };
            if !widgets::file_button(ui, icon, &file_name(path), "", false).on_hover_text(tip).clicked() {
                continue;
            }
            match name {
                Some(name) if !is_folder => *name = file_name(path),
                _ => {
                    let step = if *is_folder { Browse::Enter } else { Browse::Choose };
                    actions.push(Action::Browse(step(path.clone())));
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_path_is_found_from_the_folder_or_from_that_of_the_user() {
        let typed = |typed| typed_path(Path::new("/disk"), typed, Some("/home/ada".into()));
        for (path, expected) in [
            ("models", "/disk/models"),
            ("/mnt/models", "/mnt/models"),
            ("~/models", "/home/ada/models"),
            ("~", "/home/ada"),
            ("~old", "/disk/~old"),
        ] {
            assert_eq!(typed(path), Path::new(expected), "{path}");
        }
        assert_eq!(typed_path(Path::new("/disk"), "~/a", None), Path::new("/disk/~/a"));
    }
}
