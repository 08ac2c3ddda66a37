//! Previews with a tiny decoder, if its file is next to the model.

use std::path::{Path, PathBuf};

use crate::{models::Model, vae::TinyDecoder};

/// The folder of tiny decoders in ComfyUI.
const FOLDER: &str = "vae_approx";
/// How the names of decoders begin that take latents in the scale of the autoencoder (LightX2V's).
const UNSCALED: &str = "light";

/// A tiny decoder for a model's latents.
#[derive(Debug)]
pub struct Tiny {
    /// The network.
    pub decoder: TinyDecoder,
    /// Whether it takes latents in the scale of the autoencoder instead of that of diffusion.
    pub takes_unscaled: bool,
}

/// The tiny decoder for a model: from the folder `vae_approx` inside the model's folder or next to it.
pub fn find(model: &Model) -> Option<Tiny> {
    let autoencoder = model.autoencoders().next()?.network;
    let names = model.family.tiny_decoders();
    let roots = [Some(model.root.as_path()), model.root.parent()];
    let folders: Vec<_> = roots.into_iter().flatten().map(|root| root.join(FOLDER)).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| (folder, *name)));
    for (folder, name) in places.clone() {
        let Some(path) = files(folder, name).into_iter().find(|path| path.is_file()) else { continue };
        match TinyDecoder::open(&path) {
            Ok(decoder)
                if decoder.channels() == autoencoder.latent_channels()
                    && decoder.scale() == autoencoder.scale() =>
            {
                return Some(Tiny { decoder, takes_unscaled: name.starts_with(UNSCALED) });
            }
            Ok(_) => tracing::info!(path = %path.display(), "the tiny decoder is for other latents"),
            Err(error) => tracing::warn!(%error, "the tiny decoder cannot be used"),
        }
    }
    let pickles = places.flat_map(|(folder, name)| {
        ["_decoder.pth", ".pth", ".pt"].map(|end| folder.join(format!("{name}{end}")))
    });
    if let Some(path) = pickles.into_iter().find(|path| path.is_file()) {
        tracing::warn!(
            path = %path.display(),
            "the tiny decoder is a Python pickle, which is never opened; it is also published as .safetensors"
        );
    }
    None
}

fn files(folder: &Path, name: &str) -> [PathBuf; 3] {
    [
        folder.join(format!("{name}_decoder.safetensors")),
        folder.join(format!("{name}.safetensors")),
        folder.join(name).join("diffusion_pytorch_model.safetensors"),
    ]
}
