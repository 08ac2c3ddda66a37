//! Previews with a tiny decoder, if its file is next to the model.

use std::path::{Path, PathBuf};

use crate::{models::Model, vae::TinyDecoder};

/// The folder of tiny decoders in ComfyUI.
const FOLDER: &str = "vae_approx";

/// The tiny decoder for a model: from the folder `vae_approx` inside the model's folder or next to it.
pub fn find(model: &Model) -> Option<TinyDecoder> {
    let autoencoder = model.autoencoders().next()?.network;
    let name = model.family.tiny_decoder()?;
    let roots = [Some(model.root.as_path()), model.root.parent()];
    let files = roots.into_iter().flatten().flat_map(|root| files(&root.join(FOLDER), name));
    let path = files.into_iter().find(|path| path.is_file())?;
    match TinyDecoder::open(&path) {
        Ok(decoder)
            if decoder.channels() == autoencoder.latent_channels()
                && decoder.scale() == autoencoder.scale() =>
        {
            Some(decoder)
        }
        Ok(_) => {
            tracing::warn!(path = %path.display(), "the tiny decoder is for other latents and is not used");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "the tiny decoder cannot be used");
            None
        }
    }
}

fn files(folder: &Path, name: &str) -> [PathBuf; 3] {
    [
        folder.join(format!("{name}_decoder.safetensors")),
        folder.join(format!("{name}.safetensors")),
        folder.join(name).join("diffusion_pytorch_model.safetensors"),
    ]
}
