//! The bar under the picture and the strip of finished pictures.

use egui::{Align, Align2, Color32, CornerRadius, Layout, Rect, RichText, Ui, Vec2, vec2};

use super::{
    action::Action,
    canvas::View,
    icons,
    recent::Recent,
    state::{Progress, QueuedJob, Shown, State},
    status_bar::stage_words,
    textures::Textures,
    tokens::{Palette, font, radius, size, space},
    widgets::{self, Weight},
    words,
};

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
    if let Some(path) = &recent.path
        && widgets::icon_button(ui, icons::IMAGE, "Draw over this picture").clicked()
    {
        actions.push(Action::UseAsSource(path.clone()));
    }
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
