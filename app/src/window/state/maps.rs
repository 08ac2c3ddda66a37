//! Map estimators and the maps that they make for ControlNets.

use std::path::Path;

use sluice_engine::{
    checkpoint::MapKind,
    models::Item,
    request::{MapOf, ModelSource, Request},
    session::{Command, Job, JobId},
};

use super::{State, file_name};
use crate::{language::tr, window::told::Told};

impl State {
    /// The map estimators in the library that make this kind of map.
    pub fn estimators(&self, kind: MapKind) -> impl Iterator<Item = &Item> {
        let is_one = move |item: &&Item| item.content().is_some_and(|content| content.maps == Some(kind));
        self.library.inventory.items.iter().filter(is_one)
    }

    /// Whether this kind of map of an image is in the queue.
    pub fn makes_map(&self, kind: MapKind, image: &Path) -> bool {
        let is_it = |map: &MapOf| map.kind == kind && map.image == image;
        self.jobs.queue.iter().any(|job| job.request().map_of.as_ref().is_some_and(is_it))
    }

    /// The request for a map of an image; `None` without an estimator for it.
    pub(super) fn map_request(&self, kind: MapKind, image: &Path) -> Option<Request> {
        let model = ModelSource::Path(self.draft().request.estimators.get(&kind)?.clone());
        let map_of = Some(MapOf { kind, image: image.to_owned() });
        Some(Request { model, map_of, ..Request::default() })
    }

    /// Queues a job that makes a map of an image, which is shown and not saved.
    pub fn show_map(&mut self, kind: MapKind, image: &Path) -> Option<Command> {
        let request = self.map_request(kind, image)?;
        if self.makes_map(kind, image) {
            return None;
        }
        let memory = self.settings.memory.preferences.clone();
        Some(self.jobs.add(Job { memory, ..Job::new(JobId(0), request) }))
    }

    /// A map estimator was opened as a model: from now on it makes the maps of its kind, and the model is the one before.
    pub(super) fn use_estimator(&mut self, kind: MapKind, source: ModelSource) {
        self.not_opened();
        let ModelSource::Path(path) = source else { return };
        let told = Told::about(file_name(&path), |name| match kind {
            MapKind::Depth => tr!("control-nets-depth-chosen", name = name),
            MapKind::Pose => tr!("control-nets-pose-chosen", name = name),
            MapKind::Segments => tr!("control-nets-segments-chosen", name = name),
            MapKind::SoftEdge => tr!("control-nets-soft-edge-chosen", name = name),
        });
        self.settings.draft.request.estimators.insert(kind, path);
        self.messages.say(told, Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_made_once_and_only_with_an_estimator_for_it() {
        let mut state = State::default();
        let estimators = &mut state.settings.draft.request.estimators;
        estimators.insert(MapKind::Depth, "depth.safetensors".into());
        assert!(state.show_map(MapKind::Pose, Path::new("a.png")).is_none());
        state.settings.draft.request.estimators.insert(MapKind::Pose, "pose.safetensors".into());
        let Some(Command::Generate(job)) = state.show_map(MapKind::Pose, Path::new("a.png")) else {
            panic!("no job")
        };
        assert_eq!(job.request.map_of, Some(MapOf { kind: MapKind::Pose, image: "a.png".into() }));
        assert_eq!(job.request.model, ModelSource::Path("pose.safetensors".into()));
        assert!(job.output.is_none() && state.makes_map(MapKind::Pose, Path::new("a.png")));
        assert!(!state.makes_map(MapKind::Depth, Path::new("a.png")));
        assert!(state.show_map(MapKind::Pose, Path::new("a.png")).is_none());
        assert!(state.show_map(MapKind::Depth, Path::new("a.png")).is_some());
    }
}
