//! The selected model: how it is chosen and opened, and what comes back if it cannot be opened.

use sluice_engine::{
    checkpoint::Role,
    request::ModelSource,
    session::{Command, Failure, ModelSummary},
};

use super::{Draft, State, file_name, snap_frames};
use crate::{
    language::tr,
    window::{settings::LastModels, told::Told},
};

/// Whether the selected model is ready.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ModelStatus {
    /// Its headers are being read.
    #[default]
    Loading,
    /// Ready.
    Ready(Box<ModelSummary>),
    /// Loading failed.
    Failed,
}

/// The selected model.
#[derive(Debug, Default)]
pub struct Model {
    /// Whether it is ready.
    pub status: ModelStatus,
    /// Whether its defaults replace size, steps and guidance when it is loaded.
    pub adopt_defaults: bool,
    /// What comes back if it cannot be loaded.
    before: Option<Box<Before>>,
}

impl Model {
    /// The first model, while it is loaded.
    pub fn loading(adopt_defaults: bool) -> Self {
        Self { adopt_defaults, ..Self::default() }
    }
}

/// The model before another one was chosen.
#[derive(Debug)]
struct Before {
    summary: Box<ModelSummary>,
    /// The settings, if they were replaced together with the model.
    draft: Option<Draft>,
}

impl State {
    /// The selected model.
    pub fn chosen_model(&self) -> &ModelSource {
        &self.settings.draft.request.model
    }

    /// The model's summary, once it is loaded.
    pub fn summary(&self) -> Option<&ModelSummary> {
        match &self.model.status {
            ModelStatus::Ready(summary) => Some(summary),
            ModelStatus::Loading | ModelStatus::Failed => None,
        }
    }

    /// The model for images and the one for clips that were used last, or the starters.
    pub fn model_of_each_kind(&self) -> [ModelSource; 2] {
        let LastModels { image, video } = &self.settings.last_models;
        let or = |last: &Option<ModelSource>, starter| last.clone().unwrap_or(starter);
        [or(image, ModelSource::Starter), or(video, ModelSource::StarterClip)]
    }

    /// Selects another model.
    pub fn choose_model(&mut self, model: ModelSource, adopt_defaults: bool) -> Command {
        if model != *self.chosen_model() {
            self.planning.forget();
        }
        let Model { status, before, .. } = std::mem::take(&mut self.model);
        let before = match status {
            ModelStatus::Ready(summary) => Some(Box::new(Before { summary, draft: None })),
            ModelStatus::Loading | ModelStatus::Failed => before,
        };
        self.settings.draft.request.model = model.clone();
        self.model = Model { status: ModelStatus::Loading, adopt_defaults, before };
        Command::Load { model }
    }

    pub(super) fn replace(&mut self, draft: Draft) -> (Draft, Option<Command>) {
        let model = draft.request.model.clone();
        let before = self.settings.draft.clone();
        let load = (model != before.request.model).then(|| self.choose_model(model, false));
        if load.is_some()
            && let Some(earlier) = &mut self.model.before
        {
            earlier.draft.get_or_insert_with(|| before.clone());
        }
        self.settings.draft = draft;
        (before, load)
    }

    pub(super) fn model_loaded(&mut self, summary: Box<ModelSummary>) {
        if summary.source != *self.chosen_model() {
            return;
        }
        self.messages.works();
        let is_all = |role| summary.components.iter().all(|component| component.role == role);
        if is_all(Role::Upscaler) {
            return self.use_upscaler(summary.source);
        }
        if is_all(Role::Interpolator) {
            return self.use_interpolator(summary.source);
        }
        if let Some(kind) = summary.maps {
            return self.use_estimator(kind, summary.source);
        }
        if is_all(Role::Segmenter) {
            return self.use_segmenter(summary.source);
        }
        if is_all(Role::Detector) {
            return self.use_detector(summary.source);
        }
        self.model.before = None;
        if let ModelSource::Path(path) = &summary.source {
            self.settings.remember_model(path);
        }
        if std::mem::take(&mut self.model.adopt_defaults) {
            self.settings.draft.adopt(&summary.defaults);
            if let Some(own) = self.settings.library.defaults_of(&summary.source) {
                let request = std::mem::take(&mut self.settings.draft.request);
                self.settings.draft.request = own.given_to(request);
            }
        }
        let request = &mut self.settings.draft.request;
        if !summary.takes_refiner {
            request.refiner = None;
        }
        if !summary.takes_redux {
            request.redux = None;
        }
        if !summary.takes_control_nets {
            request.control_nets.clear();
        }
        if !summary.takes_ip_adapters {
            request.image_prompts.clear();
        }
        if summary.references.is_none() && request.redux.is_none() {
            request.references.clear();
        }
        let last = &mut self.settings.last_models;
        match summary.frame_multiple {
            Some(multiple) => {
                request.hires = None;
                request.detailers.clear();
                request.frames = snap_frames(request.frames, multiple);
                last.video = Some(summary.source.clone());
            }
            None => {
                request.smooth = None;
                request.frames = 1;
                request.last_image = None;
                request.keyframes.clear();
                request.clip = None;
                request.control = None;
                last.image = Some(summary.source.clone());
            }
        }
        self.model.status = ModelStatus::Ready(summary);
    }

    /// An upscaler was opened as a model: from now on it enlarges, and the model is the one before.
    fn use_upscaler(&mut self, source: ModelSource) {
        let name = name_of(&source);
        self.settings.upscale.model = source;
        self.not_opened();
        let told = Told::about(name, |name| tr!("upscale-chosen", name = name));
        self.messages.say(told, Vec::new());
    }

    /// Goes back to the model before, unless another one was chosen meanwhile.
    pub(super) fn model_not_loaded(&mut self, model: &ModelSource, failure: Failure) {
        if self.model.status == ModelStatus::Loading && model == self.chosen_model() {
            self.not_opened();
            return self.messages.not_opened(failure);
        }
        let title = tr!("state-other-model-not-opened", name = name_of(model));
        self.messages.fail(&title, failure);
    }

    /// Goes back to the model before the one that could not be opened.
    pub(super) fn not_opened(&mut self) {
        let Some(before) = self.model.before.take() else {
            self.model.status = ModelStatus::Failed;
            self.images.hide_start();
            return;
        };
        let Before { summary, draft } = *before;
        if let Some(draft) = draft {
            self.settings.draft = draft;
            self.messages.notice = None;
        }
        self.planning.forget();
        self.settings.draft.request.model = summary.source.clone();
        self.model = Model { status: ModelStatus::Ready(summary), ..Model::default() };
    }
}

fn name_of(model: &ModelSource) -> String {
    match model {
        ModelSource::Path(path) => file_name(path),
        built_in => built_in.to_string(),
    }
}
