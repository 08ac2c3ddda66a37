//! What the threads of a session have in common: their names and the channel for events.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::Sender;

use super::event::Event;

/// Commands that may wait to be read.
pub(super) const COMMANDS: usize = 256;
/// Events that may wait to be read before the engine waits for its reader.
pub(super) const EVENTS: usize = 1024;

/// A thread with a name.
pub(super) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Sends events and wakes their reader.
#[derive(Clone)]
pub struct Emitter {
    events: Sender<Event>,
    wake: Arc<Box<dyn Fn() + Send + Sync>>,
}

impl Emitter {
    /// To whoever holds the other end.
    pub fn new(events: Sender<Event>, wake: Box<dyn Fn() + Send + Sync>) -> Self {
        Self { events, wake: Arc::new(wake) }
    }

    /// Sends an event, waiting for room. An event that nobody can read any more is dropped.
    pub fn emit(&self, event: Event) {
        if self.events.send(event).is_ok() {
            (self.wake)();
        }
    }

    /// Sends an event if there is room.
    pub fn offer(&self, event: Event) {
        if self.events.try_send(event).is_ok() {
            (self.wake)();
        }
    }
}
