//! Detailers: what is found in the image and inpainted again.

use egui::{Align, Layout, TextEdit, Ui};
use sluice_engine::{
    models::Item,
    request::{BoxOrder, Detailer, Request, RequestError},
    session::ModelSummary,
};

use super::{
    control_nets::library_menu,
    parts::{Added, Parts, sentence},
};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons, model_menu,
        state::State,
        widgets::{self, Weight},
    },
};

/// View state of the section; not saved.
#[derive(Debug, Default)]
pub struct DetailerList {
    /// Whether it is open.
    pub(super) open: bool,
    /// The last one, if it was just added.
    pub(super) added: Added,
    /// Which of them show all of their settings.
    more: [bool; Detailer::MOST],
}

/// Whether a model inpaints images.
fn can(summary: &ModelSummary) -> bool {
    summary.frame_multiple.is_none()
}

/// Whether the panel has the section.
pub fn is_shown(state: &State, request: &Request) -> bool {
    !request.detailers.is_empty() || state.summary().is_some_and(can)
}

/// Draws the section, for models that make images, and where detailers are in use.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, list: &mut DetailerList) {
    if !is_shown(parts.state, &parts.draft.request) {
        return;
    }
    let count = parts.draft.request.detailers.len();
    let title = match count {
        0 => tr!("detailers-title"),
        count => tr!("detailers-title-used", count = count),
    };
    let DetailerList { open, added, more } = list;
    widgets::fold(ui, (&title, tr!("detailers-title-tip")), open, |ui| opened(ui, parts, added, more));
}

fn opened(ui: &mut Ui, parts: &mut Parts<'_>, added: &mut Added, more: &mut [bool; Detailer::MOST]) {
    let Parts { state, mistake, draft, actions } = parts;
    let steps = draft.request.steps;
    let detailers = &mut draft.request.detailers;
    let (mut removed, count) = (None, detailers.len());
    for (index, (detailer, more)) in detailers.iter_mut().zip(more.iter_mut()).enumerate() {
        let drawn = ui.push_id(("detailer", index), |ui| {
            if row(ui, detailer, (index, steps), more) {
                removed = Some(index);
            }
        });
        if index + 1 == count {
            added.see(ui, drawn.response.rect);
        }
    }
    if let Some(index) = removed {
        detailers.remove(index);
    }
    if !detailers.is_empty() {
        widgets::hint(ui, tr!("detailers-forecast"));
    }
    if let Some(
        error @ (RequestError::NoDetector
        | RequestError::DetailerConfidence(_)
        | RequestError::DetailerBoxes(_)
        | RequestError::DetailerGrowth(_)
        | RequestError::DetailerOfClip
        | RequestError::NoDetailing),
    ) = *mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    if detailers.len() >= Detailer::MOST {
        return;
    }
    let lacks = detailers.is_empty() && state.detectors().next().is_none();
    if lacks {
        widgets::hint(ui, tr!("detailers-missing"));
    }
    ui.horizontal_wrapped(|ui| {
        if widgets::button(ui, Some(icons::FILE_UP), &tr!("detailers-add"), Weight::Plain)
            .on_hover_text(tr!("detailers-add-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::Detector));
        }
        if lacks {
            model_menu::get(ui, state, actions);
        }
        if of_library(ui, state, detailers) {
            added.set();
        }
    });
}

/// A menu of the detectors in the library that are not in use yet. Returns whether one was added.
fn of_library(ui: &mut Ui, state: &State, detailers: &mut Vec<Detailer>) -> bool {
    let is_new = |item: &&Item| detailers.iter().all(|detailer| detailer.model != item.path);
    let found: Vec<&Item> = state.detectors().filter(is_new).collect();
    let words = [tr!("detailers-library"), tr!("detailers-library-tip"), tr!("detailers-library-spoken")];
    let Some(model) = library_menu(ui, words, &found) else { return false };
    detailers.push(Detailer::new(model));
    true
}

/// Draws one, and returns whether it is to be removed.
fn row(ui: &mut Ui, detailer: &mut Detailer, (index, steps): (usize, u32), more: &mut bool) -> bool {
    let name = name_of(detailer);
    let mut is_removed = false;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let remove = tr!("detailers-remove", name = name.as_str());
            is_removed = widgets::icon_button(ui, icons::X, &remove).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                widgets::line(ui, &name, detailer.model.display().to_string());
            });
        });
    });
    widgets::slider_row(ui, &tr!("detailers-strength"), &mut detailer.strength, 0.05..=1.0, 0.01..=1.0, 0.01)
        .on_hover_text(tr!("detailers-strength-tip"));
    widgets::slider_row(
        ui,
        &tr!("detailers-confidence"),
        &mut detailer.confidence,
        0.05..=0.95,
        0.01..=0.99,
        0.05,
    )
    .on_hover_text(tr!("detailers-confidence-tip"));
    prompt(ui, (&tr!("detailers-prompt"), tr!("detailers-prompt-tip")), &mut detailer.prompt, index);
    let title = tr!("detailers-more", name = name.as_str());
    widgets::fold(ui, (&title, tr!("detailers-more-tip")), more, |ui| {
        further(ui, detailer, steps, index);
    });
    is_removed
}

/// A prompt, or that of the image.
fn prompt(ui: &mut Ui, (label, tip): (&str, String), text: &mut String, index: usize) {
    let name = widgets::field_label(ui, label);
    let hint = tr!("detailers-prompt-hint");
    let field =
        TextEdit::singleline(text).id_salt((label, index)).hint_text(hint).desired_width(f32::INFINITY);
    ui.add(field).labelled_by(name.id).on_hover_text(tip);
}

fn further(ui: &mut Ui, detailer: &mut Detailer, steps: u32, index: usize) {
    let words = (&*tr!("detailers-negative"), tr!("detailers-negative-tip"));
    prompt(ui, words, &mut detailer.negative_prompt, index);
    let most = Detailer::MOST_BOXES;
    widgets::slider_row(ui, &tr!("detailers-most"), &mut detailer.most, 1..=20, 1..=most, 1.0)
        .on_hover_text(tr!("detailers-most-tip"));
    let title = |order| match order {
        BoxOrder::Largest => tr!("detailers-order-largest"),
        BoxOrder::Surest => tr!("detailers-order-surest"),
        BoxOrder::LeftToRight => tr!("detailers-order-left"),
        BoxOrder::MiddleFirst => tr!("detailers-order-middle"),
    };
    widgets::choice_row(ui, &tr!("detailers-order"), &mut detailer.order, BoxOrder::ALL, title)
        .on_hover_text(tr!("detailers-order-tip"));
    widgets::slider_row(ui, &tr!("detailers-grow"), &mut detailer.grow, 0..=64, 0..=256, 1.0)
        .on_hover_text(tr!("detailers-grow-tip"));
    widgets::slider_row(ui, &tr!("detailers-blur"), &mut detailer.blur, 0..=64, 0..=256, 1.0)
        .on_hover_text(tr!("detailers-blur-tip"));
    widgets::slider_row(ui, &tr!("detailers-padding"), &mut detailer.padding, 0..=256, 0..=4096, 1.0)
        .on_hover_text(tr!("detailers-padding-tip"));
    let mut own = detailer.steps.map(f64::from);
    widgets::optional_row(ui, &tr!("detailers-steps"), &mut own, f64::from(steps), 1.0..=1000.0, (1.0, ""))
        .on_hover_text(tr!("detailers-steps-tip"));
    detailer.steps = own.map(|steps| steps.round() as u32);
}

/// What its detector is called.
pub fn name_of(detailer: &Detailer) -> String {
    detailer.model.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
