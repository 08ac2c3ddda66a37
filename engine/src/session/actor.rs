//! The threads behind a session.

use crossbeam_channel::{Receiver, Sender};

use super::{command::Command, event::Event};

/// How a session is started.
pub struct SessionOptions {
    /// Called after every event, from the engine's threads: a window asks for a repaint here.
    pub wake: Box<dyn Fn() + Send + Sync>,
    /// Threads that compute; all of the machine's if absent.
    pub threads: Option<usize>,
    /// Whether [`Event::Hardware`] is wanted.
    pub hardware: bool,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { wake: Box::new(|| ()), threads: None, hardware: false }
    }
}

/// A running engine. Dropping it shuts the engine down and waits for its threads.
pub struct Session {
    commands: Sender<Command>,
    events: Receiver<Event>,
}

impl Session {
    /// Sends a command. Returns it if the engine has ended.
    pub fn send(&self, command: Command) -> Result<(), Command> {
        self.commands.send(command).map_err(|error| error.into_inner())
    }

    /// The events, in order.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}
