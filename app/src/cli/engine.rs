//! A session for the commands, with Ctrl-C as one of the events.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, select};
use sluice_engine::{
    hardware::HardwareSample,
    memory::Forecast,
    request::{ModelSource, PromptFolders},
    session::{Command, Event, ModelSummary, PlanQuery, Reading, Session, SessionOptions},
};

use super::{
    exit::{self, Explained},
    model_folders::ModelFolderArgs,
};
use crate::{engines::Engines, folders::data_folder};

/// The engine, and Ctrl-C.
pub(super) struct Engine {
    session: Session,
    interrupts: Receiver<()>,
}

/// The next event from either.
pub(super) enum Heard {
    Event(Event),
    Interrupt,
}

impl Engine {
    /// Starts an engine that also searches these folders for missing parts of models and for adapters.
    pub fn start(
        threads: Option<usize>,
        models: &ModelFolderArgs,
        prompts: PromptFolders,
    ) -> anyhow::Result<Self> {
        Self::start_with(Self::options(threads, models, prompts))
    }

    fn options(threads: Option<usize>, models: &ModelFolderArgs, prompts: PromptFolders) -> SessionOptions {
        SessionOptions {
            threads,
            model_folders: models.all(),
            prompt_folders: prompts,
            ..SessionOptions::default()
        }
    }

    /// Starts an engine that keeps its measurements of runs in a separate folder.
    pub fn start_apart(
        threads: Option<usize>,
        models: &ModelFolderArgs,
        prompts: PromptFolders,
        data: PathBuf,
    ) -> anyhow::Result<Self> {
        Self::start_with(SessionOptions { data: Some(data), ..Self::options(threads, models, prompts) })
    }

    /// Starts an engine that reports the hardware.
    pub fn start_for_hardware() -> anyhow::Result<Self> {
        Self::start_with(SessionOptions { hardware: true, ..SessionOptions::default() })
    }

    fn start_with(options: SessionOptions) -> anyhow::Result<Self> {
        let interrupts = exit::interrupts()?;
        let options =
            SessionOptions { data: options.data.or_else(data_folder), keeps_jobs: false, ..options };
        let Engines { programs, without_cuda } = Engines::find()?;
        // Without a GPU there is no need to isolate the engine in a process.
        let session = match without_cuda {
            Some(_) => Session::start(options),
            None => Session::in_process_of(programs, None, options),
        };
        Ok(Self { session: session.context("the engine cannot be started")?, interrupts })
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

    /// Reads the headers of a model; `None` after Ctrl-C.
    pub fn load(&self, model: ModelSource) -> anyhow::Result<Option<ModelSummary>> {
        self.send(Command::Load { model })?;
        loop {
            match self.next()? {
                Heard::Event(Event::ModelLoaded(summary)) => return Ok(Some(*summary)),
                Heard::Event(Event::Failed { failure, .. }) => return Err(Explained(failure).into()),
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }

    /// Predicts what a request needs, and how much of its prompts the text encoders read; `None` after Ctrl-C.
    pub fn plan(&self, query: PlanQuery) -> anyhow::Result<Option<(Forecast, Vec<Vec<Reading>>)>> {
        let asked = query.id;
        self.send(Command::Plan(Box::new(query)))?;
        loop {
            match self.next()? {
                Heard::Event(Event::Planned { id, forecast, readings }) if id == asked => {
                    return Ok(Some((*forecast, readings)));
                }
                Heard::Event(Event::NotPlanned { id, failure }) if id == asked => {
                    return Err(Explained(failure).into());
                }
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }

    /// Reads the hardware; `None` after Ctrl-C.
    pub fn hardware(&self) -> anyhow::Result<Option<HardwareSample>> {
        loop {
            match self.next()? {
                Heard::Event(Event::Hardware(sample)) => return Ok(Some(sample)),
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }
}

fn ended() -> anyhow::Error {
    anyhow!("the engine ended unexpectedly; set SLUICE_LOG=debug for details")
}
