//! What can be wrong with a model's files, in the words of the person who chose them.

use std::{io, path::PathBuf};

use super::Role;

/// A model that cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Nothing is there.
    #[error("there is no file or folder {}", .path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{} cannot be read: {source}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A result has no place.
    #[error("{} cannot be written: {source}", .path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without any model in it.
    #[error("no model was found in {}", .path.display())]
    NoModel {
        /// Which folder.
        path: PathBuf,
    },
    /// A file of the program's own is not where it was installed.
    #[error("{name}, which comes with Sluice, was not found in {}", .looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoAsset {
        /// Its name.
        name: String,
        /// Every place that was tried.
        looked: Vec<PathBuf>,
    },
    /// A file of another kind.
    #[error("{} is not a model file that Sluice reads", .path.display())]
    NotAModelFile {
        /// Which file.
        path: PathBuf,
    },
    /// A Python pickle, which may hold a program.
    #[error("{} is a pickle, which can run any program when it is opened", .path.display())]
    Pickle {
        /// Which file.
        path: PathBuf,
    },
    /// A file without content.
    #[error("{} is empty", .path.display())]
    EmptyFile {
        /// Which file.
        path: PathBuf,
    },
    /// The header is longer than the file.
    #[error("{} ends inside its header: {header} bytes of header are announced, the file has {length} bytes", .path.display())]
    HeaderPastEnd {
        /// Which file.
        path: PathBuf,
        /// Bytes that the header should have.
        header: u64,
        /// Bytes that the file has.
        length: u64,
    },
    /// The header is no description of tensors.
    #[error("the header of {} is damaged: {reason}", .path.display())]
    Header {
        /// Which file.
        path: PathBuf,
        /// What the reader says.
        reason: String,
    },
    /// The weights are shorter than the header says.
    #[error("{} is cut off: it should have {expected} bytes and has {length}", .path.display())]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Bytes that the header promises.
        expected: u64,
        /// Bytes that the file has.
        length: u64,
    },
    /// A configuration that is not valid JSON, or has a value of the wrong kind.
    #[error("{} cannot be understood: {reason}", .path.display())]
    Json {
        /// Which file.
        path: PathBuf,
        /// What the reader says.
        reason: String,
    },
    /// An index that names a file which is not there.
    #[error("{} is missing; {} names it", .shard.display(), .index.display())]
    MissingShard {
        /// The index.
        index: PathBuf,
        /// The file.
        shard: PathBuf,
    },
    /// A whole part of the model is not there.
    #[error("the {role} of {} is missing: {expected}{}{}", .model.display(), looked_in(.looked), also(.unreadable))]
    MissingPart {
        /// The model.
        model: PathBuf,
        /// Which part.
        role: Role,
        /// What was looked for.
        expected: String,
        /// In which folders.
        looked: Vec<PathBuf>,
        /// What is wrong with files there that could not be used.
        unreadable: Vec<String>,
    },
    /// A model of a family that Sluice does not draw with.
    #[error("{} is a model that Sluice does not know{}", .path.display(), .kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default())]
    UnknownFamily {
        /// Which model.
        path: PathBuf,
        /// What it calls itself.
        kind: Option<String>,
        /// The families that are known.
        known: Vec<&'static str>,
    },
    /// A weight that the architecture needs is not in the files.
    #[error("{} has no tensor {name}{}", .path.display(), others(*.missing))]
    MissingTensor {
        /// The file, or the first of several.
        path: PathBuf,
        /// The first missing tensor.
        name: String,
        /// How many are missing in all.
        missing: usize,
    },
    /// A weight has another shape than the configuration says.
    #[error("tensor {name} in {} has the shape {found:?} where {expected:?} is needed", .path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// Which tensor.
        name: String,
        /// What is there.
        found: Vec<usize>,
        /// What the configuration says.
        expected: Vec<usize>,
    },
    /// A weight is stored in a way that cannot be computed with.
    #[error("tensor {name} in {} is stored as {found}, which Sluice cannot use here", .path.display())]
    Dtype {
        /// Which file.
        path: PathBuf,
        /// Which tensor.
        name: String,
        /// How it is stored.
        found: String,
    },
    /// A value in a configuration that cannot be right.
    #[error("{} says {field} = {value}, but {reason}", .path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// Which value.
        field: &'static str,
        /// What it is.
        value: String,
        /// Why that cannot be.
        reason: String,
    },
    /// A tokenizer that does not load.
    #[error("the tokenizer {} cannot be used: {reason}", .path.display())]
    Tokenizer {
        /// Which file.
        path: PathBuf,
        /// What its reader says.
        reason: String,
    },
}

