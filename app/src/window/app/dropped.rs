//! Takes files that are dropped, and images from the clipboard.

use std::{path::Path, sync::Arc};

use egui::{Event, Ui};

use super::SluiceApp;
use crate::window::files::{Task, is_image_or_clip};

impl SluiceApp {
    /// An image on the clipboard is used as a dropped one is. egui offers it only if there is no text.
    pub(super) fn take_pasted(&mut self, ui: &Ui) {
        let pasted = ui.input(|input| {
            input.events.iter().find_map(|event| match event {
                Event::PasteImage(image) => Some(Arc::clone(image)),
                _ => None,
            })
        });
        if let Some(image) = pasted {
            let folder = self.output_folder().join("pasted");
            self.request(Task::SavePasted { folder, image });
        }
    }

    pub(super) fn take_drops(&mut self, ui: &Ui) {
        // What was dragged out of the window and came back is not used.
        if self.drag_out.is_of_system() {
            return;
        }
        let dropped = ui.input(|input| input.raw.dropped_files.clone());
        self.take_files(dropped.iter().map(|file| file.path()));
    }

    /// Takes files as if they were dropped: of several images, the first is used.
    pub fn take_files<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) {
        let mut images = 0_usize;
        for file in files {
            images += usize::from(is_image_or_clip(file));
            if images <= 1 || !is_image_or_clip(file) {
                self.request(Task::Take(file.to_owned()));
            }
        }
        if images > 0 {
            self.left_out = images - 1;
        }
    }
}
