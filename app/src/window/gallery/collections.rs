//! The list of collections beside the grid. Images are dropped on it, and it says what the grid shows.

use std::path::PathBuf;

use egui::{
    Align2, CornerRadius, FontId, Frame, Id, Key, Margin, Popup, Rect, Response, Role, ScrollArea, Sense,
    Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::Gallery;
use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::{Change, CollectionStep, Query, Within},
        drag_out::Carried,
        icons,
        settings::Setting,
        tokens::{Palette, font, radius, size, space},
        widgets,
    },
};

/// Most letters of a name.
const LONGEST: usize = 60;

/// A name that is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Naming {
    /// The letters so far.
    pub(super) name: String,
    /// The collection that is renamed; none for a new one.
    pub(super) renamed: Option<String>,
    /// What a new one begins with.
    pub(super) files: Vec<PathBuf>,
    /// Whether the field has had the focus.
    is_focused: bool,
}

impl Naming {
    /// The name of a new collection, with these files.
    pub(super) fn new(files: Vec<PathBuf>) -> Self {
        Self { name: String::new(), renamed: None, files, is_focused: false }
    }

    fn rename(name: &str) -> Self {
        Self { name: name.to_owned(), renamed: Some(name.to_owned()), files: Vec::new(), is_focused: false }
    }
}

/// Draws the list.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, actions: &mut Vec<Action>) {
    ScrollArea::vertical().id_salt("collections").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(space::S as i8, space::M as i8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            list(ui, gallery, actions);
        });
    });
}

fn list(ui: &mut Ui, gallery: &mut Gallery, actions: &mut Vec<Action>) {
    let shelf = &gallery.shelf;
    let within = shelf.query().within.clone();
    let show_within =
        |within: Within| Action::from(GalleryAction::Search(Query { within, ..shelf.query().clone() }));
    for (kind, icon, name, tip, count) in [
        (
            Within::All,
            icons::LAYOUT_GRID,
            tr!("gallery-within-all"),
            tr!("gallery-within-all-tip"),
            shelf.count(),
        ),
        (Within::None, icons::IMAGE, tr!("gallery-within-none"), tr!("gallery-within-none-tip"), shelf.loose),
    ] {
        if row(ui, icon, &name, Some(count), within == kind).on_hover_text(tip).clicked() {
            actions.push(show_within(kind));
        }
    }
    ui.add_space(space::M);
    indented(ui, |ui| widgets::field_label(ui, &tr!("gallery-collections")));
    let (all, mut naming) = (shelf.collections.clone(), gallery.naming.take());
    for (name, count) in &all {
        if let Some(typed) = naming.take_if(|naming| naming.renamed.as_ref() == Some(name)) {
            naming = field(ui, typed, &all, actions);
            continue;
        }
        let is_shown = within == Within::Collection(name.clone());
        let row = row(ui, icons::LAYERS, name, Some(*count), is_shown);
        if row.clicked() {
            let within = if is_shown { Within::All } else { Within::Collection(name.clone()) };
            actions.push(show_within(within));
        }
        if let Some(Carried(files)) = dropped(ui, &row).as_deref() {
            actions.push(GalleryAction::Collect(files.clone(), name.clone()).into());
        }
        row.context_menu(|ui| menu(ui, name, &mut naming, actions));
        row.on_hover_text(tr!("gallery-collection-tip", name = name.as_str()));
    }
    match naming.take_if(|naming| naming.renamed.is_none()) {
        Some(typed) => naming = field(ui, typed, &all, actions),
        None => {
            let row = row(ui, icons::FOLDER, &tr!("gallery-collection-new"), None, false);
            if row.clicked() {
                naming = Some(Naming::new(Vec::new()));
            }
            if let Some(Carried(files)) = dropped(ui, &row).as_deref() {
                naming = Some(Naming::new(files.clone()));
            }
            row.on_hover_text(tr!("gallery-collection-new-tip"));
        }
    }
    if all.is_empty() {
        ui.add_space(space::S);
        indented(ui, |ui| widgets::hint(ui, tr!("gallery-collections-none")));
    }
    // What a right click offers, for who has none.
    if let Within::Collection(name) = &within
        && naming.is_none()
    {
        ui.add_space(space::M);
        ui.separator();
        offers(ui, name, &mut naming, actions);
    }
    // The name of one that another window has deleted is no longer typed.
    gallery.naming = naming.filter(|naming| {
        naming.renamed.as_ref().is_none_or(|renamed| all.iter().any(|(name, _)| name == renamed))
    });
}

