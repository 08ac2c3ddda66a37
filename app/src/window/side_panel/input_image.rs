//! Image to image: the input image and its mask.

use std::path::Path;

use egui::{
    Align, CornerRadius, FontId, Frame, Layout, Margin, Rect, Response, RichText, Sense, Ui, Vec2, vec2,
};
use sluice_engine::request::{Fit, SourceImage, SourceMask, WIDEST_BLUR};

use super::{clip_inputs::image_or_folder, file_menu::FileMenu, outpaint, parts::Parts};
use crate::{
    language::tr,
    window::{
        action::{Action, Message},
        files::Dialog,
        icons,
        state::{Dropped, FileState, InputFiles, Pixels, file_name},
        textures::Textures,
        tokens::{Palette, font, radius, space},
        widgets::{self, Weight},
    },
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
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if widgets::icon_button(ui, icons::X, &tr!("side-panel-dropped-dismiss")).clicked() {
                        actions.push(Action::Dismiss(Message::Dropped));
                    }
                    let name = file_name(&dropped.path);
                    let text = tr!("side-panel-dropped", name = &name);
                    widgets::told_beside(ui, &text, &name, (FontId::proportional(font::BODY), palette.text));
                });
            });
            ui.horizontal_wrapped(|ui| {
                if widgets::button(
                    ui,
                    Some(icons::RESTORE),
                    &tr!("side-panel-dropped-use-settings"),
                    Weight::Plain,
                )
                .on_hover_text(tr!("viewer-use-settings-tip"))
                .clicked()
                {
                    actions.push(Action::UseDroppedSettings);
                }
                let is_image = matches!(dropped.pixels, Pixels::Image(_));
                if !is_image
                    && takes_clips
                    && widgets::button(
                        ui,
                        Some(icons::FILM),
                        &tr!("side-panel-dropped-use-clip"),
                        Weight::Plain,
                    )
                    .on_hover_text(tr!("gallery-use-as-clip-tip"))
                    .clicked()
                {
                    actions.push(Action::UseAsClip(dropped.path.clone()));
                }
                if is_image
                    && widgets::button(
                        ui,
                        Some(icons::IMAGE),
                        &tr!("side-panel-dropped-use-image"),
                        Weight::Plain,
                    )
                    .on_hover_text(tr!("gallery-use-as-image-tip"))
                    .clicked()
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
        let tip = tr!("side-panel-input-image-tip");
        image_or_folder(ui, &tr!("side-panel-image-to-image"), &tip, actions);
        return;
    };
    widgets::field_label(ui, &tr!("side-panel-image-to-image"));
    let mut is_removed = false;
    let shape = file_row(
        ui,
        &state.input.files,
        textures,
        &FileMenu {
            path: &source.path,
            replace: Dialog::InputImage,
            remove: &tr!("side-panel-input-image-remove"),
        },
        actions,
        || is_removed = true,
    );
    widgets::slider_row(
        ui,
        &tr!("side-panel-denoising-strength"),
        &mut source.strength,
        0.05..=1.0,
        0.01..=1.0,
        0.01,
    )
    .on_hover_text(tr!("side-panel-denoising-strength-tip"));
    let added = source.outpaint;
    let is_of_another_shape = |shape: [usize; 2]| {
        let [width, height] = added.extended(shape.map(|side| side as u32)).map(u64::from);
        width * wanted[1] != height * wanted[0]
    };
    if shape.is_some_and(is_of_another_shape) {
        widgets::choice_row(ui, &tr!("side-panel-fit"), &mut source.fit, Fit::ALL, fit_name)
            .on_hover_text(tr!("side-panel-fit-tip"));
    }
    mask(ui, source, &state.input.files, textures, actions);
    if let Some(image) = state.input.files.pixels(&source.path) {
        let texture = textures.input(ui.ctx(), &source.path, image);
        let summary = state.summary();
        let usual = summary.map_or([512, 512], |summary| [summary.defaults.width, summary.defaults.height]);
        let sizes = outpaint::Sizes {
            multiple: summary.map_or(8, |summary| summary.size_multiple),
            usual: f64::from(usual[0]) * f64::from(usual[1]),
        };
        outpaint::show(ui, request, (texture, image.size), sizes);
    }
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
        widgets::field_label(ui, &tr!("side-panel-mask"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, None, &tr!("side-panel-mask-open"), Weight::Ghost)
                .on_hover_text(tr!("side-panel-mask-open-tip"))
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::Mask));
            }
            ui.add_enabled_ui(is_read, |ui| {
                if widgets::button(ui, None, &tr!("side-panel-mask-paint"), Weight::Ghost)
                    .on_hover_text(tr!("side-panel-mask-paint-tip"))
                    .clicked()
                {
                    actions.push(Action::PaintMask);
                }
            });
        });
    });
    let Some(mask) = &mut source.mask else { return };
    let mut is_removed = false;
    let menu = FileMenu { path: &mask.path, replace: Dialog::Mask, remove: &tr!("side-panel-mask-remove") };
    file_row(ui, files, textures, &menu, actions, || is_removed = true);
    ui.checkbox(&mut mask.keeps_the_rest, RichText::new(tr!("side-panel-mask-keep")).small())
        .on_hover_text(tr!("side-panel-mask-keep-tip"));
    if mask.keeps_the_rest {
        widgets::slider_row(
            ui,
            &tr!("side-panel-mask-feather"),
            &mut mask.blur,
            0..=64,
            0..=WIDEST_BLUR,
            1.0,
        )
        .on_hover_text(tr!("side-panel-mask-feather-tip"));
    }
    only_masked(ui, mask);
    if is_removed {
        source.mask = None;
    }
}

