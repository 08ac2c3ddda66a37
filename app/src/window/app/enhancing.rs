//! Executes the steps of making a prompt better and of describing images.

use std::time::Duration;

use egui::Context;
use sluice_engine::session::Command;

use super::SluiceApp;
use crate::window::{action::EnhanceStep, files::Task, state::Ask};

impl SluiceApp {
    pub(super) fn enhance_step(&mut self, step: EnhanceStep) {
        match step {
            EnhanceStep::Open => {
                let command = self.state.ask_enhance();
                self.send(command);
                self.side_panel.see_card();
            }
            EnhanceStep::Describe(images) => {
                self.close_gallery();
                let command = self.state.ask_describe(images);
                self.send(command);
                self.side_panel.see_card();
            }
            EnhanceStep::DescribeEach(images) => {
                self.close_gallery();
                let command = self.state.ask_describe_each(images.clone());
                self.send(command);
                self.request(Task::NameTexts(images));
                self.side_panel.see_card();
            }
            EnhanceStep::Close => {
                let command = self.state.close_enhance();
                self.send(command);
            }
            EnhanceStep::Write if self.state.describes_each() => {
                let commands = self.state.describe_each((self.new_seed)());
                self.send(commands);
            }
            EnhanceStep::Write => {
                let command = self.state.enhance((self.new_seed)());
                self.send(command);
            }
            EnhanceStep::Stop => {
                let command = self.state.stop_writing();
                self.send(command);
            }
            EnhanceStep::Keep => self.state.keep_enhanced(false),
            EnhanceStep::Append => self.state.keep_enhanced(true),
            EnhanceStep::DescribeAs(kind) => self.state.describe_as(kind),
            EnhanceStep::UseModel(path) => self.state.choose_language_model(path),
            EnhanceStep::Instruct(own) => self.state.instruct(own),
        }
    }

    /// Saves what was written about images. Returns whether something is left for the next frame.
    pub(super) fn save_texts(&mut self) -> bool {
        let take = |file, text| self.files.request(Task::SaveText(file, text));
        self.state.texts.hand_over(take)
    }

    /// Queries what writing takes, while that is shown.
    pub(super) fn ask_about_enhancing(&mut self, ctx: &Context) {
        match self.state.ask_about_enhancing(ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }
}
