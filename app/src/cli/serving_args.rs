//! What `serve` and `mcp` have in common: the models, the folder of results, and memory.

use std::path::PathBuf;

use anyhow::{Context, bail};
use sluice_engine::{
    models::Inventory,
    request::{ModelSource, PromptFolders},
    session::{Command, Event, Session, SessionOptions},
};

use super::{exit::Explained, memory_args::MemoryArgs, model_folders::ModelFolderArgs};
use crate::{
    engines::Engines,
    folders::{data_folder, downloads_folder, pictures_folder, wildcard_folder},
    serve::DeskOptions,
};

/// Models, results and memory.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ServingArgs {
    /// The model of requests that name none: a folder or file, or `starter` or `starter-clip`.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// The folder where results are kept. By default the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// A folder to search for LoRAs that a prompt names as <lora:name:weight>. May be given several times.
    #[arg(long = "lora-folder", value_name = "FOLDER")]
    lora_folders: Vec<PathBuf>,
    /// A folder to search for the text files that a prompt names as __name__. May be given several times.
    #[arg(long = "wildcard-folder", value_name = "FOLDER")]
    wildcard_folders: Vec<PathBuf>,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

impl ServingArgs {
    /// What every order has in common.
    ///
    /// # Errors
    /// When an engine elsewhere cannot say which models it has.
    pub fn desk(&self, session: &Session) -> anyhow::Result<DeskOptions> {
        let is_here = self.folders.engines().is_here();
        let listed = if is_here { None } else { Some(listed(session)?) };
        // LoRAs of these folders have names, too.
        let folders = self.model_folders().into_iter().chain(self.lora_folders.iter().cloned());
        Ok(DeskOptions {
            folders: folders.collect(),
            listed,
            output: self.output.clone().or_else(pictures_folder).unwrap_or_else(|| PathBuf::from(".")),
            memory: self.memory.preferences(),
            model: self.model.clone(),
            pictures: None,
        })
    }

    /// Those that are named, and the one for downloads.
    fn model_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.folders.all();
        folders.extend(downloads_folder().filter(|folder| !folders.contains(folder)));
        folders
    }

    /// An engine in a process of its own: if it crashes, clients wait a little longer.
    pub fn session(&self) -> anyhow::Result<Session> {
        if !self.folders.engines().is_here() {
            let options = || SessionOptions {
                threads: self.threads.map(usize::from),
                hardware: true,
                model_folders: self.folders.named(),
                keeps_jobs: false,
                ..SessionOptions::default()
            };
            return self.folders.engines().start(options);
        }
        let options = SessionOptions {
            threads: self.threads.map(usize::from),
            hardware: true,
            data: data_folder(),
            model_folders: self.model_folders(),
            prompt_folders: PromptFolders {
                adapters: self.lora_folders.clone(),
                wildcards: self.wildcard_folders.iter().cloned().chain(wildcard_folder()).collect(),
            },
            keeps_jobs: false,
            ..SessionOptions::default()
        };
        let Engines { programs, without_gpus } = Engines::find()?;
        Session::in_process_of(programs, without_gpus, options).context("the engine cannot be started")
    }
}

/// What an engine elsewhere has in its model folders.
fn listed(session: &Session) -> anyhow::Result<Inventory> {
    if session.send(Command::List { lane: 0 }).is_err() {
        bail!("the engine ended unexpectedly");
    }
    loop {
        match session.events().recv() {
            Ok(Event::Listed { inventory, .. }) => return Ok(*inventory),
            Ok(Event::Failed { job: None, failure }) => return Err(Explained(failure).into()),
            Ok(Event::ShutDown) | Err(_) => bail!("the engine ended unexpectedly"),
            Ok(_) => {}
        }
    }
}
