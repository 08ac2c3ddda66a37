//! Well-known models, so that a person can ask what one would take before downloading it.
//!
//! A model of one of the [families](super::FAMILIES) is opened from its published configuration, without files, and is
//! then forecast like any other model.

mod published;
mod stored_as;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use super::{Model, family::open_checkpoint};
use crate::{
    checkpoint::{Block, CheckpointError},
    request::Mode,
};
pub use published::{Published, PublishedPart, PublishedTokenizer, Shapes, published_models};
pub use stored_as::StoredAs;

/// A well-known model. It need not be on this machine.
#[derive(Debug)]
pub struct KnownModel {
    /// Identifier, such as `flux.1-dev`.
    pub id: String,
    /// Name in words.
    pub name: String,
    /// Other identifiers for it.
    pub aliases: Vec<String>,
    /// Its repository on Hugging Face, such as `black-forest-labs/FLUX.1-dev`.
    pub hub: String,
    /// The licence of its weights, if it is known: the name that the repository gives.
    pub licence: Option<String>,
    published: &'static Published,
    opened: OnceLock<Arc<Model>>,
    /// Held while it is opened, so that threads do not do the same work.
    opening: Mutex<()>,
}

/// The default settings of a well-known model.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownDefaults {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames; 1 for images.
    pub frames: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Guidance.
    pub guidance: f32,
    /// What a model for clips can generate from; empty for the others.
    pub modes: Vec<Mode>,
    /// Whether it only fills in a masked part of an image.
    pub fills_in: bool,
}

/// All well-known models, in the order in which they are offered.
pub fn known_models() -> &'static [KnownModel] {
    static MODELS: LazyLock<Vec<KnownModel>> = LazyLock::new(|| {
        let known = |published: &'static Published| KnownModel {
            id: published.id.clone(),
            name: published.name.clone(),
            aliases: published.aliases.clone(),
            hub: published.hub.clone(),
            licence: licences().get(&published.hub).cloned(),
            published,
            opened: OnceLock::new(),
            opening: Mutex::new(()),
        };
        published_models().iter().map(known).collect()
    });
    &MODELS
}

/// Repositories and the licences that they name, of `presets/licences.toml`.
fn licences() -> &'static BTreeMap<String, String> {
    static LICENCES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        toml::from_str(include_str!("../../../../presets/licences.toml")).unwrap_or_else(|error| {
            tracing::error!(%error, "presets/licences.toml cannot be read");
            BTreeMap::new()
        })
    });
    &LICENCES
}

/// The well-known model of this identifier or alias, in capital letters or not.
pub fn known_model(id: &str) -> Option<&'static KnownModel> {
    let names = |model: &KnownModel| {
        model.id.eq_ignore_ascii_case(id) || model.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(id))
    };
    known_models().iter().find(|model| names(model))
}

/// What is wrong with a path at which there is nothing: it may be the name of a well-known model.
pub(super) fn not_here(error: CheckpointError) -> CheckpointError {
    let CheckpointError::NotFound { path } = &error else { return error };
    match path.to_str().and_then(known_model) {
        Some(KnownModel { name, hub, .. }) => {
            CheckpointError::NotHere { name: name.clone(), hub: hub.clone() }
        }
        None => error,
    }
}

fn of_configurations(error: serde_json::Error) -> CheckpointError {
    CheckpointError::Json { path: PathBuf::from("presets/configurations.json"), reason: error.to_string() }
}

impl KnownModel {
    /// Everything about it but the values of its weights. It is opened the first time.
    ///
    /// # Errors
    /// Fails if the family refuses the configuration, or its tokenizers are missing in this installation.
    pub fn open(&self) -> Result<Arc<Model>, CheckpointError> {
        if let Some(model) = self.opened.get() {
            return Ok(Arc::clone(model));
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = self.opened.get() {
            return Ok(Arc::clone(model));
        }
        let checkpoint = self.published.checkpoint().map_err(of_configurations)?;
        let model = Arc::new(open_checkpoint(checkpoint)?);
        Ok(Arc::clone(self.opened.get_or_init(|| model)))
    }

    /// The same from other files than the published ones: how each of its components is stored, by its folder. Components
    /// that are not named are left out.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if a component is left out that the family needs.
    pub fn open_as(&self, stored: &BTreeMap<String, StoredAs>) -> Result<Model, CheckpointError> {
        open_checkpoint(self.published.checkpoint_as(stored).map_err(of_configurations)?)
    }

    /// Bytes of its weights as they are published, in 16 bits.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn bytes(&self) -> Result<u64, CheckpointError> {
        let model = self.open()?;
        let blocks = model.components().flat_map(|component| &component.blocks);
        Ok(blocks.map(Block::stored_bytes).sum())
    }

    /// The settings to start from.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn defaults(&self) -> Result<KnownDefaults, CheckpointError> {
        let model = self.open()?;
        let (defaults, modes) = (&model.defaults, model.modes().to_vec());
        let (width, height, frames) = (defaults.width, defaults.height, defaults.frames);
        let (steps, guidance, fills_in) = (defaults.steps, defaults.guidance, model.fills_in());
        Ok(KnownDefaults { width, height, frames, steps, guidance, modes, fills_in })
    }
}

#[cfg(test)]
mod tests;
