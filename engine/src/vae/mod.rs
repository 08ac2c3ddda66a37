//! Autoencoders: latents to pixels and back.

mod autoencoder;
mod autoencoder_kl;
mod config;
mod original_names;
mod tiling;
mod tiny;

pub use autoencoder::Autoencoder;
pub use autoencoder_kl::AutoencoderKl;
pub use config::{AutoencoderKlConfig, LatentScaling};
pub use tiling::Tiling;
pub use tiny::{TinyDecoder, TinyDecoderError};
