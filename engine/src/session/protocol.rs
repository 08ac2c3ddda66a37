//! The messages between the window and a worker process.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{command::Command, event::Event};
use crate::request::PromptFolders;

/// How often an idle worker reports that it is alive.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// The exit code of a worker that has lost its GPU.
pub(super) const CARD_LOST: i32 = 75;

/// Identifies a program's version of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the program.
    pub version: String,
    /// The fingerprint of the engine's source. Programs with the same fingerprint are compatible.
    pub source: String,
}

impl Hello {
    /// The hello of this program.
    pub fn own() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            source: env!("SLUICE_ENGINE_SOURCE").to_owned(),
        }
    }
}

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// The first message.
    Hello(Hello),
    /// The second message.
    Start {
        /// See [`SessionOptions::threads`](super::SessionOptions::threads).
        threads: Option<usize>,
        /// See [`SessionOptions::hardware`](super::SessionOptions::hardware).
        hardware: bool,
        /// See [`SessionOptions::data`](super::SessionOptions::data).
        data: Option<PathBuf>,
        /// See [`SessionOptions::model_folders`](super::SessionOptions::model_folders).
        model_folders: Vec<PathBuf>,
        /// See [`SessionOptions::prompt_folders`](super::SessionOptions::prompt_folders).
        prompt_folders: PromptFolders,
    },
    /// All later messages.
    Command(Box<Command>),
}

/// A message from a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// The first message.
    Hello(Hello),
    /// An event of its session.
    Event(Box<Event>),
    /// Reports that the worker is alive.
    Alive,
}
