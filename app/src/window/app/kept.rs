//! Executes steps with presets and styles.

use std::path::PathBuf;

use sluice_engine::{
    request::{GuidanceOptions, Regions, Request, Style},
    text::StyleError,
};

use super::SluiceApp;
use crate::{
    language::tr,
    presets::{NamedPreset, Preset},
    window::{
        action::Keeping,
        files::{PresetTask, StyleTask, Task},
        state::{DeletedPreset, State, Undo},
        told::Told,
    },
};

/// The folders of presets, styles and tags in the folder for data.
const PRESETS: &str = "presets";
const STYLES: &str = "styles";
const TAGS: &str = "tags";

impl SluiceApp {
    pub(super) fn keep(&mut self, step: Keeping) {
        match step {
            Keeping::List => self.with_presets(PresetTask::List),
            Keeping::Save { name, with_model } => {
                let preset = Preset::of(&self.state.draft().to_send(), with_model);
                self.with_presets(PresetTask::Save(name, Box::new(preset)));
            }
            Keeping::Rename(name, new) => self.with_presets(PresetTask::Rename(name, new)),
            Keeping::Duplicate(name) => self.duplicate_preset(&name),
            Keeping::Delete(name) => self.with_presets(PresetTask::Delete(name)),
            Keeping::Apply(name) => self.apply_preset(&name),
            Keeping::Reset => {
                let negative_prompt = self.state.draft().request.negative_prompt.clone();
                self.reset(negative_prompt, tr!("app-model-defaults"));
            }
            Keeping::Snippet(prompt, words) => self.state.settings.keep_snippet(prompt, words),
            Keeping::DeleteSnippet(prompt, words) => self.state.delete_snippet(prompt, words),
            Keeping::ListStyles => self.list_styles(),
            Keeping::ToggleStyle(name) => self.state.toggle_style(&name),
            Keeping::SaveStyle(name) => self.save_style(name),
            Keeping::DuplicateStyle(name) => self.duplicate_style(&name),
            Keeping::RenameStyle(name, new) => self.rename_style(name, new),
            Keeping::DeleteStyle(name) => self.delete_style(&name),
            Keeping::ForgetStyles(file) => {
                self.state.settings.style_files.retain(|known| *known != file);
                self.list_styles();
            }
            Keeping::ForgetTags(file) => {
                self.state.settings.tag_files.retain(|known| *known != file);
                self.list_tags();
            }
        }
    }

    /// Reads presets, styles and tags at the start.
    pub(super) fn list_kept(&mut self) {
        self.with_presets(PresetTask::List);
        self.list_styles();
        self.list_tags();
    }

    fn with_presets(&mut self, task: PresetTask) {
        match self.places.data.as_ref().map(|data| data.join(PRESETS)) {
            Some(folder) => self.request(Task::Presets(folder, task)),
            None if task == PresetTask::List => {}
            None => {
                let message = tr!("app-no-data-folder");
                self.fail(&tr!("app-presets-not-kept"), message, None);
            }
        }
    }

    pub(super) fn say_preset_deleted(&mut self, deleted: Box<DeletedPreset>) {
        let told = Told::about(deleted.name.as_str(), |name| tr!("app-preset-deleted", name = name));
        let undo = Some(Undo::Preset(deleted));
        self.state.messages.tell(told, Vec::new(), undo);
    }

    pub(super) fn put_preset_back(&mut self, deleted: Box<DeletedPreset>) {
        self.with_presets(PresetTask::PutBack(deleted));
    }

    fn apply_preset(&mut self, name: &str) {
        let Some(NamedPreset { preset: Ok(preset), .. }) =
            self.state.presets.iter().find(|preset| preset.name == name)
        else {
            return;
        };
        let before = self.state.draft();
        let request = preset.given_to(before.request.clone());
        let draft = before.replaced_by(request);
        let told = Told::about(name, |name| tr!("app-preset", name = name));
        let load = self.state.restore(draft, told, Vec::new());
        self.send(load);
    }

    fn duplicate_preset(&mut self, name: &str) {
        let presets = &self.state.presets;
        let Some(NamedPreset { preset: Ok(preset), .. }) = presets.iter().find(|preset| preset.name == name)
        else {
            return;
        };
        let (new, preset) = (free_name(name, presets.iter().map(|preset| &preset.name)), preset.clone());
        self.with_presets(PresetTask::Save(new, Box::new(preset)));
    }