/// Words between rows, below the icons of these.
fn indented<R>(ui: &mut Ui, words: impl FnOnce(&mut Ui) -> R) {
    Frame::new().inner_margin(Margin::symmetric(space::S as i8, 0)).show(ui, words);
}

fn menu(ui: &mut Ui, name: &str, naming: &mut Option<Naming>, actions: &mut Vec<Action>) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    offers(ui, name, naming, actions);
}

/// What can be done with a collection.
fn offers(ui: &mut Ui, name: &str, naming: &mut Option<Naming>, actions: &mut Vec<Action>) {
    let rename = widgets::row_button(ui, icons::TAG, &tr!("gallery-collection-rename"), "", false);
    if rename.on_hover_text(tr!("gallery-collection-rename-tip")).clicked() {
        *naming = Some(Naming::rename(name));
        ui.close();
    }
    let delete = widgets::row_button(ui, icons::TRASH, &tr!("gallery-collection-delete"), "", false);
    if delete.on_hover_text(tr!("gallery-collection-delete-tip")).clicked() {
        actions.push(GalleryAction::Gather(CollectionStep::Delete(name.to_owned())).into());
        ui.close();
    }
}

/// The field of a name. Returns what is still typed: Enter takes it, and Escape or a click elsewhere forgets it.
fn field(
    ui: &mut Ui,
    mut naming: Naming,
    all: &[(String, usize)],
    actions: &mut Vec<Action>,
) -> Option<Naming> {
    let field = egui::TextEdit::singleline(&mut naming.name)
        .id(Id::unique("gallery collection name"))
        .hint_text(tr!("gallery-collection-name"))
        .char_limit(LONGEST)
        .margin(Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let field = ui.add_sized(vec2(ui.available_width(), size::CONTROL), field);
    let field = field
        .accessible_name(tr!("gallery-collection-name"))
        .on_hover_text(tr!("gallery-collection-name-tip"));
    if !naming.is_focused {
        field.request_focus();
        field.scroll_to_me(None);
        naming.is_focused = true;
        return Some(naming);
    }
    let name = naming.name.trim().to_owned();
    let is_taken = naming.renamed.as_ref().is_some_and(|renamed| *renamed != name)
        && all.iter().any(|(known, _)| *known == name);
    if is_taken {
        widgets::mistake(ui, &tr!("gallery-collection-taken"));
    }
    if !field.lost_focus() {
        return Some(naming);
    }
    let is_entered = ui.input(|input| input.key_pressed(Key::Enter));
    if is_entered && is_taken {
        field.request_focus();
        return Some(naming);
    }
    if is_entered && !name.is_empty() {
        actions.push(match naming.renamed {
            Some(from) => GalleryAction::Gather(CollectionStep::Rename { from, to: name }).into(),
            None => GalleryAction::Collect(naming.files, name).into(),
        });
    }
    None
}

/// A row with a count on its right.
fn row(ui: &mut Ui, icon: &str, name: &str, count: Option<usize>, is_selected: bool) -> Response {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::CONTROL), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name));
    let fill = match (is_selected, response.is_pointer_button_down_on(), response.hovered()) {
        (true, ..) => palette.accent_soft,
        (false, true, _) => palette.press,
        (false, false, true) => palette.hover,
        (false, false, false) => egui::Color32::TRANSPARENT,
    };
    let rounding = CornerRadius::same(radius::M);
    ui.painter().rect_filled(rect, rounding, fill);
    if response.has_focus() {
        outline(ui, rect);
    }
    let (left, middle) = (rect.left() + space::S, rect.center().y);
    let ink = if is_selected { palette.text } else { palette.text_muted };
    let painter = ui.painter();
    painter.text(pos2(left, middle), Align2::LEFT_CENTER, icon, font::icons(font::ICON - 1.0), ink);
    let mut right = rect.right() - space::S;
    if let Some(count) = count {
        let words =
            painter.layout_no_wrap(count.to_string(), FontId::proportional(font::SMALL), palette.text_muted);
        right -= words.size().x;
        painter.galley(pos2(right, middle - words.size().y / 2.0), words, palette.text_muted);
        right -= space::S;
    }
    let left = left + font::ICON + space::S;
    let words = widgets::elided(ui, name, FontId::proportional(font::BODY), palette.text, right - left);
    ui.painter().galley(pos2(left, middle - words.size().y / 2.0), words, palette.text);
    response
}

