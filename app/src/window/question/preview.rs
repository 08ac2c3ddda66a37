//! Asks which model gets an image as its preview.

use std::path::PathBuf;

use egui::{RichText, Ui};

use crate::{
    language::tr,
    window::{
        action::{Action, LibraryAction},
        icons,
        state::file_name,
        tokens::{Palette, font},
        widgets::{self, Weight},
    },
};

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewQuestion {
    /// The image, or the clip whose first frame is used.
    pub image: PathBuf,
    /// The model and the LoRAs of the image, and the opened model: each with whether it has a preview that would be replaced.
    pub models: Vec<(PathBuf, bool)>,
    /// The place of the chosen one.
    pub chosen: usize,
}

impl PreviewQuestion {
    /// Draws it.
    pub(super) fn contents(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let ink = Palette::of(ui).text;
        let words = tr!("library-preview-title");
        ui.label(RichText::new(words).font(font::semibold(font::HEADING)).color(ink));
        widgets::hint(ui, tr!("library-preview-hint"));
        for (place, (model, _)) in self.models.iter().enumerate() {
            ui.radio_value(&mut self.chosen, place, file_name(model))
                .on_hover_text(model.display().to_string());
        }
        let Some((model, replaces)) = self.models.get(self.chosen) else { return };
        if *replaces {
            widgets::hint(ui, tr!("library-preview-replaces", name = file_name(model)));
        }
        ui.horizontal(|ui| {
            let name = if *replaces { tr!("library-preview-replace") } else { tr!("library-preview-use") };
            if widgets::button(ui, Some(icons::IMAGE), &name, Weight::Primary)
                .on_hover_text(tr!("library-preview-use-tip"))
                .clicked()
                || widgets::is_entered(ui)
            {
                let (image, model) = (self.image.clone(), model.clone());
                actions.push(LibraryAction::UsePreview { image, model, replaces: *replaces }.into());
            }
            if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain)
                .on_hover_text(tr!("library-preview-cancel-tip"))
                .clicked()
            {
                actions.push(Action::CloseQuestion);
            }
        });
    }
}
