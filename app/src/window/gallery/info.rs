//! What is selected: its settings, its marks, and what can be done with it.

use std::sync::Arc;

use egui::{FontId, Frame, Label, Margin, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};
use sluice_engine::{output::Date, request::Request};

use super::{Gallery, collections, menu, setting_names::setting_name};
use crate::{
    language::{said, tr, units},
    window::{
        action::{Action, GalleryAction},
        collection::{Change, Details, Item},
        icons,
        image_menu::{Does, Row},
        tokens::{Palette, font, space},
        widgets::{self, TagChange, Weight},
    },
};

/// Width of the names of settings.
const NAMES: f32 = 116.0;

/// Draws the panel.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, actions: &mut Vec<Action>) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::M as i8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(space::XS, space::S);
            let selected = gallery.shelf.selected().to_vec();
            match selected.as_slice() {
                [] => nothing(ui),
                [item] => one(ui, gallery, item, actions),
                many => several(ui, gallery, many, actions),
            }
        });
    });
}

fn nothing(ui: &mut Ui) {
    title(ui, &tr!("gallery-nothing-selected"));
    for words in [tr!("gallery-nothing-selected-click"), tr!("gallery-nothing-selected-several")] {
        widgets::hint(ui, words);
    }
}

fn title(ui: &mut Ui, words: &str) {
    let font = font::semibold(font::HEADING);
    let color = Palette::of(ui).text;
    let galley = widgets::elided(ui, words, font, color, ui.available_width());
    let (rect, response) = ui.allocate_exact_size(galley.size(), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    ui.painter().galley(rect.min, galley, color);
    response.on_hover_text(words);
}

fn one(ui: &mut Ui, gallery: &mut Gallery, item: &Arc<Item>, actions: &mut Vec<Action>) {
    title(ui, &item.name());
    ui.label(RichText::new(summary(item)).small().color(Palette::of(ui).text_muted));
    if let Some(reason) = &item.broken {
        widgets::mistake(ui, &tr!("gallery-broken", reason = said(reason)));
    }
    ui.add_space(space::XS);
    let is_starred = gallery.shelf.is_starred(&item.path);
    ui.horizontal_wrapped(|ui| {
        for row in menu::offers(item) {
            button(ui, row, actions);
        }
        star(ui, is_starred, actions);
        for row in menu::offers_for_all(std::slice::from_ref(item)) {
            button(ui, row, actions);
        }
    });
    marks(ui, gallery, std::slice::from_ref(item), actions);
    ui.separator();
    match (gallery.shelf.details_of(&item.path), &item.facts) {
        (Some(details), _) => settings(ui, item, details),
        (None, Some(facts)) => text(ui, &tr!("gallery-prompt"), &facts.prompt),
        (None, None) => {}
    }
}

/// Size, kind, bytes and day.
fn summary(item: &Item) -> String {
    let mut parts = Vec::new();
    if item.broken.is_none() {
        parts.push(format!("{} × {}", item.size[0], item.size[1]));
    }
    if let Some(length) = item.length() {
        parts.push(units::seconds(length.seconds()));
    }
    let kind = item.path.extension().map(|extension| extension.to_string_lossy().to_uppercase());
    parts.extend(kind);
    parts.push(file_size(item.stamp.bytes));
    parts.push(Date::of(item.stamp.time()).to_string());
    parts.join(" · ")
}

/// In the units of models and memory: `16 KB`, `2.3 MB`.
fn file_size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} B"),
        0x400..0x10_0000 => format!("{} KB", bytes / 1024),
        _ => units::memory(bytes),
    }
}

fn star(ui: &mut Ui, is_starred: bool, actions: &mut Vec<Action>) {
    let (name, tip, weight) = match is_starred {
        true => (tr!("gallery-starred"), tr!("gallery-starred-key-tip"), Weight::Selected),
        false => (tr!("gallery-star"), tr!("gallery-star-key-tip"), Weight::Plain),
    };
    if widgets::button(ui, Some(icons::star(is_starred)), &name, weight).on_hover_text(tip).clicked() {
        actions.push(GalleryAction::Mark(Change::Star(!is_starred)).into());
    }
}

/// A row of the menu as a button.
fn button(ui: &mut Ui, Row { icon, name, tip, does, .. }: Row<'_>, actions: &mut Vec<Action>) {
    let is_clicked = widgets::button(ui, Some(icon), &name, Weight::Plain).on_hover_text(tip).clicked();
    if let Does::Act(all) = does
        && is_clicked
    {
        actions.extend(all);
    }
}

/// A button that is not in the menu.
fn plain(
    ui: &mut Ui,
    icon: &str,
    [name, tip]: [String; 2],
    action: GalleryAction,
    actions: &mut Vec<Action>,
) {
    if widgets::button(ui, Some(icon), &name, Weight::Plain).on_hover_text(tip).clicked() {
        actions.push(action.into());
    }
}