fn outline(ui: &Ui, rect: Rect) {
    let line = Stroke::new(1.5, Palette::of(ui).accent);
    ui.painter().rect_stroke(rect, CornerRadius::same(radius::M), line, StrokeKind::Inside);
}

/// The files that are dropped on a row. It is outlined while they are over it.
fn dropped(ui: &Ui, row: &Response) -> Option<std::sync::Arc<Carried>> {
    if row.dnd_hover_payload::<Carried>().is_some() {
        outline(ui, row.rect);
    }
    row.dnd_release_payload::<Carried>()
}

/// The collections of what is selected, and a menu of the others.
pub(super) fn of_selected(ui: &mut Ui, gallery: &mut Gallery, common: &[String], actions: &mut Vec<Action>) {
    ui.add_space(space::XS);
    widgets::field_label(ui, &tr!("gallery-collections"));
    ui.horizontal_wrapped(|ui| {
        for name in common {
            let leave = tr!("gallery-collection-leave-named", name = name.as_str());
            if widgets::tag(ui, icons::LAYERS, name, &leave).1 {
                actions.push(GalleryAction::Mark(Change::Leave(name.clone())).into());
            }
        }
        let button = widgets::disclosure(ui, &tr!("gallery-collect"), icons::CHEVRON_DOWN, false);
        let button = button.on_hover_text(tr!("gallery-collect-tip"));
        Popup::menu(&button).accessible_name(tr!("gallery-collect")).width(size::MENU).show(|ui| {
            let selected = gallery.shelf.selected();
            let files: Vec<PathBuf> = selected.iter().map(|item| item.path.clone()).collect();
            choices(ui, gallery, common, &files, actions);
        });
    });
}

/// A menu of the collections that files can be added to, beside those that they are in, and of a new one.
pub(super) fn choices(
    ui: &mut Ui,
    gallery: &mut Gallery,
    common: &[String],
    files: &[PathBuf],
    actions: &mut Vec<Action>,
) {
    ui.set_width(size::MENU);
    ui.spacing_mut().item_spacing.y = 2.0;
    let most = ui.ctx().content_rect().height() / 2.0;
    ScrollArea::vertical().max_height(most).show(ui, |ui| {
        for (name, _) in gallery.shelf.collections.iter().filter(|(name, _)| !common.contains(name)) {
            let choice = widgets::row_button(ui, icons::LAYERS, name, "", false);
            if choice.on_hover_text(tr!("gallery-collect-in", name = name.as_str())).clicked() {
                actions.push(GalleryAction::Collect(files.to_vec(), name.clone()).into());
                ui.close();
            }
        }
    });
    let new = widgets::row_button(ui, icons::FOLDER, &tr!("gallery-collection-new"), "", false);
    if new.on_hover_text(tr!("gallery-collection-new-selected-tip")).clicked() {
        gallery.naming = Some(Naming::new(files.to_vec()));
        // Its name is typed in the list.
        actions.push(Action::Set(Setting::CollectionsOpen(true)));
        ui.close();
    }
}

/// What to do while a collection is empty.
pub(super) fn empty_words(within: &Within) -> Option<(String, String)> {
    match within {
        Within::Collection(name) => {
            Some((tr!("gallery-collection-empty", name = name.as_str()), tr!("gallery-collection-empty-tip")))
        }
        Within::All | Within::None => None,
    }
}

/// The button that opens and closes the list.
pub(super) fn toggle(ui: &mut Ui, is_open: bool, actions: &mut Vec<Action>) {
    let words = (tr!("gallery-collections"), tr!("gallery-collections-tip"));
    if widgets::explained_toggle(ui, icons::LAYERS, (&words.0, &words.1), is_open).clicked() {
        actions.push(Action::Set(Setting::CollectionsOpen(!is_open)));
    }
}