    /// Everything but the prompt, seed, inputs and the model is as the model starts with it.
    pub(super) fn reset(&mut self, negative_prompt: String, text: String) {
        let Some(summary) = self.state.summary() else { return };
        let before = self.state.draft().clone();
        let plain = Request::default();
        let request = Request {
            shift: None,
            clip_skip: plain.clip_skip,
            step_cache: plain.step_cache,
            guiding: GuidanceOptions::default(),
            batch: plain.batch,
            variation: None,
            hires: None,
            regions: Regions::default(),
            detailers: Vec::new(),
            dtype: None,
            adapters: Vec::new(),
            styles: Vec::new(),
            negative_prompt,
            ..before.request.clone()
        };
        let mut draft = before.replaced_by(request);
        draft.adopt(&summary.defaults);
        if let Some(own) = self.state.settings.library.defaults_of(&summary.source) {
            draft.request = own.given_to(std::mem::take(&mut draft.request));
        }
        let load = self.state.restore(draft, text, Vec::new());
        self.send(load);
    }

    fn list_tags(&mut self) {
        let folder = self.places.data.as_ref().map(|data| data.join(TAGS));
        self.request(Task::Tags(folder, self.state.settings.tag_files.clone()));
    }

    pub(super) fn add_tag_file(&mut self, path: PathBuf) {
        let files = &mut self.state.settings.tag_files;
        if !files.contains(&path) {
            files.push(path);
        }
        self.list_tags();
    }

    pub(super) fn list_styles(&mut self) {
        let own = self.places.data.as_ref().map(|data| data.join(STYLES));
        let chosen = self.state.settings.style_files.clone();
        self.request(Task::Styles { model: self.state.chosen_model().clone(), own, chosen });
    }

    fn save_style(&mut self, name: String) {
        let request = &self.state.draft().request;
        let [prompt, negative_prompt] =
            [&request.prompt, &request.negative_prompt].map(|prompt| prompt.trim().to_owned());
        self.change_styles(StyleTask::Save(Style { name, prompt, negative_prompt }));
    }

    fn duplicate_style(&mut self, name: &str) {
        let State { styles, settings, .. } = &self.state;
        let mut known = settings.draft.request.styles.iter().chain(styles);
        let Some(style) = known.find(|style| style.name == name) else { return };
        let new = free_name(name, styles.iter().map(|style| &style.name));
        self.change_styles(StyleTask::Save(Style { name: new, ..style.clone() }));
    }

    /// Renames a style in its file and where it is used.
    fn rename_style(&mut self, name: String, new: String) {
        if self.state.styles.iter().any(|style| style.name == new) {
            return self.fail(&tr!("app-style-not-saved"), tr!("app-style-taken", name = new), None);
        }
        let used = self.state.settings.draft.request.styles.iter_mut();
        used.filter(|style| style.name == name).for_each(|style| style.name.clone_from(&new));
        self.change_styles(StyleTask::Rename(name, new));
    }

    fn delete_style(&mut self, name: &str) {
        let Some(style) = self.state.own_styles.iter().find(|style| style.name == name).cloned() else {
            return;
        };
        self.change_styles(StyleTask::Delete(style.name.clone()));
        let told = Told::about(style.name.as_str(), |name| tr!("state-style-deleted", name = name));
        let undo = Some(Undo::Style(Box::new(style)));
        self.state.messages.tell(told, Vec::new(), undo);
    }

    /// Changes the saved styles, and reads all again.
    pub(super) fn change_styles(&mut self, task: StyleTask) {
        let Some(folder) = self.places.data.as_ref().map(|data| data.join(STYLES)) else {
            return self.fail(&tr!("app-style-not-saved"), tr!("app-no-data-folder"), None);
        };
        self.request(Task::ChangeStyles(folder, task));
        self.list_styles();
    }

    pub(super) fn add_style_file(&mut self, path: PathBuf) {
        let files = &mut self.state.settings.style_files;
        files.retain(|known| *known != path);
        files.push(path);
        self.list_styles();
    }

    pub(super) fn take_styles(&mut self, styles: Vec<Style>, own: Vec<Style>, errors: Vec<StyleError>) {
        (self.state.styles, self.state.own_styles) = (styles, own);
        if let Some(error) = errors.into_iter().next() {
            self.fail(&tr!("app-styles-unreadable"), error.to_string(), None);
        }
    }
}

/// A name like this that is not taken.
fn free_name<'a>(name: &str, taken: impl Iterator<Item = &'a String> + Clone) -> String {
    let mut free = (2_u32..).map(|number| format!("{name} {number}"));
    let is_taken = |name: &String| taken.clone().any(|other| other == name);
    free.find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}
