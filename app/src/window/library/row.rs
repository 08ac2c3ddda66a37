//! One row of the list.

use std::path::Path;

use egui::{
    Align, Align2, Color32, CornerRadius, FontId, Id, Layout, Rect, Response, Role, Sense, Shape, Stroke,
    StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2,
};
use sluice_engine::{
    models::{Finding, Item, Kind},
    request::ModelSource,
};

use super::previews::{Previews, SMALL};
use crate::{
    language::{said, tr, units},
    window::{
        fit, icons,
        sentences::phrase,
        state::{EntryId, Fit, KnownEntry, Likeness, State, title_of},
        tokens::{Palette, font, radius, size, space},
        widgets::{self, Weight},
    },
};

/// Height of a row.
pub const ROW: f32 = 58.0;
/// Height of a heading.
pub const HEADING: f32 = 40.0;
/// Side of the image in a row.
const IMAGE: f32 = 44.0;
/// Trigger words that a row shows.
const WORDS: usize = 3;

/// What a row shows.
pub struct Row<'a> {
    /// What it is about.
    pub id: &'a EntryId,
    /// The first line.
    pub title: String,
    /// The second line.
    pub detail: String,
    /// Its icon, if there is no image.
    pub icon: &'static str,
    /// Its image.
    pub preview: Option<&'a Path>,
    /// The model's fit; `None` for what does not run by itself.
    pub fit: Option<Option<&'a Fit>>,
    /// Whether it is a LoRA, and whether that is used.
    pub used: Option<bool>,
    /// Whether it is the opened model.
    pub is_open: bool,
    /// Whether it has a star.
    pub is_favourite: bool,
    /// Whether it cannot be read.
    pub is_broken: bool,
}

impl<'a> Row<'a> {
    /// The row about an entry; `None` if it is gone.
    pub fn of(state: &'a State, id: &'a EntryId) -> Option<Self> {
        let base = Self {
            id,
            title: String::new(),
            detail: String::new(),
            icon: icons::PACKAGE,
            preview: None,
            fit: None,
            used: None,
            is_open: false,
            is_favourite: state.settings.library.favourites.contains(&id.key()),
            is_broken: false,
        };
        match id {
            EntryId::Known(_) | EntryId::Version(..) => {
                Some(Self::known(base, state, state.library.known(id)?))
            }
            EntryId::Source(ModelSource::Path(_)) => Some(Self::item(base, state, state.library.item(id)?)),
            EntryId::Source(source) => {
                let is_clip = *source == ModelSource::StarterClip;
                let (title, detail) = match is_clip {
                    true => (tr!("library-clip-starter"), tr!("library-clip-starter-detail")),
                    false => (tr!("library-starter"), tr!("library-starter-detail")),
                };
                let is_open = state.chosen_model() == source && state.summary().is_some();
                Some(Self { title, detail, fit: Some(state.library.fits.of(id)), is_open, ..base })
            }
        }
    }

    fn known(base: Self, state: &'a State, known: &KnownEntry) -> Self {
        let mut parts = vec![tr!("library-not-here"), known.hub.clone()];
        parts.extend(known.licence.clone());
        parts.push(units::memory(known.bytes));
        let fit = Some(state.library.fits.of(base.id));
        Self { title: known.name.clone(), detail: parts.join(" · "), icon: icons::PACKAGE, fit, ..base }
    }

    fn item(base: Self, state: &'a State, item: &'a Item) -> Self {
        let title = title_of(item).to_owned();
        let preview = item.about.preview.as_deref();
        let content = match &item.content {
            Finding::Content(content) => content,
            Finding::Error(error) => {
                let icon = icons::TRIANGLE_ALERT;
                return Self { title, detail: phrase(error), icon, preview, is_broken: true, ..base };
            }
        };
        let mut parts = vec![said(&content.what)];
        let words = &item.about.trigger_words;
        if content.kind == Kind::Adapter && !words.is_empty() {
            parts = vec![words.iter().take(WORDS).cloned().collect::<Vec<_>>().join(", "), parts.remove(0)];
        }
        if let Some(difference) = state.library.listed.difference(&item.path) {
            parts.insert(0, difference.to_owned());
        }
        parts.push(units::memory(content.bytes));
        parts.push(content.stored_as());
        if state.library.alike(item).any(|(_, likeness)| likeness == Likeness::Same) {
            parts.push(tr!("library-row-duplicate"));
        }
        let source = ModelSource::Path(item.path.clone());
        let mut is_broken = false;
        if content.kind == Kind::Model
            && let Some(Fit::Cannot(failure)) = state.library.fits.of(base.id)
        {
            parts = vec![phrase(&failure.message)];
            is_broken = true;
        }
        let is_open = *state.chosen_model() == source && state.summary().is_some();
        let (icon, fit, used) = match content.kind {
            Kind::Model => {
                // How it fits elsewhere is not asked.
                let is_here = state.library.lanes_of(base.id).is_empty();
                (icons::PACKAGE, is_here.then(|| state.library.fits.of(base.id)), None)
            }
            Kind::Adapter => {
                let adapters = &state.draft().request.adapters;
                let used =
                    adapters.iter().any(|used| used.path == item.path && state.draft().uses(&used.path));
                (icons::LAYERS, None, Some(used))
            }
            Kind::Part | Kind::ControlNet | Kind::IpAdapter | Kind::Other => (icons::FILE, None, None),
        };
        Self { title, detail: parts.join(" · "), icon, preview, fit, used, is_open, is_broken, ..base }
    }