fn looked_in(folders: &[PathBuf]) -> String {
    let mut folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    match folders.pop() {
        None => String::new(),
        Some(last) if folders.is_empty() => format!(" (looked in {last})"),
        Some(last) => format!(" (looked in {} and {last})", folders.join(", ")),
    }
}

fn also(unreadable: &[String]) -> String {
    const MOST: usize = 3;
    let told: String = unreadable.iter().take(MOST).map(|reason| format!("; {reason}")).collect();
    match unreadable.len().saturating_sub(MOST) {
        0 => told,
        more => format!("{told}; {more} more of the files there cannot be read"),
    }
}

fn others(missing: usize) -> String {
    match missing {
        0 | 1 => String::new(),
        2 => " (and 1 more is missing)".to_owned(),
        more => format!(" (and {} more are missing)", more - 1),
    }
}

impl CheckpointError {
    /// What the person can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::NotFound { .. } => "Check the path, or choose the model again.".to_owned(),
            Self::Io { .. } => "Check that the file may be read and that its drive is connected.".to_owned(),
            Self::Write { .. } => {
                "Check that the folder is there, may be written to, and has room left.".to_owned()
            }
            Self::NoModel { .. } => "Choose a diffusers folder (with model_index.json), a folder with \
                diffusion_models, text_encoders and vae inside, or a .safetensors or .gguf file."
                .to_owned(),
            Self::NoAsset { .. } => {
                "Install Sluice again, or set SLUICE_ASSETS to its assets folder.".to_owned()
            }
            Self::NotAModelFile { .. } => "Choose a .safetensors or .gguf file or a model folder.".to_owned(),
            Self::Pickle { .. } => "Sluice never opens such files. Look for a .safetensors version of the \
                same model."
                .to_owned(),
            Self::EmptyFile { .. } | Self::HeaderPastEnd { .. } | Self::Truncated { .. } => {
                "The download probably stopped early. Download the file again.".to_owned()
            }
            Self::Header { .. } => "The file is damaged or of another kind. Download it again.".to_owned(),
            Self::Json { .. } => "The file is damaged. Download it again.".to_owned(),
            Self::MissingShard { shard, .. } => {
                format!("Download {} into the same folder.", file_name(shard))
            }
            Self::MissingPart { looked, .. } if looked.is_empty() => {
                "Put the missing files there and open the model again.".to_owned()
            }
            Self::MissingPart { .. } => {
                "Put the file into one of these folders and open the model again, or \
                name the folder that it is in with --model-folder or SLUICE_MODEL_FOLDERS."
                    .to_owned()
            }
            Self::UnknownFamily { known, .. } => format!("Sluice draws with {}.", known.join(", ")),
            Self::MissingTensor { .. } => "The file belongs to another model or is incomplete.".to_owned(),
            Self::Shape { .. } => "The weights and the configuration belong to different models. Download \
                both from the same place."
                .to_owned(),
            Self::Dtype { .. } => {
                "Use a version of the model stored as f32, f16, bf16, fp8 or GGUF.".to_owned()
            }
            Self::Config { .. } => "Use the configuration that came with the model.".to_owned(),
            Self::Tokenizer { .. } => "Download the tokenizer files of the model again.".to_owned(),
        }
    }
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
