//! The middle of the window: the image, the bars under it, and placeholders.

mod canvas;
mod card;
mod compare;
mod filmstrip;
mod mask_painting;
mod object_tool;
mod player;
mod scrub_bar;
mod toolbar;
mod unfinished;

use std::{path::Path, sync::Arc};

use crate::language::{said, tr};
use egui::{
    Align, Align2, Area, CentralPanel, Color32, ColorImage, CornerRadius, Frame, Layout, Margin, Order,
    Panel, Rect, Response, RichText, ScrollArea, Ui, pos2, vec2,
};

use super::{
    action::{Action, Message},
    commands::{self, Now},
    files::Dialog,
    first_start, icons,
    sentences::sentence,
    side_panel::ways_to_fit,
    state::{
        FailureCard, MaskPainting, ModelStatus, Pixels, Progress, QueuedJob, Recent, RecentId, Replanned,
        Shown, State,
    },
    status_bar::stage_words,
    textures::{Side, Textures},
    tokens::{Palette, font, radius, shadow, size, space},
    widgets::{self, Weight},
};
use canvas::View;
use compare::Comparison;
use filmstrip::Hovered;
use mask_painting::Brush;

/// View state of the viewer; not saved.
#[derive(Debug)]
pub struct Viewer {
    view: View,
    brush: Brush,
    canvas: Rect,
    comparison: Comparison,
    hovered: Hovered,
}

impl Default for Viewer {
    fn default() -> Self {
        let (view, brush, hovered) = (View::default(), Brush::default(), Hovered::default());
        Self { view, brush, canvas: Rect::ZERO, comparison: Comparison::default(), hovered }
    }
}

impl Viewer {
    /// Where the image was, in the last frame that showed it.
    pub fn canvas(&self) -> Rect {
        self.canvas
    }

    /// Fits the image to the canvas.
    pub fn fit(&mut self) {
        self.view.fit();
    }

    /// Whether the tool for masks shows objects to a segmenter.
    pub fn marks_objects(&self) -> bool {
        self.brush.shows_objects()
    }

    /// The clip under the pointer in the filmstrip.
    pub fn hovered_clip(&self) -> Option<RecentId> {
        self.hovered.clip()
    }
}

/// Draws the image with its bars, or the mask being painted.
pub fn show(
    ui: &mut Ui,
    window: &Now<'_>,
    viewer: &mut Viewer,
    textures: &mut Textures,
    now: f64,
    actions: &mut Vec<Action>,
) {
    let state = window.state;
    let palette = Palette::of(ui);
    let frame = Frame::new().fill(palette.panel).inner_margin(Margin::symmetric(space::M as i8, 0));
    let Viewer { view, brush, canvas, comparison, hovered } = viewer;
    if state.input.painting.is_none() {
        brush.fit();
    }
    if state.input.painting.is_none() && state.masked_input().is_none() {
        textures.forget_mask();
    }
    unfinished::show(ui, &state.jobs.unfinished, actions);
    if !state.images.recents.is_empty() || state.jobs.running().is_some() {
        Panel::bottom("recent")
            .exact_size(size::THUMBNAIL + 2.0 * space::M)
            .resizable(false)
            .frame(frame)
            .show(ui, |ui| filmstrip::show(ui, state, hovered, textures, now, actions));
    }
    let (before, mut shows_zoom) = (*canvas, false);
    let bar = |name: &str| Panel::bottom(name).exact_size(size::TOOLBAR).resizable(false).frame(frame);
    if let Some(painting) = &state.input.painting {
        bar("brush").show(ui, |ui| mask_painting::toolbar(ui, state, painting, brush, actions));
    } else if state.images.shown != Shown::Nothing {
        shows_zoom = true;
        bar("toolbar")
            .show(ui, |ui| toolbar::show(ui, state, (&mut *view, &mut *comparison), *canvas, now, actions));
        let shown = state.images.shown_recent();
        if let Some(playback) = shown.and_then(|recent| state.player.playback(recent.id)) {
            bar("player").show(ui, |ui| player::bar(ui, playback, state.muted(), now, actions));
        }
    }
    CentralPanel::default().frame(Frame::new()).show(ui, |ui| {
        *canvas = ui.max_rect();
        if shows_zoom && *canvas != before {
            ui.ctx().request_discard("the zoom below the image is that of another canvas");
        }
        let painting = state.input.painting.as_ref();
        let painted = painting.and_then(|mask| Some((mask, state.input.files.pixels(&mask.image)?)));
        match painted {
            Some((mask, image)) => {
                mask_painting::canvas(ui, mask, image, brush, textures, actions);
                object_tool::notice(ui, *canvas, state, (mask, brush.shows_objects()), actions);
            }
            None => image(ui, window, (view, comparison), textures, now, actions),
        }
        messages(ui, *canvas, state, actions);
    });
}

