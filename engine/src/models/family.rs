//! What all families have in common.

use std::path::{Path, PathBuf};

use super::{FAMILIES, Model, Task, adapter_marks::AdapterMark, stages};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role},
    request::Request,
    text::{Clip, T5},
    vae::AutoencoderKl,
};

/// A family of models: how its checkpoints are recognised and opened.
pub trait Family: Sync {
    /// Identifier, such as `z_image`.
    fn id(&self) -> &'static str;

    /// Name in words.
    fn name(&self) -> &'static str;

    /// Whether the parts of a checkpoint are of this family, judged by keys and shapes.
    fn recognises(&self, checkpoint: &Checkpoint) -> bool;

    /// What tells adapters for this family from others, each with the name of the models that they are for.
    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[]
    }

    /// What other programs call the denoiser's architecture in GGUF files: the name is for files with a tensor whose
    /// name ends as the first says.
    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The name of the tiny decoder for its latents, as it is published.
    fn tiny_decoder(&self) -> Option<&'static str> {
        None
    }

    /// Whether a second model can take over the last steps of its models.
    fn takes_refiner(&self) -> bool {
        false
    }

    /// A model with a refiner's parts, so that [`stages`](Self::stages) can use both.
    ///
    /// # Errors
    /// In words, when the second model is no refiner for the first.
    fn refined(&self, model: &Model, _refiner: &Model) -> Result<Model, String> {
        Err(format!("{} takes no refiner", model.family.name()))
    }

    /// What a run of a request does, stage by stage.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        stages::usual(model, request)
    }

    /// Finds every tensor of every component. Reads no weight.
    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError>;
}

/// The part of a checkpoint for a role that `fits`; `expected` says what it would be where there is none.
pub fn part<'a>(
    checkpoint: &'a Checkpoint,
    role: Role,
    expected: &str,
    fits: impl Fn(&Part) -> bool,
) -> Result<&'a Part, CheckpointError> {
    checkpoint.candidates(role).find(|part| fits(part)).ok_or_else(|| checkpoint.missing(role, expected))
}

/// The CLIP text encoder of this width.
pub fn clip_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no CLIP text encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| Clip::width(&part.tensors) == Some(width))
}

/// The T5 encoder of this width.
pub fn t5_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no T5 encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| T5::width(&part.tensors) == Some(width))
}

/// The autoencoder whose latents have this many channels.
pub fn autoencoder_part(checkpoint: &Checkpoint, channels: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no autoencoder with {channels} channels was found");
    part(checkpoint, Role::Autoencoder, &expected, |part| {
        AutoencoderKl::channels_of(&part.tensors) == Some(channels)
    })
}

/// Opens the model at a path. What a file does not hold and is not around it is looked for in `folders`, those that a
/// person keeps models in.
pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Model, CheckpointError> {
    let mut checkpoint = Checkpoint::open(path, folders)?;
    let Some(family) = FAMILIES.iter().find(|family| family.recognises(&checkpoint)) else {
        return Err(CheckpointError::UnknownFamily {
            path: path.to_owned(),
            kind: checkpoint.kind,
            known: FAMILIES.iter().map(|family| family.name()).collect(),
        });
    };
    loop {
        match family.open(&checkpoint) {
            Err(CheckpointError::MissingPart { role, .. }) if checkpoint.look_further(role) => {}
            opened => return opened,
        }
    }
}
