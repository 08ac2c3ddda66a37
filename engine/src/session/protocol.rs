//! The messages between the window and a worker process.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    command::Command,
    event::{Event, Failure},
};
use crate::request::PromptFolders;

/// How often an idle worker reports that it is alive, and the caller of one elsewhere.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// One that is silent for this long counts as hung. Even a machine that swaps responds much sooner.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The longest hello in bytes.
pub const LONGEST_HELLO: u64 = 4096;

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
        /// The name of the visit, if the engine does not have the files of this computer. Then it uses its own folders,
        /// model folders in addition to those that are given, and nothing of this computer is a path to it.
        visit: Option<String>,
    },
    /// A command.
    Command(Box<Command>),
    /// Reports that the caller of an engine elsewhere is alive.
    Alive,
    /// A file follows.
    File {
        /// Its name, which is a hash and a label.
        name: String,
        /// Its length.
        bytes: u64,
        /// Its SHA-256.
        sha256: String,
    },
    /// The next bytes of the file.
    Chunk {
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The rest of the file does not follow.
    Abandon,
    /// No job needs a file any more.
    Drop {
        /// Its name.
        name: String,
    },
    /// A job has ended, and its journal is not needed any more.
    Forget {
        /// The journal's name.
        journal: PathBuf,
    },
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
    /// The answer to a visit's start.
    Ready {
        /// The device of the engine, such as `CPU`.
        engine: String,
        /// Why a faster engine of its computer is not used, if there could be one.
        instead_of: Option<Failure>,
        /// The names of files from before.
        files: Vec<String>,
    },
    /// A file was not kept.
    NotKept {
        /// Its name.
        name: String,
    },
}
