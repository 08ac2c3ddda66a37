//! The generation settings in an image file, as the window uses them.

use std::path::Path;

use sluice_engine::{
    output::{Enlargement, Interpolated, Origin, RestoredSettings, read_settings},
    request::Request,
    session::Failure,
};

use crate::language::said;

/// The settings in an image file: those that generated it, or what made it of another file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSettings {
    /// The request that generates only this image. If there are `changes`, it only says the size and the length.
    pub request: Request,
    /// Name of the model.
    pub model_name: String,
    /// What is known of the model.
    pub model: NamedModel,
    /// What could not be restored exactly, one sentence each.
    pub notes: Vec<String>,
    /// Whether the image is composed of others.
    pub is_composed: bool,
    /// How it was changed, if it was made of a file of which nothing else is known.
    pub changes: Option<Changes>,
}

/// How a file was changed, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// How it was enlarged.
    pub enlarged: Vec<Enlargement>,
    /// How a clip got more frames.
    pub interpolated: Vec<Interpolated>,
    /// The width and the height of the result.
    pub size: [u32; 2],
}

impl ImageSettings {
    /// Whether the request is known that generated the image.
    pub fn is_generated(&self) -> bool {
        self.changes.is_none()
    }
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
        let changes = (!restored.settings.is_generated()).then(|| Changes {
            enlarged: restored.settings.enlarged.clone(),
            interpolated: restored.settings.interpolated.clone(),
            size: [request.width, request.height],
        });
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
            changes,
        }
    }
}

/// Reads the settings in an image file.
pub fn read_image_settings(path: &Path) -> Result<ImageSettings, Failure> {
    let restored = read_settings(path)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) })?;
    Ok(restored.into())
}
