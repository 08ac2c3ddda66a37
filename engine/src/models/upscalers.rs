//! Upscalers as models: one part, and one stage.

use std::{path::Path, sync::Arc};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Role},
    request::{ComputeDtype, Request},
    upscale,
};

/// All upscalers.
pub struct Upscalers;

impl Family for Upscalers {
    fn id(&self) -> &'static str {
        "upscaler"
    }

    fn name(&self) -> &'static str {
        "Upscaler"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        upscale::is_upscaler(checkpoint)
    }

    fn stages(&self, model: &Model, _: &Request) -> Vec<Task> {
        model.upscaler().map(|upscaler| Task::Upscale { upscaler }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let upscale::Opened { network, component } = upscale::open(checkpoint)?;
        let part = ModelPart {
            name: Role::Upscaler.id().to_owned(),
            component,
            network: Network::Upscaler(Arc::from(network)),
            takes_adapters: false,
        };
        Ok(Model {
            family: &Upscalers,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults { on_cards: ComputeDtype::F16, ..ModelDefaults::default() },
        })
    }
}

/// Opens the upscaler in a file. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no upscaler of a supported kind.
pub fn open_upscaler(path: &Path) -> Result<Model, CheckpointError> {
    if !path.exists() {
        return Err(CheckpointError::NotFound { path: path.to_owned() });
    }
    if path.is_dir() {
        let reason = "it is a folder".to_owned();
        return Err(CheckpointError::Upscaler { path: path.to_owned(), reason });
    }
    let checkpoint = Checkpoint::of_file(path).map_err(|error| match error {
        CheckpointError::Pickle { path } => CheckpointError::PickledUpscaler { path },
        other => other.of_tool(|path, reason| CheckpointError::Upscaler { path, reason }),
    })?;
    Upscalers.open(&checkpoint)
}
