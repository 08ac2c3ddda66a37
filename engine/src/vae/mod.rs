//! Autoencoders: latents to pixels and back.

mod autoencoder;
mod autoencoder_kl;
mod config;
mod flux2;
mod frames;
mod ltx;
mod original_names;
mod paella;
mod pieces;
mod reel;
mod tiling;
mod tiny;
mod wan;
mod wan_config;
mod wan_names;
mod wan_patches;

pub use autoencoder::Autoencoder;
pub use autoencoder_kl::AutoencoderKl;
pub use config::{AutoencoderKlConfig, LatentScaling};
pub use flux2::Flux2Autoencoder;
pub use ltx::{LtxAutoencoder, LtxAutoencoderConfig};
pub use paella::{PaellaVq, PaellaVqConfig};
pub use pieces::{Piece, Place, Seams, Show, Values};
pub use reel::{Area, Reel};
pub use tiling::Tiling;
pub use tiny::{TinyDecoder, TinyDecoderError};
pub use wan::WanAutoencoder;
pub use wan_config::WanAutoencoderConfig;
