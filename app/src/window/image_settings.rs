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
    /// What is known of the model.
    pub model: NamedModel,
    /// What could not be restored exactly, one sentence each.
    pub notes: Vec<String>,
    /// Whether the image is composed of others.
    pub is_composed: bool,
}

/// What is known of the model of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedModel {
    /// It is where the request says.
    Here,
    /// It is not where the request says, at least not on this computer.
    Elsewhere,
    /// Only its name.
    Unplaced,
}

impl From<RestoredSettings> for ImageSettings {
    fn from(restored: RestoredSettings) -> Self {
        let request = restored.settings.picture_request();
        let is_composed = restored.settings.grid.is_some();
        let model = match restored.origin {
            Origin::Sluice if request.model.resolve().is_ok_and(|path| path.exists()) => NamedModel::Here,
            Origin::Sluice => NamedModel::Elsewhere,
            _ => NamedModel::Unplaced,
        };
        Self {
            request,
            model_name: restored.settings.model_name,
            model,
            notes: restored.notes.iter().map(|note| said(note)).collect(),
            is_composed,
        }
    }
}

/// Reads the settings in an image file.
pub fn read_image_settings(path: &Path) -> Result<ImageSettings, Failure> {
    let restored = read_settings(path)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) })?;
    Ok(restored.into())
}
