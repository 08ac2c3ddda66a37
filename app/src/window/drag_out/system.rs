//! Drags of Windows and macOS. It compiles for both, and was not tried on either yet.
//!
//! The system takes over when the pointer leaves the window, because it would also keep the pointer from what files are
//! dropped on inside.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drag::{DragItem, Image, Options};
use egui::Context;
use raw_window_handle::HasWindowHandle;

/// What the system shows at the pointer.
const ICON: &[u8] = include_bytes!("../../../../assets/icons/sluice.png");

/// A drag of the system.
pub(super) struct Drag {
    has_ended: Arc<AtomicBool>,
}

impl Drag {
    /// The system takes over at the edge of the window.
    pub(super) const BEGINS_INSIDE: bool = false;

    /// Whether files can leave a window.
    pub(super) fn is_possible(_: &impl HasWindowHandle) -> bool {
        true
    }

    /// Starts. On Windows this returns when the drag has ended, because the system has a loop of its own for it. The window
    /// stands still meanwhile; the engine does not.
    pub(super) fn start(ctx: &Context, window: &impl HasWindowHandle, files: &[PathBuf]) -> Option<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let (ends, repaint) = (Arc::clone(&has_ended), ctx.clone());
        let end = move |result, _| {
            tracing::debug!(?result, "a drag has ended");
            ends.store(true, Ordering::Release);
            repaint.request_repaint();
        };
        // The crate wants them absolute.
        let files = files.iter().filter_map(|file| absolute(file)).collect();
        let icon = Image::Raw(ICON.to_vec());
        match drag::start_drag(window, DragItem::Files(files), icon, end, Options::default()) {
            Ok(()) => Some(Self { has_ended }),
            Err(error) => {
                tracing::warn!(%error, "files cannot be dragged out of the window");
                None
            }
        }
    }

    /// The system ends it with Escape by itself.
    pub(super) fn cancel(&self) {}

    /// Whether it has ended. The window does not see the release of the button.
    pub(super) fn has_swallowed_release(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

fn absolute(file: &Path) -> Option<PathBuf> {
    std::path::absolute(file).ok().filter(|file| file.exists())
}
