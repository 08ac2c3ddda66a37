//! Models that read images through IP-Adapters.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Denoising, Model, ModelPart, Network, Task, Used};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part},
    request::{ImagePrompt, Request},
    text::ImagePrompter,
};

/// The name of the part that makes tokens of images.
const NAME: &str = "image_prompter";

impl Model {
    /// This model, whose first denoiser reads images through IP-Adapters. Their keys and values are held and streamed with its
    /// weights; what makes tokens of images are parts of their own, before all others. Image encoders that are not near an
    /// IP-Adapter are looked up in `folders`.
    ///
    /// # Errors
    /// When one is no IP-Adapter for the model, its image encoder is missing, or the model takes none.
    pub fn with_image_prompts(
        self,
        prompts: &[ImagePrompt],
        folders: &[PathBuf],
    ) -> Result<Self, CheckpointError> {
        let parts = prompts.iter().map(|prompt| adapter(&prompt.adapter));
        let parts = parts.collect::<Result<Vec<Part>, CheckpointError>>()?;
        let mut model = self.with_ip_adapters(&parts.iter().collect::<Vec<_>>())?;
        for (number, prompt) in prompts.iter().enumerate().rev() {
            let (prompter, component) = ImagePrompter::open(&prompt.adapter, folders)?;
            model = model.after(ModelPart {
                name: if number == 0 { NAME.to_owned() } else { format!("{NAME}_{}", number + 1) },
                component,
                network: Network::ImagePrompter(Arc::new(prompter)),
                takes_adapters: false,
            });
        }
        Ok(model)
    }

    fn with_ip_adapters(mut self, adapters: &[&Part]) -> Result<Self, CheckpointError> {
        let first = self.parts.iter_mut().find_map(|part| match &part.network {
            Network::Denoiser(denoising) => Some((Arc::clone(denoising), part)),
            _ => None,
        });
        let Some((denoising, part)) = first else { return Ok(self) };
        let (denoiser, components) = denoising.denoiser.with_ip_adapters(adapters)?;
        let adapters = components.into_iter().enumerate();
        let adapters =
            adapters.map(|(number, component)| component.prefixed(&format!("ip_adapter.{number}.")));
        part.component = part.component.clone().after(adapters);
        part.network = Network::Denoiser(Arc::new(Denoising { denoiser, ..Denoising::clone(&denoising) }));
        Ok(self)
    }

    /// What makes tokens of images, in the order of the IP-Adapters.
    pub fn image_prompters(&self) -> impl Iterator<Item = Used<ImagePrompter>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::ImagePrompter(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Whether it can read images through IP-Adapters.
    pub fn takes_ip_adapters(&self) -> bool {
        self.denoisers().next().is_some_and(|denoiser| denoiser.network.denoiser.ip_adapters().is_some())
    }

    /// The stage that makes tokens of the images of a request, if it has any.
    pub(super) fn prompting(&self, request: &Request) -> Option<Task> {
        let prompters: Vec<_> = self.image_prompters().take(request.image_prompts.len()).collect();
        (!prompters.is_empty()).then_some(Task::PromptImages { prompters })
    }
}

/// The IP-Adapter in a file.
fn adapter(path: &Path) -> Result<Part, CheckpointError> {
    let refused =
        |reason: &str| CheckpointError::IpAdapter { path: path.to_owned(), reason: reason.to_owned() };
    if !path.exists() {
        return Err(CheckpointError::NotFound { path: path.to_owned() });
    }
    if path.is_dir() {
        return Err(refused("it is a folder; choose the file in it"));
    }
    let unreadable = |path, reason| CheckpointError::IpAdapter { path, reason };
    let mut parts = Checkpoint::of_file(path).map_err(|error| error.of_tool(unreadable))?.parts;
    if parts.len() > 1 {
        return Err(refused("it is a whole model"));
    }
    parts.pop().ok_or_else(|| refused("it has no tensors"))
}
