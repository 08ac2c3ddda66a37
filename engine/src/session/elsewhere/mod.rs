//! An engine that has other files than its caller: on another machine, in a container, or behind any other command.
//!
//! The caller sends input files before the first job that needs them ([`parcels`]), and the engine keeps them in the folder
//! of the visit ([`inbox`]), where journals are, too. Images come back in messages, and the caller writes them
//! ([`results`]). A visit outlives a broken connection: the next worker of the same visit has the files and journals.

pub mod command_error;
pub mod inbox;
pub mod parcels;
pub mod results;
pub mod sent;
pub mod visit;

use std::{
    hash::{BuildHasher as _, RandomState},
    io,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::event::{Event, Failure};

/// Begins the path of a file that was sent; its name follows.
const MARK: &str = "sluice-sent:";
/// Bytes of a file that are sent at once: on a slow line, other messages get through between them.
pub const CHUNK: usize = 256 << 10;
/// The largest file that is sent.
const LARGEST_FILE: u64 = 32 << 30;

/// Why a job cannot be sent to an engine elsewhere, or is refused there.
#[derive(Debug, thiserror::Error)]
pub enum TravelError {
    /// An input of this computer is not there or cannot be read.
    #[error("{path} cannot be sent to the engine: {cause}")]
    Read { path: PathBuf, cause: io::Error },
    /// A clip that is a folder of images.
    #[error("{path} is a folder, and only files can be sent to an engine elsewhere")]
    Folder { path: PathBuf },
    /// It is too large.
    #[error("{path} is too large to be sent to an engine elsewhere")]
    TooLarge { path: PathBuf },
    /// It was written to meanwhile.
    #[error("{path} changed while it was sent to the engine")]
    Changed { path: PathBuf },
    /// A report or dump, which only an engine of this computer writes.
    #[error("{path} cannot be written by an engine elsewhere")]
    Report { path: PathBuf },
    /// Only the engine says this: a file of the job has not arrived.
    #[error("the engine does not have {name}: {reason}")]
    NotThere { name: String, reason: String },
    /// Only the engine says this: the job names a path of another machine.
    #[error("the engine was asked to use {path}, which was not sent to it")]
    NotSent { path: PathBuf },
}

impl TravelError {
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } | Self::NotSent { .. } => None,
            Self::Folder { .. } => Some("Make a clip of the images first, such as an MP4 file."),
            Self::TooLarge { .. } => Some("Copy it to the engine's computer, and give its path there."),
            Self::Changed { .. } => Some("Wait until it is complete, and try again."),
            Self::Report { .. } => Some("Leave the report out, or use the engine of this computer."),
            Self::NotThere { .. } => {
                Some("Try again, and look whether the disk of the engine's computer is full.")
            }
        }
    }
}

impl From<TravelError> for Failure {
    fn from(error: TravelError) -> Self {
        Self { message: error.to_string(), advice: error.advice().map(str::to_owned) }
    }
}

/// The path that stands for a file that was sent.
fn marked(name: &str) -> PathBuf {
    PathBuf::from(format!("{MARK}{name}"))
}

/// The name in a path that stands for a file that was sent.
fn unmarked(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(MARK)
}

/// A new name for a visit, which nobody can guess: the standard library keys its hash with 128 bits from the system.
pub fn new_visit() -> String {
    let key = RandomState::new();
    format!("{:016x}{:016x}", key.hash_one(1_u8), key.hash_one(2_u8))
}

/// Whether a text is the name of a visit.
fn is_visit(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every path and text of an event that may name a file of a job.
fn translate(event: &mut Event, path: impl Fn(&mut PathBuf), text: impl Fn(&mut String)) {
    match event {
        Event::Adapted { reports, .. } => {
            for report in reports {
                path(&mut report.path);
                report.half_of.iter_mut().for_each(&path);
            }
        }
        Event::Described { settings, .. } => {
            let files = settings.iter_mut().flat_map(|settings| settings.request.files_mut());
            files.for_each(|(_, file)| path(file));
        }
        Event::NotLoaded { failure, .. }
        | Event::NotPlanned { failure, .. }
        | Event::NotSaved { failure, .. }
        | Event::Failed { failure, .. } => {
            text(&mut failure.message);
            failure.advice.iter_mut().for_each(&text);
        }
        Event::Replanned { reason, .. } => text(reason),
        _ => {}
    }
}
