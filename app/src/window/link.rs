//! The window's only connection to the engine: commands out, events in.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use sluice_engine::session::{Command, Event, Session, Unsent};

use crate::engines::EngineList;

/// Starts the engines of a list, not on the window's thread.
pub type StartEngines = Arc<dyn Fn(&EngineList) -> anyhow::Result<Box<dyn EngineLink>> + Send + Sync>;

/// A running engine as the window sees it, or several. Neither call may block.
pub trait EngineLink: Send {
    /// Sends a command.
    ///
    /// # Errors
    /// Returns the command if the engine cannot take it now, or has ended.
    fn send(&self, command: Command) -> Result<(), Unsent>;

    /// The next event, if there is one.
    fn try_recv(&self) -> Option<Event>;
}

impl EngineLink for Session {
    fn send(&self, command: Command) -> Result<(), Unsent> {
        Self::send(self, command)
    }

    fn try_recv(&self) -> Option<Event> {
        self.events().try_recv().ok()
    }
}

/// A link to an engine elsewhere, over two channels.
pub struct ChannelLink {
    /// To the engine.
    pub commands: Sender<Command>,
    /// From the engine.
    pub events: Receiver<Event>,
}

impl EngineLink for ChannelLink {
    fn send(&self, command: Command) -> Result<(), Unsent> {
        self.commands.try_send(command).map_err(Unsent::from)
    }

    fn try_recv(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}
