//! What weights lose in fewer bits, measured once for every component that is asked about.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::Failure;
use crate::{
    checkpoint::{CheckpointError, Component, Errors, FileStamp, Role, sampled_errors},
    models,
    precision::Storage,
    request::ModelSource,
};

/// Components that are remembered.
const REMEMBERED: usize = 16;

/// What was measured so far.
#[derive(Default)]
pub struct MeasuredErrors {
    known: Vec<(Vec<FileStamp>, Errors)>,
}

impl MeasuredErrors {
    /// What a component's weights lose in each storage that makes them smaller; nothing if they cannot be read or are
    /// not here, or if it is always held as it is stored.
    pub fn of(&mut self, component: &Component) -> Errors {
        if component.role.stays_as_stored() || component.is_hollow() {
            return Errors::new();
        }
        let key: Vec<FileStamp> = component.files.iter().map(|path| FileStamp::of(path)).collect();
        if let Some((_, errors)) = self.known.iter().find(|(known, _)| *known == key) {
            return errors.clone();
        }
        let errors = sampled_errors(component).unwrap_or_else(|error| {
            tracing::warn!(%error, "the error of smaller weights cannot be measured");
            Errors::new()
        });
        self.known.truncate(REMEMBERED - 1);
        self.known.insert(0, (key, errors.clone()));
        errors
    }
}

/// What one storage makes of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrecisionSummary {
    /// Which component.
    pub role: Role,
    /// The architecture in words.
    pub architecture: String,
    /// How its matrices are held.
    pub storage: Storage,
    /// Bytes of all its weights then.
    pub bytes: u64,
    /// What the weights of its matrices lose: the root of the mean square, relative to theirs.
    pub error: f64,
}

/// What the denoiser and the text encoders of a model take and lose in each storage, as they are stored first. Reads a
/// sample of the weights; `folders` are where a person keeps models.
///
/// # Errors
/// In words when the model cannot be opened or its weights not be read.
pub fn precisions(source: &ModelSource, folders: &[PathBuf]) -> Result<Vec<PrecisionSummary>, Failure> {
    measure(source, folders)
        .map_err(|error| Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) })
}

fn measure(source: &ModelSource, folders: &[PathBuf]) -> Result<Vec<PrecisionSummary>, CheckpointError> {
    let model = models::open(&source.resolve()?, folders)?;
    let mut rows = Vec::new();
    for component in model.components().filter(|component| !component.role.stays_as_stored()) {
        let errors = sampled_errors(component)?;
        let held = |storage| {
            let component = component.clone().given_as(storage);
            component.blocks.iter().map(|block| block.given_bytes()).sum()
        };
        for (storage, error) in std::iter::once((Storage::Stored, 0.0)).chain(errors) {
            rows.push(PrecisionSummary {
                role: component.role,
                architecture: component.architecture.to_owned(),
                storage,
                bytes: held(storage),
                error,
            });
        }
    }
    Ok(rows)
}
