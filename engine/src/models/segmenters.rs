//! Segmenters as models: one part, and one stage.

use std::{path::Path, sync::Arc};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    aids::{self, OpenedSegmenter},
    checkpoint::{Checkpoint, CheckpointError, Role},
    request::Request,
};

/// The name of the weights in a folder as transformers saves it.
const IN_FOLDER: &str = "model.safetensors";

/// All segmenters.
pub struct Segmenters;

impl Family for Segmenters {
    fn id(&self) -> &'static str {
        "segment"
    }

    fn name(&self) -> &'static str {
        "Segmenter"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        aids::is_segmenter(checkpoint)
    }

    fn stages(&self, model: &Model, _: &Request) -> Vec<Task> {
        model.segmenter().map(|segmenter| Task::Segment { segmenter }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let OpenedSegmenter { network, component } = aids::open_segmenter(checkpoint)?;
        let part = ModelPart {
            name: Role::Segmenter.id().to_owned(),
            component,
            network: Network::Segmenter(Arc::new(network)),
            takes_adapters: false,
        };
        Ok(Model {
            family: &Segmenters,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults::default(),
        })
    }
}

/// Opens the segmenter in a file, or in a folder as transformers saves it. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no segmenter.
pub fn open_segmenter(path: &Path) -> Result<Model, CheckpointError> {
    let file = if path.is_dir() { path.join(IN_FOLDER) } else { path.to_owned() };
    if !file.exists() {
        return Err(CheckpointError::NotFound { path: file });
    }
    let refused = |path, reason| CheckpointError::Segmenter { path, reason };
    Segmenters.open(&Checkpoint::of_file(&file).map_err(|error| error.of_tool(refused))?)
}
