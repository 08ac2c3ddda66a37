//! What a clip is made from: a start and an end image, or another clip.

use std::path::PathBuf;

use egui::{Align, Layout, Ui};
use sluice_engine::request::{Fit, FrameRange, Mode, Outpaint, Request, RequestError, SourceClip};

use super::{
    control,
    file_menu::FileMenu,
    input_image::{file_row, fit_name},
    keyframes,
    parts::{Parts, sentence},
};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{InputFiles, shortened},
        textures::Textures,
        widgets::{self, Weight},
    },
};

/// The last frame that the fields for a range offer if the length of the clip is not known.
const LAST_FRAME: u32 = 1000;

/// Draws the wells that the model can use, and those that are filled.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, textures: &mut Textures) {
    let summary = parts.state.summary();
    let modes = summary.map(|summary| summary.modes.clone()).unwrap_or_default();
    let (multiple, overlap) =
        summary.map_or((1, None), |summary| (summary.frame_multiple.unwrap_or(1), summary.overlap));
    let can = |wanted: &[Mode]| wanted.iter().any(|mode| modes.contains(mode));
    let files = &parts.state.input.files;
    let (request, actions) = (&mut parts.draft.request, &mut *parts.actions);
    if request.source.is_some() || (can(&[Mode::ImageToVideo, Mode::FirstAndLast]) && request.clip.is_none())
    {
        start_image(ui, request, files, textures, actions);
    }
    if request.last_image.is_some() || (can(&[Mode::FirstAndLast]) && request.source.is_some()) {
        end_image(ui, &mut request.last_image, files, textures, actions);
    }
    if request.clip.is_some() || (can(&[Mode::VideoToVideo, Mode::Extend]) && request.source.is_none()) {
        input_clip(ui, request, &modes, overlap, files, textures, actions);
    }
    let can_control = can(&[Mode::Control]);
    keyframes::show(ui, request, can(&[Mode::Keyframes]), files, textures, actions);
    control::show(ui, request, can_control, (parts.state, textures), actions);
    fit(ui, request, files);
    if request.mode() == Mode::VideoToVideo {
        request.frames = shortened(request, files, multiple);
    }
    if let Some(
        // What is only not filled in yet is said below Generate.
        error @ (RequestError::NoSuchMode { .. }
        | RequestError::ImageAndClip
        | RequestError::ControlAndInput
        | RequestError::ControlStrength(_)
        | RequestError::ControlRange { .. }
        | RequestError::PreprocessorWithoutControl
        | RequestError::ControlPreprocessor(_)
        | RequestError::KeyframeOutside { .. }
        | RequestError::KeyframeTwice(_)
        | RequestError::KeyframesAndClip
        | RequestError::KeyframesInWindows
        | RequestError::ReferencesInWindows
        | RequestError::LastImageAlone
        | RequestError::ClipInputOfImage
        | RequestError::MaskOfClip
        | RequestError::NothingAdded { .. }
        | RequestError::FrameRange(_)
        | RequestError::OneFrameOnly(_)),
    ) = parts.mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
}

/// A label with a button to choose a file.
pub(super) fn empty_well(
    ui: &mut Ui,
    label: &str,
    icon: &str,
    tip: &str,
    dialog: Dialog,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        widgets::field_label(ui, label);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, Some(icon), &tr!("side-panel-choose"), Weight::Ghost)
                .on_hover_text(tip)
                .clicked()
            {
                actions.push(Action::OpenDialog(dialog));
            }
        });
    });
}

/// The same for an image, with another button for a folder of them.
pub(super) fn image_or_folder(ui: &mut Ui, label: &str, tip: &str, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        widgets::field_label(ui, label);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, Some(icons::IMAGE), &tr!("side-panel-choose"), Weight::Ghost)
                .on_hover_text(tip)
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::InputImage));
            }
            folder(ui, &tr!("side-panel-input-folder"), Dialog::InputFolder, actions);
        });
    });
}

/// A button for a folder of images, for each of which a job is queued.
pub(super) fn folder(ui: &mut Ui, name: &str, dialog: Dialog, actions: &mut Vec<Action>) {
    if widgets::explained_icon(ui, icons::FOLDER, name, &tr!("side-panel-input-folder-tip")).clicked() {
        actions.push(Action::OpenDialog(dialog));
    }
}

fn start_image(
    ui: &mut Ui,
    request: &mut Request,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let Some(source) = &mut request.source else {
        let tip = tr!("side-panel-start-image-tip");
        return image_or_folder(ui, &tr!("side-panel-start-image"), &tip, actions);
    };
    widgets::field_label(ui, &tr!("side-panel-start-image"));
    let mut is_removed = false;
    let menu = FileMenu {
        path: &source.path,
        replace: Dialog::InputImage,
        remove: &tr!("side-panel-start-image-remove"),
    };
    file_row(ui, files, textures, &menu, actions, || is_removed = true);
    // A part of an image is generated in images only.
    source.mask = None;
    source.outpaint = Outpaint::default();
    if is_removed {
        request.source = None;
    }
}

