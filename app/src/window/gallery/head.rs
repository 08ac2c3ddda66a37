//! The search and the filters above the grid.

use std::collections::BTreeMap;

use egui::{Align, ComboBox, Id, Layout, Margin, Popup, PopupCloseBehavior, RichText, Slider, Ui, vec2};

use super::{Around, Gallery, Kind, Query, Sort, Step, When};
use crate::{
    units,
    window::{
        action::Action,
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

/// Draws both rows.
pub(super) fn show(ui: &mut Ui, gallery: &mut Gallery, around: Around<'_>, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing = vec2(space::S, space::S);
    let mut query = gallery.shelf.query().clone();
    ui.horizontal(|ui| {
        let title = RichText::new("Gallery").font(font::semibold(font::HEADING));
        ui.label(title.color(Palette::of(ui).text));
        ui.add_space(space::S);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = widgets::icon_button(ui, icons::X, "Close the gallery");
            if close.on_hover_text("Back to the image. Key: Esc").clicked() {
                actions.push(Step::Open(false).into());
            }
            folders(ui, around, actions);
            count(ui, gallery);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| search(ui, gallery, &mut query.text));
        });
    });
    ui.horizontal_wrapped(|ui| {
        filters(ui, gallery, &mut query);
        ui.add_space(space::S);
        let slider =
            Slider::new(&mut gallery.tile, size::SMALLEST_TILE..=size::LARGEST_TILE).show_value(false);
        let slider = ui.add(slider);
        slider.accessible_name("Thumbnail size").on_hover_text("How large the thumbnails are.");
    });
    if query != *gallery.shelf.query() {
        actions.push(Step::Search(query).into());
    }
}

fn search(ui: &mut Ui, gallery: &mut Gallery, text: &mut String) {
    let palette = Palette::of(ui);
    widgets::icon(ui, icons::SEARCH, font::ICON, palette.text_muted);
    let width = (ui.available_width() - space::S).max(SEARCH);
    let id = Id::unique("gallery search");
    let field = egui::TextEdit::singleline(text)
        .id(id)
        .hint_text("Search prompts, models, LoRAs, seeds, tags")
        .margin(Margin::symmetric(10, 6))
        .desired_width(width);
    let field = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name("Search");
    if std::mem::take(&mut gallery.focuses_search) {
        field.request_focus();
    }
    field.on_hover_text(
        "All words must be there. -word leaves out, \"two words\" stay together, and model: prompt: negative: lora: \
         seed: tag: name: date: from: to: say where to look. Key: Ctrl+F",
    );
}

/// How many are shown of how many.
fn count(ui: &mut Ui, gallery: &Gallery) {
    let shelf = &gallery.shelf;
    let (shown, all) = (shelf.shown().len(), shelf.count());
    let mut words = match shown == all {
        true => units::counted(all, "file"),
        false => format!("{shown} of {}", units::counted(all, "file")),
    };
    if let Some(unread @ 1..) = shelf.unread {
        words = format!("{words}, reading {unread} more…");
    }
    ui.label(RichText::new(words).small().color(Palette::of(ui).text_muted));
}

fn filters(ui: &mut Ui, gallery: &Gallery, query: &mut Query) {
    let shelf = &gallery.shelf;
    let kinds = [
        (Kind::All, "All", "Show images and clips."),
        (Kind::Images, "Images", "Show images only."),
        (Kind::Clips, "Clips", "Show clips only."),
    ];
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        for (kind, name, tip) in kinds {
            let weight = if query.kind == kind { Weight::Selected } else { Weight::Ghost };
            if widgets::button(ui, None, name, weight).on_hover_text(tip).clicked() {
                query.kind = kind;
            }
        }
    });
    if widgets::icon_toggle(ui, icons::STAR, "Starred only", query.starred)
        .on_hover_text("Show only what has a star.")
        .clicked()
    {
        query.starred = !query.starred;
    }
    if !shelf.models.is_empty() || query.model.is_some() {
        let tip = "Show only what this model made.";
        named(ui, "Model", "All models", tip, &shelf.models, &mut query.model);
    }
    if !shelf.tags.is_empty() || query.tag.is_some() {
        named(ui, "Tag", "All tags", "Show only what has this tag.", &shelf.tags, &mut query.tag);
    }
    list(ui, "Date", "Show only what was made in this time.", When::ALL, When::title, &mut query.when);
    list(ui, "Order", "In which order the images are shown.", Sort::ALL, Sort::title, &mut query.sort);
}

