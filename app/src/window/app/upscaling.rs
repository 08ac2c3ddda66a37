//! Executes the steps of enlarging images and clips, of putting frames between those of clips, and of inpainting details again.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use egui::Context;
use sluice_engine::session::{Command, Failure};

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        action::UpscaleStep,
        files::Task,
        state::{Ask, FileChange, file_name},
    },
};

impl SluiceApp {
    pub(super) fn upscale_step(&mut self, step: UpscaleStep) {
        match step {
            UpscaleStep::Ask(inputs) => self.ask_change(FileChange::Enlarge, inputs, None),
            UpscaleStep::AskInterpolate(inputs) => self.ask_change(FileChange::Interpolate, inputs, None),
            UpscaleStep::AskDetail(inputs) => self.ask_change(FileChange::Detail, inputs, None),
            UpscaleStep::AskFolder(change, folder) => self.request(Task::ListChanged(change, folder)),
            UpscaleStep::Again(again) => self.state.change_again(again),
            UpscaleStep::ChooseDetectors(detectors) => self.state.choose_detectors(detectors),
            UpscaleStep::Choose(choice) => self.state.choose_upscale(choice),
            UpscaleStep::ChooseInterpolation(choice) => self.state.choose_interpolation(choice),
            UpscaleStep::Close => self.state.upscaling = None,
            UpscaleStep::Start if !self.state.can_upscale() => {}
            UpscaleStep::Start => {
                let change = self.state.upscaling.as_ref().map(|asked| asked.change);
                let commands = self.state.upscale();
                if self.gallery.is_open {
                    let count = commands.len();
                    self.gallery.shelf.say(match change {
                        Some(FileChange::Detail) => tr!("detailers-queued", count = count),
                        _ => tr!("upscale-queued", count = count),
                    });
                }
                self.send(commands);
            }
        }
    }

    /// Asks how to change files whose results go beside them or into a folder.
    fn ask_change(&mut self, change: FileChange, inputs: Vec<PathBuf>, results: Option<PathBuf>) {
        match change {
            FileChange::Enlarge => self.state.ask_upscale(inputs.clone()),
            FileChange::Interpolate => self.state.ask_interpolate(inputs.clone()),
            FileChange::Detail => {
                self.state.ask_detail(inputs.clone(), (self.new_seed)());
                // Before the headers, without which no job is queued.
                self.request(Task::ReadPrompts(inputs.clone()));
            }
        }
        if let Some(asked) = &mut self.state.upscaling {
            asked.results = results;
        }
        self.request(Task::Measure(inputs));
    }

    /// Asks how to change the files of a folder, which were listed. Why it cannot be used is said in the question, if one is open.
    pub(super) fn take_changed(
        &mut self,
        change: FileChange,
        folder: &Path,
        files: Result<Vec<PathBuf>, Failure>,
    ) {
        let name = file_name(folder);
        let failure = match files {
            Ok(files) if !files.is_empty() => {
                let results = self.results_of_folder(folder);
                let before = self.state.upscaling.take();
                self.ask_change(change, files, Some(results));
                if let (Some(asked), Some(before)) = (&mut self.state.upscaling, before) {
                    asked.keep_choices_of(before);
                }
                return;
            }
            Ok(_) => {
                let message = match change {
                    FileChange::Enlarge => tr!("upscale-folder-empty", name = name),
                    FileChange::Interpolate => tr!("interpolate-folder-empty", name = name),
                    FileChange::Detail => tr!("detailers-folder-empty", name = name),
                };
                Failure { message, advice: None }
            }
            Err(failure) => failure,
        };
        match &mut self.state.upscaling {
            Some(asked) => asked.unusable = Some(failure),
            None => self.state.messages.fail(&tr!("files-folder-unusable"), failure),
        }
    }

    /// Looks for the results that are there already, while it is asked what it takes.
    pub(super) fn look_for_results(&mut self) {
        if let Some((change, results)) = self.state.results_to_look_for()
            && self.files.request(Task::FindResults(change, results.clone()))
        {
            self.state.looks_for_results(&results);
        }
    }

    /// Queries what it takes, while that is being asked.
    pub(super) fn ask_about_upscaling(&mut self, ctx: &Context) {
        match self.state.ask_about_upscaling(ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }
}
