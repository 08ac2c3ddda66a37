//! The filmstrip of finished images and clips.

use egui::{Align2, Color32, CornerRadius, FontId, Rect, Sense, Ui, Vec2, vec2};

use super::{player::repaint_at_next_frame, toolbar};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        drag_out, icons,
        state::{ClipLength, Playback, Progress, QueuedJob, Recent, RecentId, Shown, State},
        textures::Textures,
        tokens::{Palette, font, radius, size, space},
        widgets,
    },
};

/// The clip under the pointer, which plays, and what was shown in the last frame.
#[derive(Debug, Default)]
pub struct Hovered {
    clip: Option<(RecentId, Option<Playback>)>,
    shown: Option<Shown>,
}

impl Hovered {
    /// The clip.
    pub fn clip(&self) -> Option<RecentId> {
        self.clip.as_ref().map(|(id, _)| *id)
    }

    /// Plays a clip from its start when the pointer reaches it, or when its frames are loaded.
    fn play(&mut self, recent: &Recent, now: f64) -> Option<&Playback> {
        if self.clip() != Some(recent.id) {
            self.clip = Some((recent.id, None));
        }
        let (_, playback) = self.clip.as_mut()?;
        let clip = recent.clip()?;
        Some(
            &*playback
                .get_or_insert_with(|| Playback::new(clip.frames.len() as u32, f64::from(clip.rate), now)),
        )
    }
}

/// Draws the strip, with the live preview before the finished images.
pub fn show(
    ui: &mut Ui,
    state: &State,
    hovered: &mut Hovered,
    textures: &mut Textures,
    now: f64,
    actions: &mut Vec<Action>,
) {
    let mut under_pointer = None;
    // The wheel scrolls the only direction there is.
    ui.style_mut().always_scroll_the_only_direction = true;
    let shown = state.images.shown;
    let is_new = hovered.shown.replace(shown) != Some(shown);
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            // Space for the outline of the first image.
            ui.add_space(2.0);
            if let Some((job, progress)) = state.jobs.running() {
                live_tile(ui, (state, is_new), textures, job, progress, actions);
            }
            for recent in state.images.recents.iter() {
                let side = state.images.compared().map(|other| match recent.id {
                    id if id == other.id => "B",
                    id if state.images.shown == Shown::Recent(id) => "A",
                    _ => "",
                });
                let selected = match side {
                    Some(side) => !side.is_empty(),
                    None => state.images.shown == Shown::Recent(recent.id),
                };
                let visible =
                    ui.is_rect_visible(Rect::from_min_size(ui.cursor().min, Vec2::splat(size::THUMBNAIL)));
                let texture = visible.then(|| match moving(ui, hovered, recent, textures, now) {
                    Some(texture) => texture,
                    None => textures.thumbnail(ui.ctx(), recent.id, &recent.thumbnail),
                });
                // A finger scrolls.
                let file = state.file_to_drag(recent).filter(|_| !ui.input(|input| input.any_touches()));
                let sense = if file.is_some() { Sense::click_and_drag() } else { Sense::click() };
                let sides = recent.thumbnail.size;
                let tile = tile(ui, (&recent.name(), sense), texture, sides, selected);
                drag_out::carry(&tile, || file.into_iter().map(ToOwned::to_owned).collect());
                if is_new && shown == Shown::Recent(recent.id) {
                    tile.scroll_to_me(None);
                }
                if let Some(side) = side.filter(|side| !side.is_empty()) {
                    letter(ui, tile.rect, side);
                }
                if recent.path.as_ref().is_some_and(|path| state.images.starred.contains(path)) {
                    star(ui, tile.rect);
                }
                if let Some(length) = recent.length {
                    mark(ui, tile.rect, length);
                    if tile.hovered() && !state.reduces_motion() {
                        under_pointer = Some(recent.id);
                        // The first frame of a hover shows the thumbnail.
                        if hovered.clip() != under_pointer {
                            hovered.play(recent, now);
                            ui.ctx().request_repaint();
                        }
                    }
                }
                let prompt =
                    recent.request.as_ref().map(|request| request.prompt.as_str()).unwrap_or_default();
                tile.context_menu(|ui| toolbar::context_menu(ui, state, recent, actions));
                let tip = if prompt.is_empty() { recent.name() } else { prompt.to_owned() };
                if tile.on_hover_text(tip).clicked() {
                    let compares = side.is_some() || ui.input(|input| input.modifiers.command);
                    actions.push(match compares && state.images.shown_recent().is_some() {
                        true => Action::Compare(Some(recent.id)),
                        false => Action::Show(Shown::Recent(recent.id)),
                    });
                }
            }
        });
    });
    if under_pointer.is_none() {
        hovered.clip = None;
    }
}

