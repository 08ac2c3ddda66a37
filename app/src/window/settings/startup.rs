//! The settings that are needed before the window opens, in a file of their own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::engines::EngineList;

/// The GPU that renders the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderGpu {
    /// The power-saving one, which leaves the memory of the other for models.
    #[default]
    Integrated,
    /// The fast one.
    Dedicated,
}

/// The settings that are needed before the window opens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StartupSettings {
    /// The GPU that renders the window.
    pub render_gpu: RenderGpu,
    /// The command of the one engine that earlier versions had; empty for that of this computer.
    #[serde(skip_serializing)]
    engine: String,
    /// The engines.
    pub engines: EngineList,
}

impl StartupSettings {
    /// Loads the saved settings, or the defaults.
    pub fn load() -> Self {
        let Some(path) = Self::path() else { return Self::default() };
        match fs::read_to_string(&path) {
            Ok(text) => Self::from_toml(&text).unwrap_or_else(|error| {
                tracing::warn!(path = %path.display(), %error, "the file is not understood");
                Self::default()
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the file cannot be read");
                Self::default()
            }
        }
    }

    /// Parses what this or an earlier version has written.
    fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let mut read: Self = toml::from_str(text)?;
        let line = std::mem::take(&mut read.engine);
        if !line.trim().is_empty() && read.engines == EngineList::default() {
            read.engines = EngineList::of_command(&line);
        }
        Ok(read)
    }

    /// Saves them.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        }
        fs::write(path, toml::to_string(self)?)
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Their file, if this user has a home folder.
    pub fn path() -> Option<PathBuf> {
        Some(directories::ProjectDirs::from("", "", "sluice")?.config_dir().join("window.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_settings_are_tolerant_of_missing_fields() {
        assert_eq!(StartupSettings::from_toml("").unwrap(), StartupSettings::default());
        let dedicated = StartupSettings::from_toml("render_gpu = \"dedicated\"\nlater = 1").unwrap();
        assert_eq!(dedicated.render_gpu, RenderGpu::Dedicated);
        assert_eq!(dedicated.engines, EngineList::default());
    }

    #[test]
    fn the_one_engine_of_earlier_versions_is_in_the_list() {
        let read = StartupSettings::from_toml("engine = \"ssh -T attic sluice worker\"").unwrap();
        assert_eq!(read.engines, EngineList::of_command("ssh -T attic sluice worker"));
        let again = toml::to_string(&read).unwrap();
        assert_eq!(StartupSettings::from_toml(&again).unwrap(), read);
    }
}
