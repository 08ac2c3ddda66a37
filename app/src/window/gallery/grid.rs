//! The grid of thumbnails. Only the rows in sight are laid out and loaded.

use egui::{
    Align2, Color32, CornerRadius, EventFilter, FontId, Id, Key, Modifiers, Rect, Response, RichText, Role,
    ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, epaint::RectShape, pos2, vec2,
};

use super::{Around, Gallery, collections, menu, textures::Thumbnail};
use crate::{
    language::{said, tr, units},
    window::{
        action::{Action, GalleryAction},
        collection::{Change, How, Item, Query, Within},
        drag_out, icons,
        tokens::{Palette, font, radius, size, space},
        widgets::{self, Weight},
    },
};

/// Side of the button with the star.
const STAR: f32 = 26.0;

/// How many tiles there are in sight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    columns: usize,
    /// Whole rows.
    rows: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { columns: 1, rows: 1 }
    }
}

fn grid_id() -> Id {
    Id::unique("gallery grid")
}

/// The keys of the gallery, while no field has the focus.
pub(super) fn keys(ui: &Ui, gallery: &mut Gallery, actions: &mut Vec<Action>) {
    let focused = ui.memory(|memory| memory.focused());
    let is_free = focused.is_none_or(|id| id == grid_id());
    let searches = ui.input_mut(|input| {
        input.consume_key(Modifiers::COMMAND, Key::F)
            || (is_free && input.consume_key(Modifiers::NONE, Key::Slash))
    });
    gallery.focuses_search |= searches;
    // What is typed next goes into the field.
    if searches || !is_free {
        return;
    }
    let Layout { columns, rows } = gallery.layout;
    let (columns, page) = (columns as isize, (columns * rows) as isize);
    let all = gallery.shelf.shown().len() as isize;
    let current = gallery.shelf.selection().current().map(ToOwned::to_owned);
    let selected = gallery.shelf.selected().len();
    ui.input(|input| {
        for event in &input.events {
            let egui::Event::Key { key, pressed: true, modifiers, repeat, .. } = event else { continue };
            let how = if modifiers.shift { How::Range } else { How::Only };
            let step = match (key, modifiers.command) {
                (Key::ArrowLeft, false) => GalleryAction::Move(-1, how),
                (Key::ArrowRight, false) => GalleryAction::Move(1, how),
                (Key::ArrowUp, false) => GalleryAction::Move(-columns, how),
                (Key::ArrowDown, false) => GalleryAction::Move(columns, how),
                (Key::PageUp, false) => GalleryAction::Move(-page, how),
                (Key::PageDown, false) => GalleryAction::Move(page, how),
                (Key::Home, false) => GalleryAction::Move(-all, how),
                (Key::End, false) => GalleryAction::Move(all, how),
                (Key::A, true) => GalleryAction::SelectAll,
                (Key::Z, true) => GalleryAction::TakeBack,
                (Key::Delete, _) if selected > 0 => GalleryAction::Trash,
                (Key::S, false) if selected > 0 && !repeat => {
                    GalleryAction::Mark(Change::Star(!gallery.shelf.selected_are_starred()))
                }
                (Key::C, false) if selected == 2 => GalleryAction::Compare,
                (Key::E, true) if selected > 0 => GalleryAction::AskExport,
                (Key::F5, _) => GalleryAction::Rescan,
                (Key::Enter, false) => match &current {
                    Some(path) => GalleryAction::Show(path.clone()),
                    None => continue,
                },
                _ => continue,
            };
            actions.push(step.into());
        }
    });
}

