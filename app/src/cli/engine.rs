//! A session for the commands, with Ctrl-C as one of the events.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, select};
use sluice_engine::{
    hardware::HardwareSample,
    memory::Forecast,
    models::Inventory,
    request::{ModelSource, PromptFolders},
    session::{
        Command, Event, Failure, LaneChange, ModelSummary, PlanQuery, Readings, Session, SessionOptions,
    },
};

use super::{
    engine_args::EngineArgs,
    exit::{self, Explained, refuse},
    model_folders::ModelFolderArgs,
};
use crate::{
    engines::Engines,
    folders::{data_folder, downloads_folder},
};

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

/// What is in the model folders of an engine.
pub(super) struct ListedModels {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// What is in them.
    pub inventory: Inventory,
}

impl Engine {
    /// Starts an engine that also searches these folders for missing parts of models and for adapters.
    pub fn start(
        threads: Option<usize>,
        models: &ModelFolderArgs,
        prompts: PromptFolders,
    ) -> anyhow::Result<Self> {
        let options = SessionOptions { threads, ..SessionOptions::default() };
        if models.engines().is_here() {
            let (model_folders, prompt_folders) = (models.all(), prompts);
            let downloads = downloads_folder();
            return Self::start_here(SessionOptions { model_folders, downloads, prompt_folders, ..options });
        }
        if let Some(folder) = prompts.adapters.first() {
            return Err(refuse(
                format!("the engine does not see {}", folder.display()),
                "Leave out --lora-folder: prompts name LoRAs of the engine's computer. Or give a file with --lora."
                    .to_owned(),
            ));
        }
        Self::start_at(models.engines(), || SessionOptions {
            threads,
            model_folders: models.named(),
            ..SessionOptions::default()
        })
    }

    /// Starts an engine that keeps its measurements of runs in a separate folder.
    pub fn start_apart(
        threads: Option<usize>,
        models: &ModelFolderArgs,
        prompts: PromptFolders,
        data: PathBuf,
    ) -> anyhow::Result<Self> {
        if models.engines().is_given() {
            return Err(refuse(
                "measurements are those of this computer".to_owned(),
                "Leave out --engine, and run the command on the other computer.".to_owned(),
            ));
        }
        Self::start_here(SessionOptions {
            threads,
            data: Some(data),
            model_folders: models.all(),
            prompt_folders: prompts,
            ..SessionOptions::default()
        })
    }

    /// Starts an engine that reports the hardware.
    pub fn start_for_hardware(engine: &EngineArgs) -> anyhow::Result<Self> {
        let options = || SessionOptions { hardware: true, ..SessionOptions::default() };
        if engine.is_here() { Self::start_here(options()) } else { Self::start_at(engine, options) }
    }

    fn start_at(engines: &EngineArgs, options: impl Fn() -> SessionOptions) -> anyhow::Result<Self> {
        let interrupts = exit::interrupts()?;
        let session = engines.start(|| SessionOptions { keeps_jobs: false, ..options() })?;
        Ok(Self { session, interrupts })
    }

    fn start_here(options: SessionOptions) -> anyhow::Result<Self> {
        let interrupts = exit::interrupts()?;
        let options =
            SessionOptions { data: options.data.or_else(data_folder), keeps_jobs: false, ..options };
        let Engines { programs, without_gpus } = Engines::find()?;
        // Without a GPU there is no need to isolate the engine in a process.
        let session = match without_gpus {
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
                Heard::Event(Event::NotLoaded { failure, .. } | Event::Failed { failure, .. }) => {
                    return Err(Explained(failure).into());
                }
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }

    /// What is in the model folders of the first engine, or of another one if that is gone; `None` after Ctrl-C.
    pub fn list(&self) -> anyhow::Result<Option<Inventory>> {
        self.send(Command::List { lane: 0 })?;
        loop {
            match self.next()? {
                Heard::Event(Event::Listed { inventory, .. }) => return Ok(Some(*inventory)),
                Heard::Event(Event::Lane { lane: 0, change: LaneChange::GivenUp(_) }) => {
                    self.send(Command::List { lane: 0 })?;
                }
                Heard::Event(Event::Failed { failure, .. }) => return Err(Explained(failure).into()),
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }

    /// What is in the model folders of each of so many engines, or why it cannot be used; `None` after Ctrl-C.
    pub fn list_each(&self, count: usize) -> anyhow::Result<Option<Vec<Result<ListedModels, Failure>>>> {
        for lane in 0..count {
            self.send(Command::List { lane })?;
        }
        let mut answers = BTreeMap::new();
        while answers.len() < count {
            match self.next()? {
                Heard::Event(Event::Listed { lane, folders, inventory }) => {
                    answers.insert(lane, Ok(ListedModels { folders, inventory: *inventory }));
                }
                // What it has answered before still holds.
                Heard::Event(Event::Lane { lane, change: LaneChange::GivenUp(failure) }) => {
                    answers.entry(lane).or_insert(Err(failure));
                }
                Heard::Event(Event::Failed { failure, .. }) => {
                    for lane in 0..count {
                        answers.entry(lane).or_insert_with(|| Err(failure.clone()));
                    }
                }
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
        Ok(Some(answers.into_values().collect()))
    }

    /// Predicts what a request needs, and how much of its prompts the text encoders read; `None` after Ctrl-C.
    pub fn plan(&self, query: PlanQuery) -> anyhow::Result<Option<(Forecast, Readings)>> {
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
                Heard::Event(Event::Failed { job: None, failure }) => return Err(Explained(failure).into()),
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
                Heard::Event(Event::Failed { job: None, failure }) => return Err(Explained(failure).into()),
                Heard::Event(_) => {}
                Heard::Interrupt => return Ok(None),
            }
        }
    }
}

fn ended() -> anyhow::Error {
    anyhow!("the engine ended unexpectedly; set SLUICE_LOG=debug for details")
}
