//! The middle of the window: the picture, the bar under it, and what stands in its place.

use std::sync::Arc;

use egui::{
    Align, Align2, Area, Color32, CornerRadius, Frame, Layout, Margin, Order, Rect, RichText, Ui, Vec2, vec2,
};

use super::{
    action::Action,
    canvas::{self, View},
    files::Dialog,
    icons,
    recent::{Recent, RecentId},
    state::{FailureCard, ModelStatus, Progress, QueuedJob, Shown, State},
    status_bar::stage_words,
    textures::Textures,
    tokens::{Palette, font, radius, shadow, size, space},
    widgets::{self, Weight},
    words,
};

/// Draws the picture or what stands in its place.
pub fn picture(
    ui: &mut Ui,
    state: &State,
    view: &mut View,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let area = ui.max_rect();
    match (state.shown, state.running()) {
        (Shown::Live, Some((job, progress))) => live(ui, area, view, textures, job, progress),
        (Shown::Recent(id), _) => {
            if let Some(recent) = state.recents.get(id) {
                finished(ui, area, view, textures, recent);
            }
        }
        (Shown::Nothing | Shown::Live, _) if state.failures.is_empty() => nothing(ui, area, state, actions),
        (Shown::Nothing | Shown::Live, _) => {}
    }
    if let Some(card) = state.failures.last() {
        if state.shown != Shown::Nothing {
            ui.painter_at(area).rect_filled(area, CornerRadius::ZERO, Palette::of(ui).scrim);
        }
        failure(ui, area, card, state.failures.len(), actions);
    }
}

fn live(
    ui: &mut Ui,
    area: Rect,
    view: &mut View,
    textures: &mut Textures,
    job: &QueuedJob,
    progress: &Progress,
) {
    let picture = vec2(job.request.width as f32, job.request.height as f32);
    let place = canvas::interact(ui, view, area, picture, "The forming picture");
    canvas::paint_sheet(ui, area, place);
    if progress.preview.is_empty() {
        let palette = Palette::of(ui);
        let words = stage_words(progress.stage, progress.step, progress.steps);
        let font = font::medium(font::BODY);
        ui.painter_at(area).text(place.center(), Align2::CENTER_CENTER, words, font, palette.text_faint);
        return;
    }
    let drawn = textures.live(ui.ctx(), job.id, progress);
    for (cell, texture) in canvas::grid(place, drawn.len()).into_iter().zip(drawn) {
        canvas::paint_picture(ui, area, cell, texture, Color32::WHITE);
    }
}

fn finished(ui: &mut Ui, area: Rect, view: &mut View, textures: &mut Textures, recent: &Recent) {
    let size = |image: &egui::ColorImage| vec2(image.width() as f32, image.height() as f32);
    let (picture, loaded) = match (&recent.image, &recent.request) {
        (Some(image), _) => (size(image), Some(image)),
        (None, Some(request)) => (vec2(request.width as f32, request.height as f32), None),
        (None, None) => (size(&recent.thumbnail), None),
    };
    let place = canvas::interact(ui, view, area, picture, &recent.name());
    canvas::paint_sheet(ui, area, place);
    let texture = match loaded {
        Some(image) => {
            let pixels = canvas::shows_pixels(view.zoom(picture, area, ui.pixels_per_point()));
            textures.picture(ui.ctx(), recent.id, image, pixels)
        }
        // Until the file is read.
        None => textures.thumbnail(ui.ctx(), recent.id, &recent.thumbnail),
    };
    canvas::paint_picture(ui, area, place, texture, Color32::WHITE);
}

