//! Follows what other programs do to the folders of results, while these are in sight.

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use egui::Context;

use super::{RETRY, SluiceApp};
use crate::window::{collection::Watch, files::Task, state::State};

/// The time until files that were not whole are looked at again, and how often that is done.
const GROWING: Duration = Duration::from_millis(1500);
const LOOKS: u32 = 20;

/// What is known of other programs' changes.
pub(super) struct Watching {
    /// Whether the folders are looked at.
    is_on: bool,
    watch: Option<Watch>,
    /// When to look for what was added.
    due: Option<Instant>,
    /// How often files that are not whole are looked at again.
    looks: u32,
    /// The folder that was looked at, and what was in it.
    listed: Option<(PathBuf, HashSet<PathBuf>)>,
}

impl Watching {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, watch: None, due: None, looks: 0, listed: None }
    }

    /// Takes what is in a folder.
    pub(super) fn listed(&mut self, folder: PathBuf, files: HashSet<PathBuf>, are_whole: bool) {
        self.listed = Some((folder, files));
        if !are_whole && self.looks > 0 {
            self.looks -= 1;
            self.due.get_or_insert_with(|| Instant::now() + GROWING);
        }
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
            self.watching.due = Some(Instant::now());
            self.watching.looks = LOOKS;
            if self.gallery.is_open {
                self.list_gallery();
            } else {
                self.look_for_files();
            }
        }
        // What a job makes is listed when it ends.
        let Some(due) = self.watching.due.filter(|_| self.state.jobs.running().is_none()) else { return };
        match due.checked_duration_since(Instant::now()) {
            Some(rest) if !rest.is_zero() => ctx.request_repaint_after(rest),
            _ if self.look_for_new_files() => self.watching.due = None,
            _ => ctx.request_repaint_after(RETRY),
        }
    }

    /// Looks for files that other programs put into the output folder or one in it. Returns `false` if it is to be tried again.
    fn look_for_new_files(&self) -> bool {
        let Some(folder) = self.state.surroundings.output_folder.clone() else { return true };
        let before = self.watching.listed.as_ref().filter(|(listed, _)| *listed == folder);
        let known = before.map(|(_, files)| &self.state.images.recents.known_files() | files);
        self.files.request(Task::LookForNew { folder, known })
    }
}
