//! Images and clips: the settings inside.

use std::path::Path;

use serde::Serialize;
use sluice_engine::{
    output::{RestoredSettings, Settings, read_settings},
    source::{has_extension, is_clip_name, is_image_name},
};

use crate::cli::exit::refuse;

/// Extensions of further files that have settings inside.
const OTHERS: [&str; 3] = ["gif", "mkv", "webm"];

/// Whether the extension is that of an image or a clip.
pub(super) fn is_media(path: &Path) -> bool {
    is_image_name(path) || is_clip_name(path) || has_extension(path, &OTHERS)
}

pub(super) fn read(path: &Path) -> anyhow::Result<RestoredSettings> {
    read_settings(path)
        .map_err(|error| refuse(error.to_string(), error.advice().unwrap_or_default().to_owned()))
}

/// The settings as JSON, with who wrote them and what could not be read.
#[derive(Serialize)]
pub(super) struct Found<'a> {
    #[serde(flatten)]
    settings: &'a Settings,
    program: &'static str,
    notes: &'a [String],
}

impl<'a> Found<'a> {
    pub(super) fn new(RestoredSettings { settings, origin, notes }: &'a RestoredSettings) -> Self {
        Self { settings, program: origin.name(), notes }
    }
}

/// The settings in A1111's format, who wrote them, and what could not be read.
pub(super) fn describe(path: &Path, restored: &RestoredSettings) -> String {
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    let mut lines = vec![format!("{name}, settings by {}", restored.origin.name())];
    lines.push(String::new());
    lines.push(restored.settings.parameters());
    if !restored.notes.is_empty() {
        lines.push(String::new());
        lines.extend(restored.notes.iter().cloned());
    }
    lines.join("\n")
}
