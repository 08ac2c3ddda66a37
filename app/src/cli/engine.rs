//! A session as the commands use it: with Ctrl-C among the events.

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, select};
use sluice_engine::{
    request::ModelSource,
    session::{Command, Event, ModelSummary, Session, SessionOptions},
};

use super::exit::{self, EngineFailure};

/// The engine and the keyboard.
pub(super) struct Engine {
    session: Session,
    interrupts: Receiver<()>,
}

/// What comes next from either.
pub(super) enum Heard {
    Event(Event),
    Interrupt,
}

impl Engine {
    pub fn start(threads: Option<usize>) -> anyhow::Result<Self> {
        let interrupts = exit::interrupts()?;
        let options = SessionOptions { threads, ..SessionOptions::default() };
        let session = Session::start(options).context("the engine cannot be started")?;
        Ok(Self { session, interrupts })
    }

    pub fn send(&self, command: Command) -> anyhow::Result<()> {
        self.session.send(command).map_err(|_| ended())
    }

    pub fn next(&self) -> anyhow::Result<Heard> {
        select! {
            recv(self.session.events()) -> event => match event {
                Ok(Event::ShutDown) | Err(_) => Err(ended()),
                Ok(event) => Ok(Heard::Event(event)),
            },
            recv(self.interrupts) -> _ => Ok(Heard::Interrupt),
        }
    }

    /// Reads a model's headers; nothing if Ctrl-C came first.
    pub fn load(&self, model: ModelSource) -> anyhow::Result<Option<ModelSummary>> {
        self.send(Command::Load { model })?;
        loop {
            match self.next()? {
                Heard::Event(Event::ModelLoaded(summary)) => return Ok(Some(*summary)),
                Heard::Event(Event::Failed { failure, .. }) => return Err(EngineFailure(failure).into()),
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }
}

fn ended() -> anyhow::Error {
    anyhow!("the engine ended unexpectedly; SLUICE_LOG=debug says more")
}
