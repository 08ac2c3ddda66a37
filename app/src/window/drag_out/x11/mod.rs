//! The source of an XDND drag, version 5: <https://www.freedesktop.org/wiki/Specifications/XDND>.
//!
//! winit's connection holds the pointer while the button is down, so nothing is grabbed here: a thread with a connection of
//! its own asks where the pointer is, and speaks with the window below it.

mod source;
mod target;
#[cfg(test)]
mod tests;
mod uri;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use egui::Context;
use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use x11rb::{
    errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError},
    protocol::xproto::Window,
};

use source::{End, carry};

/// Why a drag has failed.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("there is no connection to the X server: {0}")]
    Connect(#[from] ConnectError),
    #[error("the connection to the X server broke: {0}")]
    Connection(#[from] ConnectionError),
    #[error("the X server refused a request: {0}")]
    Reply(#[from] ReplyError),
    #[error("the X server gave no window: {0}")]
    Id(#[from] ReplyOrIdError),
    #[error("the X server has no screen {0}")]
    Screen(usize),
    #[error("other programs may not be given the files")]
    Selection,
}

/// A drag that goes on.
pub(super) struct Drag {
    is_cancelled: Arc<AtomicBool>,
}

impl Drag {
    /// Other windows may lie over this one, so it begins at once. This one is passed over.
    pub(super) const BEGINS_INSIDE: bool = true;

    /// Whether files can leave a window.
    pub(super) fn is_possible(window: &impl HasWindowHandle) -> bool {
        id_of(window).is_some()
    }

    /// Starts the thread.
    pub(super) fn start(_: &Context, window: &impl HasWindowHandle, files: &[PathBuf]) -> Option<Self> {
        let own = id_of(window)?;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (cancelled, files) = (Arc::clone(&is_cancelled), files.to_vec());
        let drag = move || run(own, &files, &cancelled);
        match thread::Builder::new().name("sluice-drag".to_owned()).spawn(drag) {
            Ok(_) => Some(Self { is_cancelled }),
            Err(error) => {
                tracing::warn!(%error, "files cannot be dragged out of the window");
                None
            }
        }
    }

    /// Ends it: nothing is dropped.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// The window sees the release of the button by itself.
    pub(super) fn has_swallowed_release(&self) -> bool {
        false
    }
}

fn id_of(window: &impl HasWindowHandle) -> Option<Window> {
    match window.window_handle().ok()?.as_raw() {
        RawWindowHandle::Xlib(handle) => u32::try_from(handle.window).ok(),
        RawWindowHandle::Xcb(handle) => Some(handle.window.get()),
        _ => None,
    }
}

fn run(own: Window, files: &[PathBuf], is_cancelled: &AtomicBool) {
    let files: Vec<PathBuf> = files.iter().map(|file| absolute(file)).collect();
    match carry(None, Some(own), &files, is_cancelled) {
        Ok(End::Dropped) => tracing::debug!(count = files.len(), "files were dropped on another window"),
        Ok(end) => tracing::debug!(?end, "a drag has ended"),
        Err(error) => tracing::warn!(%error, "files could not be dragged out of the window"),
    }
}

fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}
