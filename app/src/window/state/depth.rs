//! Depth estimators and the maps that they make for ControlNets.

use std::path::{Path, PathBuf};

use sluice_engine::{
    checkpoint::Role,
    models::Item,
    request::{ModelSource, Request},
    session::{Command, Job, JobId},
};

use super::{Notice, State, file_name};
use crate::language::tr;

impl State {
    /// The depth estimators in the library.
    pub fn depth_models(&self) -> impl Iterator<Item = &Item> {
        let is_one =
            |item: &&Item| item.content().is_some_and(|content| content.roles.contains(&Role::Preprocessor));
        self.library.inventory.items.iter().filter(is_one)
    }

    /// Whether the depth map of an image is in the queue.
    pub fn makes_depth(&self, image: &Path) -> bool {
        self.jobs.queue.iter().any(|job| job.request().depth_of.as_deref() == Some(image))
    }

    /// Queues a job that makes the depth map of an image, which is shown and not saved.
    pub fn show_depth(&mut self, image: PathBuf) -> Option<Command> {
        let model = ModelSource::Path(self.draft().request.depth_model.clone()?);
        if self.makes_depth(&image) {
            return None;
        }
        let request = Request { model, depth_of: Some(image), ..Request::default() };
        let memory = self.settings.memory.preferences.clone();
        Some(self.jobs.add(Job { memory, ..Job::new(JobId(0), request) }))
    }

    /// A depth estimator was opened as a model: from now on it makes the maps, and the model is the one before.
    pub(super) fn use_depth_model(&mut self, source: ModelSource) {
        self.not_opened();
        let ModelSource::Path(path) = source else { return };
        let text = tr!("control-nets-depth-chosen", name = file_name(&path));
        self.settings.draft.request.depth_model = Some(path);
        self.messages.notice = Some(Notice { text, details: Vec::new(), undo: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_map_is_made_once_and_only_with_an_estimator() {
        let mut state = State::default();
        assert!(state.show_depth("a.png".into()).is_none());
        state.settings.draft.request.depth_model = Some("depth.safetensors".into());
        let Some(Command::Generate(job)) = state.show_depth("a.png".into()) else { panic!("no job") };
        assert_eq!(job.request.depth_of.as_deref(), Some(Path::new("a.png")));
        assert_eq!(job.request.model, ModelSource::Path("depth.safetensors".into()));
        assert!(job.output.is_none() && state.makes_depth(Path::new("a.png")));
        assert!(state.show_depth("a.png".into()).is_none());
    }
}