fn nothing(ui: &mut Ui, area: Rect, state: &State, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let examples = state.summary().map_or(&[][..], |summary| &summary.examples);
    let width = (area.width() - 2.0 * space::XL).min(size::CARD);
    let height: f32 = 150.0 + examples.len() as f32 * (size::CONTROL + 2.0 + space::XS);
    let place = Rect::from_center_size(area.center(), vec2(width, height.min(area.height())));
    ui.scope_builder(egui::UiBuilder::new().max_rect(place), |ui| {
        ui.vertical_centered(|ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let (icon, title, words) = match &state.status {
                ModelStatus::Ready(_) if !state.jobs.is_empty() => {
                    (icons::SPARKLES, "Your picture is next", "It forms here as soon as the engine begins.")
                }
                ModelStatus::Ready(_) if examples.is_empty() => (
                    icons::IMAGE,
                    "What should the picture show?",
                    "Describe it on the left, then press Generate.",
                ),
                ModelStatus::Ready(_) => (
                    icons::IMAGE,
                    "What should the picture show?",
                    "Describe it on the left, or begin with one of these.",
                ),
                ModelStatus::Loading => (icons::PACKAGE, "Reading the model…", "This takes a moment."),
                ModelStatus::Failed => {
                    (icons::PACKAGE, "No model is open", "Choose one above, or open one from your disk.")
                }
            };
            widgets::icon(ui, icon, 34.0, palette.text_faint);
            ui.add_space(space::S);
            ui.label(RichText::new(title).font(font::semibold(font::TITLE)).color(palette.text));
            ui.label(RichText::new(words).color(palette.text_muted));
            ui.add_space(space::M);
            if state.status == ModelStatus::Failed {
                if widgets::button(ui, Some(icons::FILE), "Open a model file…", Weight::Plain).clicked() {
                    actions.push(Action::OpenDialog(Dialog::ModelFile));
                }
            } else if state.jobs.is_empty() {
                for example in examples {
                    if widgets::chip(ui, icons::SPARKLES, example).clicked() {
                        actions.push(Action::UsePrompt(example.clone()));
                    }
                }
            }
        });
    });
}

fn failure(ui: &mut Ui, area: Rect, card: &FailureCard, count: usize, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let width = (area.width() - 2.0 * space::XL).min(size::CARD);
    Area::new(ui.scope_id().with("failure"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(area.center())
        .constrain_to(area)
        .show(ui.ctx(), |ui| {
            Frame::new()
                .fill(palette.panel)
                .stroke(egui::Stroke::new(1.0, palette.line_strong))
                .corner_radius(radius::L)
                .shadow(shadow(palette))
                .inner_margin(Margin::same(space::XL as i8))
                .show(ui, |ui| {
                    ui.set_width(width - 2.0 * space::XL);
                    failure_words(ui, card, count);
                    ui.add_space(space::M);
                    ui.horizontal(|ui| {
                        if widgets::button(ui, None, "Dismiss", Weight::Plain).clicked() {
                            actions.push(Action::DismissFailure);
                        }
                        if widgets::button(ui, Some(icons::COPY), "Copy the message", Weight::Ghost).clicked()
                        {
                            let advice = card.failure.advice.as_deref().unwrap_or_default();
                            let text = format!("{}\n{}\n{advice}", card.title, card.failure.message);
                            actions.push(Action::CopyText(text.trim().to_owned()));
                        }
                    });
                });
        });
}

fn failure_words(ui: &mut Ui, card: &FailureCard, count: usize) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        widgets::icon(ui, icons::TRIANGLE_ALERT, 20.0, palette.danger);
        ui.label(RichText::new(&card.title).font(font::semibold(font::HEADING)).color(palette.text));
        if count > 1 {
            ui.label(RichText::new(format!("and {} more", count - 1)).small().color(palette.text_faint));
        }
    });
    ui.add_space(space::XS);
    egui::ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
        let message = RichText::new(&card.failure.message).color(palette.text_muted);
        ui.add(egui::Label::new(message).wrap().selectable(true));
        if let Some(advice) = &card.failure.advice {
            ui.add_space(space::S);
            let advice = RichText::new(advice).font(font::medium(font::BODY)).color(palette.text);
            ui.add(egui::Label::new(advice).wrap().selectable(true));
        }
    });
}

/// The bar under the picture: what it is, what can be done with it, and how it is looked at.
pub fn toolbar(ui: &mut Ui, state: &State, view: &mut View, area: Rect, now: f64, actions: &mut Vec<Action>) {
    let density = ui.pixels_per_point();
    if let Some((_, progress)) = state.running() {
        let top = ui.clip_rect().left_top();
        let edge = Rect::from_min_size(top, vec2(ui.clip_rect().width(), size::PROGRESS / 2.0));
        widgets::progress_bar(ui, edge, progress.fraction());
    }
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let (caption, picture, recent) = match (state.shown, state.running()) {
            (Shown::Live, Some((job, progress))) => {
                let size = vec2(job.request.width as f32, job.request.height as f32);
                (live_caption(progress, now), size, None)
            }
            (Shown::Recent(id), _) => match state.recents.get(id) {
                Some(recent) => {
                    let size = picture_size(recent);
                    (recent_caption(recent, size), size, Some(recent))
                }
                None => return,
            },
            _ => return,
        };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            zoom_controls(ui, view, picture, area, density);
            if let Some(recent) = recent {
                separator(ui);
                picture_actions(ui, recent, actions);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let color = Palette::of(ui).text_muted;
                ui.add(egui::Label::new(RichText::new(caption).small().color(color)).truncate());
            });
        });
    });
}

