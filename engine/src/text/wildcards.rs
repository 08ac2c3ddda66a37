//! Files with a line for each thing that a word of a prompt may be.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::adapters::nearest;

/// Where the files of a model are, relative to its folder or one of up to three above it: ours, those of A1111's and Forge's
/// extensions, and ComfyUI's.
const BESIDE: [&str; 5] = [
    "wildcards",
    "extensions/sd-dynamic-prompts/wildcards",
    "extensions/stable-diffusion-webui-wildcards/wildcards",
    "custom_nodes/ComfyUI-Impact-Pack/wildcards",
    "custom_nodes/comfyui-impact-pack/wildcards",
];
/// Folders above a model in which these are searched.
const ABOVE: usize = 4;
/// Maximum depth of subfolders.
const DEPTH: usize = 6;

/// The folders in which files are looked up by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcards {
    folders: Vec<PathBuf>,
}

/// Why a word cannot be chosen. [`WildcardError::advice`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum WildcardError {
    /// No file has this name.
    #[error("there is no wildcard file named {name}.txt{}", similar(near))]
    Missing {
        /// The name in the prompt.
        name: String,
        /// A name that is there.
        near: Option<String>,
        /// Where it was looked up.
        looked: Vec<PathBuf>,
    },
    /// The file cannot be read.
    #[error("the wildcard file {} cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file has no lines but comments.
    #[error("the wildcard file {} has no lines to choose from", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Files refer to each other without end.
    #[error("the wildcard file {name}.txt refers to itself")]
    Endless {
        /// Its name.
        name: String,
    },
    /// A brace before options is not closed.
    #[error("a brace in the prompt is not closed: {text}")]
    Unclosed {
        /// What begins with it.
        text: String,
    },
    /// More options are to be taken than there are.
    #[error("{wanted} different options cannot be taken of {options} in {text}")]
    TooFewOptions {
        /// How many are wanted at least.
        wanted: usize,
        /// How many there are.
        options: usize,
        /// The braces.
        text: String,
    },
}

fn similar(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; similar names: {near}"))
}

impl WildcardError {
    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Missing { looked, .. } if looked.is_empty() => {
                "Put a text file with one entry per line into a folder `wildcards` next to the model."
                    .to_owned()
            }
            Self::Missing { looked, .. } => {
                let folders: Vec<_> = looked.iter().map(|folder| folder.display().to_string()).collect();
                format!("Text files were searched in {}.", folders.join(", "))
            }
            Self::Unreadable { .. } => "Save the file as text in UTF-8.".to_owned(),
            Self::Empty { .. } => {
                "Add a line for each entry. Lines that begin with # are comments.".to_owned()
            }
            Self::Endless { .. } => "Remove the name of the file from its own lines.".to_owned(),
            Self::Unclosed { .. } => {
                "Close it after the options. Put a backslash before a brace that is text.".to_owned()
            }
            Self::TooFewOptions { .. } => "Write a smaller number before $$, or add options.".to_owned(),
        }
    }
}

impl Wildcards {
    /// Files in these folders and their subfolders; the first folder counts where several have a name.
    pub fn in_folders(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// Files in the `chosen` folders, then those around a model.
    pub fn around(model: &Path, chosen: &[PathBuf]) -> Self {
        let beside = model.ancestors().take(ABOVE).flat_map(|base| BESIDE.iter().map(|name| base.join(name)));
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in chosen.iter().cloned().chain(beside).filter(|folder| folder.is_dir()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self { folders }
    }

    /// The lines of a file, without comments and empty lines. The name may have folders: `colours/warm`. Without them the
    /// file may be in any subfolder.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read, or has no lines.
    pub fn lines(&self, name: &str) -> Result<Vec<String>, WildcardError> {
        let path = self.find(name)?;
        let text = fs::read_to_string(&path)
            .map_err(|error| WildcardError::Unreadable { path: path.clone(), error })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        if lines.is_empty() { Err(WildcardError::Empty { path }) } else { Ok(lines) }
    }

    /// All names, sorted, with their folders.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all().into_iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        names
    }

    fn find(&self, name: &str) -> Result<PathBuf, WildcardError> {
        let all = self.all();
        let last = |known: &str| known.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name));
        let found = all
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .or_else(|| all.iter().find(|(known, _)| last(known)));
        match found {
            Some((_, path)) => Ok(path.clone()),
            None => {
                let near = nearest(name, all.iter().map(|(known, _)| known.as_str())).map(str::to_owned);
                Err(WildcardError::Missing { name: name.to_owned(), near, looked: self.folders.clone() })
            }
        }
    }

    fn all(&self) -> Vec<(String, PathBuf)> {
        let mut all = Vec::new();
        for folder in &self.folders {
            collect(folder, "", DEPTH, &mut all);
        }
        all
    }
}

fn collect(folder: &Path, prefix: &str, depth: usize, all: &mut Vec<(String, PathBuf)>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::warn!(%error, folder = %folder.display(), "a folder of wildcards cannot be read");
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        if path.is_dir() {
            if let Some(name) = path.file_name().filter(|_| depth > 1) {
                collect(&path, &format!("{prefix}{}/", name.to_string_lossy()), depth - 1, all);
            }
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"))
            && let Some(name) = stem(&path)
        {
            all.push((format!("{prefix}{name}"), path));
        }
    }
}
