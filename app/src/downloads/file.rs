//! A file that is wanted, and where it goes.

use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use super::{DownloadError, Network};

/// What stays as it is in a path of an address.
const IN_PATH: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// On the hub, or a mirror of it.
    Hub {
        /// `owner/name`.
        repository: String,
        /// A branch, a tag or a commit.
        revision: String,
        /// Inside the repository.
        path: String,
    },
    /// A file of a version on Civitai.
    Civitai {
        /// The number of the version.
        version: u64,
        /// What to append to its address, if it has several files.
        query: String,
    },
    /// Anywhere.
    Address(String),
}

impl Source {
    /// Its address.
    pub fn address(&self, network: &Network) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, &IN_PATH).to_string();
        match self {
            Self::Hub { repository, revision, path } => {
                let revision = encoded(revision).replace('/', "%2F");
                format!("{}/{repository}/resolve/{revision}/{}", network.endpoint, encoded(path))
            }
            Self::Civitai { version, query } => {
                format!("{}/api/download/models/{version}{query}", network.civitai)
            }
            Self::Address(address) => address.clone(),
        }
    }

    /// What identifies it, whatever the mirror.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Hub { repository, revision, path } => format!("{repository}@{revision}/{path}"),
            Self::Civitai { version, query } => format!("civitai {version}{query}"),
            Self::Address(address) => address.clone(),
        }
    }

    /// What to call it in errors, and the page with its conditions.
    pub(super) fn named(&self) -> (String, Option<String>) {
        match self {
            Self::Hub { repository, path, .. } => {
                (format!("{path} of {repository}"), Some(format!("{}/{repository}", super::HUGGING_FACE)))
            }
            Self::Civitai { version, .. } => (format!("version {version} on Civitai"), None),
            Self::Address(address) => (address.clone(), None),
        }
    }
}

/// A file that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Where it is.
    pub source: Source,
    /// Where it goes, inside the folder of downloads.
    pub to: PathBuf,
    /// Whether its contents decide at the end into which folder it goes.
    #[serde(default)]
    pub sorts: bool,
    /// Its size in bytes, as far as known.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Its SHA-256 in lower case, if known for certain.
    #[serde(default)]
    pub sha256: Option<String>,
}

impl Wanted {
    /// Its name without folders.
    pub fn name(&self) -> String {
        self.to.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its path in a folder.
    ///
    /// # Errors
    /// If the path leads out of the folder.
    pub fn target(&self, folder: &Path) -> Result<PathBuf, DownloadError> {
        let is_inside = self.to.components().all(|part| matches!(part, Component::Normal(_)));
        match is_inside && self.to.file_name().is_some() {
            true => Ok(folder.join(&self.to)),
            false => Err(DownloadError::Name { name: self.to.display().to_string() }),
        }
    }
}

/// A path whose parts are names on every system: letters that some of them do not allow become `_`.
pub fn safe_path(path: &str) -> PathBuf {
    let part = |part: &str| -> String {
        let is_bad = |letter: char| letter.is_control() || "<>:\"|?*\\".contains(letter);
        part.trim().chars().map(|letter| if is_bad(letter) { '_' } else { letter }).collect()
    };
    path.split('/').map(part).filter(|part| !part.is_empty() && part != ".." && part != ".").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        let wanted = |to: &str| Wanted {
            source: Source::Address("https://a/b".to_owned()),
            to: to.into(),
            sorts: false,
            bytes: None,
            sha256: None,
        };
        assert_eq!(
            wanted("vae/ae.safetensors").target(Path::new("/m")).unwrap(),
            Path::new("/m/vae/ae.safetensors")
        );
        for wrong in ["../a.gguf", "/etc/a.gguf", "a/../../b.gguf", ""] {
            assert!(
                matches!(wanted(wrong).target(Path::new("/m")), Err(DownloadError::Name { .. })),
                "{wrong}"
            );
        }
        assert_eq!(safe_path("../a/./b?c:d.gguf"), Path::new("a/b_c_d.gguf"));
    }

    #[test]
    fn addresses_are_encoded() {
        let mut network = Network::of_user(Some("https://mirror.example"), None);
        network.civitai = "https://civitai.example".to_owned();
        let source = Source::Hub {
            repository: "a/b".to_owned(),
            revision: "refs/pr/3".to_owned(),
            path: "two words/x#1.gguf".to_owned(),
        };
        assert_eq!(
            source.address(&network),
            "https://mirror.example/a/b/resolve/refs%2Fpr%2F3/two%20words/x%231.gguf"
        );
        let source = Source::Civitai { version: 7, query: "?type=VAE".to_owned() };
        assert_eq!(source.address(&network), "https://civitai.example/api/download/models/7?type=VAE");
    }
}
