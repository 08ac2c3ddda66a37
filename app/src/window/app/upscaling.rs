//! Executes the steps of enlarging images and clips, of putting frames between those of clips, and of inpainting details again.

use std::time::Duration;

use egui::Context;
use sluice_engine::session::Command;

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        action::UpscaleStep,
        files::Task,
        state::{Ask, FileChange},
    },
};

impl SluiceApp {
    pub(super) fn upscale_step(&mut self, step: UpscaleStep) {
        match step {
            UpscaleStep::Ask(inputs) => {
                self.state.ask_upscale(inputs.clone());
                self.request(Task::Measure(inputs));
            }
            UpscaleStep::AskInterpolate(inputs) => {
                self.state.ask_interpolate(inputs.clone());
                self.request(Task::Measure(inputs));
            }
            UpscaleStep::AskDetail(inputs) => {
                self.state.ask_detail(inputs.clone(), (self.new_seed)());
                // Before the headers, without which no job is queued.
                self.request(Task::ReadPrompts(inputs.clone()));
                self.request(Task::Measure(inputs));
            }
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

    /// Queries what it takes, while that is being asked.
    pub(super) fn ask_about_upscaling(&mut self, ctx: &Context) {
        match self.state.ask_about_upscaling(ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }
}
