//! Handles the events of the engine and of the workers, and requests what is missing.

use std::{path::PathBuf, time::Duration};

use egui::Context;
use sluice_engine::session::Event as EngineEvent;

use super::{RETRY, SluiceApp};
use crate::window::{
    files::Task,
    state::{State, Wanted},
    tokens,
};

/// Maximum number of events handled per frame; the rest waits for the next one.
const EVENTS_A_FRAME: usize = 256;
const FILE_EVENTS_A_FRAME: usize = 8;

impl SluiceApp {
    /// Handles events of the engine and the file worker.
    pub fn take_events(&mut self, ctx: &Context) {
        let now = ctx.time();
        for taken in 0..=EVENTS_A_FRAME {
            if taken == EVENTS_A_FRAME {
                ctx.request_repaint();
                break;
            }
            match self.link.try_recv() {
                Some(event) => {
                    let made = match &event {
                        EngineEvent::Finished { pictures, .. } => {
                            Some(pictures.iter().filter_map(|picture| picture.path.clone()).collect())
                        }
                        _ => None,
                    };
                    self.state.apply(event, now);
                    if let Some(files) = made {
                        self.made(files);
                    }
                }
                None => break,
            }
        }
        for taken in 0..=FILE_EVENTS_A_FRAME {
            if taken == FILE_EVENTS_A_FRAME {
                ctx.request_repaint();
                break;
            }
            match self.files.try_recv() {
                Some(event) => self.take_file_event(event),
                None => break,
            }
        }
        if let Some(reduces) = self.reduced_motion.as_ref().and_then(|said| said.try_iter().last()) {
            self.state.surroundings.reduces_motion = reduces;
            tokens::reduce_motion(ctx, self.state.appears_at_once());
        }
        self.follow_cuda();
        self.follow_engines(ctx);
        let following = self.state.jobs.take_following();
        self.send(following);
        if let Some(again) = self.state.jobs.repeat(self.new_seed) {
            self.send([again]);
        }
        let groups_wait = self.follow_groups();
        let texts_wait = self.save_texts();
        self.take_reports(ctx);
        self.follow_folders(ctx);
        if self.send_waiting() || groups_wait || texts_wait {
            ctx.request_repaint_after(RETRY);
        }
        if self.state.jobs.running().is_some() {
            // The remaining time counts down between steps.
            ctx.request_repaint_after(Duration::from_secs(1));
        }
        self.follow_library(ctx);
        self.follow_downloads();
        self.state.follow_clip(now);
        self.textures.prune(&self.state);
        self.read_files();
    }

    /// New files were made. Those that were made of other files keep the settings of these.
    fn made(&mut self, files: Vec<PathBuf>) {
        for path in self.state.images.recents.unknown(files) {
            self.request(Task::ReadSettings(path));
        }
        if self.gallery.is_open {
            self.list_gallery();
        }
    }

    /// Looks for the files of the list below the image, which other programs may have deleted.
    pub(super) fn look_for_files(&self) {
        let [listed, gone] = self.state.images.recents.files();
        if !listed.is_empty() || !gone.is_empty() {
            self.files.request(Task::LookFor { listed, gone });
        }
    }

    pub(super) fn follow_disk(&mut self, gone: &[PathBuf], back: &[PathBuf]) {
        let before = self.state.images.shown;
        self.state.images.follow_disk(gone, back);
        if self.state.images.shown != before {
            self.viewer.fit();
        }
    }

    /// Requests the pixels of displayed files that are not loaded yet.
    fn read_files(&mut self) {
        self.state.follow_input();
        let State { settings, input, .. } = &mut self.state;
        match input.files.wanted(&settings.draft.request) {
            Some(Wanted::File(path)) => self.request(Task::Input(path)),
            Some(Wanted::Map(net, size)) => self.request(Task::Map(net, size)),
            None => {}
        }
        let images = &self.state.images;
        let hovered = self.viewer.hovered_clip().and_then(|id| images.recents.get(id));
        let mut wanted = images.drawn().chain(hovered);
        let missing = wanted.find(|recent| recent.pixels.is_none());
        if let Some(path) = missing.and_then(|recent| recent.path.clone())
            && self.reading.as_ref() != Some(&path)
            && self.files.request(Task::Show(path.clone()))
        {
            self.reading = Some(path);
        }
    }
}
