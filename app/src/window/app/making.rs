//! Executes what starts several jobs at once.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use egui::Context;
use sluice_engine::session::Command;

use super::{Lock, SluiceApp};
use crate::{
    input_folder::InputFolder,
    language::{said, tr},
    window::{
        action::{FolderFound, FolderInputs, Making},
        files::Task,
        question::{FolderQuestion, Question, REASONS},
        state::{Ask, ClipLength, Shown, file_name},
        told::Told,
    },
};

/// The folder of groups in the folder for data.
const GROUPS: &str = "grids";

impl SluiceApp {
    pub(super) fn make(&mut self, making: Making) {
        match making {
            Making::AskGrid(shown) => {
                self.grid.is_open = shown;
                if shown {
                    self.list_styles();
                }
            }
            Making::Grid(grid) => match self.state.generate_grid(&grid, self.new_seed) {
                Ok(commands) if commands.is_empty() => {
                    self.fail(&tr!("app-grid-failed"), tr!("app-grid-failed-why"), None);
                }
                Ok(commands) => {
                    self.grid.is_open = false;
                    self.send(commands);
                }
                Err(error) => self.fail(&tr!("app-grid-failed"), error.to_string(), None),
            },
            Making::CancelGroup(job) => {
                let commands = self.state.jobs.cancel_group(job);
                self.send(commands);
            }
            Making::Vary(id, strength) => {
                let commands = self.state.vary(id, strength, self.new_seed);
                self.send(commands);
            }
            Making::Map(kind, image) => {
                let command = self.state.show_map(kind, &image);
                self.send(command);
            }
            Making::Inputs(inputs) => {
                self.question = None;
                self.queue_inputs(*inputs);
            }
            Making::Folder(folder, used_as) => {
                let results = self.results_of_folder(&folder);
                let frames = self.state.draft().request.frames;
                let extension = self.state.settings.output.extension(frames);
                self.request(Task::ListInputs { folder, results, extension, used_as });
            }
        }
    }

    /// Where what is made of the files of a folder goes.
    pub(super) fn results_of_folder(&self, folder: &Path) -> PathBuf {
        let (output, name) = (self.output_folder(), file_name(folder));
        let results = output.join(&name);
        if results == folder { output.join(format!("{name} new")) } else { results }
    }

    /// Composes the groups whose jobs have ended, and writes down what the next start has to know.
    /// Returns whether something is left for the next frame.
    pub(super) fn follow_groups(&mut self) -> bool {
        let folder = self.group_folder();
        let take = |change| self.files.request(Task::Group(folder.clone(), change));
        self.state.jobs.groups.hand_over(take)
    }

    /// Reads the groups of previous sessions.
    pub(super) fn read_groups(&self) {
        if let Some(folder) = self.group_folder() {
            self.files.request(Task::Groups(folder));
        }
    }

    /// Where the first window keeps its groups.
    fn group_folder(&self) -> Option<PathBuf> {
        let data = self.places.data.as_ref().filter(|_| !matches!(self.lock, Lock::Taken));
        data.map(|data| data.join(GROUPS))
    }

    /// Takes the input images of a folder, and asks which of them are used.
    pub(super) fn take_inputs(&mut self, found: FolderFound) {
        if found.all.count() == 0 {
            let message = match found.all.unreadable.first() {
                Some(why) => why.clone(),
                None => tr!("app-folder-empty", name = file_name(&found.folder)),
            };
            return self.fail(&tr!("app-nothing-to-generate"), message, None);
        }
        let strength = self.state.folder_strength(found.used_as);
        self.question = Some(Question::Folder(Box::new(FolderQuestion {
            found,
            includes: true,
            again: false,
            strength,
        })));
    }

    /// Queries what a run over a folder takes, while that is being asked.
    pub(super) fn ask_about_folder(&mut self, ctx: &Context) {
        let Some(Question::Folder(question)) = &self.question else { return };
        match self.state.ask_about_folder(question.asked(), ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }

    /// Queries what masks of objects and maps take, before they are made.
    pub(super) fn ask_about_tools(&mut self) {
        if let Ask::Now(query) = self.state.ask_about_tools(self.viewer.marks_objects()) {
            self.send([Command::Plan(query)]);
        }
    }

    /// Queues a job for each of these input images.
    fn queue_inputs(&mut self, FolderInputs { folder, results, used_as, strength, found }: FolderInputs) {
        let name = file_name(&folder);
        let InputFolder { images, done, unreadable, .. } = found;
        let count = images.len();
        let commands = self.state.generate_from_folder(&name, images, (used_as, strength), self.new_seed);
        if commands.is_empty() {
            return self.fail(&tr!("app-cannot-generate"), tr!("app-check-settings"), None);
        }
        self.send(commands);
        let mut details = vec![tr!("app-folder-results", folder = results.display())];
        if done > 0 {
            details.push(tr!("app-folder-left-out", count = done));
        }
        if !unreadable.is_empty() {
            details.push(tr!("app-folder-unreadable", count = unreadable.len()));
            details.extend(unreadable.iter().take(REASONS).map(|why| said(why)));
        }
        let told = Told::about(name, |name| tr!("app-folder-queued", count = count, name = name));
        self.state.messages.say(told, details);
    }

    /// Shows a composed image, unless another one was chosen meanwhile.
    pub(super) fn take_composed(
        &mut self,
        path: PathBuf,
        thumbnail: egui::ColorImage,
        length: Option<ClipLength>,
        settings: Option<Box<crate::window::image_settings::ImageSettings>>,
    ) {
        self.saved(&path);
        let settings = settings.map(|settings| *settings);
        let id = self.state.images.recents.recall(path, thumbnail, length, settings);
        self.state.images.recents.set_composed(id);
        if self.state.images.follow {
            self.state.images.shown = Shown::Recent(id);
        }
    }
}