    /// Its accessible name.
    fn spoken(&self) -> String {
        let mut parts = vec![self.title.clone(), self.detail.clone()];
        if let Some(fit) = self.fit {
            parts.push(fit.map_or_else(|| tr!("library-row-checking-spoken"), Fit::words));
        }
        if self.is_open {
            parts.push(tr!("library-row-opened-spoken"));
        }
        parts.join(", ")
    }
}

/// What happened to a row.
pub struct RowEvents {
    /// The row itself.
    pub response: Response,
    /// Whether its star was clicked.
    pub starred: bool,
    /// Whether the button to add or remove a LoRA was clicked.
    pub toggled: bool,
}

/// Draws a row at a place.
pub fn show(ui: &mut Ui, rect: Rect, row: &Row<'_>, selected: bool, previews: &mut Previews) -> RowEvents {
    let palette = Palette::of(ui);
    let response = ui.interact(rect, Id::unique(("library row", row.id)), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), selected, row.spoken()));
    let fill = match (selected, response.hovered()) {
        (true, _) => palette.accent_soft,
        (false, true) => palette.hover,
        (false, false) => Color32::TRANSPARENT,
    };
    let line = if response.has_focus() { palette.accent } else { Color32::TRANSPARENT };
    let rounding = CornerRadius::same(radius::M);
    ui.painter().rect(rect, rounding, fill, Stroke::new(1.0, line), StrokeKind::Inside);

    let left = rect.left() + space::S;
    image(
        ui,
        Rect::from_center_size(pos2(left + IMAGE / 2.0, rect.center().y), Vec2::splat(IMAGE)),
        row,
        previews,
    );
    let text_left = left + IMAGE + space::M;

    let controls = rect.with_min_x(rect.center().x).with_max_x(rect.right() - space::S);
    let mut inner = ui.new_child(
        UiBuilder::new()
            .max_rect(controls)
            .layout(Layout::right_to_left(Align::Center))
            // How many rows above are drawn must not change which control has the focus.
            .scope_id(Id::unique(("library controls", row.id))),
    );
    inner.spacing_mut().item_spacing.x = space::XS;
    let starred = star(&mut inner, row, response.hovered() || selected);
    let toggled = row.used.is_some_and(|used| {
        let (words, weight) = match used {
            true => (tr!("library-row-added"), Weight::Selected),
            false => (tr!("library-row-add"), Weight::Plain),
        };
        let button = widgets::button(&mut inner, None, &words, weight);
        let (name, tip) = match used {
            true => {
                (tr!("library-row-remove-spoken", name = row.title.as_str()), tr!("library-row-remove-tip"))
            }
            false => (tr!("library-row-add-spoken", name = row.title.as_str()), tr!("library-row-add-tip")),
        };
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        button.on_hover_text(tip).clicked()
    });
    let mut right = inner.min_rect().left() - space::M;
    if let Some(fit) = row.fit {
        right = badge(ui, pos2(right, rect.center().y), fit) - space::M;
    }
    let middle = pos2(text_left, rect.center().y);
    texts(ui, middle, (right - text_left).max(40.0), row);
    let response = response.on_hover_text(tr!("library-row-tip"));
    RowEvents { response, starred, toggled }
}

