//! Asks how images are exported.

use egui::{Context, Frame, Margin, RichText, Ui, vec2};
use sluice_engine::output::{NAME_FIELDS, StillFormat};

use super::Gallery;
use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::{Export, ExportOptions, Item},
        files::Dialog,
        icons,
        settings_page::{field_meaning, format_meaning},
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportDialog {
    /// The answer so far.
    pub options: ExportOptions,
}

/// Draws it over the window.
pub(super) fn show(ctx: &Context, gallery: &mut Gallery, actions: &mut Vec<Action>) {
    let Gallery { dialog: Some(dialog), shelf, .. } = gallery else { return };
    let items = shelf.selected().to_vec();
    let modal = widgets::dialog(ctx, "gallery export").show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
            ui.set_width(size::CARD);
            ui.spacing_mut().item_spacing.y = space::S;
            contents(ui, &mut dialog.options, items, actions);
        });
    });
    if widgets::is_clicked_beside(&modal) {
        actions.push(GalleryAction::CloseExport.into());
    }
}

fn contents(
    ui: &mut Ui,
    options: &mut ExportOptions,
    items: Vec<std::sync::Arc<Item>>,
    actions: &mut Vec<Action>,
) {
    // The fields, which take the key as well, come later.
    let is_entered = widgets::is_entered(ui);
    let count = items.len();
    let clips = items.iter().filter(|item| item.clip.is_some()).count();
    let words = tr!("gallery-export-files", count = count);
    ui.label(RichText::new(words).font(font::semibold(font::HEADING)).color(Palette::of(ui).text));
    if clips > 0 {
        widgets::hint(ui, tr!("gallery-export-clips", count = clips));
    }
    if clips < count {
        of_images(ui, options);
    }
    let label = widgets::field_label(ui, &tr!("gallery-export-name"));
    let field = egui::TextEdit::singleline(&mut options.template)
        .id_salt("export name")
        .margin(Margin::symmetric(10, 6));
    let fields = NAME_FIELDS
        .map(|(field, words)| {
            let meaning = field_meaning(field, words);
            tr!("gallery-export-field", field = format!("{{{field}}}"), meaning = meaning)
        })
        .join("\n");
    ui.add_sized(vec2(ui.available_width(), size::CONTROL), field)
        .labelled_by(label.id)
        .on_hover_text(fields);
    let name = items.first().map(|item| (options.name(item, 1, count), options.extension(item)));
    match &name {
        Some((Ok(name), extension)) => {
            let path = options.folder.join(format!("{name}.{extension}"));
            widgets::hint(ui, tr!("gallery-export-example", path = path.display()));
        }
        Some((Err(error), _)) => widgets::mistake(ui, &error.to_string()),
        None => {}
    }
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        let can = matches!(name, Some((Ok(_), _)));
        let export = ui.add_enabled_ui(can, |ui| {
            widgets::button(ui, Some(icons::DOWNLOAD), &tr!("gallery-export"), Weight::Primary)
                .on_hover_text(tr!("gallery-export-tip"))
        });
        if export.inner.clicked() || is_entered && can {
            actions.push(
                GalleryAction::Export(Box::new(Export { items: items.clone(), options: options.clone() }))
                    .into(),
            );
        }
        let folder = widgets::button(ui, Some(icons::FOLDER), &tr!("gallery-export-folder"), Weight::Plain);
        if folder.on_hover_text(tr!("gallery-export-folder-tip")).clicked() {
            actions.push(Action::OpenDialog(Dialog::ExportFolder));
        }
        if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain)
            .on_hover_text(tr!("gallery-export-cancel-tip"))
            .clicked()
        {
            actions.push(GalleryAction::CloseExport.into());
        }
    });
}

/// What is chosen for images, and not for clips, which are copied.
fn of_images(ui: &mut Ui, options: &mut ExportOptions) {
    widgets::field_label(ui, &tr!("gallery-export-format"));
    let formats = StillFormat::ALL.map(|format| (format, format.title(), format_meaning(format)));
    if let Some(format) = widgets::segmented(ui, options.format, &formats) {
        options.format = format;
    }
    if options.format.is_lossy() {
        widgets::slider_row(ui, &tr!("gallery-export-quality"), &mut options.quality, 50..=100, 1..=100, 1.0)
            .on_hover_text(tr!("gallery-export-quality-tip"));
    }
    ui.checkbox(&mut options.with_settings, tr!("gallery-export-settings"))
        .on_hover_text(tr!("gallery-export-settings-tip"));
}
