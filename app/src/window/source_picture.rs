//! The picture that is drawn over: its part of the settings, and the files that it is read from.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::{Align, ColorImage, CornerRadius, Frame, Layout, Margin, Rect, RichText, Ui, Vec2, vec2};
use sluice_engine::request::{Fit, SourceImage, SourceMask, WIDEST_BLUR};

use super::{
    action::Action,
    draft::Draft,
    files::Dialog,
    icons,
    picture_settings::PictureSettings,
    recent::file_name,
    state::State,
    textures::Textures,
    tokens::{Palette, font, radius, space},
    widgets::{self, Weight},
};

/// The side of the small picture.
const SIDE: f32 = 60.0;

/// What is known of a file.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    /// It is being read.
    Reading,
    /// Its pixels.
    Here(Arc<ColorImage>),
    /// Why it cannot be read.
    Unreadable(String),
}

/// The pixels of the picture that is drawn over, and of its mask.
#[derive(Debug, Default)]
pub struct SourceFiles {
    seen: Vec<(PathBuf, Seen)>,
}

impl SourceFiles {
    /// The pixels of a file, once they are read.
    pub fn pixels(&self, path: &Path) -> Option<&Arc<ColorImage>> {
        match self.seen(path) {
            Some(Seen::Here(image)) => Some(image),
            _ => None,
        }
    }

    /// Whether a file was tried and cannot be read.
    pub fn is_unreadable(&self, path: &Path) -> bool {
        matches!(self.seen(path), Some(Seen::Unreadable(_)))
    }

    /// A file of the settings that is to be read now; what they do not name is forgotten.
    pub fn wanted(&mut self, draft: &Draft) -> Option<PathBuf> {
        let source = draft.source.as_ref();
        let mask = source.and_then(|source| source.mask.as_ref()).map(|mask| &mask.path);
        let named: Vec<&PathBuf> = source.map(|source| &source.path).into_iter().chain(mask).collect();
        self.seen.retain(|(path, _)| named.contains(&path));
        let missing = named.into_iter().find(|path| self.seen(path).is_none())?.clone();
        self.seen.push((missing.clone(), Seen::Reading));
        Some(missing)
    }

    /// A file was read, or cannot be.
    pub fn take(&mut self, path: &Path, read: Result<ColorImage, String>) {
        if let Some((_, seen)) = self.seen.iter_mut().find(|(known, _)| known == path) {
            *seen = match read {
                Ok(image) => Seen::Here(Arc::new(image)),
                Err(message) => Seen::Unreadable(message),
            };
        }
    }

    fn seen(&self, path: &Path) -> Option<&Seen> {
        self.seen.iter().find(|(known, _)| known == path).map(|(_, seen)| seen)
    }
}

/// A picture with settings inside that was dropped on the window: one may be meant or the other.
#[derive(Debug)]
pub struct Dropped {
    /// Its file.
    pub path: PathBuf,
    /// Its pixels.
    pub image: ColorImage,
    /// What made it.
    pub settings: Box<PictureSettings>,
}

/// Asks what a dropped picture is for.
pub fn question(ui: &mut Ui, dropped: &Dropped, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.accent_soft)
        .corner_radius(radius::M)
        .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 8 })
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if widgets::icon_button(ui, icons::X, "Dismiss the question").clicked() {
                        actions.push(Action::DismissDropped);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        let name = file_name(&dropped.path);
                        ui.add(egui::Label::new(format!("Settings are inside {name}")).truncate());
                    });
                });
            });
            ui.horizontal(|ui| {
                if widgets::button(ui, Some(icons::RESTORE), "Use settings", Weight::Plain).clicked() {
                    actions.push(Action::UseDroppedSettings);
                }
                if widgets::button(ui, Some(icons::IMAGE), "Use as source", Weight::Plain).clicked() {
                    actions.push(Action::UseAsSource(dropped.path.clone()));
                }
            });
        });
}

/// Draws the part of the settings.
pub fn show(ui: &mut Ui, state: &mut State, textures: &mut Textures, actions: &mut Vec<Action>) {
    let sizes = [state.draft.width, state.draft.height];
    let State { draft, sources, .. } = state;
    let Some(source) = &mut draft.source else {
        ui.horizontal(|ui| {
            widgets::field_label(ui, "Picture to draw over");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::button(ui, Some(icons::IMAGE), "Choose…", Weight::Ghost)
                    .on_hover_text("Or drop a picture on the window.")
                    .clicked()
                {
                    actions.push(Action::OpenDialog(Dialog::SourcePicture));
                }
            });
        });
        return;
    };
    widgets::field_label(ui, "Picture to draw over");
    let shape = file_row(ui, sources, textures, &source.path, "Remove the picture", || {
        actions.push(Action::ClearSource);
    });
    widgets::slider_row(ui, "Strength", &mut source.strength, 0.05..=1.0, 0.01..=1.0, 0.01);
    widgets::hint(ui, "How much of it changes.");
    if shape.is_some_and(|[width, height]| {
        width as u64 * u64::from(sizes[1]) != height as u64 * u64::from(sizes[0])
    }) {
        widgets::choice_row(ui, "Fit", &mut source.fit, Fit::ALL, Fit::title);
    }
    mask(ui, source, sources, textures, actions);
}

