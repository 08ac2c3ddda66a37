//! Running, finished and failed downloads.

use egui::{Align, Label, Layout, RichText, Sense, Ui, vec2};

use super::{heading, paragraph};
use crate::{
    downloads::{Download, Phase},
    language::{self, said, tr, units},
    window::{
        action::{Action, GetAction},
        files::Dialog,
        icons,
        sentences::sentence,
        state::State,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the list, and where models go.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    heading(ui, &tr!("get-downloads"));
    if state.downloads.list.is_empty() {
        widgets::hint(ui, tr!("get-downloads-none"));
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
                widgets::line(ui, words, title);
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
                paragraph(ui, &said(advice));
            }
        }
        Phase::Done { opens, is_verified } => {
            let bytes = units::memory(download.done);
            let words = match is_verified {
                true => tr!("get-verified", size = bytes),
                false => tr!("get-size-checked", size = bytes),
            };
            paragraph(ui, &words);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = space::XS;
                let open =
                    widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("get-open-this"), Weight::Primary);
                if open.on_hover_text(tr!("get-open-tip")).clicked() {
                    actions.push(GetAction::Open(opens.clone()).into());
                }
                if let Some(folder) = opens.parent()
                    && widgets::button(ui, None, &tr!("get-show-in-folder"), Weight::Ghost)
                        .on_hover_text(tr!("settings-open-folder-tip"))
                        .clicked()
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
        Some(bytes) => language::memory_of(download.done, bytes),
        None => units::memory(download.done),
    };
    let state = match &download.phase {
        Phase::Waiting => tr!("get-phase-waiting"),
        Phase::Running if download.speed > 0.0 => {
            let left = download.seconds_left().map(|left| format!(", {}", language::time_left(left)));
            format!("{}{}", units::speed(download.speed), left.unwrap_or_default())
        }
        Phase::Running => tr!("get-phase-connecting"),
        Phase::Checking => tr!("get-phase-checking"),
        Phase::Retrying { why } => tr!("get-phase-retrying", why = said(why)),
        Phase::Offline { why } => tr!("get-phase-offline", why = said(why)),
        Phase::Paused => tr!("get-phase-paused"),
        Phase::Failed(_) | Phase::Done { .. } => String::new(),
    };
    format!("{so_far} · {state}")
}

fn buttons(ui: &mut Ui, download: &Download, actions: &mut Vec<Action>) {
    let (id, title) = (download.id, &download.title);
    let is_over = !download.is_unfinished();
    let cancel = match download.phase {
        Phase::Done { .. } => tr!("get-take-off", title = title),
        _ => tr!("get-cancel", title = title),
    };
    if widgets::icon_button(ui, icons::X, &cancel).clicked() {
        actions.push(GetAction::Cancel(id).into());
    }
    let offered = match download.phase {
        Phase::Paused | Phase::Offline { .. } => {
            Some((icons::PLAY, tr!("get-resume", title = title), GetAction::Resume(id)))
        }
        Phase::Failed(_) => Some((icons::RESTORE, tr!("get-retry", title = title), GetAction::Resume(id))),
        _ if !is_over => Some((icons::PAUSE, tr!("get-pause", title = title), GetAction::Pause(id))),
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
    widgets::field_label(ui, &tr!("get-folder"));
    let words = folder.display().to_string();
    widgets::line(ui, RichText::new(&words).small().color(palette.text), &words);
    if let Some(free) = state.downloads.free {
        paragraph(ui, &tr!("get-free-on-disk", memory = units::memory(free)));
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if widgets::button(ui, Some(icons::FOLDER), &tr!("get-another-folder"), Weight::Plain)
            .on_hover_text(tr!("get-another-folder-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::DownloadFolder));
        }
        if state.settings.library.downloads.folder.is_some()
            && widgets::button(ui, None, &tr!("get-reset"), Weight::Ghost)
                .on_hover_text(tr!("get-reset-tip"))
                .clicked()
        {
            actions.push(GetAction::Folder(None).into());
        }
    });
}