fn separator(ui: &mut Ui) {
    ui.add_space(space::XS);
    let (rect, _) = ui.allocate_exact_size(vec2(1.0, 18.0), egui::Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::ZERO, Palette::of(ui).line);
    ui.add_space(space::XS);
}

/// From right to left.
fn zoom_controls(ui: &mut Ui, view: &mut View, picture: Vec2, area: Rect, density: f32) {
    let percent = (view.zoom(picture, area, density) * 100.0).round();
    let actual = (percent - 100.0).abs() < 0.5 && !view.is_fit();
    let weight = |on| if on { Weight::Selected } else { Weight::Ghost };
    if widgets::button(ui, None, "100 %", weight(actual)).clicked() {
        view.actual();
    }
    if widgets::button(ui, None, "Fit", weight(view.is_fit())).clicked() {
        view.fit();
    }
    let color = Palette::of(ui).text_faint;
    let (rect, _) = ui.allocate_exact_size(vec2(46.0, size::CONTROL), egui::Sense::hover());
    let place = egui::pos2(rect.right() - space::XS, rect.center().y);
    let font = egui::FontId::proportional(font::SMALL);
    ui.painter().text(place, Align2::RIGHT_CENTER, format!("{percent} %"), font, color);
}

/// From right to left.
fn picture_actions(ui: &mut Ui, recent: &Recent, actions: &mut Vec<Action>) {
    if let Some(folder) = recent.path.as_ref().and_then(|path| path.parent())
        && widgets::icon_button(ui, icons::FOLDER_OPEN, "Show in folder").clicked()
    {
        actions.push(Action::OpenFolder(folder.to_owned()));
    }
    ui.add_enabled_ui(recent.image.is_some(), |ui| {
        if widgets::icon_button(ui, icons::COPY, "Copy the picture").clicked() {
            actions.push(Action::CopyPicture(recent.id));
        }
    });
    if recent.request.is_some()
        && widgets::button(ui, Some(icons::RESTORE), "Use these settings", Weight::Ghost).clicked()
    {
        actions.push(Action::UseSettings(recent.id));
    }
}

fn live_caption(progress: &Progress, now: f64) -> String {
    let stage = stage_words(progress.stage, progress.step, progress.steps);
    match progress.seconds_left(now) {
        Some(seconds) => format!("{stage} · {}", words::time_left(seconds)),
        None => stage,
    }
}

fn picture_size(recent: &Recent) -> Vec2 {
    let image = recent.image.as_ref().map(|image| image.size);
    let request = recent.request.as_ref().map(|request| [request.width as usize, request.height as usize]);
    let [width, height] = image.or(request).unwrap_or(recent.thumbnail.size);
    vec2(width as f32, height as f32)
}

fn recent_caption(recent: &Recent, size: Vec2) -> String {
    let mut parts = vec![format!("{} × {}", size.x, size.y)];
    if let Some(request) = &recent.request {
        parts.push(format!("seed {}", request.seed));
        parts.push(format!("{} steps", request.steps));
        parts.push(format!("guidance {}", words::number(request.guidance)));
    }
    if let Some(seconds) = recent.seconds {
        parts.push(words::duration(seconds));
    }
    parts.join(" · ")
}

