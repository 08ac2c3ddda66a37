//! Errors about adapters, worded for the person who chose them.

use std::path::PathBuf;

use crate::checkpoint::CheckpointError;

/// An adapter that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] CheckpointError),
    /// The file has no key that belongs to a known kind of adapter.
    #[error("{} is not a LoRA or any other adapter that Sluice supports; its first tensor is {first}", .path.display())]
    NotAnAdapter {
        /// Which file.
        path: PathBuf,
        /// The name of its first tensor.
        first: String,
    },
    /// The tensors for one layer do not fit together.
    #[error("{}: the tensors for layer {layer} do not fit together: {reason}", .path.display())]
    Layer {
        /// Which file.
        path: PathBuf,
        /// The layer, by its name in the file.
        layer: String,
        /// Why.
        reason: String,
    },
    /// The file is for another family of models.
    #[error(
        "{} is {}, but this model is {model}{}", .path.display(),
        .adapter.map_or_else(|| "for another model".to_owned(), |family| format!("for {family}")),
        if *.matched == 0 { String::new() } else { format!(" (only {matched} of its {layers} layers match)") }
    )]
    OtherFamily {
        /// Which file.
        path: PathBuf,
        /// The family its keys suggest.
        adapter: Option<&'static str>,
        /// The model's family.
        model: String,
        /// Number of its layers that the model also has.
        matched: usize,
        /// Number of its layers.
        layers: usize,
    },
    /// A prompt names an adapter that is in none of the folders searched.
    #[error("there is no LoRA named {name}{}", reminder(.near))]
    Unknown {
        /// The name.
        name: String,
        /// Similar names.
        near: Vec<String>,
        /// The folders that were searched.
        looked: Vec<PathBuf>,
    },
    /// A tag in a prompt cannot be parsed.
    #[error("cannot parse <lora:{tag}>")]
    Tag {
        /// The text after `lora:`.
        tag: String,
    },
}

fn reminder(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; similar names: {}", names.join(", ")),
    }
}

impl AdapterError {
    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::File(error) => error.advice(),
            Self::NotAnAdapter { .. } => {
                "Choose a .safetensors file of a LoRA, LoCon, LoHa, LoKr or DoRA.".to_owned()
            }
            Self::Layer { .. } => "The file is damaged or incomplete. Download it again.".to_owned(),
            Self::OtherFamily { adapter: Some(family), .. } => {
                format!("Remove it, or open a {family} model.")
            }
            Self::OtherFamily { adapter: None, .. } => {
                "Remove it, or open the model that it was made for.".to_owned()
            }
            Self::Unknown { looked, .. } if looked.is_empty() => {
                "Put its file into a folder named loras next to the model, or add the LoRA by its file."
                    .to_owned()
            }
            Self::Unknown { looked, .. } => {
                let folders: Vec<String> = looked.iter().map(|folder| folder.display().to_string()).collect();
                format!("Remove it from the prompt, or put its file into {}.", folders.join(" or "))
            }
            Self::Tag { .. } => "Write <lora:name> or <lora:name:0.8>.".to_owned(),
        }
    }
}
