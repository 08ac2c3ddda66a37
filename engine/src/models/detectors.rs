//! Detectors as models: one part.

use std::{path::Path, sync::Arc};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    aids::{self, OpenedDetector},
    checkpoint::{Checkpoint, CheckpointError, Role},
    request::Request,
};

/// All detectors.
pub struct Detectors;

impl Family for Detectors {
    fn id(&self) -> &'static str {
        "detector"
    }

    fn name(&self) -> &'static str {
        "Detector"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        aids::is_detector(checkpoint)
    }

    /// None: what it finds is only refined, by another model.
    fn stages(&self, _: &Model, _: &Request) -> Vec<Task> {
        Vec::new()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let OpenedDetector { network, component } = aids::open_detector(checkpoint)?;
        let part = ModelPart {
            name: Role::Detector.id().to_owned(),
            component,
            network: Network::Detector(Arc::new(network)),
            takes_adapters: false,
        };
        Ok(Model {
            family: &Detectors,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults::default(),
        })
    }
}

/// Opens the detector in a file. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no detector of a supported kind.
pub fn open_detector(path: &Path) -> Result<Model, CheckpointError> {
    if !path.exists() {
        return Err(CheckpointError::NotFound { path: path.to_owned() });
    }
    if path.is_dir() {
        let reason = "it is a folder".to_owned();
        return Err(CheckpointError::Detector { path: path.to_owned(), reason });
    }
    let checkpoint = Checkpoint::of_file(path).map_err(|error| match error {
        CheckpointError::Pickle { path } => CheckpointError::PickledDetector { path },
        other => other.of_tool(|path, reason| CheckpointError::Detector { path, reason }),
    })?;
    Detectors.open(&checkpoint)
}
