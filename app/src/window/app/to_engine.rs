//! Sends commands to the engine, and asks it what the settings need.

use std::time::Duration;

use egui::{Context, Event};
use sluice_engine::session::{Command, Unsent};

use super::SluiceApp;
use crate::window::state::Ask;

impl SluiceApp {
    /// Queries a prediction for the settings, once they have changed and then stayed the same for a moment.
    pub(super) fn ask(&mut self, ctx: &Context) {
        // A file that was missing may be there when somebody comes back from another window.
        let is_back = ctx.input(|input| input.events.contains(&Event::WindowFocused(true)));
        if is_back && self.state.planning.is_refused() {
            self.state.planning.ask_again();
        }
        match self.state.ask(ctx.time()) {
            Ask::Now(query) => self.send([Command::Plan(query)]),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }

    /// Sends commands to the engine. It takes a limited number at once; the others wait for the next frames.
    pub(super) fn send(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.unsent.extend(commands);
        self.send_waiting();
    }

    /// Sends what is waiting. Returns whether something is left.
    pub(super) fn send_waiting(&mut self) -> bool {
        while let Some(command) = self.unsent.pop_front() {
            match self.link.send(command) {
                Ok(()) => {}
                Err(Unsent::Full(command)) => {
                    self.unsent.push_front(*command);
                    return true;
                }
                Err(Unsent::Ended(command)) => {
                    tracing::warn!(?command, "the engine does not take it");
                    self.unsent.clear();
                    self.state.engine_gone();
                }
            }
        }
        false
    }
}
