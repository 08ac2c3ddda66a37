//! What the desktop shows of the queue: the title of the window, its progress in the taskbar, and that it is done.

use egui::{Context, UserAttentionType, ViewportCommand};

use super::SluiceApp;
use crate::language::tr;

/// Letters of a prompt in the title.
const TITLE: usize = 40;

impl SluiceApp {
    /// Says in the title what is running, and shows its progress in the taskbar.
    pub(super) fn say_in_title(&mut self, ctx: &Context) {
        let jobs = &self.state.jobs;
        let running = jobs.running().zip(jobs.fraction());
        let title = running.map_or_else(
            || "Sluice".to_owned(),
            |((job, _), fraction)| {
                let prompt: String = job.request().prompt.trim().chars().take(TITLE).collect();
                let percent = format!("{:.0}%", fraction * 100.0);
                match prompt.is_empty() {
                    true => format!("{percent} – Sluice"),
                    false => format!("{percent} · {prompt} – Sluice"),
                }
            },
        );
        if self.title != title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            (self.show_progress)(running.map(|(_, fraction)| f64::from(fraction)));
            self.title = title;
        }
    }

    /// Makes the desktop point to the window when the queue is done while another window is in front, and say so.
    pub(super) fn call(&mut self, ctx: &Context) {
        let is_busy = !self.state.jobs.is_empty();
        if std::mem::replace(&mut self.was_busy, is_busy) && !is_busy && !ctx.input(|input| input.focused) {
            if self.state.settings.notifies {
                (self.notify)(tr!("app-queue-done"));
            }
            ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
        }
    }
}