/// Draws the grid, or what to do while it is empty.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, around: Around<'_>, actions: &mut Vec<Action>) {
    if gallery.shelf.shown().is_empty() {
        return empty(ui, gallery, around, actions);
    }
    let area = ui.max_rect();
    let grid = ui.interact(area, grid_id(), Sense::FOCUSABLE);
    grid.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, tr!("gallery-thumbnails")));
    if grid.has_focus() {
        let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(grid.id, arrows));
    }
    let (edge, gap) = (space::L, space::S);
    ScrollArea::vertical().id_salt("gallery").auto_shrink(false).show_viewport(ui, |ui, viewport| {
        let width = ui.available_width() - 2.0 * edge;
        let columns = (((width + gap) / (gallery.tile + gap)).floor() as usize).max(1);
        let side = ((width - gap * (columns - 1) as f32) / columns as f32).floor();
        let count = gallery.shelf.shown().len();
        let rows = count.div_ceil(columns);
        let row = side + gap;
        let origin = ui.max_rect().min + Vec2::splat(edge);
        ui.set_height(rows as f32 * row - gap + 2.0 * edge);
        gallery.layout = Layout { columns, rows: ((area.height() / row).floor() as usize).max(1) };
        let place = |index: usize| {
            let (line, column) = (index / columns, index % columns);
            Rect::from_min_size(origin + vec2(column as f32 * row, line as f32 * row), Vec2::splat(side))
        };
        if std::mem::take(&mut gallery.follows)
            && let Some(current) = gallery.shelf.current_place()
        {
            ui.scroll_to_rect(place(current).expand(edge), None);
        }
        let line = |y: f32| ((y - edge).max(0.0) / row).floor() as usize;
        let first = line(viewport.min.y) * columns;
        let end = ((line(viewport.max.y) + 1) * columns).min(count);
        for index in first..end {
            tile(ui, (&mut *gallery, around), (index, place(index)), grid.has_focus(), actions);
        }
    });
}

/// A thumbnail.
fn tile(
    ui: &mut Ui,
    (gallery, around): (&mut Gallery, Around<'_>),
    (index, rect): (usize, Rect),
    has_focus: bool,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::of(ui);
    let Gallery { shelf, thumbnails, worker, .. } = gallery;
    let Some(item) = shelf.shown().get(index).cloned() else { return };
    let id = ui.scope_id().with(&item.path);
    // A finger scrolls.
    let drags = !ui.input(|input| input.any_touches());
    let response = ui.interact(rect, id, if drags { Sense::CLICK | Sense::DRAG } else { Sense::CLICK });
    let (is_selected, is_starred) = (shelf.selection().contains(&item.path), shelf.is_starred(&item.path));
    let is_current = shelf.selection().current() == Some(item.path.as_path());
    let name = item.name();
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &name));

    let rounding = CornerRadius::same(radius::S);
    let back = if is_selected { palette.accent_soft } else { palette.panel };
    ui.painter().rect_filled(rect, rounding, back);
    let thumbnail = thumbnails.get(&item, || {
        worker.as_ref().is_some_and(|worker| worker.request_thumbnail(item.path.clone(), item.stamp))
    });
    let inner = rect.shrink(if is_selected { space::XS } else { 0.0 });
    match thumbnail {
        Thumbnail::Ready(texture, sides) => paint(ui, inner, texture, sides),
        Thumbnail::Waiting => {}
        Thumbnail::Broken(_) => broken(ui, inner, &name),
    }
    let (line, color) = match (is_selected, response.hovered() || (is_current && has_focus)) {
        (true, _) => (2.0, palette.accent),
        (false, true) => (1.5, palette.line_strong),
        (false, false) => (1.0, palette.line),
    };
    let kind = if is_selected { StrokeKind::Inside } else { StrokeKind::Outside };
    ui.painter().rect_stroke(rect, rounding, Stroke::new(line, color), kind);
    if let Some(length) = item.length() {
        badge(ui, rect, &units::seconds(length.seconds()));
    } else if item.clip.is_some() {
        badge(ui, rect, "");
    }
    let was_star = star(ui, rect, (&item, &name), is_starred, &response, actions);
    if was_star {
        return;
    }
    click(ui, &response, index, &item, actions);
    let selection = || match is_selected {
        true => shelf.selected().iter().map(|item| item.path.clone()).collect(),
        false => vec![item.path.clone()],
    };
    if drag_out::carry(&response, selection) && !is_selected {
        actions.push(GalleryAction::Pick(index, How::Only).into());
    }
    response.context_menu(|ui| menu::show(ui, (&mut *gallery, around), &item, actions));
    response.on_hover_text(tip(&item, &name));
}

