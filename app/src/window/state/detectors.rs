//! Detectors, and the detailers that use them, also for existing images.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sluice_engine::{
    checkpoint::Role,
    models::Item,
    request::{Detailer, ModelSource, Regions, Request},
};

use super::{FileChange, State, Upscaling, file_name};
use crate::{language::tr, window::told::Told};

impl State {
    /// The detectors in the library.
    pub fn detectors(&self) -> impl Iterator<Item = &Item> {
        let is_one =
            |item: &&Item| item.content().is_some_and(|content| content.roles.contains(&Role::Detector));
        self.library.inventory.items.iter().filter(is_one)
    }

    /// A detector was opened as a model: a detailer uses it, and the model is the one before.
    pub(super) fn use_detector(&mut self, source: ModelSource) {
        self.not_opened();
        let ModelSource::Path(path) = source else { return };
        let told = Told::about(file_name(&path), |name| tr!("detailers-chosen", name = name));
        let detailers = &mut self.settings.draft.request.detailers;
        if detailers.len() < Detailer::MOST && detailers.iter().all(|known| known.model != path) {
            detailers.push(Detailer::new(path));
        }
        self.messages.say(told, Vec::new());
    }

    /// Asks how to inpaint the details of images again, with this seed unless that of the panel is locked. The first detector of
    /// the library is chosen.
    pub fn ask_detail(&mut self, inputs: Vec<PathBuf>, seed: u64) {
        let first = self.detectors().next().map(|item| item.path.clone());
        let draft = self.draft();
        let seed = if draft.seed_locked { draft.request.seed } else { seed };
        self.ask_change(FileChange::Detail, inputs);
        if let Some(asked) = &mut self.upscaling {
            asked.detectors.extend(first);
            asked.seed = seed;
        }
    }

    /// Chooses other detectors for existing images.
    pub fn choose_detectors(&mut self, detectors: Vec<PathBuf>) {
        if let Some(asked) = &mut self.upscaling {
            asked.detectors = detectors;
        }
    }

    /// The prompts in images were read.
    pub fn take_prompts(&mut self, prompts: Vec<(PathBuf, [String; 2])>) {
        if let Some(asked) = &mut self.upscaling {
            let said = prompts.into_iter().filter(|(_, [prompt, _])| !prompt.trim().is_empty());
            asked.prompts.extend(said);
        }
    }

    /// The detailers for existing images: those of the panel, or else one for each detector that was chosen.
    pub fn detailers_of(&self, asked: &Upscaling) -> Vec<Detailer> {
        match &self.draft().request.detailers[..] {
            [] => asked.detectors.iter().map(Detailer::new).collect(),
            own => own.to_vec(),
        }
    }

    /// The request that inpaints the details of an image again, by the settings of the panel without its inputs. The prompt is that
    /// in the image, if there is one. `None` without a model or a detector.
    pub(super) fn detailed(&self, asked: &Upscaling, path: &Path) -> Option<Request> {
        self.summary()?;
        let detailers = Some(self.detailers_of(asked)).filter(|detailers| !detailers.is_empty())?;
        let panel = self.draft().to_send().into_owned();
        let (prompt, negative_prompt, styles) = match asked.prompts.get(path).cloned() {
            // Its styles have been applied to it.
            Some([prompt, negative_prompt]) => (prompt, negative_prompt, Vec::new()),
            None => (panel.prompt.clone(), panel.negative_prompt.clone(), panel.styles.clone()),
        };
        let request = Request {
            prompt,
            negative_prompt,
            styles,
            detailers,
            seed: asked.seed,
            detail_of: Some(path.to_owned()),
            batch: 1,
            frames: 1,
            enhanced: None,
            template: None,
            regions: Regions::default(),
            variation: None,
            source: None,
            last_image: None,
            keyframes: Vec::new(),
            clip: None,
            references: Vec::new(),
            redux: None,
            control: None,
            control_nets: Vec::new(),
            estimators: BTreeMap::new(),
            image_prompts: Vec::new(),
            refiner: None,
            hires: None,
            smooth: None,
            ..panel
        };
        Some(self.with_named_loras(Cow::Owned(request)).into_owned())
    }
}