fn texts(ui: &Ui, middle: egui::Pos2, width: f32, row: &Row<'_>) {
    let palette = Palette::of(ui);
    let mark = row.is_open.then(|| {
        ui.painter().layout_no_wrap(
            tr!("library-row-opened"),
            FontId::proportional(font::TINY),
            palette.accent,
        )
    });
    let mark_width = mark.as_ref().map_or(0.0, |mark| mark.size().x + 2.0 * space::S);
    let title = widgets::elided(ui, &row.title, font::medium(font::BODY), palette.text, width - mark_width);
    let ink = if row.is_broken { palette.danger } else { palette.text_muted };
    let detail = widgets::cut(ui, &row.detail, FontId::proportional(font::SMALL), ink, width);
    let gap = 2.0;
    let top = middle - vec2(0.0, (title.size().y + gap + detail.size().y) / 2.0);
    let (title_size, below) = (title.size(), top + vec2(0.0, title.size().y + gap));
    ui.painter().galley(top, title, palette.text);
    if let Some(mark) = mark {
        let place = pos2(top.x + title_size.x + space::S, top.y + (title_size.y - mark.size().y) / 2.0);
        let pill = Rect::from_min_size(place, mark.size()).expand2(vec2(6.0, 1.0)).translate(vec2(6.0, 0.0));
        ui.painter().rect_filled(pill, CornerRadius::same(radius::M), palette.accent_soft);
        ui.painter().galley(place + vec2(6.0, 0.0), mark, palette.accent);
    }
    ui.painter().galley(below, detail, ink);
}

fn image(ui: &Ui, rect: Rect, row: &Row<'_>, previews: &mut Previews) {
    let palette = Palette::of(ui);
    let rounding = CornerRadius::same(radius::S);
    ui.painter().rect_filled(rect, rounding, palette.raised);
    let texture = row.preview.and_then(|path| previews.get(path, SMALL));
    match texture {
        Some(texture) => {
            let [width, height] = texture.size().map(|side| side.max(1) as f32);
            let part = vec2((height / width).min(1.0), (width / height).min(1.0));
            let uv = Rect::from_center_size(pos2(0.5, 0.5), part);
            let shape = egui::epaint::RectShape::filled(rect, rounding, Color32::WHITE);
            ui.painter().add(shape.with_texture(texture.id(), uv));
        }
        None => {
            let ink = if row.is_broken { palette.danger } else { palette.text_faint };
            let icon = font::icons(font::ICON + 2.0);
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, row.icon, icon, ink);
        }
    }
    ui.painter().rect_stroke(rect, rounding, Stroke::new(1.0, palette.line), StrokeKind::Inside);
}

/// Draws a fit to the left of a place. Returns its left edge.
fn badge(ui: &Ui, right: egui::Pos2, fit: Option<&Fit>) -> f32 {
    let palette = Palette::of(ui);
    let (words, ink, dot) = match fit {
        Some(fit) => (fit.words(), palette.text, fit::color(palette, fit)),
        None => (tr!("library-checking"), palette.text_faint, palette.line_strong),
    };
    let words = ui.painter().layout_no_wrap(words, FontId::proportional(font::SMALL), ink);
    let left = right.x - words.size().x;
    ui.painter().galley(pos2(left, right.y - words.size().y / 2.0), words, ink);
    let dot_left = left - space::S - 2.0;
    ui.painter().circle_filled(pos2(dot_left, right.y), 4.0, dot);
    dot_left - 4.0
}

fn star(ui: &mut Ui, row: &Row<'_>, is_near: bool) -> bool {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::CONTROL), Sense::click());
    let name = tr!("library-favourite-spoken", name = row.title.as_str());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), row.is_favourite, &name));
    let is_lit = response.hovered() || response.has_focus();
    let points: Vec<egui::Pos2> = (0..10)
        .map(|corner| {
            let turn = std::f32::consts::PI * (corner as f32 / 5.0 - 0.5);
            let reach = if corner % 2 == 0 { 7.5 } else { 3.3 };
            rect.center() + vec2(turn.cos(), turn.sin()) * reach
        })
        .collect();
    match (row.is_favourite, is_near || is_lit) {
        (true, _) => {
            // A star is not convex: five triangles and the middle are.
            for tip in 0..5 {
                let corner = |index: usize| points[index % 10];
                let triangle = vec![corner(2 * tip + 9), corner(2 * tip), corner(2 * tip + 1)];
                ui.painter().add(Shape::convex_polygon(triangle, palette.activations, Stroke::NONE));
            }
            let middle = (0..5).map(|inner| points[2 * inner + 1]).collect();
            ui.painter().add(Shape::convex_polygon(middle, palette.activations, Stroke::NONE));
        }
        (false, true) => {
            let ink = if is_lit { palette.text } else { palette.text_faint };
            ui.painter().add(Shape::closed_line(points, Stroke::new(1.2, ink)));
        }
        (false, false) => {}
    }
    if response.has_focus() {
        let stroke = Stroke::new(1.0, palette.accent);
        ui.painter().rect_stroke(rect, CornerRadius::same(radius::M), stroke, StrokeKind::Inside);
    }
    let tip = if row.is_favourite { tr!("library-unstar-tip") } else { tr!("library-star-tip") };
    response.on_hover_text(tip).clicked()
}