/// Draws the image or a placeholder.
fn image(
    ui: &mut Ui,
    window: &Now<'_>,
    (view, comparison): (&mut View, &mut Comparison),
    textures: &mut Textures,
    now: f64,
    actions: &mut Vec<Action>,
) {
    let state = window.state;
    let area = ui.max_rect();
    let failures = &state.messages.failures;
    match (state.images.shown, state.jobs.running()) {
        (Shown::Live, Some((job, progress))) => {
            let canvas = live(ui, area, view, textures, job, progress);
            canvas.context_menu(|ui| toolbar::live_menu(ui, window, actions));
        }
        (Shown::Recent(_), _) => {
            if let (Some(recent), Some(other)) = (state.images.shown_recent(), state.images.compared()) {
                compare::canvas(ui, view, comparison, textures, (state, (recent, other), now), actions);
            } else if let Some(recent) = state.images.shown_recent() {
                let shown = (recent, state.file_to_drag(recent));
                let canvas = match (recent.clip(), state.player.playback(recent.id)) {
                    (Some(clip), Some(playback)) => {
                        player::canvas(ui, area, view, textures, shown, (clip, playback, now), actions)
                    }
                    _ => finished(ui, area, view, textures, shown),
                };
                canvas.context_menu(|ui| toolbar::context_menu(ui, state, recent, actions));
            }
        }
        (Shown::Input, _) => {
            if let Some((mask, image)) = state.masked_input() {
                masked(ui, area, view, textures, (mask, image));
            }
        }
        (Shown::Nothing | Shown::Live, _) if failures.is_empty() => nothing(ui, area, state, actions),
        (Shown::Nothing | Shown::Live, _) => {}
    }
}

/// Draws the input image and the mask that was applied to it.
fn masked(
    ui: &mut Ui,
    area: Rect,
    view: &mut View,
    textures: &mut Textures,
    (mask, image): (&MaskPainting, &Arc<ColorImage>),
) {
    let [width, height] = mask.size();
    let shape = vec2(width as f32, height as f32);
    let (place, _) = canvas::interact(ui, view, area, shape, (&tr!("viewer-mask"), None));
    canvas::paint_sheet(ui, area, place);
    let drawn = [textures.input(ui.ctx(), &mask.image, image), textures.mask(ui.ctx(), mask, true)];
    for texture in drawn {
        canvas::paint_image(ui, area, place, texture, Color32::WHITE);
    }
}

/// Draws what the engine has to say over the image.
fn messages(ui: &mut Ui, area: Rect, state: &State, actions: &mut Vec<Action>) {
    let failures = &state.messages.failures;
    if let Some(replanned) = &state.watches.replanned {
        replan_notice(ui, area, replanned, actions);
    }
    if let Some(card) = failures.last() {
        if state.images.shown != Shown::Nothing || state.input.painting.is_some() {
            ui.painter_at(area).rect_filled(area, CornerRadius::ZERO, Palette::of(ui).scrim);
        }
        failure(ui, area, state, card, actions);
    }
}

fn live(
    ui: &mut Ui,
    area: Rect,
    view: &mut View,
    textures: &mut Textures,
    job: &QueuedJob,
    progress: &Progress,
) -> Response {
    let size = vec2(job.request().width as f32, job.request().height as f32);
    let (place, response) = canvas::interact(ui, view, area, size, (&tr!("viewer-live-preview"), None));
    canvas::paint_sheet(ui, area, place);
    if progress.preview.is_empty() {
        let palette = Palette::of(ui);
        let words = stage_words(progress);
        let font = font::medium(font::BODY);
        ui.painter_at(area).text(place.center(), Align2::CENTER_CENTER, words, font, palette.text_faint);
        return response;
    }
    let drawn = textures.live(ui.ctx(), job.id, progress);
    for (cell, texture) in canvas::grid(place, drawn.len()).into_iter().zip(drawn) {
        canvas::paint_image(ui, area, cell, texture, Color32::WHITE);
    }
    response
}

fn finished(
    ui: &mut Ui,
    area: Rect,
    view: &mut View,
    textures: &mut Textures,
    (recent, file): (&Recent, Option<&Path>),
) -> Response {
    let [width, height] = recent.size();
    let shape = vec2(width as f32, height as f32);
    let (place, response) = canvas::interact(ui, view, area, shape, (&recent.name(), file));
    canvas::paint_sheet(ui, area, place);
    let texture = match &recent.pixels {
        Some(Pixels::Image(image)) => {
            let pixels = canvas::shows_pixels(view.zoom(shape, area, ui.pixels_per_point()));
            textures.shown(ui.ctx(), Side::A, recent.id, image, pixels)
        }
        // Until the file is loaded.
        Some(Pixels::Clip(_)) | None => textures.thumbnail(ui.ctx(), recent.id, &recent.thumbnail),
    };
    canvas::paint_image(ui, area, place, texture, Color32::WHITE);
    response
}

