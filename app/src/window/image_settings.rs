//! The generation settings in an image file, as the window uses them.

use std::path::Path;

use sluice_engine::{
    output::{Origin, RestoredSettings, read_settings},
    request::Request,
    session::Failure,
};

use crate::language::said;

/// The settings that generated an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSettings {
    /// The request that generates only this image.
    pub request: Request,
    /// Name of the model.
    pub model_name: String,
    /// Whether `request.model` identifies the model.
    pub model_known: bool,
    /// What could not be restored exactly, one sentence each.
    pub notes: Vec<String>,
}

impl From<RestoredSettings> for ImageSettings {
    fn from(restored: RestoredSettings) -> Self {
        Self {
            request: restored.settings.picture_request(),
            model_name: restored.settings.model_name,
            model_known: restored.origin == Origin::Sluice,
            notes: restored.notes.iter().map(|note| said(note)).collect(),
        }
    }
}

/// Reads the settings in an image file.
pub fn read_image_settings(path: &Path) -> Result<ImageSettings, Failure> {
    let restored = read_settings(path)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) })?;
    Ok(restored.into())
}
