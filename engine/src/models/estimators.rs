//! Map estimators as models: one part, and one stage.

use std::path::Path;

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task, Used};
use crate::{
    aids::{self, MapEstimator, OpenedEstimator},
    checkpoint::{Checkpoint, CheckpointError, MapKind},
    request::Request,
};

/// The name of the weights in a folder as transformers saves it.
const IN_FOLDER: &str = "model.safetensors";

/// All map estimators.
pub struct MapEstimators;

impl Family for MapEstimators {
    fn id(&self) -> &'static str {
        "map_estimator"
    }

    fn name(&self) -> &'static str {
        "Map estimator"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        aids::map_kind(checkpoint).is_some()
    }

    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let sizes = vec![[request.width, request.height]; request.frames as usize];
        let wanted = request.map_of.as_ref().and_then(|map| model.estimator(map.kind));
        wanted.map(|estimator| Task::MakeMaps { estimator, sizes }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        // What makes no maps is refused as a depth estimator.
        open_as(checkpoint, aids::map_kind(checkpoint).unwrap_or(MapKind::Depth))
    }
}

fn open_as(checkpoint: &Checkpoint, kind: MapKind) -> Result<Model, CheckpointError> {
    let OpenedEstimator { network, component } = aids::open_estimator(checkpoint, kind)?;
    let part = ModelPart {
        name: format!("{}_estimator", kind.id()),
        component,
        network: Network::MapEstimator(network),
        takes_adapters: false,
    };
    Ok(Model {
        family: &MapEstimators,
        path: checkpoint.path.clone(),
        root: checkpoint.root.clone(),
        layout: checkpoint.layout,
        parts: vec![part],
        defaults: ModelDefaults::default(),
    })
}

impl Model {
    /// This model with the map estimators of another, after its own parts.
    pub fn with_estimators(mut self, other: &Self) -> Self {
        let is_one = |part: &&ModelPart| matches!(part.network, Network::MapEstimator(_));
        self.parts.extend(other.parts.iter().filter(is_one).cloned());
        self
    }

    /// What makes this kind of map, if it is that or has one.
    pub fn estimator(&self, kind: MapKind) -> Option<Used<dyn MapEstimator>> {
        self.estimators().find(|estimator| estimator.network.kind() == kind)
    }

    /// Its map estimators.
    pub fn estimators(&self) -> impl Iterator<Item = Used<dyn MapEstimator>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::MapEstimator(network) => Some(Used { part, network: network.clone() }),
            _ => None,
        })
    }

    /// The stages that make the maps of the ControlNets and of the control clip of a request, one for each kind.
    pub(super) fn map_stages(&self, request: &Request) -> Vec<Task> {
        let stage = |kind: MapKind| {
            let sizes = vec![[request.width, request.height]; request.maps_made(kind)];
            self.estimator(kind).map(|estimator| Task::MakeMaps { estimator, sizes })
        };
        request.map_kinds().into_iter().filter_map(stage).collect()
    }
}

/// Opens the map estimator in a file, or in a folder as transformers saves it, that makes this kind of map. Reads no weights.
///
/// # Errors
/// When it cannot be read, or makes no such maps.
pub fn open_estimator(path: &Path, kind: MapKind) -> Result<Model, CheckpointError> {
    let file = if path.is_dir() { path.join(IN_FOLDER) } else { path.to_owned() };
    if !file.exists() {
        return Err(CheckpointError::NotFound { path: file });
    }
    let checkpoint = Checkpoint::of_file(&file).map_err(|error| match error {
        CheckpointError::Pickle { path } => CheckpointError::PickledEstimator { path },
        other => other.of_tool(|path, reason| CheckpointError::MapEstimator { path, maps: kind, reason }),
    })?;
    open_as(&checkpoint, kind)
}
