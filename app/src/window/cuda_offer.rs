//! The offer to install the engine for NVIDIA GPUs, how far that is, and its removal.

use egui::{Role, Sense, Ui, WidgetInfo, vec2};
use sluice_engine::session::Failure;

use super::{
    action::{Action, CudaAction},
    files::Dialog,
    sentences::sentence,
    state::{CudaPhase, State},
    tokens::{size, space},
    widgets::{self, Weight},
};
use crate::{
    engines::cuda_engine::{Offer, Origin, Step},
    language::{self, said, tr, units},
};

/// Draws the offer, and what became of it.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    match &state.cuda.phase {
        CudaPhase::Idle => ask(ui, state, actions),
        CudaPhase::Asking => {
            widgets::hint(ui, tr!("engines-cuda-asking"));
            cancel(ui, actions);
        }
        CudaPhase::Offered(offer) => {
            widgets::hint(ui, words(offer, &state.cuda.host));
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
                if widgets::button(ui, None, &tr!("engines-cuda-begin"), Weight::Primary)
                    .on_hover_text(tr!("engines-cuda-begin-tip"))
                    .clicked()
                {
                    actions.push(CudaAction::Install.into());
                }
                cancel(ui, actions);
            });
        }
        CudaPhase::Installing(step) => {
            progress(ui, step);
            cancel(ui, actions);
        }
        CudaPhase::Removing => drop(widgets::hint(ui, tr!("engines-cuda-removing"))),
        CudaPhase::Failed(failure) => {
            failed(ui, failure);
            ask(ui, state, actions);
        }
    }
}

/// Draws the button that removes it.
pub fn installed(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    match &state.cuda.phase {
        CudaPhase::Idle => {}
        CudaPhase::Failed(failure) => failed(ui, failure),
        _ => return drop(widgets::hint(ui, tr!("engines-cuda-removing"))),
    }
    // A job may need it.
    let is_idle = state.jobs.is_empty();
    let remove = |ui: &mut Ui| widgets::button(ui, None, &tr!("engines-cuda-remove"), Weight::Plain);
    if ui
        .add_enabled(is_idle, remove)
        .on_hover_text(tr!("engines-cuda-remove-tip"))
        .on_disabled_hover_text(tr!("engines-cuda-remove-later"))
        .clicked()
    {
        actions.push(CudaAction::Remove.into());
    }
}

fn failed(ui: &mut Ui, failure: &Failure) {
    widgets::mistake(ui, &sentence(&failure.message));
    if let Some(advice) = &failure.advice {
        widgets::hint(ui, said(advice));
    }
}

/// From where it may come.
fn ask(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if state.cuda.has_releases
            && widgets::button(ui, None, &tr!("engines-cuda-install"), Weight::Plain)
                .on_hover_text(tr!("engines-cuda-install-tip"))
                .clicked()
        {
            actions.push(CudaAction::LookUp.into());
        }
        let file = match state.cuda.has_releases {
            true => tr!("engines-cuda-file"),
            false => tr!("engines-cuda-install-file"),
        };
        if widgets::button(ui, None, &file, Weight::Plain)
            .on_hover_text(tr!("engines-cuda-file-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::CudaEngine));
        }
    });
}

fn cancel(ui: &mut Ui, actions: &mut Vec<Action>) {
    if widgets::button(ui, None, &tr!("common-cancel"), Weight::Ghost)
        .on_hover_text(tr!("engines-cuda-cancel-tip"))
        .clicked()
    {
        actions.push(CudaAction::Cancel.into());
    }
}

/// What is fetched, from where, and what it takes.
fn words(offer: &Offer, host: &str) -> String {
    let disk = units::memory_needed(offer.unpacked());
    let program = match &offer.origin {
        Origin::File(_) => offer.package.file.clone(),
        Origin::Address(_) => {
            let bytes = units::memory_needed(offer.package.bytes);
            tr!("engines-cuda-program", size = bytes, host = offer.source())
        }
    };
    match offer.libraries.is_empty() {
        true => tr!("engines-cuda-offer-alone", program = program, disk = disk),
        false => {
            let libraries = units::memory_needed(offer.library_bytes());
            tr!("engines-cuda-offer", program = program, libraries = libraries, host = host, disk = disk)
        }
    }
}

/// A bar, and what is being done.
fn progress(ui: &mut Ui, step: &Step) {
    if let Step::Fetching { done, bytes } = step {
        let share = *done as f32 / (*bytes).max(1) as f32;
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), size::PROGRESS), Sense::hover());
        response.widget_info(|| {
            let words = format!("{}: {:.0} %", tr!("engines-cuda"), share * 100.0);
            WidgetInfo::labeled(Role::ProgressIndicator, true, words)
        });
        widgets::progress_bar(ui, rect, share);
    }
    widgets::hint(
        ui,
        match step {
            Step::Fetching { done, bytes } => {
                tr!("engines-cuda-fetching", amount = language::memory_of(*done, *bytes))
            }
            Step::Retrying { why } => tr!("engines-cuda-retrying", why = said(why)),
            Step::Unpacking => tr!("engines-cuda-unpacking"),
            Step::Starting => tr!("engines-cuda-starting"),
        },
    );
}