/// The strip of finished pictures, with the forming one before them.
pub fn strip(ui: &mut Ui, state: &State, textures: &mut Textures, actions: &mut Vec<Action>) {
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            // Room for the line around the first.
            ui.add_space(2.0);
            if let Some((job, progress)) = state.running() {
                live_tile(ui, state, textures, job, progress, actions);
            }
            for recent in state.recents.iter() {
                let selected = state.shown == Shown::Recent(recent.id);
                let visible =
                    ui.is_rect_visible(Rect::from_min_size(ui.cursor().min, Vec2::splat(size::THUMBNAIL)));
                let texture = visible.then(|| textures.thumbnail(ui.ctx(), recent.id, &recent.thumbnail));
                let tile = tile(ui, &recent.name(), texture, recent.thumbnail.size, selected);
                let prompt =
                    recent.request.as_ref().map(|request| request.prompt.as_str()).unwrap_or_default();
                let tip = if prompt.is_empty() { recent.name() } else { prompt.to_owned() };
                if tile.on_hover_text(tip).clicked() {
                    actions.push(Action::Show(Shown::Recent(recent.id)));
                }
            }
        });
    });
}

fn live_tile(
    ui: &mut Ui,
    state: &State,
    textures: &mut Textures,
    job: &QueuedJob,
    progress: &Progress,
    actions: &mut Vec<Action>,
) {
    let preview = textures.live(ui.ctx(), job.id, progress).into_iter().next();
    let sides = [job.request.width as usize, job.request.height as usize];
    let tile = tile(ui, "The forming picture, small", preview, sides, state.shown == Shown::Live);
    let bar = Rect::from_min_max(
        tile.rect.left_bottom() + vec2(6.0, -6.0 - size::PROGRESS),
        tile.rect.right_bottom() + vec2(-6.0, -6.0),
    );
    widgets::progress_bar(ui, bar, progress.fraction());
    if tile.clicked() {
        actions.push(Action::Show(Shown::Live));
    }
}

fn tile(
    ui: &mut Ui,
    name: &str,
    texture: Option<egui::TextureId>,
    sides: [usize; 2],
    selected: bool,
) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::THUMBNAIL), egui::Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, selected, name));
    let rounding = CornerRadius::same(radius::S);
    ui.painter().rect_filled(rect, rounding, palette.raised);
    if let Some(texture) = texture {
        // The middle of the picture fills the square.
        let [width, height] = sides.map(|side| side.max(1) as f32);
        let part = vec2((height / width).min(1.0), (width / height).min(1.0));
        let uv = Rect::from_center_size(egui::pos2(0.5, 0.5), part);
        let shape = egui::epaint::RectShape::filled(rect, rounding, Color32::WHITE).with_texture(texture, uv);
        ui.painter().add(shape);
    }
    let (width, line) = match (selected, response.hovered() || response.has_focus()) {
        (true, _) => (2.0, palette.accent),
        (false, true) => (1.5, palette.text_muted),
        (false, false) => (1.0, palette.line),
    };
    ui.painter().rect_stroke(rect, rounding, egui::Stroke::new(width, line), egui::StrokeKind::Outside);
    response
}

/// Says what a file would do that is held over the window.
pub fn drop_hint(ui: &Ui, area: Rect) {
    let palette = Palette::of(ui);
    let layer = egui::LayerId::new(Order::Foreground, egui::Id::unique("sluice drop hint"));
    let painter = ui.ctx().layer_painter(layer);
    painter.rect_filled(area, CornerRadius::ZERO, palette.scrim);
    let card = Rect::from_center_size(area.center(), vec2(440.0, 120.0));
    let line = egui::Stroke::new(1.5, palette.accent);
    painter.rect(card, CornerRadius::same(radius::L), palette.panel, line, egui::StrokeKind::Inside);
    let text = |y: f32, words: &str, font: egui::FontId, color: Color32| {
        painter.text(card.center() + vec2(0.0, y), Align2::CENTER_CENTER, words, font, color);
    };
    text(-28.0, icons::FILE_UP, font::icons(24.0), palette.accent);
    text(8.0, "Drop a picture to use its settings", font::semibold(font::HEADING), palette.text);
    text(32.0, "or a model to open it", egui::FontId::proportional(font::BODY), palette.text_muted);
}

/// The picture that is shown, if its pixels must be read again.
pub fn missing_pixels(state: &State) -> Option<(RecentId, std::path::PathBuf)> {
    let Shown::Recent(id) = state.shown else { return None };
    let recent = state.recents.get(id)?;
    match (&recent.image, &recent.path) {
        (None, Some(path)) => Some((id, path.clone())),
        _ => None,
    }
}

/// A picture's pixels, if they are here.
pub fn pixels(state: &State, id: RecentId) -> Option<Arc<egui::ColorImage>> {
    state.recents.get(id)?.image.clone()
}
