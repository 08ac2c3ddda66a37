//! Changes the engines while the window is open, once no job needs those that there are.

use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};
use egui::Context;
use sluice_engine::session::{Command, Event, Unsent};

use super::{RETRY, SluiceApp};
use crate::{
    engines::EngineList,
    language::tr,
    window::link::{EngineLink, StartEngines},
};

/// The engines that come.
#[derive(Default)]
pub(super) struct EngineChange {
    /// Starts engines, if they can be changed.
    start: Option<StartEngines>,
    /// The list that waits until the queue is empty.
    wanted: Option<EngineList>,
    /// Whether the same engines are started anew, too.
    restarts: bool,
    coming: Option<Receiver<anyhow::Result<Box<dyn EngineLink>>>>,
}

impl EngineChange {
    /// No change yet.
    pub fn with(start: Option<StartEngines>) -> Self {
        Self { start, ..Self::default() }
    }
}

/// Stands for engines that are being started: what is sent waits.
struct NoEngine;

impl EngineLink for NoEngine {
    fn send(&self, command: Command) -> Result<(), Unsent> {
        Err(Unsent::Full(Box::new(command)))
    }

    fn try_recv(&self) -> Option<Event> {
        None
    }
}

impl SluiceApp {
    /// Uses the engines of another list, if they differ.
    pub(super) fn use_engines(&mut self, list: &EngineList) {
        if self.engine_change.start.is_none() {
            return;
        }
        // A change that waits may be taken back.
        let is_kept = self.engine_change.coming.is_none() && !self.engine_change.restarts;
        let is_same = is_kept && list.used() == self.engines_in_use.used();
        self.engine_change.wanted = (!is_same).then(|| list.clone());
        self.state.lanes.change_waits = !is_same;
    }

    /// Starts the same engines anew when nothing runs or waits, because there is another program for them.
    pub(super) fn restart_engines(&mut self) {
        if self.engine_change.start.is_none() {
            return;
        }
        self.engine_change.restarts = true;
        if self.engine_change.wanted.is_none() {
            self.engine_change.wanted = Some(self.engines_in_use.clone());
        }
        self.state.lanes.change_waits = true;
    }

    /// Starts other engines when nothing runs or waits, and uses them when they are there.
    pub(super) fn follow_engines(&mut self, ctx: &Context) {
        self.take_cards();
        if let Some(coming) = &self.engine_change.coming {
            let link = match coming.try_recv() {
                Err(TryRecvError::Empty) => return ctx.request_repaint_after(RETRY),
                Err(TryRecvError::Disconnected) => Err(anyhow::anyhow!("a thread ended unexpectedly")),
                Ok(link) => link,
            };
            self.engine_change.coming = None;
            match link {
                Ok(link) => self.link = link,
                Err(error) => {
                    let advice = Some(tr!("app-try-again"));
                    self.fail(&tr!("engines-not-started"), format!("{error:#}"), advice);
                }
            }
        }
        if !self.state.jobs.is_empty() {
            return;
        }
        let Some(list) = self.engine_change.wanted.take() else { return };
        let Some(start) = self.engine_change.start.clone() else { return };
        self.engine_change.restarts = false;
        self.state.lanes.change_waits = false;
        let before = std::mem::replace(&mut self.link, Box::new(NoEngine));
        let (report, coming) = bounded(1);
        let wanted = list.clone();
        let started = thread::Builder::new().name("sluice-change-engines".to_owned()).spawn(move || {
            // They let go of the unfinished jobs first.
            drop(before);
            // Nobody waits if the window is gone.
            let _ = report.send(start(&wanted));
        });
        if let Err(error) = started {
            return self.fail(&tr!("engines-not-started"), error.to_string(), Some(tr!("app-try-again")));
        }
        self.engine_change.coming = Some(coming);
        self.unsent.clear();
        let load = self.state.change_engines(&list.used());
        self.engines_in_use = list;
        self.send([load]);
        if self.state.jobs.paused {
            self.send([Command::Pause { paused: true }]);
        }
        self.search_models();
        if self.state.library.is_open || self.state.lanes.are_elsewhere() {
            self.list_elsewhere();
        }
        ctx.request_repaint_after(RETRY);
    }

    fn take_cards(&mut self) {
        if let Some(cards) = self.cards.as_ref().and_then(|cards| cards.try_recv().ok()) {
            self.state.surroundings.cards = cards;
            self.cards = None;
        }
    }
}