fn nothing(ui: &mut Ui, area: Rect, state: &State, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let is_first =
        state.is_first_start() && state.jobs.is_empty() && state.model.status != ModelStatus::Failed;
    let examples = state.summary().map_or(&[][..], |summary| &summary.examples);
    // The others are in the list beside the prompt.
    let examples = if is_first { &examples[..examples.len().min(first_start::EXAMPLES)] } else { examples };
    let widest = if is_first { first_start::WIDTH } else { size::CARD };
    let width = (area.width() - 2.0 * space::XL).min(widest);
    let below = if is_first { first_start::height(width) } else { 0.0 };
    let height: f32 = 150.0 + examples.len() as f32 * (size::CONTROL + 2.0 + space::XS) + below;
    let is_short = height > area.height();
    let top = (area.center().y - height / 2.0).max(area.top());
    let left = area.center().x - width / 2.0;
    // The scroll bar is beside the rows.
    let place = Rect::from_min_max(pos2(left, top), pos2(area.right() - space::XS, area.bottom()));
    let scrolled = |ui: &mut Ui| {
        ui.set_max_width(width);
        ui.vertical_centered(|ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let makes_clips = state.makes_clips();
            let (icon, title, words) = match &state.model.status {
                ModelStatus::Ready(_) if !state.jobs.is_empty() => {
                    let title = if makes_clips { tr!("viewer-next-clip") } else { tr!("viewer-next-image") };
                    (icons::SPARKLES, title, tr!("viewer-next-tip"))
                }
                ModelStatus::Ready(_) => {
                    let words = match (makes_clips, examples.is_empty()) {
                        (false, true) => tr!("viewer-describe-image"),
                        (false, false) => tr!("viewer-describe-image-or-example"),
                        (true, true) => tr!("viewer-describe-clip"),
                        (true, false) => tr!("viewer-describe-clip-or-example"),
                    };
                    (icons::IMAGE, tr!("viewer-what-to-create"), words)
                }
                ModelStatus::Loading => {
                    (icons::PACKAGE, tr!("viewer-model-loading"), tr!("viewer-model-loading-tip"))
                }
                ModelStatus::Failed => {
                    let words = tr!("viewer-model-missing-tip");
                    (icons::PACKAGE, tr!("viewer-model-missing"), words)
                }
            };
            if is_short {
                ui.add_space(space::M);
            } else {
                widgets::icon(ui, icon, 34.0, palette.text_faint);
                ui.add_space(space::S);
            }
            ui.label(RichText::new(title).font(font::semibold(font::TITLE)).color(palette.text));
            ui.label(RichText::new(words).color(palette.text_muted));
            ui.add_space(space::M);
            if state.model.status == ModelStatus::Failed {
                if widgets::button(ui, Some(icons::FILE), &tr!("viewer-model-open"), Weight::Plain)
                    .on_hover_text(commands::OPEN_MODEL_FILE.sentence())
                    .clicked()
                {
                    actions.push(Action::OpenDialog(Dialog::ModelFile));
                }
            } else if state.jobs.is_empty() {
                for example in examples {
                    if widgets::chip(ui, icons::SPARKLES, example)
                        .on_hover_text(tr!("side-panel-example-tip"))
                        .clicked()
                    {
                        actions.push(Action::UsePrompt(example.clone()));
                    }
                }
            }
        });
        if is_first {
            ui.add_space(if is_short { space::S } else { space::L });
            first_start::show(ui, state, actions);
            ui.add_space(space::S);
        }
    };
    ui.scope_builder(egui::UiBuilder::new().max_rect(place), |ui| {
        ScrollArea::vertical().id_salt("start").auto_shrink([false, true]).show(ui, scrolled)
    });
}

/// Shows a notice over the image that its run continues with another plan.
fn replan_notice(ui: &mut Ui, area: Rect, replanned: &Replanned, actions: &mut Vec<Action>) {
    let Some(reason) = replanned.reasons.last() else { return };
    let margin = Margin { left: 12, right: 6, top: 6, bottom: 6 };
    card::show(ui, area, "replanned", margin, |ui, width| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.vertical(|ui| {
                ui.add_space(7.0);
                widgets::icon(ui, icons::INFO, 15.0, Palette::of(ui).accent);
            });
            let words = vec2(width - size::CONTROL - 15.0 - 2.0 * space::S, 0.0);
            ui.allocate_ui(words, |ui| replan_words(ui, replanned, reason));
            if widgets::icon_button(ui, icons::X, &tr!("viewer-replanned-dismiss")).clicked() {
                actions.push(Action::Dismiss(Message::Replanned));
            }
        });
    });
}