fn end_image(
    ui: &mut Ui,
    last: &mut Option<PathBuf>,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let Some(path) = last else {
        let tip = tr!("side-panel-end-image-tip");
        return empty_well(ui, &tr!("side-panel-end-image"), icons::IMAGE, &tip, Dialog::LastImage, actions);
    };
    widgets::field_label(ui, &tr!("side-panel-end-image"));
    let mut is_removed = false;
    let remove = tr!("side-panel-end-image-remove");
    let menu = FileMenu { path, replace: Dialog::LastImage, remove: &remove };
    file_row(ui, files, textures, &menu, actions, || is_removed = true);
    if is_removed {
        *last = None;
    }
}

fn input_clip(
    ui: &mut Ui,
    request: &mut Request,
    modes: &[Mode],
    overlap: Option<u32>,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let rate = request.frame_rate;
    let Some(clip) = &mut request.clip else {
        let tip = tr!("side-panel-input-clip-tip");
        return empty_well(ui, &tr!("side-panel-input-clip"), icons::FILM, &tip, Dialog::InputClip, actions);
    };
    widgets::field_label(ui, &tr!("side-panel-input-clip"));
    let mut is_removed = false;
    let menu = FileMenu {
        path: &clip.path,
        replace: Dialog::InputClip,
        remove: &tr!("side-panel-input-clip-remove"),
    };
    file_row(ui, files, textures, &menu, actions, || is_removed = true);
    if modes.contains(&Mode::VideoToVideo) && modes.contains(&Mode::Extend) {
        let [change, extend] = [tr!("side-panel-clip-change"), tr!("side-panel-clip-extend")];
        let choices = [
            (false, change, tr!("side-panel-clip-change-tip")),
            (true, extend, tr!("side-panel-clip-extend-tip")),
        ];
        if let Some(extends) = widgets::segmented(ui, clip.extends, &choices) {
            clip.extends = extends;
        }
    }
    let last = files.seconds(&clip.path).map(|seconds| (seconds * f64::from(rate)).round() as u32);
    range(ui, clip, last.unwrap_or(LAST_FRAME).max(1) - 1);
    if clip.extends {
        if let Some(overlap) = overlap {
            widgets::hint(ui, tr!("side-panel-clip-continues", frames = overlap));
        }
    } else {
        widgets::slider_row(
            ui,
            &tr!("side-panel-denoising-strength"),
            &mut clip.strength,
            0.05..=1.0,
            0.01..=1.0,
            0.01,
        )
        .on_hover_text(tr!("side-panel-denoising-strength-clip-tip"));
    }
    if is_removed {
        request.clip = None;
    }
}

/// The first and the last frame of the clip that are used, counted from 1 as in the player.
fn range(ui: &mut Ui, clip: &mut SourceClip, most: u32) {
    let FrameRange { start, end } = clip.range;
    let (mut first, mut last) = (start + 1, end.unwrap_or(most + 1).max(1));
    let numbers = || 1..=most + 1;
    let all = || 1..=u32::MAX / 2;
    let tip = tr!("side-panel-range-tip");
    let from = widgets::slider_row(ui, &tr!("side-panel-first-frame"), &mut first, numbers(), all(), 1.0)
        .on_hover_text(&tip);
    let to = widgets::slider_row(ui, &tr!("side-panel-last-frame"), &mut last, numbers(), all(), 1.0)
        .on_hover_text(tip);
    if from.changed() || first != start + 1 {
        clip.range.start = first - 1;
    }
    if to.changed() {
        clip.range.end = (last <= most).then_some(last);
    }
}

/// How inputs of another shape are brought to the size of the clip.
fn fit(ui: &mut Ui, request: &mut Request, files: &InputFiles) {
    let wanted = [u64::from(request.width), u64::from(request.height)];
    let (path, fit) = match (&mut request.source, &mut request.clip) {
        (Some(source), _) => (&source.path, &mut source.fit),
        (None, Some(clip)) => (&clip.path, &mut clip.fit),
        (None, None) => return,
    };
    let is_of_another_shape = files.pixels(path).is_some_and(|image| {
        let [width, height] = image.size;
        width as u64 * wanted[1] != height as u64 * wanted[0]
    });
    if is_of_another_shape {
        widgets::choice_row(ui, &tr!("side-panel-fit"), fit, Fit::ALL, fit_name)
            .on_hover_text(tr!("side-panel-fit-clip-tip"));
    }
}
