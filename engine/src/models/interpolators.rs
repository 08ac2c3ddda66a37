//! Networks that interpolate frames as models: one part, and one stage.

use std::path::Path;

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Role},
    interpolation::{self, Opened},
    request::{ComputeDtype, Request},
};

/// All networks that interpolate frames.
pub struct Interpolators;

impl Family for Interpolators {
    fn id(&self) -> &'static str {
        "interpolator"
    }

    fn name(&self) -> &'static str {
        "Frame interpolator"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        interpolation::is_interpolator(checkpoint)
    }

    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let how = request.interpolate.as_ref().map(|wanted| wanted.how);
        let task = model.interpolator().zip(how);
        task.map(|(interpolator, how)| Task::Interpolate { interpolator, how }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let Opened { network, component } = interpolation::open(checkpoint)?;
        let part = ModelPart {
            name: Role::Interpolator.id().to_owned(),
            component,
            network: Network::Interpolator(network),
            takes_adapters: false,
        };
        Ok(Model {
            family: &Interpolators,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults { on_cards: ComputeDtype::F16, ..ModelDefaults::default() },
        })
    }
}

impl Model {
    /// This model with the network of another, which puts frames between those of its clips.
    pub fn with_interpolator(mut self, other: &Self) -> Self {
        let is_interpolator = |part: &&ModelPart| matches!(part.network, Network::Interpolator(_));
        self.parts.extend(other.parts.iter().find(is_interpolator).cloned());
        self
    }
}

/// Opens the network in a file. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no network of a supported version.
pub fn open_interpolator(path: &Path) -> Result<Model, CheckpointError> {
    if !path.exists() {
        return Err(CheckpointError::NotFound { path: path.to_owned() });
    }
    if path.is_dir() {
        let reason = "it is a folder".to_owned();
        return Err(CheckpointError::Interpolator { path: path.to_owned(), reason });
    }
    let checkpoint = Checkpoint::of_file(path).map_err(|error| match error {
        CheckpointError::Pickle { path } => CheckpointError::PickledInterpolator { path },
        other => other.of_tool(|path, reason| CheckpointError::Interpolator { path, reason }),
    })?;
    Interpolators.open(&checkpoint)
}