fn list<T: Copy + PartialEq, const N: usize>(
    ui: &mut Ui,
    label: &str,
    tip: &str,
    all: [T; N],
    title: impl Fn(T) -> &'static str,
    value: &mut T,
) {
    let list = ComboBox::from_id_salt(label)
        .width(SHORT_LIST)
        .truncate()
        .selected_text(title(*value))
        .show_ui(ui, |ui| {
            for choice in all {
                ui.selectable_value(value, choice, title(choice));
            }
        });
    list.response.accessible_name(label).on_hover_text(tip);
}

fn named(
    ui: &mut Ui,
    label: &str,
    all: &str,
    tip: &str,
    names: &BTreeMap<String, usize>,
    value: &mut Option<String>,
) {
    let selected = value.clone().unwrap_or_else(|| all.to_owned());
    let list =
        ComboBox::from_id_salt(label).width(LIST).truncate().selected_text(selected).show_ui(ui, |ui| {
            ui.set_max_width(size::POPUP);
            ui.selectable_value(value, None, all);
            for (name, count) in names {
                let is_chosen = value.as_ref() == Some(name);
                let row = egui::Button::selectable(is_chosen, format!("{name}  ·  {count}")).truncate();
                if ui.add(row).clicked() {
                    *value = Some(name.clone());
                }
            }
        });
    list.response.accessible_name(label).on_hover_text(tip);
}

/// The folders that are shown.
fn folders(ui: &mut Ui, around: Around<'_>, actions: &mut Vec<Action>) {
    let button = widgets::icon_button(ui, icons::FOLDER, "Folders");
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Folders of the gallery")
        .width(size::POPUP)
        .show(|ui| {
            ui.set_min_width(size::POPUP);
            ui.spacing_mut().item_spacing.y = space::XS;
            widgets::field_label(ui, "Folders");
            if let Some(folder) = around.output {
                let path = folder.display().to_string();
                if widgets::file_button(ui, icons::FOLDER_OPEN, "Output folder", &path, false)
                    .on_hover_text("Open this folder.")
                    .clicked()
                {
                    actions.push(Action::OpenFolder(folder.clone()));
                }
            }
            for folder in around.others {
                let path = folder.display().to_string();
                ui.horizontal(|ui| {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let remove = format!("Remove {path} from the gallery");
                        if widgets::icon_button(ui, icons::X, &remove).clicked() {
                            actions.push(Step::RemoveFolder(folder.clone()).into());
                        }
                        let name = crate::window::state::file_name(folder);
                        if widgets::file_button(ui, icons::FOLDER, &name, &path, false)
                            .on_hover_text(format!("Open {path}"))
                            .clicked()
                        {
                            actions.push(Action::OpenFolder(folder.clone()));
                        }
                    });
                });
            }
            ui.separator();
            if widgets::row_button(ui, icons::FOLDER, "Add a folder…", "", false)
                .on_hover_text("Show the images of another folder too, such as that of another program.")
                .clicked()
            {
                actions.push(Action::OpenDialog(Dialog::GalleryFolder));
                ui.close();
            }
            if widgets::row_button(ui, icons::RESTORE, "Read the folders again", "", false)
                .on_hover_text("Find what other programs have changed. Key: F5")
                .clicked()
            {
                actions.push(Step::Rescan.into());
                ui.close();
            }
        });
}
