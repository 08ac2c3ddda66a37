//! The search and the filters above the grid.

use std::collections::BTreeMap;

use egui::{
    Align, ComboBox, Id, Layout, Margin, Popup, PopupCloseBehavior, RichText, Slider, Ui, UiBuilder, vec2,
};

use super::{Around, Gallery, collections};
use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::{Kind, Query, Sort, When},
        files::Dialog,
        icons,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Width of a list of models or tags, and of the others.
const LIST: f32 = 150.0;
const SHORT_LIST: f32 = 120.0;
/// Least width of the search field.
const SEARCH: f32 = 180.0;
/// Width of the slider for the size of thumbnails.
const SLIDER: f32 = 100.0;

/// Draws both rows.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, around: Around<'_>, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing = vec2(space::S, space::S);
    let mut query = gallery.shelf.query().clone();
    ui.horizontal(|ui| {
        collections::toggle(ui, around.has_collections, actions);
        let title = RichText::new(tr!("gallery-title")).font(font::semibold(font::HEADING));
        ui.label(title.color(Palette::of(ui).text));
        ui.add_space(space::S);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (name, tip) = (tr!("gallery-close"), tr!("gallery-close-tip"));
            if widgets::explained_icon(ui, icons::X, &name, &tip).clicked() {
                actions.push(GalleryAction::Open(false).into());
            }
            folders(ui, around, actions);
            count(ui, gallery);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| search(ui, gallery, &mut query.text));
        });
    });
    ui.horizontal_wrapped(|ui| {
        filters(ui, gallery, &mut query);
        ui.add_space(space::S);
        let slider = Slider::new(&mut gallery.tile, size::SMALLEST_TILE..=size::LARGEST_TILE);
        widgets::slider(ui, slider, SLIDER)
            .accessible_name(tr!("gallery-thumbnail-size"))
            .on_hover_text(tr!("gallery-thumbnail-size-tip"));
    });
    if query != *gallery.shelf.query() {
        actions.push(GalleryAction::Search(query).into());
    }
}

fn search(ui: &mut Ui, gallery: &mut Gallery, text: &mut String) {
    let palette = Palette::of(ui);
    widgets::icon(ui, icons::SEARCH, font::ICON, palette.text_muted);
    let width = (ui.available_width() - space::S).max(SEARCH);
    let id = Id::unique("gallery search");
    // Words do not run below the button.
    let right = if text.is_empty() { 10 } else { size::CONTROL as i8 };
    let field = egui::TextEdit::singleline(text)
        .id(id)
        .hint_text(tr!("gallery-search-hint"))
        .margin(Margin { left: 10, right, top: 6, bottom: 6 })
        .desired_width(width);
    let field = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name(tr!("gallery-search"));
    if std::mem::take(&mut gallery.focuses_search) {
        field.request_focus();
    }
    if !text.is_empty() {
        let place = field.rect.with_min_x(field.rect.right() - field.rect.height());
        let clear = ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
            let (name, tip) = (tr!("gallery-search-clear"), tr!("gallery-search-clear-tip"));
            widgets::explained_icon(ui, icons::X, &name, &tip)
        });
        if clear.inner.clicked() {
            text.clear();
            field.request_focus();
        }
    }
    field.on_hover_text(tr!("gallery-search-tip"));
}

/// How many are shown of how many.
fn count(ui: &mut Ui, gallery: &Gallery) {
    let shelf = &gallery.shelf;
    let (shown, all) = (shelf.shown().len(), shelf.count());
    let words = match (shown == all, shelf.unread) {
        (true, None | Some(0)) => tr!("gallery-files", count = all),
        (false, None | Some(0)) => tr!("gallery-files-shown", shown = shown, count = all),
        (true, Some(unread)) => tr!("gallery-files-reading", count = all, unread = unread),
        (false, Some(unread)) => {
            tr!("gallery-files-shown-reading", shown = shown, count = all, unread = unread)
        }
    };
    ui.label(RichText::new(words).small().color(Palette::of(ui).text_muted));
}

