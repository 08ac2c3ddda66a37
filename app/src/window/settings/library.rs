//! What a person says about models: folders, favourites, notes, and settings to start from.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use sluice_engine::request::{ModelSource, Request, Sampler, Schedule};

/// What a person says about models. Models have the names that the command line gives them: their paths, or `starter`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LibrarySettings {
    /// Folders that were added.
    pub folders: Vec<PathBuf>,
    /// Models, LoRAs and other files with a star.
    pub favourites: BTreeSet<String>,
    /// Notes.
    pub notes: BTreeMap<String, String>,
    /// Tags, in alphabetic order.
    pub tags: BTreeMap<String, BTreeSet<String>>,
    /// Settings that models start with instead of their own defaults.
    pub defaults: BTreeMap<String, OwnDefaults>,
    /// How models are downloaded.
    pub downloads: DownloadSettings,
}

/// How models are downloaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DownloadSettings {
    /// Where models go; the usual folder if absent.
    pub folder: Option<PathBuf>,
    /// A mirror of Hugging Face; empty for none.
    pub endpoint: String,
    /// A proxy; empty for that of the environment.
    pub proxy: String,
}

impl LibrarySettings {
    /// Gives a model a star, or takes it away.
    pub fn set_favourite(&mut self, name: &str, on: bool) {
        match on {
            true => drop(self.favourites.insert(name.to_owned())),
            false => drop(self.favourites.remove(name)),
        }
    }

    /// Sets the note about a model; an empty one is removed.
    pub fn set_note(&mut self, name: &str, note: String) {
        match note.trim().is_empty() {
            true => drop(self.notes.remove(name)),
            false => drop(self.notes.insert(name.to_owned(), note)),
        }
    }

    /// Gives a model a tag, or takes it away.
    pub fn set_tag(&mut self, name: &str, tag: &str, on: bool) {
        let tags = self.tags.entry(name.to_owned()).or_default();
        match on {
            true => drop(tags.insert(tag.to_owned())),
            false => drop(tags.remove(tag)),
        }
        if tags.is_empty() {
            self.tags.remove(name);
        }
    }

    /// The settings that a model starts with instead of its own defaults.
    pub fn defaults_of(&self, model: &ModelSource) -> Option<&OwnDefaults> {
        self.defaults.get(&model.to_string())
    }
}

/// Settings that a model starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnDefaults {
    width: u32,
    height: u32,
    frames: u32,
    frame_rate: f32,
    steps: u32,
    guidance: f32,
    sampler: Sampler,
    schedule: Schedule,
    shift: Option<f32>,
    negative_prompt: String,
}

impl OwnDefaults {
    /// Those of a request.
    pub fn of(request: &Request) -> Self {
        let Request { width, height, frames, frame_rate, steps, guidance, sampler, schedule, shift, .. } =
            *request;
        let negative_prompt = request.negative_prompt.clone();
        Self { width, height, frames, frame_rate, steps, guidance, sampler, schedule, shift, negative_prompt }
    }

    /// The request with these settings.
    pub fn given_to(&self, request: Request) -> Request {
        let Self { width, height, frames, frame_rate, steps, guidance, sampler, schedule, shift, .. } = *self;
        let negative_prompt = self.negative_prompt.clone();
        Request {
            width,
            height,
            frames,
            frame_rate,
            steps,
            guidance,
            sampler,
            schedule,
            shift,
            negative_prompt,
            ..request
        }
    }
}

impl Default for OwnDefaults {
    fn default() -> Self {
        Self::of(&Request::default())
    }
}
