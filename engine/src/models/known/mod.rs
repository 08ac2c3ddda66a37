//! Well-known models, so that a person can ask what one would take before downloading it.
//!
//! A model of one of the [families](super::FAMILIES) is opened from its published configuration, without files, and is
//! then forecast like any other model. Other models have a row in a table of sizes.

mod published;

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock, OnceLock},
};

use super::{Model, family::open_checkpoint};
use crate::{
    checkpoint::CheckpointError,
    memory::{KnownDefaults, UnsupportedModel, unsupported_models},
};
pub use published::{Published, PublishedPart, PublishedTokenizer, Shapes, published_models};

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
    source: Source,
}

#[derive(Debug)]
enum Source {
    Published(&'static Published, OnceLock<Arc<Model>>),
    Table(&'static UnsupportedModel),
}

/// What is known of a model.
#[derive(Debug, Clone)]
pub enum KnownAs {
    /// Everything but the values of its weights.
    Model(Arc<Model>),
    /// Sizes. Sluice cannot generate with it yet.
    Unsupported(&'static UnsupportedModel),
}

/// All well-known models, in the order in which they are offered: those that no family generates with come last.
pub fn known_models() -> &'static [KnownModel] {
    static MODELS: LazyLock<Vec<KnownModel>> = LazyLock::new(|| {
        let published = published_models().iter().filter_map(|model| {
            let (id, name, aliases) = (model.id.clone(), model.name.clone()?, model.aliases.clone());
            let hub = model.hub.clone();
            Some(KnownModel { id, name, aliases, hub, source: Source::Published(model, OnceLock::new()) })
        });
        let unsupported = unsupported_models().iter().map(|model| KnownModel {
            id: model.id.clone(),
            name: model.name.clone(),
            aliases: model.aliases.clone(),
            hub: model.hub.clone(),
            source: Source::Table(model),
        });
        published.chain(unsupported).collect()
    });
    &MODELS
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
        Some(KnownModel { name, hub, source, .. }) => CheckpointError::NotHere {
            name: name.clone(),
            hub: hub.clone(),
            supported: matches!(source, Source::Published(..)),
        },
        None => error,
    }
}

impl KnownModel {
    /// What is known of it. A model of one of the families is opened the first time.
    ///
    /// # Errors
    /// Fails if the family refuses the configuration, or its tokenizers are missing in this installation.
    pub fn open(&self) -> Result<KnownAs, CheckpointError> {
        let (published, opened) = match &self.source {
            Source::Published(published, opened) => (published, opened),
            Source::Table(model) => return Ok(KnownAs::Unsupported(model)),
        };
        if let Some(model) = opened.get() {
            return Ok(KnownAs::Model(Arc::clone(model)));
        }
        let checkpoint = published.checkpoint().map_err(|error| CheckpointError::Json {
            path: PathBuf::from("presets/configurations.json"),
            reason: error.to_string(),
        })?;
        let model = Arc::new(open_checkpoint(checkpoint)?);
        Ok(KnownAs::Model(Arc::clone(opened.get_or_init(|| model))))
    }

    /// Whether Sluice can generate with it.
    pub fn is_supported(&self) -> bool {
        matches!(self.source, Source::Published(..))
    }

    /// The settings to start from.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn defaults(&self) -> Result<KnownDefaults, CheckpointError> {
        Ok(match self.open()? {
            KnownAs::Model(model) => {
                let defaults = model.defaults;
                let (width, height, frames) = (defaults.width, defaults.height, defaults.frames);
                KnownDefaults { width, height, frames, steps: defaults.steps, guidance: defaults.guidance }
            }
            KnownAs::Unsupported(model) => model.defaults,
        })
    }
}

#[cfg(test)]
mod tests;