fn filters(ui: &mut Ui, gallery: &Gallery, query: &mut Query) {
    let shelf = &gallery.shelf;
    let kinds = [
        (Kind::All, tr!("gallery-kind-all"), tr!("gallery-kind-all-tip")),
        (Kind::Images, tr!("gallery-kind-images"), tr!("gallery-kind-images-tip")),
        (Kind::Clips, tr!("gallery-kind-clips"), tr!("gallery-kind-clips-tip")),
    ];
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        for (kind, name, tip) in kinds {
            let weight = if query.kind == kind { Weight::Selected } else { Weight::Ghost };
            if widgets::button(ui, None, &name, weight).on_hover_text(tip).clicked() {
                query.kind = kind;
            }
        }
    });
    let words = (tr!("gallery-starred-only"), tr!("gallery-starred-only-tip"));
    let icon = icons::star(query.starred);
    if widgets::explained_toggle(ui, icon, (&words.0, &words.1), query.starred).clicked() {
        query.starred = !query.starred;
    }
    if !shelf.models.is_empty() || query.model.is_some() {
        let words = [tr!("gallery-model"), tr!("gallery-model-all"), tr!("gallery-model-tip")];
        named(ui, "model", words, &shelf.models, &mut query.model);
    }
    if !shelf.tags.is_empty() || query.tag.is_some() {
        let words = [tr!("gallery-tag"), tr!("gallery-tag-all"), tr!("gallery-tag-tip")];
        named(ui, "tag", words, &shelf.tags, &mut query.tag);
    }
    let words = [tr!("gallery-date"), tr!("gallery-date-tip")];
    list(ui, "date", words, When::ALL, When::title, &mut query.when);
    let words = [tr!("gallery-order"), tr!("gallery-order-tip")];
    list(ui, "order", words, Sort::ALL, Sort::title, &mut query.sort);
}

fn list<T: Copy + PartialEq, const N: usize>(
    ui: &mut Ui,
    id: &str,
    [label, tip]: [String; 2],
    all: [T; N],
    title: impl Fn(T) -> String,
    value: &mut T,
) {
    let list = ComboBox::from_id_salt(id).width(SHORT_LIST).truncate().selected_text(title(*value));
    let list = widgets::drop_down(ui, list, |ui| {
        for choice in all {
            widgets::entry(ui, value, choice, title(choice));
        }
    });
    list.response.accessible_name(label).on_hover_text(tip);
}

fn named(
    ui: &mut Ui,
    id: &str,
    [label, all, tip]: [String; 3],
    names: &BTreeMap<String, usize>,
    value: &mut Option<String>,
) {
    let selected = value.clone().unwrap_or_else(|| all.clone());
    let list = ComboBox::from_id_salt(id).width(LIST).truncate().selected_text(selected);
    let list = widgets::drop_down(ui, list, |ui| {
        ui.set_max_width(size::POPUP);
        widgets::entry(ui, value, None, all);
        for (name, count) in names {
            let is_chosen = value.as_ref() == Some(name);
            let row = egui::Button::selectable(is_chosen, format!("{name}  ·  {count}")).truncate();
            if ui.add(row).clicked() {
                *value = Some(name.clone());
                ui.close();
            }
        }
    });
    list.response.accessible_name(label).on_hover_text(tip);
}

/// The folders that are shown.
fn folders(ui: &mut Ui, around: Around<'_>, actions: &mut Vec<Action>) {
    let button = widgets::icon_button(ui, icons::FOLDER, &tr!("gallery-folders"));
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(tr!("gallery-folders-spoken"))
        .width(size::POPUP)
        .show(|ui| {
            ui.set_min_width(size::POPUP);
            ui.spacing_mut().item_spacing.y = space::XS;
            widgets::field_label(ui, &tr!("gallery-folders"));
            if let Some(folder) = around.output {
                let path = folder.display().to_string();
                if widgets::file_button(ui, icons::FOLDER_OPEN, &tr!("gallery-output-folder"), &path, false)
                    .on_hover_text(tr!("gallery-output-folder-tip"))
                    .clicked()
                {
                    actions.push(Action::OpenFolder(folder.clone()));
                }
            }
            for folder in around.others {
                let path = folder.display().to_string();
                ui.horizontal(|ui| {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let remove = tr!("gallery-folder-remove", path = path.as_str());
                        if widgets::icon_button(ui, icons::X, &remove).clicked() {
                            actions.push(GalleryAction::RemoveFolder(folder.clone()).into());
                        }
                        let name = crate::window::state::file_name(folder);
                        if widgets::file_button(ui, icons::FOLDER, &name, &path, false)
                            .on_hover_text(tr!("gallery-folder-open", path = path.as_str()))
                            .clicked()
                        {
                            actions.push(Action::OpenFolder(folder.clone()));
                        }
                    });
                });
            }
            ui.separator();
            if widgets::row_button(ui, icons::FOLDER, &tr!("gallery-folder-add"), "", false)
                .on_hover_text(tr!("gallery-folder-add-tip"))
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::GalleryFolder));
                ui.close();
            }
            if widgets::row_button(ui, icons::RESTORE, &tr!("gallery-folders-read"), "", false)
                .on_hover_text(tr!("gallery-folders-read-tip"))
                .clicked()
            {
                actions.push(GalleryAction::Rescan.into());
                ui.close();
            }
        });
}
