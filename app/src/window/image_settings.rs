//! The settings inside an image's file, as the window uses them.

use std::path::Path;

use sluice_engine::{
    output::{Origin, read_settings},
    request::Request,
    session::Failure,
};

/// What made an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSettings {
    /// Makes the image again, alone.
    pub request: Request,
    /// What its model is called.
    pub model_name: String,
    /// Whether `request.model` says which model it was.
    pub model_known: bool,
    /// What could not be taken over as it was, each in a sentence.
    pub notes: Vec<String>,
}

/// Reads the settings inside an image.
pub fn read_image_settings(path: &Path) -> Result<ImageSettings, Failure> {
    let restored = read_settings(path)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) })?;
    Ok(ImageSettings {
        request: restored.settings.picture_request(),
        model_name: restored.settings.model_name,
        model_known: restored.origin == Origin::Sluice,
        notes: restored.notes,
    })
}
