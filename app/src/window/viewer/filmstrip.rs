//! The filmstrip of finished images.

use egui::{Color32, CornerRadius, Rect, Ui, Vec2, vec2};

use crate::window::{
    action::Action,
    state::{Progress, QueuedJob, Shown, State},
    textures::Textures,
    tokens::{Palette, radius, size, space},
    widgets,
};

/// Draws the strip, with the live preview before the finished images.
pub fn show(ui: &mut Ui, state: &State, textures: &mut Textures, actions: &mut Vec<Action>) {
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            // Space for the outline of the first image.
            ui.add_space(2.0);
            if let Some((job, progress)) = state.jobs.running() {
                live_tile(ui, state, textures, job, progress, actions);
            }
            for recent in state.images.recents.iter() {
                let selected = state.images.shown == Shown::Recent(recent.id);
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
    let tile = tile(ui, "Live preview, thumbnail", preview, sides, state.images.shown == Shown::Live);
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
        // The centre of the image fills the square.
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
