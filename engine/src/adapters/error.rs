//! What can be wrong with an adapter, in the words of the person who chose it.

use std::path::PathBuf;

use crate::checkpoint::CheckpointError;

/// An adapter that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] CheckpointError),
    /// The file has no key of any kind of adapter.
    #[error("{} is no LoRA or other adapter that Sluice knows; its first tensor is {first}", .path.display())]
    NotAnAdapter {
        /// Which file.
        path: PathBuf,
        /// The name of its first tensor.
        first: String,
    },
    /// Parts of one layer's change do not fit each other.
    #[error("{}: the change of {layer} cannot be put together: {reason}", .path.display())]
    Layer {
        /// Which file.
        path: PathBuf,
        /// Which layer, as it is called there.
        layer: String,
        /// Why.
        reason: String,
    },
    /// The file is for another family of models.
    #[error(
        "{} is {}, this model is {model}{}", .path.display(),
        .adapter.map_or_else(|| "for another model".to_owned(), |family| format!("for {family}")),
        if *.matched == 0 { String::new() } else { format!(" (only {matched} of its {layers} layers would fit)") }
    )]
    OtherFamily {
        /// Which file.
        path: PathBuf,
        /// The family that its keys look like.
        adapter: Option<&'static str>,
        /// The model's family.
        model: String,
        /// Layers of the adapter that have a place in the model.
        matched: usize,
        /// All its layers.
        layers: usize,
    },
    /// A prompt names an adapter that is in none of the folders.
    #[error("there is no LoRA called {name}{}", reminder(.near))]
    Unknown {
        /// The name.
        name: String,
        /// Names that are like it.
        near: Vec<String>,
        /// The folders that were looked in.
        looked: Vec<PathBuf>,
    },
    /// A prompt names an adapter with something else than one weight.
    #[error("<lora:{tag}> was not understood")]
    Tag {
        /// What stands between the brackets.
        tag: String,
    },
}

fn reminder(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; there is {}", names.join(", ")),
    }
}

impl AdapterError {
    /// What the person can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::File(error) => error.advice(),
            Self::NotAnAdapter { .. } => {
                "Choose a .safetensors file of a LoRA, LoCon, LoHa, LoKr or DoRA.".to_owned()
            }
            Self::Layer { .. } => "The file is damaged or incomplete. Download it again.".to_owned(),
            Self::OtherFamily { adapter: Some(family), .. } => {
                format!("Take it out, or open a {family} model.")
            }
            Self::OtherFamily { adapter: None, .. } => {
                "Take it out, or open the model that it was made for.".to_owned()
            }
            Self::Unknown { looked, .. } if looked.is_empty() => {
                "Put the file into a folder loras beside the model, or give it with --lora.".to_owned()
            }
            Self::Unknown { looked, .. } => {
                let folders: Vec<String> = looked.iter().map(|folder| folder.display().to_string()).collect();
                format!("Take it out of the prompt, or put its file into {}.", folders.join(" or "))
            }
            Self::Tag { .. } => "Write <lora:name> or <lora:name:0.8>.".to_owned(),
        }
    }
}
