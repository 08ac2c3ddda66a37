//! What a person says about models: folders, favourites, notes, and settings to start from.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::request::ModelSource;

use crate::presets::Preset;

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
    pub defaults: BTreeMap<String, Preset>,
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

    /// Gives files that were moved what was said about them where they were: each that is the only one of its name, and about
    /// which nothing is said where it is now.
    pub fn follow(&mut self, files: &[&Path]) {
        let mut by_name: BTreeMap<&OsStr, Option<&Path>> = BTreeMap::new();
        for file in files {
            let Some(name) = file.file_name() else { continue };
            by_name.entry(name).and_modify(|only| *only = None).or_insert(Some(file));
        }
        let listed: BTreeSet<String> = files.iter().map(|file| file.display().to_string()).collect();
        let said = |of: &Self| -> BTreeSet<String> {
            let keys = of.notes.keys().chain(of.tags.keys()).chain(of.defaults.keys());
            keys.chain(&of.favourites).cloned().collect()
        };
        let known = said(self);
        for old in known.iter().filter(|old| !listed.contains(*old)) {
            let name = Path::new(old).file_name();
            let Some(Some(file)) = name.and_then(|name| by_name.get(name)) else { continue };
            let new = file.display().to_string();
            if known.contains(&new) {
                continue;
            }
            if self.favourites.contains(old) {
                self.favourites.insert(new.clone());
            }
            again(&mut self.notes, old, &new);
            again(&mut self.tags, old, &new);
            again(&mut self.defaults, old, &new);
        }
    }

    /// The settings that a model starts with instead of its own defaults.
    pub fn defaults_of(&self, model: &ModelSource) -> Option<&Preset> {
        self.defaults.get(&model.to_string())
    }
}

/// Keeps a value under another name, too.
fn again<T: Clone>(map: &mut BTreeMap<String, T>, old: &str, new: &str) {
    if let Some(value) = map.get(old).cloned() {
        map.insert(new.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_a_file_follows_it() {
        let mut settings = LibrarySettings::default();
        settings.set_favourite("/a/ink.safetensors", true);
        settings.set_note("/a/ink.safetensors", "calm".to_owned());
        settings.set_tag("/a/ink.safetensors", "style", true);
        settings.set_note("/a/film.safetensors", "grain".to_owned());
        settings.set_note("/a/here.safetensors", "old".to_owned());
        settings.set_note("/b/here.safetensors", "new".to_owned());
        let files =
            ["/b/ink.safetensors", "/b/film.safetensors", "/c/film.safetensors", "/b/here.safetensors"];
        settings.follow(&files.map(Path::new));
        assert!(settings.favourites.contains("/b/ink.safetensors"));
        assert_eq!(settings.notes["/b/ink.safetensors"], "calm");
        assert!(settings.tags["/b/ink.safetensors"].contains("style"));
        assert!(!settings.notes.contains_key("/c/film.safetensors"), "two have the name");
        assert_eq!(settings.notes["/b/here.safetensors"], "new");
        assert_eq!(settings.notes["/a/ink.safetensors"], "calm", "the disk may be away");
    }
}