fn click(ui: &Ui, response: &Response, index: usize, item: &Item, actions: &mut Vec<Action>) {
    let modifiers = ui.input(|input| input.modifiers);
    let how = match (modifiers.command, modifiers.shift) {
        (_, true) => How::Range,
        (true, false) => How::Toggle,
        (false, false) => How::Only,
    };
    if response.double_clicked() && how == How::Only {
        actions.push(GalleryAction::Show(item.path.clone()).into());
    } else if response.clicked() {
        ui.memory_mut(|memory| memory.request_focus(grid_id()));
        actions.push(GalleryAction::Pick(index, how).into());
    }
}

/// Prompt, or why there is nothing to see.
fn tip(item: &Item, name: &str) -> String {
    let prompt = item.facts.as_ref().map(|facts| facts.prompt.trim()).filter(|prompt| !prompt.is_empty());
    match (&item.broken, prompt) {
        (Some(reason), _) => format!("{name}\n{}", tr!("gallery-broken", reason = said(reason))),
        (None, Some(prompt)) => {
            let mut words: String = prompt.chars().take(300).collect();
            if words.len() < prompt.len() {
                words.push('…');
            }
            words
        }
        (None, None) => name.to_owned(),
    }
}

/// The whole image in the middle of the tile.
fn paint(ui: &Ui, tile: Rect, texture: egui::TextureId, sides: [usize; 2]) {
    let [width, height] = sides.map(|side| side.max(1) as f32);
    let scale = (tile.width() / width).min(tile.height() / height);
    let place = Rect::from_center_size(tile.center(), vec2(width, height) * scale);
    let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    let rounding = CornerRadius::same(radius::S);
    ui.painter().add(RectShape::filled(place, rounding, Color32::WHITE).with_texture(texture, uv));
}

fn broken(ui: &Ui, tile: Rect, name: &str) {
    let palette = Palette::of(ui);
    let icon = tile.center() - vec2(0.0, space::M);
    ui.painter().text(icon, Align2::CENTER_CENTER, icons::IMAGE_OFF, font::icons(22.0), palette.text_faint);
    let small = FontId::proportional(font::TINY);
    let name = widgets::elided(ui, name, small, palette.text_muted, tile.width() - 2.0 * space::S);
    let place = tile.center() + vec2(-name.size().x / 2.0, space::S);
    ui.painter().galley(place, name, palette.text_muted);
}

/// Says that a clip is one, and how long.
fn badge(ui: &Ui, tile: Rect, words: &str) {
    let text =
        ui.painter().layout_no_wrap(words.to_owned(), FontId::proportional(font::TINY), Color32::WHITE);
    let icon = font::TINY - 1.0;
    let gaps = if words.is_empty() { 2.0 } else { 3.0 };
    let wanted = vec2(text.size().x + icon + gaps * space::XS, font::TINY + space::XS + 1.0);
    let corner = tile.right_bottom() - Vec2::splat(space::XS + 2.0);
    let label = Rect::from_min_max(corner - wanted, corner);
    ui.painter().rect_filled(label, CornerRadius::same(radius::S), Color32::from_black_alpha(170));
    let place = label.left_center() + vec2(space::XS, 0.0);
    ui.painter().text(place, Align2::LEFT_CENTER, icons::PLAY, font::icons(icon), Color32::WHITE);
    let place = pos2(label.right() - space::XS - text.size().x, label.center().y - text.size().y / 2.0);
    ui.painter().galley(place, text, Color32::WHITE);
}

