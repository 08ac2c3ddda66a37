//! The interface of all families.

use std::path::{Path, PathBuf};

use super::{
    Detectors, FAMILIES, Interpolators, MapEstimators, Model, Segmenters, Task, Upscalers,
    adapter_marks::AdapterMark, known, stages,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Layout, Part, Role},
    request::Request,
    text::{Clip, ClipVision, T5},
    vae::AutoencoderKl,
};

/// A family of models: how its checkpoints are recognised and opened.
pub trait Family: Sync {
    /// Identifier, such as `z_image`.
    fn id(&self) -> &'static str;

    /// Display name.
    fn name(&self) -> &'static str;

    /// Whether a checkpoint's parts belong to this family, judged by keys and shapes.
    fn recognises(&self, checkpoint: &Checkpoint) -> bool;

    /// What distinguishes adapters for this family from others, each with the name of the models it is for.
    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[]
    }

    /// The denoiser's architecture in GGUF files of other programs: pairs of a tensor name suffix and the
    /// architecture of the files that contain such a tensor.
    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The published names of tiny decoders for its latents, the best first. Of several kinds of latents, the
    /// decoder with as many channels is taken.
    fn tiny_decoders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a refiner can run the last steps of its models.
    fn takes_refiner(&self) -> bool {
        false
    }

    /// Adds a refiner's parts to a model, so that [`stages`](Self::stages) can use both.
    ///
    /// # Errors
    /// A message, when the second model is not a refiner for the first.
    fn refined(&self, model: &Model, _refiner: &Model) -> Result<Model, String> {
        Err(format!("{} does not support refiners", model.family.name()))
    }

    /// Whether its models read reference images through a Redux model.
    fn takes_redux(&self) -> bool {
        false
    }

    /// The stages of a run for a request.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        stages::usual(model, request)
    }

    /// Finds every tensor of every component. Reads no weights.
    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError>;
}

/// The checkpoint's first part for a role for which `fits` is true; otherwise an error with the message
/// `expected`.
pub fn part<'a>(
    checkpoint: &'a Checkpoint,
    role: Role,
    expected: &str,
    fits: impl Fn(&Part) -> bool,
) -> Result<&'a Part, CheckpointError> {
    checkpoint.candidates(role).find(|part| fits(part)).ok_or_else(|| checkpoint.missing(role, expected))
}

/// How many names of a path tell what kind of a model it is: those of its file and folder, and in the cache of the hub that of
/// the repository.
const NAMES: usize = 4;

/// Whether the nearest name on a path that has one of two words has the first.
pub fn is_named(path: &Path, this: &str, other: &str) -> bool {
    let names = path.iter().rev().take(NAMES).map(|name| name.to_string_lossy().to_lowercase());
    let said = names.map(|name| (name.contains(this), name.contains(other)));
    said.into_iter().find(|(is_this, is_other)| *is_this || *is_other).is_some_and(|(is_this, _)| is_this)
}

/// The CLIP text encoder with this width.
pub fn clip_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no CLIP text encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| Clip::width(&part.tensors) == Some(width))
}

/// CLIP-L and CLIP-G: the encoders whose pooled outputs together have this width. A diffusers folder has them in this order;
/// elsewhere the narrower one comes first, and of those as narrow the one with the lower `order`.
pub fn clip_parts(
    checkpoint: &Checkpoint,
    wanted: usize,
    order: impl Fn(&Part) -> usize,
) -> Result<[&Part; 2], CheckpointError> {
    let mut clips = Vec::new();
    for part in checkpoint.candidates(Role::TextEncoder) {
        if let Some(width) = Clip::width(&part.tensors) {
            clips.push((part, width, Clip::projection(&part.tensors).unwrap_or(width)));
        }
    }
    if checkpoint.layout != Layout::Diffusers {
        clips.sort_by_key(|(part, width, _)| (*width, order(part)));
    }
    for (number, (first, _, pooled)) in clips.iter().enumerate() {
        let second = clips[number + 1..].iter().find(|(.., other)| pooled + other == wanted);
        if let Some((second, ..)) = second {
            return Ok([first, second]);
        }
    }
    let expected = match &clips[..] {
        [(only, _, pooled)] if *pooled < wanted => format!(
            "besides {}, it needs another CLIP text encoder of width {} in text_encoders",
            only.path.display(),
            wanted - pooled
        ),
        _ => format!("no two CLIP text encoders whose widths add up to {wanted} were found in text_encoders"),
    };
    Err(checkpoint.missing(Role::TextEncoder, &expected))
}

/// The CLIP image encoder with this width.
pub fn vision_part(checkpoint: &Checkpoint, width: usize) -> Result<&Part, CheckpointError> {
    let expected = format!("no CLIP image encoder of width {width} was found");
    part(checkpoint, Role::TextEncoder, &expected, |part| ClipVision::width(&part.tensors) == Some(width))
}

/// The T5 encoder with this width.
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

/// Opens the model at a path. Parts that are neither in the file nor near it are looked up in `folders`, the
/// user's model folders.
pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Model, CheckpointError> {
    open_checkpoint(Checkpoint::open(path, folders).map_err(known::not_here)?)
}

/// Opens the model in a checkpoint by the family that recognises it.
pub(super) fn open_checkpoint(mut checkpoint: Checkpoint) -> Result<Model, CheckpointError> {
    if Upscalers.recognises(&checkpoint) {
        return Upscalers.open(&checkpoint);
    }
    if Interpolators.recognises(&checkpoint) {
        return Interpolators.open(&checkpoint);
    }
    if MapEstimators.recognises(&checkpoint) {
        return MapEstimators.open(&checkpoint);
    }
    if Segmenters.recognises(&checkpoint) {
        return Segmenters.open(&checkpoint);
    }
    if Detectors.recognises(&checkpoint) {
        return Detectors.open(&checkpoint);
    }
    let Some(family) = FAMILIES.iter().find(|family| family.recognises(&checkpoint)) else {
        return Err(CheckpointError::UnknownFamily {
            path: checkpoint.path,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_and_folders_tell_kinds_of_models() {
        for (path, is_distilled) in [
            ("models/checkpoints/ltxv-2b-0.9.8-distilled-fp8.safetensors", true),
            ("models/distilled/ltxv-13b-0.9.8-dev.safetensors", false),
            ("LTX-Video 13B distilled/transformer", true),
            ("hub/models--Lightricks--LTX-Video-0.9.7-distilled/snapshots/1a2b/transformer", true),
            ("LTX-Video/transformer", false),
        ] {
            assert_eq!(is_named(Path::new(path), "distilled", "-dev"), is_distilled, "{path}");
        }
    }
}
