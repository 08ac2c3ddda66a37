//! Follows what other programs do to the folders of results, while these are in sight.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use egui::Context;

use super::SluiceApp;
use crate::window::{collection::Watch, files::Task, state::State};

/// What is known of other programs' changes.
pub(super) struct Watching {
    /// Whether the folders are looked at.
    is_on: bool,
    watch: Option<Watch>,
    /// Whether to look for what was added.
    is_due: bool,
    /// When the window was opened.
    since: SystemTime,
}

impl Watching {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, watch: None, is_due: false, since: SystemTime::now() }
    }

    fn watch(&mut self, ctx: &Context) -> Option<&mut Watch> {
        if self.is_on && self.watch.is_none() {
            let repaint = ctx.clone();
            match Watch::start(Arc::new(move || repaint.request_repaint())) {
                Ok(watch) => self.watch = Some(watch),
                Err(error) => {
                    tracing::warn!(%error, "what other programs do to results is not noticed at once");
                    self.is_on = false;
                }
            }
        }
        self.watch.as_mut()
    }
}

impl SluiceApp {
    /// The output folder, and those that the gallery shows, too.
    pub(super) fn folders_of_results(&self) -> Vec<PathBuf> {
        let State { settings, surroundings, .. } = &self.state;
        surroundings.output_folder.iter().chain(&settings.gallery_folders).cloned().collect()
    }

    /// Lists what has changed in the folders. Only the list of models hides all results.
    pub(super) fn follow_folders(&mut self, ctx: &Context) {
        let is_in_sight = self.gallery.is_open || !self.state.library.is_open;
        let folders = is_in_sight.then(|| self.folders_of_results()).filter(|folders| !folders.is_empty());
        let Some(watch) = self.watching.watch(ctx) else { return };
        watch.follow(folders);
        if watch.has_changed() {
            self.watching.is_due = true;
            if self.gallery.is_open {
                self.list_gallery();
            } else {
                self.look_for_files();
            }
        }
        // What a job makes is listed when it ends.
        if self.watching.is_due && self.state.jobs.running().is_none() {
            self.watching.is_due = !self.look_for_new_files();
        }
    }

    /// Looks for files that other programs put into the output folder. Returns `false` if it is to be tried again.
    fn look_for_new_files(&self) -> bool {
        let Some(folder) = self.state.surroundings.output_folder.clone() else { return true };
        let known = self.state.images.recents.files().concat();
        self.files.request(Task::LookForNew { folder, known, since: self.watching.since })
    }
}
