//! Images at chosen frames of a clip.

use egui::Ui;
use sluice_engine::request::Request;

use super::{clip_inputs::empty_well, file_menu::FileMenu, input_image::file_row};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{InputFiles, file_name},
        textures::Textures,
        widgets,
    },
};

/// Draws the keyframes, each with its frame, counted from 1 as in the player, and for models that take them a button to add
/// one.
pub fn show(
    ui: &mut Ui,
    request: &mut Request,
    is_taken: bool,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    if request.keyframes.is_empty() && (!is_taken || request.clip.is_some()) {
        return;
    }
    if is_taken {
        let tip = tr!("side-panel-keyframes-tip");
        empty_well(ui, &tr!("side-panel-keyframes"), icons::IMAGE, &tip, Dialog::Keyframe, actions);
    } else {
        widgets::field_label(ui, &tr!("side-panel-keyframes"));
    }
    let last = request.frames.max(2);
    let mut removed = None;
    for (index, keyframe) in request.keyframes.iter_mut().enumerate() {
        ui.push_id(("keyframe", index), |ui| {
            let name = file_name(&keyframe.path);
            let remove = tr!("side-panel-keyframe-remove", name = name);
            let replace = Dialog::OtherKeyframe(index);
            let menu = FileMenu { path: &keyframe.path, replace, remove: &remove };
            file_row(ui, files, textures, &menu, actions, || removed = Some(index));
            let mut number = keyframe.frame + 1;
            widgets::slider_row(ui, &tr!("side-panel-frame"), &mut number, 2..=last, 2..=last, 1.0)
                .on_hover_text(tr!("side-panel-frame-tip"));
            keyframe.frame = number - 1;
        });
    }
    if let Some(index) = removed {
        request.keyframes.remove(index);
    }
}
