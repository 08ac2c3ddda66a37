//! Helpers for a session's threads: names, and the channel for events.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::Sender;

use super::event::Event;

/// Capacity of the queue of commands.
pub(super) const COMMANDS: usize = 256;
/// Capacity of the queue of events; when it is full, the engine waits.
pub(super) const EVENTS: usize = 1024;

/// Starts a named thread.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Sends events and wakes the receiver.
#[derive(Clone)]
pub struct Emitter {
    events: Sender<Event>,
    wake: Arc<Box<dyn Fn() + Send + Sync>>,
}

impl Emitter {
    /// Sends to the receiver of `events`; calls `wake` after each event.
    pub fn new(events: Sender<Event>, wake: Box<dyn Fn() + Send + Sync>) -> Self {
        Self { events, wake: Arc::new(wake) }
    }

    /// Sends an event, waiting for room. An event without a receiver is dropped.
    pub fn emit(&self, event: Event) {
        if self.events.send(event).is_ok() {
            (self.wake)();
        }
    }

    /// Sends an event if there is room. Returns whether it was sent.
    pub fn offer(&self, event: Event) -> bool {
        let is_sent = self.events.try_send(event).is_ok();
        if is_sent {
            (self.wake)();
        }
        is_sent
    }
}
