//! Tensor names in the original authors' files, which ComfyUI also uses.

mod autoencoders;
mod text_encoders;
mod transformers;
mod two_streams;
mod unet;

use std::collections::BTreeMap;

use candle_core::Tensor;

pub use autoencoders::{
    autoencoder, causal_autoencoder, flat_autoencoder, flux2_autoencoder, ltx_autoencoder, tiny_decoder,
};
pub use text_encoders::{alternating, ministral, mistral, open_clip};
pub use transformers::{cosmos, krea2, ltx, qwen_image_21, wan, z_image};
pub use two_streams::{chroma, flux, flux2, longcat, sd3, stability_control_net, xlabs_control_net};
pub use unet::{control_net, unet};

/// Tensors sorted by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// The same tensors with `prefix` before every name.
pub fn prefixed(prefix: &str, tensors: Tensors) -> Tensors {
    tensors.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)).collect()
}
