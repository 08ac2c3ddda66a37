//! What a person does in the place for downloads.

use std::path::PathBuf;

use crate::downloads::{DownloadId, Site};

/// What a person does in the place.
#[derive(Debug, Clone, PartialEq)]
pub enum GetAction {
    /// Open or close it.
    Show(bool),
    /// Look up a link, or search for words.
    Ask(String),
    /// Forget what was asked for.
    Forget,
    /// Download a version of a model of the catalogue: its identifier and format.
    Start(String, String),
    /// Download one of the choices that a link offers.
    Choose(usize),
    /// Stop a download for now.
    Pause(DownloadId),
    /// Go on with it.
    Resume(DownloadId),
    /// End it and remove what is incomplete, or take it off the list.
    Cancel(DownloadId),
    /// Generate with a model that has arrived.
    Open(PathBuf),
    /// Put models into another folder.
    Folder(Option<PathBuf>),
    /// Use a mirror and a proxy; empty for none.
    Connection {
        /// The mirror's address.
        endpoint: String,
        /// The proxy's address.
        proxy: String,
    },
    /// Keep a site's token in the keyring, or remove it.
    Token(Site, Option<String>),
}
