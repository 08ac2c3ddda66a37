//! Asks which images of a folder are used, and says what that takes.

use std::path::Path;

use egui::{RichText, Ui};

use crate::{
    input_folder::InputFolder,
    language::tr,
    window::{
        action::{Action, FolderFound, FolderInputs, InputUse, Making},
        icons,
        state::{State, file_name},
        takes,
        tokens::{Palette, font},
        widgets::{self, Weight},
    },
};

/// The most reasons why images cannot be read that are said.
pub const REASONS: usize = 3;
/// Height of the forecast in one line.
const FORECAST: f32 = 20.0;

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderQuestion {
    /// The images.
    pub found: FolderFound,
    /// Whether those of subfolders are used.
    pub includes: bool,
    /// Whether those are used again whose results are there, and all results go to another folder.
    pub again: bool,
    /// The denoising strength, where there is one.
    pub strength: Option<f64>,
}

impl FolderQuestion {
    fn images(&self) -> &InputFolder {
        if self.includes { &self.found.all } else { &self.found.own }
    }

    fn is_again(&self) -> bool {
        self.again || self.images().images.is_empty()
    }

    /// Whether all results go to another folder, because some are there.
    fn moves(&self) -> bool {
        self.is_again() && self.images().done > 0
    }

    /// How many images would be used, and the folder of what they become.
    fn extent(&self) -> (usize, &Path) {
        let (FolderFound { results, again, .. }, images) = (&self.found, self.images());
        match self.moves() {
            true => (images.all.len(), again.as_path()),
            false => (images.images.len(), results.as_path()),
        }
    }

    /// The images that would be used, and what they become.
    fn chosen(&self) -> FolderInputs {
        let FolderFound { folder, used_as, results, again, .. } = &self.found;
        let found = match self.moves() {
            true => self.images().again([results, again]),
            false => self.images().clone(),
        };
        let (folder, results) = (folder.clone(), self.extent().1.to_owned());
        FolderInputs { folder, results, used_as: *used_as, strength: self.strength, found }
    }

    /// What the engine is asked about: the first image, what it is used as, and the denoising strength.
    pub fn asked(&self) -> Option<(&Path, InputUse, Option<f64>)> {
        let (first, _) = self.images().all.first()?;
        Some((first.as_path(), self.found.used_as, self.strength))
    }

    /// Draws it.
    pub(super) fn contents(&mut self, ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
        // The field of the number, which takes the key as well, comes later.
        let is_entered = widgets::is_entered(ui);
        let ink = Palette::of(ui).text;
        let title = tr!("app-folder-ask", name = file_name(&self.found.folder));
        ui.label(RichText::new(title).font(font::semibold(font::HEADING)).color(ink));
        let inside = self.found.all.count() - self.found.own.count();
        if inside > 0 {
            ui.checkbox(&mut self.includes, tr!("app-folder-subfolders", count = inside))
                .on_hover_text(tr!("app-folder-subfolders-tip"));
        }
        self.which(ui);
        let unreadable = &self.images().unreadable;
        for why in unreadable.iter().take(REASONS) {
            widgets::mistake(ui, why);
        }
        if unreadable.len() > REASONS {
            let count = unreadable.len() - REASONS;
            widgets::mistake(ui, &tr!("app-folder-more-unreadable", count = count));
        }
        let (count, results) = self.extent();
        widgets::hint(ui, tr!("app-folder-results", folder = results.display()));
        if state.draft().request.batch > 1 {
            widgets::hint(ui, tr!("app-folder-batch"));
        }
        if let Some(strength) = &mut self.strength {
            let name = tr!("side-panel-denoising-strength");
            widgets::slider_row(ui, &name, strength, 0.05..=1.0, 0.01..=1.0, 0.01)
                .on_hover_text(tr!("side-panel-denoising-strength-tip"));
        }
        // The buttons stay in their place whatever the engine answers.
        let forecast = ui.scope(|ui| {
            ui.set_min_height(FORECAST);
            forecast(ui, state, count)
        });
        let can_start = forecast.inner && count > 0;
        ui.horizontal(|ui| {
            let generate = ui.add_enabled_ui(can_start, |ui| {
                widgets::button(ui, Some(icons::SPARKLES), &tr!("app-folder-generate"), Weight::Primary)
                    .on_hover_text(tr!("app-folder-generate-tip"))
            });
            if generate.inner.clicked() || is_entered && can_start {
                actions.push(Making::Inputs(Box::new(self.chosen())).into());
            }
            if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain)
                .on_hover_text(tr!("grid-cancel-tip"))
                .clicked()
            {
                actions.push(Action::CloseQuestion);
            }
        });
    }

    /// How many images there are, and which of them are used if some are done.
    fn which(&mut self, ui: &mut Ui) {
        let (rest, done) = (self.images().images.len(), self.images().done);
        if done == 0 {
            widgets::hint(ui, tr!("app-folder-count", count = rest));
            return;
        }
        if rest == 0 {
            widgets::hint(ui, tr!("app-folder-again", count = done));
            return;
        }
        let only_rest = ui.radio(!self.again, tr!("app-folder-rest", count = rest));
        if only_rest.on_hover_text(tr!("app-folder-rest-tip")).clicked() {
            self.again = false;
        }
        let all = ui.radio(self.again, tr!("app-folder-again", count = rest + done));
        if all.on_hover_text(tr!("app-folder-again-tip")).clicked() {
            self.again = true;
        }
    }
}

/// Says what it takes. Returns whether nothing speaks against it.
fn forecast(ui: &mut Ui, state: &State, images: usize) -> bool {
    if !state.can_ask() {
        widgets::hint(ui, tr!("app-check-settings"));
        return false;
    }
    match state.folder_estimate(images) {
        None => {
            widgets::hint(ui, tr!("upscale-asking"));
            true
        }
        Some(Ok(estimate)) => {
            takes::show(ui, state, &estimate);
            true
        }
        Some(Err(reason)) => {
            widgets::mistake(ui, &reason);
            false
        }
    }
}
