//! Uses the settings in files, whose models are looked up in the list of models.

use std::path::{Path, PathBuf};

use sluice_engine::request::ModelSource;

use super::SluiceApp;
use crate::{
    language::tr,
    window::{
        gallery::SettingsUse,
        image_settings::{ImageSettings, NamedModel},
        state::{Draft, EntryId, Search, file_name},
        told::Told,
    },
};

/// Settings of a file that wait for the list of models.
pub(super) struct WaitingSettings {
    path: PathBuf,
    settings: ImageSettings,
    used: SettingsUse,
}

impl SluiceApp {
    /// Queues variations of a file, and says what could not be restored of its settings.
    pub(super) fn vary_settings(&mut self, path: &Path, settings: ImageSettings, strength: Option<f32>) {
        if self.waits_for_models(&settings) {
            return self.wait_for_models(path, settings, SettingsUse::Vary(strength));
        }
        let (draft, notes) = self.placed(settings);
        if let Some(error) = self.state.mistake_in(&draft.request) {
            return self.fail(&tr!("app-cannot-generate"), error.to_string(), None);
        }
        let commands = self.state.vary_request(&draft.request, strength, self.new_seed);
        if !commands.is_empty() && !notes.is_empty() {
            let told = Told::about(file_name(path), |name| tr!("app-settings-of", name = name));
            self.state.messages.say(told, notes);
        }
        self.send(commands);
    }

    /// Replaces the settings by those of a file.
    pub(super) fn restore_settings(&mut self, path: &Path, settings: ImageSettings) {
        if self.waits_for_models(&settings) {
            return self.wait_for_models(path, settings, SettingsUse::Restore);
        }
        self.restore_no_other();
        let told = Told::about(file_name(path), |name| tr!("app-settings-of", name = name));
        let (draft, notes) = self.placed(settings);
        let load = self.state.restore(draft, told, notes);
        self.send(load);
    }

    /// Whether the model of these settings is certain without the list of models.
    fn knows_model(&self, settings: &ImageSettings) -> bool {
        match settings.model {
            NamedModel::Here => true,
            // The engine has its own folders.
            NamedModel::Elsewhere => {
                let model = EntryId::Source(settings.request.model.clone());
                self.state.lanes.are_elsewhere() || !self.state.library.lanes_of(&model).is_empty()
            }
            NamedModel::Unplaced => false,
        }
    }

    /// Whether the list of models, which these settings need, is on its way for the first time.
    fn waits_for_models(&self, settings: &ImageSettings) -> bool {
        let library = &self.state.library;
        let is_first = matches!(library.search, Search::Running(_)) && library.inventory.items.is_empty();
        is_first && !self.knows_model(settings)
    }

    fn wait_for_models(&mut self, path: &Path, settings: ImageSettings, used: SettingsUse) {
        let told = Told::about(file_name(path), |name| tr!("app-settings-wait", name = name));
        self.state.messages.say(told, Vec::new());
        if matches!(used, SettingsUse::Restore) {
            self.restore_no_other();
        }
        self.waiting_settings.push(WaitingSettings { path: path.to_owned(), settings, used });
    }

    /// The settings that are restored last are those that stay.
    fn restore_no_other(&mut self) {
        self.waiting_settings.retain(|waiting| !matches!(waiting.used, SettingsUse::Restore));
    }

    /// Uses settings that have waited for the list of models, once it is there.
    pub(super) fn use_waiting_settings(&mut self) {
        for WaitingSettings { path, settings, used } in std::mem::take(&mut self.waiting_settings) {
            if self.waits_for_models(&settings) {
                self.waiting_settings.push(WaitingSettings { path, settings, used });
                continue;
            }
            match used {
                SettingsUse::Restore => self.restore_settings(&path, settings),
                SettingsUse::Vary(strength) => self.vary_settings(&path, settings, strength),
            }
        }
    }

    /// The settings of a file with models that are here, and what could not be restored.
    fn placed(&self, settings: ImageSettings) -> (Draft, Vec<String>) {
        let mut draft = Draft::from_request(&settings.request);
        let is_certain = self.knows_model(&settings);
        let mut notes = settings.notes;
        if !is_certain {
            let current = self.state.chosen_model();
            let file = match (&draft.request.model, settings.model) {
                (ModelSource::Path(path), NamedModel::Elsewhere) => Some(file_name(path)),
                _ => None,
            };
            let names = file.iter().chain([&settings.model_name]);
            let found = names.into_iter().find_map(|name| self.state.library.model_named(name, current));
            draft.request.model = found.unwrap_or_else(|| {
                if !settings.model_name.is_empty() {
                    notes.push(tr!("app-model-kept", model = &settings.model_name));
                }
                current.clone()
            });
        }
        notes.extend(self.state.place_named(&mut draft.request));
        (draft, notes)
    }
}
