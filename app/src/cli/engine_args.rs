//! Which engine a command uses.

use std::env;

use anyhow::Context as _;
use sluice_engine::session::{Session, SessionOptions};

use super::exit::refuse;
use crate::{
    engines::{self, Place},
    folders::{data_folder, downloads_folder, model_folders},
};

/// The environment variable for the engine's command.
const ENGINE: &str = "SLUICE_ENGINE";

/// The option for the engine.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct EngineArgs {
    /// The command of an engine elsewhere, such as "ssh -T host sluice worker". Models are then those of its computer, inputs
    /// are sent to it, and results are written here. By default that in SLUICE_ENGINE, or else this computer's engine, as
    /// with an empty text. May be given several times: each job goes to an engine that is free.
    #[arg(long = "engine", value_name = "COMMAND")]
    engines: Vec<String>,
}

impl EngineArgs {
    /// Whether the option is given.
    pub fn is_given(&self) -> bool {
        !self.engines.is_empty()
    }

    /// Whether the only engine is that of this computer.
    pub fn is_here(&self) -> bool {
        self.lines().iter().all(|line| line.trim().is_empty())
    }

    /// What to call each engine.
    pub fn names(&self) -> Vec<String> {
        let named = |line: String| if line.trim().is_empty() { "this computer".to_owned() } else { line };
        match self.is_here() {
            true => vec![named(String::new())],
            false => self.lines().into_iter().map(named).collect(),
        }
    }

    /// The commands that are given.
    fn lines(&self) -> Vec<String> {
        let usual = || env::var(ENGINE).into_iter().collect();
        if self.engines.is_empty() { usual() } else { self.engines.clone() }
    }

    /// Starts the engines, with options for each.
    ///
    /// # Errors
    /// When a command cannot be split, or a thread cannot be started.
    pub fn start(&self, options: impl Fn() -> SessionOptions) -> anyhow::Result<Session> {
        let mut places = Vec::new();
        for line in self.lines() {
            places.push(match line.trim() {
                "" => Place::Here,
                _ => Place::Elsewhere(
                    engines::command(&line)
                        .map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?,
                ),
            });
        }
        let own = |place: &Place| match place {
            Place::Elsewhere(_) => options(),
            Place::Here | Place::Card(_) => {
                let options = options();
                let mut folders = [options.model_folders.clone(), model_folders()].concat();
                folders.extend(downloads_folder().filter(|folder| !folders.contains(folder)));
                SessionOptions { data: data_folder(), model_folders: folders, ..options }
            }
        };
        engines::start(&places, own).context("the engine cannot be started")
    }
}
