//! LoRAs that bring settings: added ones set what they are made for, and the model's own settings come back with their
//! end.

use crate::{language::tr, window::told::Told};
use std::path::{Path, PathBuf};

use sluice_engine::{adapters::FewSteps, request::Request};

use super::{Draft, State};

impl State {
    /// Uses an adapter, with the settings it is made for.
    pub fn add_adapter(&mut self, path: PathBuf) {
        let mut draft = self.settings.draft.clone();
        draft.add_adapter(path.clone());
        let Some(few) = FewSteps::of(&path) else {
            if draft != self.settings.draft {
                let told = Told::about(name_of(&path), |name| tr!("state-lora-added", name = name));
                self.adopt(draft, told, Vec::new());
            }
            return;
        };
        if !self.settings.draft.request.adapters.iter().any(|adapter| adapter.path == path) {
            draft.weigh(&path, few.weight);
        }
        draft.request = few.given_to(draft.request);
        self.adopt(draft, few.in_words(), vec![tr!("state-lora-made-for", name = name_of(&path))]);
    }

    /// Uses another adapter in the place of one, with its weight, unless one of them brings settings of its own.
    pub fn replace_adapter(&mut self, index: usize, path: PathBuf) {
        let adapters = &mut self.settings.draft.request.adapters;
        let is_listed = adapters.iter().any(|adapter| adapter.path == path);
        let Some(adapter) = adapters.get_mut(index).filter(|_| !is_listed) else { return };
        if FewSteps::of(&adapter.path).is_none() && FewSteps::of(&path).is_none() {
            let old = std::mem::replace(&mut adapter.path, path.clone());
            let is_on = self.settings.draft.uses(&old);
            self.settings.draft.switch(&old, true);
            self.settings.draft.switch(&path, is_on);
            return;
        }
        let old = adapter.path.clone();
        self.drop_adapter(&old, true);
        self.add_adapter(path);
    }

    /// Switches an adapter off or removes it. The model's own settings come back if it brought the current ones.
    pub fn drop_adapter(&mut self, path: &Path, removed: bool) {
        let mut draft = self.settings.draft.clone();
        if removed {
            draft.remove_adapter(path);
        } else {
            draft.switch(path, false);
        }
        let brought = FewSteps::of(path).filter(|few| few.given_to(draft.request.clone()) == draft.request);
        let defaults = self.summary().map(|summary| summary.defaults.clone());
        let (Some(_), Some(defaults)) = (brought, defaults) else {
            self.settings.draft = draft;
            return;
        };
        let Request { width, height, frames, frame_rate, .. } = draft.request;
        let usual = defaults.given_to(draft.request);
        draft.request = Request { width, height, frames, frame_rate, ..usual };
        self.adopt(draft, tr!("state-model-own-steps"), Vec::new());
    }

    /// The model stays the same, so there is nothing to load.
    fn adopt(&mut self, draft: Draft, told: impl Into<Told>, details: Vec<String>) {
        let load = self.restore(draft, told, details);
        debug_assert!(load.is_none());
    }
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