/// The star in the corner: always where there is one, else under the pointer. Returns whether it was clicked.
fn star(
    ui: &Ui,
    tile: Rect,
    (item, name): (&Item, &str),
    is_starred: bool,
    response: &Response,
    actions: &mut Vec<Action>,
) -> bool {
    if !is_starred && !response.contains_pointer() {
        return false;
    }
    let corner = tile.right_top() + vec2(-STAR - space::XS, space::XS);
    let rect = Rect::from_min_size(corner, Vec2::splat(STAR));
    let button = ui.interact(rect, response.id.with("star"), Sense::CLICK);
    let (words, tip) = match is_starred {
        true => (tr!("gallery-unstar-spoken", name = name), tr!("gallery-unstar-tip")),
        false => (tr!("gallery-star-spoken", name = name), tr!("gallery-star-here-tip")),
    };
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
    let palette = Palette::of(ui);
    ui.painter().rect_filled(rect, CornerRadius::same(radius::M), Color32::from_black_alpha(150));
    let color = match (is_starred, button.hovered()) {
        (true, _) => palette.star,
        (false, true) => Color32::WHITE,
        (false, false) => Color32::from_white_alpha(190),
    };
    let (place, icon) = (rect.center(), icons::star(is_starred));
    ui.painter().text(place, Align2::CENTER_CENTER, icon, font::icons(font::ICON - 1.0), color);
    let clicked = button.clicked();
    button.on_hover_text(tip);
    if clicked {
        actions.push(GalleryAction::MarkOne(item.path.clone(), Change::Star(!is_starred)).into());
    }
    clicked
}

/// There is nothing, nothing yet, or nothing that was searched for.
fn empty(ui: &mut Ui, gallery: &Gallery, around: Around<'_>, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let area = ui.max_rect();
    let width = (area.width() - 2.0 * space::XL).min(size::CARD);
    let place = Rect::from_center_size(area.center(), vec2(width, 170.0_f32.min(area.height())));
    let shelf = &gallery.shelf;
    let (icon, title, words) = match shelf.unread {
        None | Some(1..) => (icons::LAYOUT_GRID, tr!("gallery-reading"), tr!("gallery-reading-tip")),
        Some(0) if shelf.count() > 0 => (
            icons::SEARCH,
            tr!("gallery-nothing-found"),
            tr!("gallery-nothing-found-tip", count = shelf.count()),
        ),
        Some(0) => {
            let words = match around.output {
                Some(folder) => tr!("gallery-empty-tip", folder = folder.display()),
                None => tr!("gallery-empty-without-folder"),
            };
            (icons::IMAGE, tr!("gallery-empty"), words)
        }
    };
    let query = shelf.query();
    // A collection that is empty by itself.
    let is_alone =
        Query { within: Within::All, ..query.clone() } == Query { sort: query.sort, ..Query::default() };
    let of_collection =
        collections::empty_words(&query.within).filter(|_| is_alone && shelf.unread == Some(0));
    let (icon, title, words) = match of_collection {
        Some((title, words)) => (icons::LAYERS, title, words),
        None => (icon, title, words),
    };
    ui.scope_builder(egui::UiBuilder::new().max_rect(place), |ui| {
        ui.vertical_centered(|ui| {
            ui.spacing_mut().item_spacing.y = space::S;
            widgets::icon(ui, icon, 34.0, palette.text_faint);
            ui.label(RichText::new(title).font(font::semibold(font::TITLE)).color(palette.text));
            ui.label(RichText::new(words).color(palette.text_muted));
            if shelf.unread == Some(0) && shelf.count() > 0 {
                ui.add_space(space::S);
                let clear = widgets::button(ui, Some(icons::X), &tr!("gallery-clear-search"), Weight::Plain);
                if clear.on_hover_text(tr!("gallery-clear-search-tip")).clicked() {
                    let sort = shelf.query().sort;
                    actions.push(GalleryAction::Search(Query { sort, ..Query::default() }).into());
                }
            }
        });
    });
}