fn several(ui: &mut Ui, gallery: &mut Gallery, many: &[Arc<Item>], actions: &mut Vec<Action>) {
    title(ui, &tr!("gallery-selected", count = many.len()));
    let bytes = many.iter().map(|item| item.stamp.bytes).sum();
    ui.label(RichText::new(file_size(bytes)).small().color(Palette::of(ui).text_muted));
    ui.add_space(space::XS);
    let is_starred = gallery.shelf.selected_are_starred();
    ui.horizontal_wrapped(|ui| {
        if let [a, b] = many
            && a.broken.is_none()
            && b.broken.is_none()
            && a.clip.is_some() == b.clip.is_some()
        {
            let words = [tr!("gallery-compare"), tr!("gallery-compare-tip")];
            plain(ui, icons::COLUMNS, words, GalleryAction::Compare, actions);
        }
        star(ui, is_starred, actions);
        for row in menu::offers_for_all(many) {
            button(ui, row, actions);
        }
        let words = [tr!("gallery-deselect"), tr!("gallery-deselect-tip")];
        plain(ui, icons::X, words, GalleryAction::SelectNothing, actions);
    });
    marks(ui, gallery, many, actions);
}

/// The collections that all are in, and their tags.
fn marks(ui: &mut Ui, gallery: &mut Gallery, items: &[Arc<Item>], actions: &mut Vec<Action>) {
    let common = gallery.shelf.common(items, |mark| &mark.collections);
    collections::of_selected(ui, gallery, &common, actions);
    tags(ui, gallery, items, actions);
}

/// The tags that all have, and a field for another one.
fn tags(ui: &mut Ui, gallery: &mut Gallery, items: &[Arc<Item>], actions: &mut Vec<Action>) {
    ui.add_space(space::XS);
    let common = gallery.shelf.common(items, |mark| &mark.tags);
    let words = [&*tr!("gallery-tags"), &*tr!("gallery-tag-add-tip")];
    let change = match widgets::tags(ui, "gallery tag", &common, &mut gallery.tag, words) {
        Some(TagChange::Add(tag)) => Change::Tag(tag),
        Some(TagChange::Remove(tag)) => Change::Untag(tag),
        None => return,
    };
    actions.push(GalleryAction::Mark(change).into());
}

fn settings(ui: &mut Ui, item: &Item, Details { settings, program, pairs }: &Details) {
    let settings = match settings {
        Ok(settings) => settings,
        Err(reason) => {
            if item.broken.is_none() {
                widgets::hint(ui, reason);
            }
            return;
        }
    };
    if settings.is_generated() {
        text(ui, &tr!("gallery-prompt"), &settings.request.prompt);
    }
    if !settings.request.negative_prompt.is_empty() {
        text(ui, &tr!("gallery-negative-prompt"), &settings.request.negative_prompt);
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            pair(ui, &setting_name(name), value);
        }
        for (name, value) in beside_prompt(&settings.request) {
            pair(ui, &name, &value);
        }
        if !program.is_empty() {
            pair(ui, &tr!("gallery-made-with"), program);
        }
    });
    if !settings.notes.is_empty() {
        ui.add_space(space::XS);
        widgets::field_label(ui, &tr!("gallery-not-taken-over"));
        for note in &settings.notes {
            widgets::hint(ui, note);
        }
    }
}

/// LoRAs that the prompt does not name, and regions.
fn beside_prompt(request: &Request) -> Vec<(String, String)> {
    let adapters = request.adapters.iter().map(|adapter| {
        let name = adapter.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (tr!("side-panel-loras"), format!("{name} · {}", units::figure(&adapter.weight.to_string())))
    });
    let regions = (1..).zip(&request.regions.all).map(|(number, region)| {
        (tr!("regions-name", number = number), format!("{} · {}", region.prompt.trim(), region.area))
    });
    adapters.chain(regions).collect()
}

/// A name and its value in the column beside it.
fn pair(ui: &mut Ui, name: &str, value: &str) {
    let palette = Palette::of(ui);
    let font = FontId::proportional(font::SMALL);
    ui.horizontal_top(|ui| {
        let galley = widgets::cut(ui, name, font.clone(), palette.text_muted, NAMES);
        let (rect, response) = ui.allocate_exact_size(vec2(NAMES, galley.size().y), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
        if galley.elided {
            response.on_hover_text(name);
        }
        ui.painter().galley(rect.min, galley, palette.text_muted);
        let value = RichText::new(value).font(font).color(palette.text);
        ui.add(Label::new(value).wrap().selectable(true));
    });
}

/// A text that can be selected.
fn text(ui: &mut Ui, name: &str, words: &str) {
    widgets::field_label(ui, name);
    let palette = Palette::of(ui);
    let (words, color) = match words.trim() {
        "" => (tr!("gallery-none"), palette.text_faint),
        words => (words.to_owned(), palette.text),
    };
    ui.add(Label::new(RichText::new(words).color(color)).wrap().selectable(true));
    ui.add_space(space::XS);
}
