//! Image to image: the input image and its mask.

use std::path::Path;

use egui::{Align, CornerRadius, Frame, Layout, Margin, Rect, Response, RichText, Sense, Ui, Vec2, vec2};
use sluice_engine::request::{Fit, SourceImage, WIDEST_BLUR};

use super::parts::Parts;
use crate::window::{
    action::{Action, Message},
    files::Dialog,
    icons,
    state::{Dropped, FileState, InputFiles, Pixels, file_name},
    textures::Textures,
    tokens::{Palette, font, radius, space},
    widgets::{self, Weight},
};

/// The side of a thumbnail.
const SIDE: f32 = 60.0;

/// Asks what to do with a dropped image or clip.
pub fn question(ui: &mut Ui, dropped: &Dropped, takes_clips: bool, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.accent_soft)
        .corner_radius(radius::M)
        .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 8 })
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if widgets::icon_button(ui, icons::X, "Dismiss the dropped image").clicked() {
                        actions.push(Action::Dismiss(Message::Dropped));
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        let name = file_name(&dropped.path);
                        ui.add(egui::Label::new(format!("{name} contains settings")).truncate());
                    });
                });
            });
            ui.horizontal(|ui| {
                if widgets::button(ui, Some(icons::RESTORE), "Use settings", Weight::Plain).clicked() {
                    actions.push(Action::UseDroppedSettings);
                }
                let is_image = matches!(dropped.pixels, Pixels::Image(_));
                if !is_image
                    && takes_clips
                    && widgets::button(ui, Some(icons::FILM), "Use as input clip", Weight::Plain).clicked()
                {
                    actions.push(Action::UseAsClip(dropped.path.clone()));
                }
                if is_image
                    && widgets::button(ui, Some(icons::IMAGE), "Use as input image", Weight::Plain).clicked()
                {
                    actions.push(Action::UseAsInput(dropped.path.clone()));
                }
            });
        });
}

/// Draws the section.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, textures: &mut Textures) {
    let Parts { state, draft, actions, .. } = parts;
    let request = &mut draft.request;
    let wanted = [u64::from(request.width), u64::from(request.height)];
    let Some(source) = &mut request.source else {
        ui.horizontal(|ui| {
            widgets::field_label(ui, "Image to image");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::button(ui, Some(icons::IMAGE), "Choose…", Weight::Ghost)
                    .on_hover_text("Start from an image. You can also drop one on the window, or paste it.")
                    .clicked()
                {
                    actions.push(Action::OpenDialog(Dialog::InputImage));
                }
                if widgets::button(ui, Some(icons::FOLDER), "Folder…", Weight::Ghost)
                    .on_hover_text(
                        "Generate from each image of a folder, with these settings. Results have the names of the \
                         images, and what is done is left out.",
                    )
                    .clicked()
                {
                    actions.push(Action::OpenDialog(Dialog::InputFolder));
                }
            });
        });
        return;
    };
    widgets::field_label(ui, "Image to image");
    let mut is_removed = false;
    let shape = file_row(ui, &state.input.files, textures, &source.path, "Remove input image", || {
        is_removed = true;
    });
    widgets::slider_row(ui, "Denoising strength", &mut source.strength, 0.05..=1.0, 0.01..=1.0, 0.01)
        .on_hover_text("How much the input image changes. 1 keeps nothing of it.");
    let is_of_another_shape =
        |[width, height]: [usize; 2]| width as u64 * wanted[1] != height as u64 * wanted[0];
    if shape.is_some_and(is_of_another_shape) {
        widgets::choice_row(ui, "Fit", &mut source.fit, Fit::ALL, Fit::title)
            .on_hover_text("How the input image is brought to the size of the new image.");
    }
    mask(ui, source, &state.input.files, textures, actions);
    if is_removed {
        request.source = None;
    }
}

fn mask(
    ui: &mut Ui,
    source: &mut SourceImage,
    files: &InputFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let is_read = files.pixels(&source.path).is_some();
    ui.horizontal(|ui| {
        widgets::field_label(ui, "Inpaint mask");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, None, "Open…", Weight::Ghost)
                .on_hover_text("Open an image that is white where the input image should change.")
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::Mask));
            }
            ui.add_enabled_ui(is_read, |ui| {
                if widgets::button(ui, None, "Paint…", Weight::Ghost)
                    .on_hover_text("Paint over the area that should change.")
                    .clicked()
                {
                    actions.push(Action::PaintMask);
                }
            });
        });
    });
    let Some(mask) = &mut source.mask else { return };
    let mut is_removed = false;
    file_row(ui, files, textures, &mask.path, "Remove mask", || is_removed = true);
    ui.checkbox(&mut mask.keeps_the_rest, RichText::new("Keep unmasked area unchanged").small())
        .on_hover_text("Copies the pixels outside the mask from the input image.");
    if mask.keeps_the_rest {
        widgets::slider_row(ui, "Mask feather (px)", &mut mask.blur, 0..=64, 0..=WIDEST_BLUR, 1.0)
            .on_hover_text("How wide the edge of the mask blends into the input image.");
    }
    if is_removed {
        source.mask = None;
    }
}

/// A small version of an image, in a square.
pub fn thumbnail(
    ui: &mut Ui,
    files: &InputFiles,
    textures: &mut Textures,
    path: &Path,
    sense: Sense,
) -> Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), sense);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, file_name(path)));
    let rounding = CornerRadius::same(radius::S);
    ui.painter().rect_filled(rect, rounding, palette.raised);
    if let Some(image) = files.pixels(path) {
        let [width, height] = image.size.map(|side| side.max(1) as f32);
        let place = Rect::from_center_size(rect.center(), vec2(width, height) * (SIDE / width.max(height)));
        let texture = textures.input(ui.ctx(), path, image);
        let whole = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
        ui.painter().image(texture, place, whole, egui::Color32::WHITE);
    }
    let stroke = egui::Stroke::new(1.0, palette.line);
    ui.painter().rect_stroke(rect, rounding, stroke, egui::StrokeKind::Outside);
    response
}

/// A file with thumbnail, name and size, and a button to remove it. Returns its size once it is known.
pub fn file_row(
    ui: &mut Ui,
    files: &InputFiles,
    textures: &mut Textures,
    path: &Path,
    remove: &str,
    on_remove: impl FnOnce(),
) -> Option<[usize; 2]> {
    let palette = Palette::of(ui);
    let state = files.get(path);
    let shape = files.pixels(path).map(|image| image.size);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        thumbnail(ui, files, textures, path, Sense::hover());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, remove).clicked() {
                on_remove();
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.add_space(SIDE / 2.0 - font::BODY - 6.0);
                    let name = RichText::new(file_name(path)).color(palette.text);
                    ui.add(egui::Label::new(name).truncate()).on_hover_text(path.display().to_string());
                    match state {
                        Some(FileState::Read(image)) => {
                            widgets::hint(ui, format!("{} × {}", image.width(), image.height()));
                        }
                        Some(FileState::Unreadable(message)) => widgets::mistake(ui, message),
                        Some(FileState::Reading) | None => {
                            widgets::hint(ui, "Reading…");
                        }
                    }
                });
            });
        });
    });
    shape
}
