//! Depth estimators as models: one part, and one stage.

use std::{path::Path, sync::Arc};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    aids,
    checkpoint::{Checkpoint, CheckpointError, Role},
    request::Request,
};

/// The name of the weights in a folder as transformers saves it.
const IN_FOLDER: &str = "model.safetensors";

/// All depth estimators.
pub struct DepthEstimators;

impl Family for DepthEstimators {
    fn id(&self) -> &'static str {
        "depth"
    }

    fn name(&self) -> &'static str {
        "Depth estimator"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        aids::is_depth_estimator(checkpoint)
    }

    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let sizes = vec![[request.width, request.height]];
        model.depth().map(|estimator| Task::Depth { estimator, sizes }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let aids::Opened { network, component } = aids::open(checkpoint)?;
        let part = ModelPart {
            name: Role::Preprocessor.id().to_owned(),
            component,
            network: Network::Depth(Arc::new(network)),
            takes_adapters: false,
        };
        Ok(Model {
            family: &DepthEstimators,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults::default(),
        })
    }
}

impl Model {
    /// This model with the depth estimator of another, after its own parts.
    pub fn with_depth(mut self, other: &Self) -> Self {
        let is_depth = |part: &&ModelPart| matches!(part.network, Network::Depth(_));
        self.parts.extend(other.parts.iter().find(is_depth).cloned());
        self
    }
}

/// Opens the depth estimator in a file, or in a folder as transformers saves it. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no depth estimator.
pub fn open_depth(path: &Path) -> Result<Model, CheckpointError> {
    let file = if path.is_dir() { path.join(IN_FOLDER) } else { path.to_owned() };
    if !file.exists() {
        return Err(CheckpointError::NotFound { path: file });
    }
    DepthEstimators.open(&Checkpoint::of_file(&file)?)
}