fn only_masked(ui: &mut Ui, mask: &mut SourceMask) {
    let mut is_on = mask.only_masked.is_some();
    let switch = ui.checkbox(&mut is_on, RichText::new(tr!("side-panel-mask-only")).small());
    if switch.on_hover_text(tr!("side-panel-mask-only-tip")).changed() {
        mask.only_masked = is_on.then_some(SourceMask::USUAL_PADDING);
    }
    if let Some(padding) = &mut mask.only_masked {
        let most = SourceMask::WIDEST_PADDING;
        widgets::slider_row(ui, &tr!("side-panel-mask-padding"), padding, 0..=256, 0..=most, 1.0)
            .on_hover_text(tr!("side-panel-mask-padding-tip"));
    }
}

/// What a way to bring an input to the size of the result is called.
pub fn fit_name(fit: Fit) -> String {
    match fit {
        Fit::Crop => tr!("side-panel-fit-crop"),
        Fit::Stretch => tr!("side-panel-fit-stretch"),
        Fit::Pad => tr!("side-panel-fit-pad"),
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

/// A file with thumbnail, name and size, a button to remove it, and a menu. Returns its size once it is known.
pub fn file_row(
    ui: &mut Ui,
    files: &InputFiles,
    textures: &mut Textures,
    menu: &FileMenu<'_>,
    actions: &mut Vec<Action>,
    on_remove: impl FnOnce(),
) -> Option<[usize; 2]> {
    let palette = Palette::of(ui);
    let FileMenu { path, remove, .. } = *menu;
    let state = files.get(path);
    let shape = files.pixels(path).map(|image| image.size);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        // Only a mouse clicks on it: what the menu offers of the image itself has buttons.
        let image = thumbnail(ui, files, textures, path, Sense::CLICK);
        let by_menu = menu.show(&image, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, remove).clicked() || by_menu {
                on_remove();
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.add_space(SIDE / 2.0 - font::BODY - 6.0);
                    let name = RichText::new(file_name(path)).color(palette.text);
                    widgets::line(ui, name, path.display().to_string());
                    match state {
                        Some(FileState::Read(image)) => {
                            widgets::hint(ui, format!("{} × {}", image.width(), image.height()));
                        }
                        Some(FileState::Unreadable(message)) => widgets::mistake(ui, message),
                        Some(FileState::Reading) | None => {
                            widgets::hint(ui, tr!("side-panel-reading"));
                        }
                    }
                });
            });
        });
    });
    shape
}
