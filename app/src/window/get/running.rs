//! Running, finished and failed downloads.

use egui::{Align, Label, Layout, RichText, Sense, Ui, vec2};

use super::{GetAction, heading, paragraph, sentence};
use crate::{
    downloads::{Download, Phase},
    units,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::State,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the list, and where models go.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    heading(ui, "Downloads");
    if state.downloads.list.is_empty() {
        widgets::hint(
            ui,
            "Nothing is being downloaded. What is paused or interrupted goes on later from where it was.",
        );
    }
    for download in state.downloads.list.iter().rev() {
        ui.push_id(download.id, |ui| one(ui, download, actions));
        ui.add_space(space::XS);
    }
    ui.separator();
    folder(ui, state, actions);
}

fn one(ui: &mut Ui, download: &Download, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let title = &download.title;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            buttons(ui, download, actions);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = RichText::new(title).font(font::medium(font::BODY)).color(palette.text);
                ui.add(Label::new(words).truncate()).on_hover_text(title);
            });
        });
    });
    if download.is_unfinished() {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), size::PROGRESS), Sense::hover());
        response.widget_info(|| {
            let words = format!("{title}: {:.0} %", download.share() * 100.0);
            egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, words)
        });
        widgets::progress_bar(ui, rect, download.share());
    }
    match &download.phase {
        Phase::Failed(failure) => {
            let message = RichText::new(sentence(&failure.message)).small().color(palette.danger);
            ui.add(Label::new(message).wrap().selectable(true));
            if let Some(advice) = &failure.advice {
                paragraph(ui, advice);
            }
        }
        Phase::Done { opens, is_verified } => {
            let bytes = units::memory(download.done);
            let how = if *is_verified {
                "verified"
            } else {
                "size checked; nobody says what its SHA-256 should be"
            };
            paragraph(ui, &format!("{bytes}, {how}"));
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = space::XS;
                let open = widgets::button(ui, Some(icons::FOLDER_OPEN), "Open this model", Weight::Primary);
                if open.on_hover_text("Generates with this model from now on.").clicked() {
                    actions.push(GetAction::Open(opens.clone()).into());
                }
                if let Some(folder) = opens.parent()
                    && widgets::button(ui, None, "Show in folder", Weight::Ghost).clicked()
                {
                    actions.push(Action::OpenFolder(folder.to_owned()));
                }
            });
        }
        _ => paragraph(ui, &words(download)),
    }
}

/// How far it is, in words.
fn words(download: &Download) -> String {
    let so_far = match download.bytes {
        Some(bytes) => units::memory_of(download.done, bytes),
        None => units::memory(download.done),
    };
    let state = match &download.phase {
        Phase::Waiting => "waiting for others".to_owned(),
        Phase::Running if download.speed > 0.0 => {
            let left = download.seconds_left().map(|left| format!(", {}", units::time_left(left)));
            format!("{}{}", units::speed(download.speed), left.unwrap_or_default())
        }
        Phase::Running => "connecting".to_owned(),
        Phase::Checking => "reading what is here".to_owned(),
        Phase::Retrying { why } => format!("{why}; it is tried again"),
        Phase::Offline { why } => format!("{why}; it goes on when there is one"),
        Phase::Paused => "paused".to_owned(),
        Phase::Failed(_) | Phase::Done { .. } => String::new(),
    };
    format!("{so_far} · {state}")
}

fn buttons(ui: &mut Ui, download: &Download, actions: &mut Vec<Action>) {
    let (id, title) = (download.id, &download.title);
    let is_over = !download.is_unfinished();
    let cancel = match download.phase {
        Phase::Done { .. } => format!("Take {title} off the list"),
        _ => format!("Cancel {title} and remove what is here of it"),
    };
    if widgets::icon_button(ui, icons::X, &cancel).clicked() {
        actions.push(GetAction::Cancel(id).into());
    }
    let offered = match download.phase {
        Phase::Paused | Phase::Offline { .. } => {
            Some((icons::PLAY, format!("Go on with {title}"), GetAction::Resume(id)))
        }
        Phase::Failed(_) => Some((icons::RESTORE, format!("Try {title} again"), GetAction::Resume(id))),
        _ if !is_over => Some((icons::PAUSE, format!("Pause {title}"), GetAction::Pause(id))),
        _ => None,
    };
    if let Some((icon, label, action)) = offered
        && widgets::icon_button(ui, icon, &label).clicked()
    {
        actions.push(action.into());
    }
}

/// Where models go.
fn folder(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(folder) = &state.downloads.folder else { return };
    let palette = Palette::of(ui);
    widgets::field_label(ui, "Folder for models");
    let words = folder.display().to_string();
    ui.add(Label::new(RichText::new(&words).small().color(palette.text)).truncate()).on_hover_text(words);
    if let Some(free) = state.downloads.free {
        paragraph(ui, &format!("{} free on this disk", units::memory(free)));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if widgets::button(ui, Some(icons::FOLDER), "Another folder…", Weight::Plain)
            .on_hover_text("For example the models folder of ComfyUI: files go into its own folders inside.")
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::DownloadFolder));
        }
        if state.settings.library.downloads.folder.is_some()
            && widgets::button(ui, None, "Reset", Weight::Ghost)
                .on_hover_text("Uses Sluice's own folder again.")
                .clicked()
        {
            actions.push(GetAction::Folder(None).into());
        }
    });
}
