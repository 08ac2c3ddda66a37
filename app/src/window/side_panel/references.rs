//! The row of reference images.

use egui::{Align, Layout, Sense, Ui};
use sluice_engine::request::{ReferenceSizes, References, Request, RequestError};

use super::{
    clip_inputs::folder,
    file_menu::FileMenu,
    input_image::thumbnail,
    parts::{Parts, gap, sentence},
};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{FileState, InputFiles, file_name},
        textures::Textures,
        tokens::space,
        widgets::{self, Weight},
    },
};

/// Draws the section for models that take references, and as long as there are any.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, textures: &mut Textures) {
    let Parts { state, mistake, draft, actions } = parts;
    let takes = state.takes_references();
    let takes = takes.as_ref();
    let request = &mut draft.request;
    let is_shown = takes.is_some_and(|takes| match takes.sizes {
        ReferenceSizes::Canvas => request.frames > 1,
        ReferenceSizes::Seen => true,
        _ => takes.edits,
    });
    if !is_shown && request.references.is_empty() {
        return;
    }
    heading(ui, takes, request.references.len(), actions);
    if !request.references.is_empty() {
        row(ui, request, (&state.input.files, textures), actions);
    }
    if let Some(
        error @ (RequestError::NoReferences
        | RequestError::TooManyReferences { .. }
        | RequestError::ReferenceSide(_)),
    ) = *mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    gap(ui);
}

fn heading(ui: &mut Ui, takes: Option<&References>, given: usize, actions: &mut Vec<Action>) {
    let most = takes.map_or(0, |takes| takes.most);
    ui.horizontal(|ui| {
        widgets::field_label(ui, &tr!("side-panel-references", most = most));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if given >= most {
                return;
            }
            let tip = match takes {
                Some(References { edits: true, .. }) => {
                    tr!("side-panel-reference-edits-tip")
                }
                Some(References { sizes: ReferenceSizes::Seen, .. }) => {
                    tr!("side-panel-reference-seen-tip")
                }
                _ => tr!("side-panel-reference-clip-tip"),
            };
            if widgets::button(ui, Some(icons::IMAGE), &tr!("side-panel-reference-add"), Weight::Ghost)
                .on_hover_text(tip)
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::Reference));
            }
            if given == 0 && takes.is_some_and(|takes| takes.edits) {
                folder(ui, &tr!("side-panel-reference-folder"), Dialog::ReferenceFolder, actions);
            }
        });
    });
}

/// Thumbnails that can be dragged on one another, each with its buttons.
fn row(
    ui: &mut Ui,
    request: &mut Request,
    (files, textures): (&InputFiles, &mut Textures),
    actions: &mut Vec<Action>,
) {
    let mut change: Option<Change> = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::Vec2::splat(space::S);
        for (index, path) in request.references.iter().enumerate() {
            let (number, name) = (index + 1, file_name(path));
            ui.vertical(|ui| {
                let response = thumbnail(ui, files, textures, path, Sense::drag() | Sense::CLICK);
                response.dnd_set_drag_payload(index);
                if let Some(from) = response.dnd_release_payload::<usize>() {
                    change = Some(Change::Move { from: *from, to: index });
                }
                let about = match files.get(path) {
                    Some(FileState::Read(image)) => format!("{} × {}", image.width(), image.height()),
                    Some(FileState::Unreadable(message)) => message.clone(),
                    Some(FileState::Reading) | None => tr!("side-panel-reading"),
                };
                let remove = tr!("side-panel-reference-remove", number = number);
                let replace = Dialog::OtherReference(index);
                if (FileMenu { path, replace, remove: &remove }).show(&response, actions) {
                    change = Some(Change::Remove(index));
                }
                response.on_hover_text(format!("{number}: {name}\n{about}"));
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 0.0;
                    if widgets::icon_button(ui, icons::X, &remove).clicked() {
                        change = Some(Change::Remove(index));
                    }
                    let swap = tr!("side-panel-references-swap", first = index, second = number);
                    if index > 0 && widgets::icon_button(ui, icons::ARROW_LEFT_RIGHT, &swap).clicked() {
                        change = Some(Change::Move { from: index, to: index - 1 });
                    }
                });
            });
        }
    });
    for path in &request.references {
        if let Some(FileState::Unreadable(message)) = files.get(path) {
            widgets::mistake(ui, &format!("{}: {message}", file_name(path)));
        }
    }
    match change {
        Some(Change::Remove(index)) => remove(request, index),
        Some(Change::Move { from, to }) => move_to(request, from, to),
        None => {}
    }
}

/// Removes one, with its strength.
pub(super) fn remove(request: &mut Request, index: usize) {
    if index >= request.references.len() {
        return;
    }
    request.references.remove(index);
    if let Some(redux) = request.redux.as_mut().filter(|redux| index < redux.strengths.len()) {
        redux.strengths.remove(index);
    }
}

/// Moves one to another place, with its strength.
fn move_to(Request { references, redux, .. }: &mut Request, from: usize, to: usize) {
    if from >= references.len() {
        return;
    }
    if let Some(redux) = redux {
        *redux.strength_mut(references.len() - 1) = redux.strength(references.len() - 1);
        let moved = redux.strengths.remove(from);
        redux.strengths.insert(to.min(redux.strengths.len()), moved);
    }
    let moved = references.remove(from);
    references.insert(to.min(references.len()), moved);
}

/// What a person does to the row.
enum Change {
    Remove(usize),
    Move { from: usize, to: usize },
}
