//! What controls a clip.

use egui::{Align, Layout, Ui};
use sluice_engine::request::{Control, Preprocessor, Request, STRONGEST_CONTROL};

use super::{
    clip_inputs::empty_well,
    control_nets::{estimator, preprocessor_title},
    file_menu::FileMenu,
    input_image::file_row,
};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{InputFiles, State},
        textures::Textures,
        widgets::{self, Weight},
    },
};

/// The largest strength on the slider; larger ones can be typed.
const STRONG: f32 = 2.0;

/// Draws the control clip, its mask and their strength, for models that take them and as long as there are any.
pub fn show(
    ui: &mut Ui,
    request: &mut Request,
    is_taken: bool,
    (state, textures): (&State, &mut Textures),
    actions: &mut Vec<Action>,
) {
    let files = &state.input.files;
    let Some(control) = &mut request.control else {
        if is_taken {
            let tip = tr!("side-panel-control-clip-tip");
            empty_well(ui, &tr!("side-panel-control-clip"), icons::FILM, &tip, Dialog::ControlClip, actions);
        }
        return;
    };
    let mut is_removed = false;
    match &control.video {
        Some(video) => {
            widgets::field_label(ui, &tr!("side-panel-control-clip"));
            let remove = tr!("side-panel-control-clip-remove");
            let menu = FileMenu { path: video, replace: Dialog::ControlClip, remove: &remove };
            file_row(ui, files, textures, &menu, actions, || is_removed = true);
            mask(ui, control, files, textures, actions);
            let label = tr!("control-nets-preprocessor");
            widgets::choice_row(
                ui,
                &label,
                &mut control.preprocessor,
                Preprocessor::of_clips(),
                preprocessor_title,
            )
            .on_hover_text(tr!("side-panel-control-preprocessor-tip"));
            if let Some(kind) = control.estimated() {
                estimator(ui, state, (kind, &mut request.estimators), actions);
            }
        }
        None => {
            ui.horizontal(|ui| {
                widgets::field_label(ui, &tr!("side-panel-control"));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let button =
                        widgets::button(ui, Some(icons::X), &tr!("side-panel-control-remove"), Weight::Ghost);
                    is_removed = button.clicked();
                });
            });
        }
    }
    let (slider, typed) = (0.0..=STRONG, 0.0..=STRONGEST_CONTROL);
    widgets::slider_row(ui, &tr!("side-panel-control-strength"), &mut control.strength, slider, typed, 0.01)
        .on_hover_text(tr!("side-panel-control-strength-tip"));
    widgets::slider_row(ui, &tr!("control-nets-start"), &mut control.start, 0.0..=0.95, 0.0..=0.99, 0.05)
        .on_hover_text(tr!("side-panel-control-start-tip"));
    widgets::slider_row(ui, &tr!("control-nets-end"), &mut control.end, 0.05..=1.0, 0.01..=1.0, 0.05)
        .on_hover_text(tr!("side-panel-control-end-tip"));
    if is_removed {
        request.control = None;
    }
}

fn mask(
    ui: &mut Ui,
    control: &mut Control,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let Some(path) = &control.mask else {
        let tip = tr!("side-panel-control-mask-tip");
        return empty_well(
            ui,
            &tr!("side-panel-control-mask"),
            icons::LAYERS,
            &tip,
            Dialog::ControlMask,
            actions,
        );
    };
    widgets::field_label(ui, &tr!("side-panel-control-mask"));
    let mut is_removed = false;
    let remove = tr!("side-panel-control-mask-remove");
    let menu = FileMenu { path, replace: Dialog::ControlMask, remove: &remove };
    file_row(ui, files, textures, &menu, actions, || is_removed = true);
    if is_removed {
        control.mask = None;
    }
}