fn replan_words(ui: &mut Ui, replanned: &Replanned, reason: &str) {
    let palette = Palette::of(ui);
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.add_space(5.0);
        let title = match replanned.reasons.len() {
            1 => tr!("viewer-replanned"),
            count => tr!("viewer-replanned-times", count = count),
        };
        ui.label(RichText::new(title).font(font::medium(font::BODY)).color(palette.text));
        let reason = RichText::new(sentence(reason)).small().color(palette.text_muted);
        ui.add(egui::Label::new(reason).wrap().selectable(true));
        ui.add_space(4.0);
    });
}

fn failure(ui: &mut Ui, area: Rect, state: &State, card: &FailureCard, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let count = state.messages.failures.len();
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
                    if let Some((forecast, error)) = card.lack_of_room(&state.planning) {
                        let before = actions.len();
                        ways_to_fit(ui, state, forecast, error, actions);
                        if actions.len() > before {
                            actions.push(Action::Dismiss(Message::Failure));
                        }
                        ui.add_space(space::S);
                    }
                    ui.horizontal(|ui| {
                        if widgets::button(ui, None, &tr!("viewer-dismiss"), Weight::Plain)
                            .on_hover_text(tr!("viewer-dismiss-tip"))
                            .clicked()
                        {
                            actions.push(Action::Dismiss(Message::Failure));
                        }
                        if count > 1
                            && widgets::button(
                                ui,
                                None,
                                &tr!("viewer-dismiss-all", count = count),
                                Weight::Ghost,
                            )
                            .on_hover_text(tr!("viewer-dismiss-all-tip"))
                            .clicked()
                        {
                            actions.push(Action::Dismiss(Message::Failures));
                        }
                        if widgets::button(ui, Some(icons::COPY), &tr!("viewer-copy-message"), Weight::Ghost)
                            .on_hover_text(tr!("viewer-copy-message-tip"))
                            .clicked()
                        {
                            let advice = card.failure.advice.as_deref().unwrap_or_default();
                            let words = [card.title.clone(), said(&card.failure.message), said(advice)];
                            actions.push(Action::CopyText(words.join("\n").trim().to_owned()));
                        }
                    });
                });
        });
}

fn failure_words(ui: &mut Ui, card: &FailureCard, count: usize) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        widgets::icon(ui, icons::TRIANGLE_ALERT, 20.0, palette.danger);
        let title = RichText::new(&card.title).font(font::semibold(font::HEADING)).color(palette.text);
        // The title takes what room is left.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if count > 1 {
                ui.label(
                    RichText::new(tr!("viewer-more-failures", count = count - 1))
                        .small()
                        .color(palette.text_faint),
                );
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(title).truncate());
            });
        });
    });
    ui.add_space(space::XS);
    ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
        let message = RichText::new(said(&card.failure.message)).color(palette.text_muted);
        ui.add(egui::Label::new(message).wrap().selectable(true));
        if let Some(advice) = &card.failure.advice {
            ui.add_space(space::S);
            let advice = RichText::new(said(advice)).font(font::medium(font::BODY)).color(palette.text);
            ui.add(egui::Label::new(advice).wrap().selectable(true));
        }
    });
}

/// Shows what dropping the dragged file would do.
pub fn drop_hint(ui: &Ui, area: Rect) {
    let palette = Palette::of(ui);
    let layer = egui::LayerId::new(Order::Foreground, egui::Id::unique("sluice drop hint"));
    let painter = ui.ctx().layer_painter(layer);
    painter.rect_filled(area, CornerRadius::ZERO, palette.scrim);
    let card = Rect::from_center_size(area.center(), vec2(520.0, 120.0));
    let line = egui::Stroke::new(1.5, palette.accent);
    painter.rect(card, CornerRadius::same(radius::L), palette.panel, line, egui::StrokeKind::Inside);
    let text = |y: f32, words: &str, font: egui::FontId, color: Color32| {
        painter.text(card.center() + vec2(0.0, y), Align2::CENTER_CENTER, words, font, color);
    };
    text(-28.0, icons::FILE_UP, font::icons(24.0), palette.accent);
    text(8.0, &tr!("viewer-drop"), font::semibold(font::HEADING), palette.text);
    text(32.0, &tr!("viewer-drop-model"), egui::FontId::proportional(font::BODY), palette.text_muted);
}