/// The frame of the clip under the pointer.
fn moving(
    ui: &Ui,
    hovered: &mut Hovered,
    recent: &Recent,
    textures: &mut Textures,
    now: f64,
) -> Option<egui::TextureId> {
    if hovered.clip() != Some(recent.id) {
        return None;
    }
    let clip = recent.clip()?;
    let playback = hovered.play(recent, now)?;
    repaint_at_next_frame(ui.ctx(), playback, now);
    textures.hovered(ui.ctx(), recent.id, clip, playback.frame(now))
}

/// Marks a side of a comparison.
fn letter(ui: &Ui, tile: Rect, side: &str) {
    let label = Rect::from_min_size(tile.min + Vec2::splat(space::XS), Vec2::splat(font::SMALL + 4.0));
    ui.painter().rect_filled(label, CornerRadius::same(radius::S), Color32::from_black_alpha(170));
    let font = font::medium(font::TINY);
    ui.painter().text(label.center(), Align2::CENTER_CENTER, side, font, Color32::WHITE);
}

/// Marks what has a star.
fn star(ui: &Ui, tile: Rect) {
    let side = font::SMALL + 4.0;
    let corner = tile.right_top() + vec2(-side - space::XS, space::XS);
    let label = Rect::from_min_size(corner, Vec2::splat(side));
    ui.painter().rect_filled(label, CornerRadius::same(radius::S), Color32::from_black_alpha(170));
    let font = font::icons(font::TINY);
    ui.painter().text(label.center(), Align2::CENTER_CENTER, icons::STAR_FILLED, font, Color32::WHITE);
}

/// Marks a clip with its duration.
fn mark(ui: &Ui, tile: Rect, length: ClipLength) {
    let painter = ui.painter();
    let words = units::seconds(length.seconds());
    let text = painter.layout_no_wrap(words, FontId::proportional(font::TINY), Color32::WHITE);
    let icon = font::TINY - 1.0;
    let wanted = vec2(text.size().x + icon + 3.0 * space::XS, text.size().y + 2.0);
    let corner = tile.right_bottom() - vec2(space::XS, space::XS);
    let label = Rect::from_min_max(corner - wanted, corner);
    painter.rect_filled(label, CornerRadius::same(radius::S), Color32::from_black_alpha(170));
    let place = label.left_center() + vec2(space::XS, 0.0);
    painter.text(place, Align2::LEFT_CENTER, icons::PLAY, font::icons(icon), Color32::WHITE);
    let place = label.right_center() - vec2(space::XS + text.size().x, text.size().y / 2.0);
    painter.galley(place, text, Color32::WHITE);
}

fn live_tile(
    ui: &mut Ui,
    (state, is_new): (&State, bool),
    textures: &mut Textures,
    job: &QueuedJob,
    progress: &Progress,
    actions: &mut Vec<Action>,
) {
    let preview = textures.live(ui.ctx(), job.id, progress).into_iter().next();
    let sides = [job.request().width as usize, job.request().height as usize];
    let tile = tile(
        ui,
        (&tr!("viewer-live-thumbnail"), Sense::click()),
        preview,
        sides,
        state.images.shown == Shown::Live,
    );
    if is_new && state.images.shown == Shown::Live {
        tile.scroll_to_me(None);
    }
    let bar = Rect::from_min_max(
        tile.rect.left_bottom() + vec2(6.0, -6.0 - size::PROGRESS),
        tile.rect.right_bottom() + vec2(-6.0, -6.0),
    );
    widgets::progress_bar(ui, bar, progress.fraction());
    if tile.on_hover_text(tr!("viewer-live-thumbnail-tip")).clicked() {
        actions.push(Action::Show(Shown::Live));
    }
}

fn tile(
    ui: &mut Ui,
    (name, sense): (&str, Sense),
    texture: Option<egui::TextureId>,
    sides: [usize; 2],
    selected: bool,
) -> egui::Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::THUMBNAIL), sense);
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
