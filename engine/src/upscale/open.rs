//! Recognizes upscalers and finds their tensors.

use std::path::Path;

use super::{Dat, Hat, RealPlksr, Rrdb, Span, Srvgg, SwinIr, Upscaler};
use crate::checkpoint::{
    BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable,
};

/// Largest factor.
pub(super) const LARGEST_FACTOR: usize = 8;
/// Channels of an image.
pub(super) const COLOURS: usize = 3;
/// What training programs have put before all names.
const PREFIXES: [&str; 3] = ["params_ema.", "params.", "module."];
/// Upscalers of other kinds, by part of a name.
const OTHERS: [(&str, &str); 7] = [
    ("channe_mixer", "a PLKSR"),
    ("attn.logit_scale", "a Swin2SR"),
    ("residual_group", "a relative of SwinIR and HAT"),
    ("conv_before_upsample", "a relative of SwinIR and HAT"),
    ("upsampler.0.weight", "an upscaler of another kind"),
    ("conv_last.weight", "an upscaler of another kind"),
    ("to_img.0.weight", "an upscaler of another kind"),
];

/// An upscaler and the location of its weights.
pub struct Opened {
    /// The network.
    pub network: Box<dyn Upscaler>,
    /// Location of its weights.
    pub component: Component,
}

/// The name in the file of a tensor of the network.
pub(super) type StoredNames = Box<dyn Fn(&str) -> String>;

/// What the shapes of tensors say.
pub(super) struct Found {
    pub network: Box<dyn Upscaler>,
    pub specs: Vec<BlockSpec>,
    /// The name of a tensor in the file, where it differs.
    pub names: Option<StoredNames>,
}

/// The error for a file that cannot be used.
pub(super) fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Upscaler { path: path.to_owned(), reason: reason.into() }
}

/// The factor of a network from images with `inputs` channels to `outputs` channels, in which new pixels are.
pub(super) fn colours(path: &Path, inputs: usize, outputs: usize) -> Result<usize, CheckpointError> {
    if inputs != COLOURS {
        return Err(refused(path, format!("it reads {inputs} channels, and images have {COLOURS}")));
    }
    let factor = (outputs / COLOURS).isqrt();
    if factor == 0 || factor > LARGEST_FACTOR || COLOURS * factor * factor != outputs {
        return Err(refused(path, format!("its {outputs} last channels are those of no factor")));
    }
    Ok(factor)
}

/// Whether a checkpoint is an upscaler that can be opened.
pub fn is_upscaler(checkpoint: &Checkpoint) -> bool {
    let own = checkpoint.parts.iter().filter(|part| part.path == checkpoint.path);
    own.map(plain).any(|tensors| kind(&tensors).is_some())
}

type Find = fn(&Path, &TensorTable) -> Result<Found, CheckpointError>;

fn kind(tensors: &TensorTable) -> Option<Find> {
    if Rrdb::is_in(tensors) {
        Some(Rrdb::found)
    } else if Span::is_in(tensors) {
        Some(Span::found)
    } else if Srvgg::is_in(tensors) {
        Some(Srvgg::found)
    } else if Dat::is_in(tensors) {
        Some(Dat::found)
    } else if RealPlksr::is_in(tensors) {
        Some(RealPlksr::found)
    } else if Hat::is_in(tensors) {
        Some(Hat::found)
    } else if SwinIr::is_in(tensors) {
        Some(SwinIr::found)
    } else {
        None
    }
}

/// Opens the upscaler in a checkpoint. Reads no weights.
///
/// # Errors
/// When it has none of a supported kind, or a tensor is missing or has another shape.
pub fn open(checkpoint: &Checkpoint) -> Result<Opened, CheckpointError> {
    let path = &checkpoint.path;
    let own = checkpoint.parts.iter().find(|part| part.path == *path);
    let tensors = own.map(plain).unwrap_or_default();
    let find = kind(&tensors).ok_or_else(|| refused(path, stranger(&tensors)))?;
    let Found { network, specs, names } = find(path, &tensors)?;
    let original =
        |name: &str| StoredName::whole(names.as_ref().map_or_else(|| name.to_owned(), |names| names(name)));
    let component =
        Component::bind(Role::Upscaler, network.architecture(), &specs, &tensors, original, path)?;
    Ok(Opened { network, component })
}

/// The tensors of a part, without a prefix that all have.
fn plain(part: &Part) -> TensorTable {
    let tensors = &part.tensors;
    match PREFIXES.iter().find(|prefix| tensors.keys().all(|name| name.starts_with(**prefix))) {
        Some(prefix) if !tensors.is_empty() => {
            tensors.iter().map(|(name, tensor)| (name[prefix.len()..].to_owned(), tensor.clone())).collect()
        }
        _ => tensors.clone(),
    }
}

fn stranger(tensors: &TensorTable) -> String {
    let has = |word: &str| tensors.keys().any(|name| name.contains(word));
    match OTHERS.iter().find(|(word, _)| has(word)) {
        Some((_, what)) => format!("it is {what}"),
        None => "it is no upscaler".to_owned(),
    }
}
