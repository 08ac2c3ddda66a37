//! Asks how to enlarge images and clips, how to put frames between those of clips, or how to inpaint details again, and says what
//! it takes.

use std::path::Path;

use egui::{Align, ComboBox, Context, Frame, Layout, Margin, RichText, TextStyle, Ui};
use sluice_engine::{session::Failure, source::GivenMedia};

use super::{
    action::{Action, UpscaleStep},
    detailing,
    files::Dialog,
    icons, interpolating,
    state::{FileChange, State, UpscaleChoice, Upscaling, file_name},
    takes,
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::{tr, units};

/// Scales that are offered.
const SCALES: [f32; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];
/// The most files that cannot be enlarged which are named.
const NAMED: usize = 3;

/// Draws the question over the window.
pub fn show(ctx: &Context, state: &State, upscaling: &Upscaling, actions: &mut Vec<Action>) {
    let modal = widgets::dialog(ctx, "sluice upscale").show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
            ui.set_width(size::CARD);
            ui.spacing_mut().item_spacing.y = space::S;
            contents(ui, state, upscaling, actions);
        });
    });
    if widgets::is_clicked_beside(&modal) {
        actions.push(UpscaleStep::Close.into());
    }
}

fn contents(ui: &mut Ui, state: &State, upscaling: &Upscaling, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let title = match (upscaling.change, &upscaling.inputs[..]) {
        (FileChange::Enlarge, [one]) => tr!("upscale-title-one", name = file_name(one)),
        (FileChange::Enlarge, several) => tr!("upscale-title", count = several.len()),
        (FileChange::Interpolate, [one]) => tr!("interpolate-title-one", name = file_name(one)),
        (FileChange::Interpolate, several) => tr!("interpolate-title", count = several.len()),
        (FileChange::Detail, [one]) => tr!("detailers-ask-title-one", name = file_name(one)),
        (FileChange::Detail, several) => tr!("detailers-ask-title", count = several.len()),
    };
    ui.label(RichText::new(title).font(font::semibold(font::HEADING)).color(palette.text));
    match upscaling.change {
        FileChange::Enlarge => enlarge(ui, state, &state.upscale_choice(), actions),
        FileChange::Interpolate => interpolating::show(ui, state, actions),
        FileChange::Detail => detailing::show(ui, state, upscaling, actions),
    }
    ui.scope(|ui| {
        // The room of an answer, so that nothing moves when it comes.
        let lines = 3.0 * ui.text_style_height(&TextStyle::Body) + 2.0 * space::S;
        ui.set_min_height(lines);
        forecast(ui, state, upscaling, actions);
    });
    ui.add_space(space::S);
    let (start, cancel_tip) = match upscaling.change {
        FileChange::Enlarge => (tr!("upscale-start"), tr!("upscale-cancel-tip")),
        FileChange::Interpolate => (tr!("interpolate-start"), tr!("interpolate-cancel-tip")),
        FileChange::Detail => (tr!("detailers-ask-start"), tr!("detailers-ask-cancel-tip")),
    };
    ui.horizontal(|ui| {
        let start = ui.add_enabled_ui(state.can_upscale(), |ui| {
            let start = widgets::button(ui, Some(icons::SPARKLES), &start, Weight::Primary);
            start.on_hover_text(tr!("upscale-start-tip")).on_disabled_hover_text(hindrance(state, upscaling))
        });
        if start.inner.clicked() || state.can_upscale() && widgets::is_entered(ui) {
            actions.push(UpscaleStep::Start.into());
        }
        if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain).on_hover_text(cancel_tip).clicked()
        {
            actions.push(UpscaleStep::Close.into());
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, Some(icons::FOLDER), &tr!("upscale-folder"), Weight::Plain)
                .on_hover_text(tr!("upscale-folder-tip"))
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::ChangedFolder(upscaling.change)));
            }
        });
    });
}

fn enlarge(ui: &mut Ui, state: &State, choice: &UpscaleChoice, actions: &mut Vec<Action>) {
    model(ui, state, choice, actions);
    widgets::field_label(ui, &tr!("upscale-scale"));
    let names = SCALES.map(|scale| {
        let name = format!("{}×", units::number(scale));
        let tip = tr!("upscale-scale-tip", scale = name.clone());
        (scale, name, tip)
    });
    if let Some(scale) = widgets::segmented(ui, choice.scale, &names) {
        actions.push(UpscaleStep::Choose(UpscaleChoice { scale, ..choice.clone() }).into());
    }
}

fn model(ui: &mut Ui, state: &State, choice: &UpscaleChoice, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("upscale-model"));
    let known = state.upscalers();
    let chosen = known.iter().find(|(model, _)| *model == choice.model);
    let chosen = chosen.map(|(_, name)| name.clone()).unwrap_or_default();
    ui.horizontal(|ui| {
        let list =
            ComboBox::from_id_salt("upscaler").width(size::CARD / 2.0).truncate().selected_text(chosen);
        let list = widgets::drop_down(ui, list, |ui| {
            ui.set_max_width(size::POPUP);
            for (model, name) in known {
                if widgets::choice(ui, model == choice.model, name).clicked() && model != choice.model {
                    actions.push(UpscaleStep::Choose(UpscaleChoice { model, ..choice.clone() }).into());
                }
            }
        });
        list.response.accessible_name(tr!("upscale-model")).on_hover_text(tr!("upscale-model-tip"));
        if widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("upscale-open"), Weight::Plain)
            .on_hover_text(tr!("upscale-open-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::Upscaler));
        }
    });
}