fn mask(
    ui: &mut Ui,
    source: &mut SourceImage,
    sources: &SourceFiles,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let is_read = sources.pixels(&source.path).is_some();
    ui.horizontal(|ui| {
        widgets::field_label(ui, "Mask");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::button(ui, None, "Open…", Weight::Ghost)
                .on_hover_text("A picture in which what is to be drawn anew is light.")
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::SourceMask));
            }
            ui.add_enabled_ui(is_read, |ui| {
                if widgets::button(ui, None, "Paint…", Weight::Ghost)
                    .on_hover_text("Paint over what is to be drawn anew.")
                    .clicked()
                {
                    actions.push(Action::PaintMask);
                }
            });
        });
    });
    let Some(mask) = &mut source.mask else { return };
    let mut is_removed = false;
    file_row(ui, sources, textures, &mask.path, "Remove the mask", || is_removed = true);
    ui.checkbox(&mut mask.keeps_the_rest, RichText::new("Keep the rest to the pixel").small());
    if mask.keeps_the_rest {
        widgets::slider_row(ui, "Fade in pixels", &mut mask.blur, 0..=64, 0..=WIDEST_BLUR, 1.0);
    }
    if is_removed {
        source.mask = None;
    }
}

/// A file with its picture, name and size, and a button that takes it away. Returns its sides, once they are known.
fn file_row(
    ui: &mut Ui,
    sources: &SourceFiles,
    textures: &mut Textures,
    path: &Path,
    remove: &str,
    on_remove: impl FnOnce(),
) -> Option<[usize; 2]> {
    let palette = Palette::of(ui);
    let seen = sources.seen(path);
    let shape = sources.pixels(path).map(|image| image.size);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), egui::Sense::hover());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, file_name(path)));
        let rounding = CornerRadius::same(radius::S);
        ui.painter().rect_filled(rect, rounding, palette.raised);
        if let Some(image) = sources.pixels(path) {
            let [width, height] = image.size.map(|side| side.max(1) as f32);
            let place =
                Rect::from_center_size(rect.center(), vec2(width, height) * (SIDE / width.max(height)));
            let texture = textures.source(ui.ctx(), path, image);
            let whole = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
            ui.painter().image(texture, place, whole, egui::Color32::WHITE);
        }
        ui.painter().rect_stroke(
            rect,
            rounding,
            egui::Stroke::new(1.0, palette.line),
            egui::StrokeKind::Outside,
        );
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
                    match seen {
                        Some(Seen::Here(image)) => {
                            widgets::hint(ui, format!("{} × {}", image.width(), image.height()));
                        }
                        Some(Seen::Unreadable(message)) => widgets::mistake(ui, message),
                        Some(Seen::Reading) | None => {
                            widgets::hint(ui, "Reading…");
                        }
                    }
                });
            });
        });
    });
    shape
}

impl Draft {
    /// Draws over this picture from now on; how strongly stays as it was.
    pub fn draw_over(&mut self, path: PathBuf) {
        let strength = self.source.as_ref().map_or(SourceImage::default().strength, |source| source.strength);
        self.source = Some(SourceImage { path, strength, ..SourceImage::default() });
    }

    /// Draws only where a mask is light from now on.
    pub fn draw_within(&mut self, path: PathBuf) {
        if let Some(source) = &mut self.source {
            source.mask = Some(SourceMask { path, ..source.mask.take().unwrap_or_default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_once_and_forgotten_with_the_settings() {
        let (mut files, mut draft) = (SourceFiles::default(), Draft::default());
        assert_eq!(files.wanted(&draft), None);
        draft.draw_over("fox.png".into());
        draft.draw_within("mask.png".into());
        assert_eq!(files.wanted(&draft), Some("fox.png".into()));
        assert_eq!(files.wanted(&draft), Some("mask.png".into()));
        assert_eq!(files.wanted(&draft), None);
        files.take(Path::new("fox.png"), Ok(ColorImage::filled([2, 1], egui::Color32::RED)));
        files.take(Path::new("mask.png"), Err("gone".to_owned()));
        assert!(files.pixels(Path::new("fox.png")).is_some_and(|image| image.size == [2, 1]));
        assert!(files.pixels(Path::new("mask.png")).is_none());
        draft.draw_over("dog.png".into());
        assert!(draft.source.as_ref().is_some_and(|source| source.mask.is_none()));
        assert_eq!(files.wanted(&draft), Some("dog.png".into()));
        assert!(files.pixels(Path::new("fox.png")).is_none());
    }
}
