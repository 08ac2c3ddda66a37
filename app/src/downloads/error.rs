//! Why a download does not go on, in words for the person who asked for it.

use std::{io, path::PathBuf, time::Duration};

use super::link::LinkError;
use crate::units;

/// Why a download does not go on.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// It was stopped.
    #[error("the download was stopped")]
    Stopped,
    /// The server cannot be reached.
    #[error("there is no connection to {host}")]
    Offline {
        /// Its name.
        host: String,
    },
    /// Nothing arrives any more.
    #[error("{host} sends nothing any more")]
    Stalled {
        /// The server.
        host: String,
    },
    /// The connection ends before the file does.
    #[error("{host} ended the connection before the file was complete")]
    Dropped {
        /// The server.
        host: String,
    },
    /// The connection is not secure, or the other side is not who it says.
    #[error("the secure connection to {host} failed: {reason}")]
    Insecure {
        /// The server.
        host: String,
        /// What is wrong.
        reason: String,
    },
    /// The proxy is not usable.
    #[error("the proxy does not work: {reason}")]
    Proxy {
        /// What is wrong.
        reason: String,
    },
    /// The server asks to slow down.
    #[error("{host} asks to wait, because there were too many requests")]
    Busy {
        /// The server.
        host: String,
        /// For how long, if it says so.
        wait: Option<Duration>,
    },
    /// The server has a fault.
    #[error("{host} cannot answer now (error {status})")]
    Server {
        /// The server.
        host: String,
        /// The number of the fault.
        status: u16,
        /// When to try again, if it says so.
        wait: Option<Duration>,
    },
    /// The server wants to know who asks.
    #[error("{what} is only for people who are signed in{}", if *.has_token { ", and the token is not accepted" } else { "" })]
    NeedsToken {
        /// The repository or file.
        what: String,
        /// Where its conditions are.
        page: Option<String>,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// The server knows who asks, and refuses.
    #[error("{what} is only for people who have accepted its conditions")]
    NotAllowed {
        /// The repository or file.
        what: String,
        /// Where its conditions are.
        page: Option<String>,
    },
    /// It does not exist there.
    #[error("{what} is not on {host}")]
    NotFound {
        /// The repository or file.
        what: String,
        /// The server.
        host: String,
    },
    /// The server answers with something else than expected.
    #[error("the answer of {host} is not understood: {reason}")]
    Answer {
        /// The server.
        host: String,
        /// What is wrong.
        reason: String,
    },
    /// It is not the file that was expected.
    #[error("{name} is damaged or another file: its SHA-256 is {}…, expected {}…", short(.found), short(.expected))]
    WrongHash {
        /// The file.
        name: String,
        /// As the catalogue or the server says.
        expected: String,
        /// Of what has arrived, or of what the server offers.
        found: String,
    },
    /// It does not have the size that was announced.
    #[error("{name} has another size than announced: {found} bytes, expected {expected}")]
    WrongSize {
        /// The file.
        name: String,
        /// In bytes.
        expected: u64,
        /// In bytes.
        found: u64,
    },
    /// The disk is full, or would be.
    #[error(
        "there is not enough space in {}: {} are needed and {} are free", .folder.display(),
        units::memory_needed(*.needed), units::memory(*.free)
    )]
    NoSpace {
        /// Where.
        folder: PathBuf,
        /// In bytes.
        needed: u64,
        /// In bytes.
        free: u64,
    },
    /// There is another file of that name.
    #[error("{} exists already, with other contents", .path.display())]
    Occupied {
        /// Which.
        path: PathBuf,
    },
    /// Another program or window downloads the same file.
    #[error("{} is being downloaded already", .path.display())]
    InUse {
        /// Which.
        path: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{} cannot be {doing}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was tried, such as `written`.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A name would lead out of the folder.
    #[error("the name {name} is not the name of a file in a folder")]
    Name {
        /// The name.
        name: String,
    },
    /// The link does not lead to a model.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// The first letters of a hash, which tell it from others.
fn short(hash: &str) -> &str {
    const LETTERS: usize = 10;
    hash.get(..LETTERS).unwrap_or(hash)
}

impl DownloadError {
    /// Whether trying again may help.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Offline { .. }
                | Self::Stalled { .. }
                | Self::Dropped { .. }
                | Self::Busy { .. }
                | Self::Server { .. }
        )
    }

    /// Whether the computer seems to have no connection, which is not a fault.
    pub fn is_offline(&self) -> bool {
        matches!(self, Self::Offline { .. })
    }

    /// How long the server asks to wait.
    pub fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Busy { wait, .. } | Self::Server { wait, .. } => *wait,
            _ => None,
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Stopped => "Start it again to go on from where it was.".to_owned(),
            Self::Offline { .. } => {
                "Check the connection, the proxy and the mirror, then go on. What has arrived is kept."
                    .to_owned()
            }
            Self::Stalled { .. } | Self::Dropped { .. } | Self::Server { .. } | Self::Busy { .. } => {
                "Try again later: it goes on from what has arrived.".to_owned()
            }
            Self::Insecure { .. } => {
                "Check the clock of this computer. In a network with certificates of its own, name their file in the \
                 variable SSL_CERT_FILE."
                    .to_owned()
            }
            Self::Proxy { .. } => {
                "Write it as http://host:port, or http://name:password@host:port, or leave it empty.".to_owned()
            }
            Self::NeedsToken { page: Some(page), .. } => format!(
                "Accept the conditions on {page}, create a token with read access in the settings of your account, and give it \
                 to Sluice: in the window under Get models, Connection, or in the variable HF_TOKEN."
            ),
            Self::NeedsToken { page: None, .. } => {
                "Sign in on the site and give your token to Sluice: for Civitai in the window under Get models, Connection, or in \
                 the variable CIVITAI_API_TOKEN."
                    .to_owned()
            }
            Self::NotAllowed { page, .. } => {
                let page = page.as_deref().unwrap_or("its page");
                format!(
                    "Open {page} with the account of your token and accept them. Some are granted by hand, which may take days."
                )
            }
            Self::NotFound { .. } => "Check the name. It may have been renamed or removed.".to_owned(),
            Self::Answer { .. } => {
                "Check the mirror and the link. A page for signing in to the network may be in the way.".to_owned()
            }
            Self::WrongHash { .. } | Self::WrongSize { .. } => {
                "Download it again. If it happens again, the file was changed there, or the mirror is not to be trusted."
                    .to_owned()
            }
            Self::NoSpace { .. } => "Free some space, or choose a folder on another disk.".to_owned(),
            Self::Occupied { .. } => "Move that file away, or choose another folder.".to_owned(),
            Self::InUse { .. } => "Wait until that download ends, or stop it.".to_owned(),
            Self::File { .. } => "Check that the folder exists and can be written to.".to_owned(),
            Self::Name { .. } => "Choose another file.".to_owned(),
            Self::Link(error) => error.advice(),
        }
    }
}