/// Says what becomes of the files and what it takes.
fn forecast(ui: &mut Ui, state: &State, upscaling: &Upscaling, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    if let Some(Failure { message, advice }) = &upscaling.unusable {
        widgets::mistake(ui, message);
        if let Some(advice) = advice {
            widgets::hint(ui, advice.as_str());
        }
    }
    if upscaling.measured.is_none() {
        widgets::hint(ui, tr!("upscale-reading"));
        return;
    }
    let refused: Vec<&str> = upscaling.refused().collect();
    refused.iter().take(NAMED).for_each(|reason| widgets::mistake(ui, reason));
    if refused.len() > NAMED {
        widgets::mistake(ui, &tr!("upscale-more-refused", count = refused.len() - NAMED));
    }
    let mut files = upscaling.files();
    let Some(first) = files.next() else { return };
    if files.next().is_none() {
        ui.label(RichText::new(becomes(state, upscaling, first)).color(palette.text));
    }
    made_before(ui, upscaling, actions);
    if let Some(lack) = lack(state, upscaling) {
        widgets::hint(ui, lack);
        return;
    }
    match upscaling.estimate() {
        None => {
            widgets::hint(ui, tr!("upscale-asking"));
        }
        Some(Ok(_)) if upscaling.wanted().next().is_none() => {}
        Some(Ok(estimate)) => {
            takes::show(ui, state, &estimate);
            if upscaling.change == FileChange::Detail {
                widgets::hint(ui, tr!("detailers-forecast"));
            }
            widgets::hint(
                ui,
                match &upscaling.results {
                    Some(folder) => tr!("app-folder-results", folder = folder.display()),
                    None => tr!("upscale-beside"),
                },
            );
        }
        Some(Err(reason)) => widgets::mistake(ui, &reason),
    }
}

/// Says how many files are done and left out, and offers to change them again.
fn made_before(ui: &mut Ui, upscaling: &Upscaling, actions: &mut Vec<Action>) {
    let done = upscaling.done();
    if done == 0 {
        return;
    }
    if !upscaling.again {
        widgets::hint(ui, tr!("upscale-done", count = done));
    }
    let mut again = upscaling.again;
    ui.checkbox(&mut again, tr!("upscale-again", count = done)).on_hover_text(tr!("upscale-again-tip"));
    if again != upscaling.again {
        actions.push(UpscaleStep::Again(again).into());
    }
}

/// Why it cannot be started yet, or not at all.
fn hindrance(state: &State, upscaling: &Upscaling) -> String {
    if state.engine.ended {
        return tr!("status-bar-engine-stopped");
    }
    if upscaling.measured.is_none() {
        return tr!("upscale-reading");
    }
    if let Some(lack) = lack(state, upscaling) {
        return lack;
    }
    if upscaling.wanted().next().is_none() {
        return match upscaling.done() {
            0 => upscaling.refused().next().unwrap_or_default().to_owned(),
            done => tr!("upscale-done", count = done),
        };
    }
    match upscaling.estimate() {
        Some(Err(reason)) => reason,
        Some(Ok(_)) | None => tr!("upscale-asking"),
    }
}

/// What has to be chosen first.
fn lack(state: &State, upscaling: &Upscaling) -> Option<String> {
    let has_model = state.summary().is_some();
    match upscaling.change {
        FileChange::Interpolate if state.interpolate_choice().model.is_none() => {
            Some(tr!("interpolate-choose"))
        }
        FileChange::Detail if !has_model => Some(tr!("detailers-ask-model")),
        FileChange::Detail if state.detailers_of(upscaling).is_empty() => Some(tr!("detailers-ask-choose")),
        FileChange::Enlarge | FileChange::Interpolate | FileChange::Detail => None,
    }
}

/// What becomes of a file.
fn becomes(state: &State, upscaling: &Upscaling, (path, given): (&Path, &GivenMedia)) -> String {
    match upscaling.change {
        FileChange::Detail => detailing::prompt_of(upscaling, path),
        FileChange::Enlarge => {
            let scale = state.settings.upscale.scale;
            let [from_width, from_height] = given.size;
            let [width, height] = given.size.map(|side| (side as f32 * scale).round() as u32);
            let from = format!("{from_width} × {from_height}");
            tr!("upscale-sizes", before = from, after = format!("{width} × {height}"))
        }
        FileChange::Interpolate => {
            let (_, rate) = given.frames();
            let after = rate * state.settings.interpolate.factor as f32;
            tr!("interpolate-rates", before = units::number(rate), after = units::number(after))
        }
    }
}
